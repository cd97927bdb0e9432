// Prefix sum over the threads of a block: each wave scans its lanes, then every wave scans the
// totals of all waves for itself, which costs one barrier less than giving that to the first.
#pragma once

#include "gpu/device/warp.cuh"

namespace tamis::device {

/// For one-dimensional blocks of exactly kThreads threads, a multiple of the wave size.
template <int kThreads, typename T>
struct BlockScan {
  static constexpr int kWaves = kThreads / kWave;
  static_assert(kThreads % kWave == 0, "the block must consist of whole waves");
  static_assert(kWaves >= 1 && kWaves <= kWave, "more waves than one wave can scan");

  /// In shared memory; may be used again as soon as a call has returned.
  struct Scratch {
    T wave_totals[kWaves];
  };

  /// Sum over the threads before this one; `total` gets the sum over the block. All threads call.
  static TAMIS_DEVICE T exclusive_sum(T value, Scratch& scratch, T& total) {
    const T inclusive = wave_inclusive_sum(value);
    if (lane_id() == kWave - 1) scratch.wave_totals[wave_id()] = inclusive;
    __syncthreads();
    const T mine = lane_id() < kWaves ? scratch.wave_totals[lane_id()] : T{0};
    const T through = wave_inclusive_sum(mine);
    total = shuffle(through, kWaves - 1);
    const T earlier_waves = shuffle(through, wave_id() == 0 ? 0 : wave_id() - 1);
    __syncthreads();
    const T before = shuffle_up(inclusive, 1);
    const T in_wave = lane_id() == 0 ? T{0} : before;
    return wave_id() == 0 ? in_wave : earlier_waves + in_wave;
  }

  /// Sum over the block, in every thread. All threads call.
  static TAMIS_DEVICE T sum(T value, Scratch& scratch) {
    const T of_wave = wave_sum(value);
    if (lane_id() == 0) scratch.wave_totals[wave_id()] = of_wave;
    __syncthreads();
    const T total = wave_sum(lane_id() < kWaves ? scratch.wave_totals[lane_id()] : T{0});
    __syncthreads();
    return total;
  }
};

}  // namespace tamis::device
