// Size of the memory that a single-pass scan shares between its tiles (gpu/device/lookback.cuh).
#pragma once

#include <cstdint>

namespace tamis::gpu {

/// 64-bit words, all zero when the kernel starts.
constexpr std::int64_t scan_state_words(std::int64_t tile_count) { return 1 + tile_count; }

}  // namespace tamis::gpu
