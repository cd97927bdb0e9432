// A piece of device text and the name by which others include it. Embedded files live for ever.
#pragma once

#include <string_view>

namespace tamis::gpu {

struct SourceFile {
  std::string_view name;  // relative to src/, e.g. "gpu/device/warp.cuh"
  std::string_view text;
};

}  // namespace tamis::gpu
