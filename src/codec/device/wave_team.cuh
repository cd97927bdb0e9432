// The waves that work on one stream: a whole block, or a single wave of a block by itself.
#pragma once

#include "gpu/device/warp.cuh"

namespace tamis::device {

template <int kWaves>
struct WaveTeam {
  static_assert(kWaves >= 1 && kWaves <= kWave, "a lane looks after each wave");
  static constexpr u32 kThreads = kWaves * kWave;

  /// All lanes of the wave call.
  static TAMIS_DEVICE int wave() { return kWaves == 1 ? 0 : wave_uniform(wave_id()); }
  static TAMIS_DEVICE u32 thread() {
    return kWaves == 1 ? static_cast<u32>(lane_id()) : threadIdx.x;
  }
  static TAMIS_DEVICE void sync() {
    if (kWaves == 1) {
      sync_wave();
    } else {
      __syncthreads();
    }
  }
  /// Sum of what the waves have, each the same in its lanes; `scratch` has a word a wave.
  static TAMIS_DEVICE u64 sum(u64 of_wave, u64* scratch) {
    if (kWaves == 1) return of_wave;
    const int mine = wave();
    sync();
    if (lane_id() == 0) scratch[mine] = of_wave;
    sync();
    u64 total = 0;
#pragma unroll
    for (int w = 0; w < kWaves; ++w) total += scratch[w];
    return total;
  }
};

}  // namespace tamis::device
