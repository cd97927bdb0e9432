// The one visible list: each layer with kernels has a function, and a line here.
#include "catalog/shipped_kernels.hpp"

#include "gpu/self_test_kernels.hpp"
#include "reduce/device_kernels.hpp"

namespace tamis::catalog {

std::vector<gpu::KernelSpec> shipped_kernels() {
  std::vector<gpu::KernelSpec> all;
  const auto add = [&](const std::vector<gpu::KernelSpec>& kernels) {
    all.insert(all.end(), kernels.begin(), kernels.end());
  };
  add(gpu::gpu_kernels());
  add(reduce::codec_kernels());
  return all;
}

}  // namespace tamis::catalog
