// The kernels that try the device headers: the gpu layer's own contribution to what is shipped.
#pragma once

#include <vector>

#include "gpu/kernel_source.hpp"

namespace tamis::gpu {

inline constexpr std::int64_t kSelfTestThreads = 256;
inline constexpr std::int64_t kSelfTestItems = 8;

const KernelSource& self_test_source();
KernelConfig self_test_config(std::int64_t threads = kSelfTestThreads,
                              std::int64_t items = kSelfTestItems);

/// What this layer ships.
std::vector<KernelSpec> gpu_kernels();

}  // namespace tamis::gpu
