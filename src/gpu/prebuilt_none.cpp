// The table of prebuilt kernels of a build without NVRTC.
#include "gpu/prebuilt.hpp"

namespace tamis::gpu {

std::span<const PrebuiltKernel> prebuilt_kernels() noexcept { return {}; }

}  // namespace tamis::gpu
