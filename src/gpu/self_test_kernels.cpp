// The self test as a kernel family: its text is embedded beside the device headers.
#include "gpu/self_test_kernels.hpp"

namespace tamis::gpu {

std::span<const SourceFile> self_test_files() noexcept;  // embedded: src/gpu/CMakeLists.txt

const KernelSource& self_test_source() {
  static const KernelSource source(self_test_files().front());
  return source;
}

KernelConfig self_test_config(std::int64_t threads, std::int64_t items) {
  return {{"TAMIS_THREADS", threads}, {"TAMIS_ITEMS", items}};
}

std::vector<KernelSpec> gpu_kernels() {
  return {{"gpu/self_test", &self_test_source(), self_test_config()}};
}

}  // namespace tamis::gpu
