// The kernels that come with Tamis, of all layers: what is prebuilt and what `tamis warmup` makes.
#pragma once

#include <vector>

#include "gpu/kernel_source.hpp"

namespace tamis::catalog {

std::vector<gpu::KernelSpec> shipped_kernels();

}  // namespace tamis::catalog
