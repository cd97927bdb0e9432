// Kernels that were compiled when the library was built. The table is written by tamis_pack, or is
// empty where the build found no NVRTC.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "core/checksum.hpp"

namespace tamis::gpu {

struct PrebuiltKernel {
  Hash128 content;                // content_key(): any compiler's code serves
  std::string_view architecture;  // "sm_90a"
  std::string_view name;          // of its KernelSpec
  std::span<const std::byte> code;
};

std::span<const PrebuiltKernel> prebuilt_kernels() noexcept;

}  // namespace tamis::gpu
