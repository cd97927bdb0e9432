// A user's program against the installed library: includes and links, nothing more.
#include <cstdio>

#include <tamis/tensor.hpp>

int main() {
  tamis::Tensor field(tamis::DType::kF32, {3, 4});
  std::printf("%s\n", field.shape().to_string().c_str());
  return field.view().is_contiguous() ? 0 : 1;
}
