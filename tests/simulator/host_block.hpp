// For tests that include device text by themselves instead of having it compiled at run time:
// include this before it, and link simt_executor. The build says TAMIS_WAVE, and TAMIS_GPU_HIP for
// the branches of HIP.
#pragma once

#include <functional>

#include "simulator/block_executor.hpp"
#include "simulator/device_memory.hpp"
#include "simulator/device_prelude.hpp"

namespace tamis::simt {

/// One block of `threads` lanes, a multiple of the wave size. Throws std::runtime_error where lanes
/// part in what they wait for.
inline void run_block(unsigned threads, const std::function<void()>& lane) {
  run_block({&g_lane, &g_services, TAMIS_WAVE, nullptr, nullptr, nullptr, 0}, threads, lane);
}

}  // namespace tamis::simt
