// Operations among the lanes of one wave. Every lane of the wave must take part in every call: no
// masks of participants, so that the same text is right on CUDA and HIP. Lanes without work pass a
// neutral value.
#pragma once

#include "gpu/device/basics.cuh"

namespace tamis::device {

/// One bit a lane, lane 0 lowest.
#if TAMIS_WAVE == 64
using LaneMask = u64;
#elif TAMIS_WAVE == 32
using LaneMask = u32;
#else
#error "a wave has 32 or 64 lanes"
#endif
inline constexpr LaneMask kAllLanes = ~LaneMask{0};

/// Index of this lane and of this wave; the block is one-dimensional.
TAMIS_DEVICE int lane_id() { return static_cast<int>(threadIdx.x % kWave); }
TAMIS_DEVICE int wave_id() { return static_cast<int>(threadIdx.x / kWave); }

TAMIS_DEVICE int count_ones(u32 value) { return __popc(value); }
TAMIS_DEVICE int count_ones(u64 value) { return __popcll(value); }
/// Index of the lowest set bit; -1 when there is none.
TAMIS_DEVICE int lowest_one(u32 value) { return __ffs(static_cast<int>(value)) - 1; }
TAMIS_DEVICE int lowest_one(u64 value) { return __ffsll(static_cast<i64>(value)) - 1; }

/// Bits of the lanes before this one.
TAMIS_DEVICE LaneMask lanes_before() { return (LaneMask{1} << lane_id()) - 1; }

/// Makes writes of the wave's lanes to shared and global memory visible to its other lanes.
TAMIS_DEVICE void sync_wave() {
#ifdef TAMIS_GPU_HIP
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
#else
  __syncwarp();
#endif
}

/// The lanes whose predicate holds.
TAMIS_DEVICE LaneMask wave_ballot(bool predicate) {
#ifdef TAMIS_GPU_HIP
  return static_cast<LaneMask>(__ballot(predicate));
#else
  return __ballot_sync(kAllLanes, predicate);
#endif
}
TAMIS_DEVICE bool wave_any(bool predicate) {
#ifdef TAMIS_GPU_HIP
  return wave_ballot(predicate) != 0;
#else
  return __any_sync(kAllLanes, predicate) != 0;
#endif
}
TAMIS_DEVICE bool wave_all(bool predicate) {
#ifdef TAMIS_GPU_HIP
  return wave_ballot(predicate) == kAllLanes;
#else
  return __all_sync(kAllLanes, predicate) != 0;
#endif
}

/// A barrier of the block; whether the predicate holds in all of its threads.
TAMIS_DEVICE bool block_all(bool predicate) { return __syncthreads_and(predicate ? 1 : 0) != 0; }

/// The value of lane `from`, which may differ between lanes. T has 4 or 8 bytes, here and below.
template <typename T>
TAMIS_DEVICE T shuffle(T value, int from) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "shuffles move 4 or 8 bytes");
#ifdef TAMIS_GPU_HIP
  return __shfl(value, from);
#else
  return __shfl_sync(kAllLanes, value, from);
#endif
}
/// A value that all lanes have alike, made so that compilers know: branches on it are then taken by
/// the whole wave, which spares the checks around wave operations.
template <typename T>
TAMIS_DEVICE T wave_uniform(T value) {
#ifdef TAMIS_GPU_HIP
  return value;
#else
  return shuffle(value, 0);
#endif
}

/// The value of the lane whose index differs in the bits of `mask`.
template <typename T>
TAMIS_DEVICE T shuffle_xor(T value, int mask) {
#ifdef TAMIS_GPU_HIP
  return shuffle(value, lane_id() ^ mask);
#else
  return __shfl_xor_sync(kAllLanes, value, mask);
#endif
}
/// The value of the lane `distance` below; the first lanes keep their own.
template <typename T>
TAMIS_DEVICE T shuffle_up(T value, int distance) {
#ifdef TAMIS_GPU_HIP
  return shuffle(value, lane_id() >= distance ? lane_id() - distance : lane_id());
#else
  return __shfl_up_sync(kAllLanes, value, static_cast<unsigned>(distance));
#endif
}
/// The value of the lane `distance` above; the last lanes keep their own.
template <typename T>
TAMIS_DEVICE T shuffle_down(T value, int distance) {
#ifdef TAMIS_GPU_HIP
  return shuffle(value, lane_id() + distance < kWave ? lane_id() + distance : lane_id());
#else
  return __shfl_down_sync(kAllLanes, value, static_cast<unsigned>(distance));
#endif
}

// From sm_80 on the hardware reduces u32.
#if defined(TAMIS_GPU_CUDA) && !(defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800)
#define TAMIS_HAS_WAVE_REDUCTIONS 1
#endif

// Reductions: every lane gets the result. The tree is fixed, so floating-point sums are the same in
// every run on devices of one wave size.
template <typename T>
TAMIS_DEVICE T wave_sum(T value) {
#pragma unroll
  for (int step = kWave / 2; step > 0; step /= 2) value += shuffle_xor(value, step);
  return value;
}
TAMIS_DEVICE u32 wave_sum(u32 value) {
#ifndef TAMIS_HAS_WAVE_REDUCTIONS
  return wave_sum<u32>(value);
#else
  return __reduce_add_sync(kAllLanes, value);
#endif
}
template <typename T>
TAMIS_DEVICE T wave_or(T value) {
#pragma unroll
  for (int step = kWave / 2; step > 0; step /= 2) value |= shuffle_xor(value, step);
  return value;
}
TAMIS_DEVICE u32 wave_or(u32 value) {
#ifndef TAMIS_HAS_WAVE_REDUCTIONS
  return wave_or<u32>(value);
#else
  return __reduce_or_sync(kAllLanes, value);
#endif
}
template <typename T>
TAMIS_DEVICE T wave_min(T value) {
#pragma unroll
  for (int step = kWave / 2; step > 0; step /= 2) value = min_of(value, shuffle_xor(value, step));
  return value;
}
template <typename T>
TAMIS_DEVICE T wave_max(T value) {
#pragma unroll
  for (int step = kWave / 2; step > 0; step /= 2) value = max_of(value, shuffle_xor(value, step));
  return value;
}

/// The sum of the lane's value and that of the lane `step` below, where that is in the same run of
/// kLanes lanes, a power of two.
template <int kLanes>
TAMIS_DEVICE u32 add_from_below(u32 value, int step) {
#if defined(TAMIS_GPU_CUDA) && !defined(TAMIS_GPU_SIM)
  // The shuffle itself says whether there is such a lane.
  asm volatile(
      "{ .reg .u32 below; .reg .pred there;\n"
      "shfl.sync.up.b32 below|there, %0, %1, %2, 0xffffffff;\n"
      "@there add.u32 %0, %0, below; }"
      : "+r"(value)
      : "r"(step), "n"((kWave - kLanes) << 8));
  return value;
#else
  const u32 below = shuffle_up(value, step);
  return lane_id() % kLanes >= step ? value + below : value;
#endif
}

/// Sum over this lane and those before it.
template <typename T>
TAMIS_DEVICE T wave_inclusive_sum(T value) {
#pragma unroll
  for (int step = 1; step < kWave; step *= 2) {
    const T before = shuffle_up(value, step);
    if (lane_id() >= step) value += before;
  }
  return value;
}
TAMIS_DEVICE u32 wave_inclusive_sum(u32 value) {
#pragma unroll
  for (int step = 1; step < kWave; step *= 2) value = add_from_below<kWave>(value, step);
  return value;
}
/// Sum over the lanes before this one; 0 in lane 0.
template <typename T>
TAMIS_DEVICE T wave_exclusive_sum(T value) {
  const T before = shuffle_up(wave_inclusive_sum(value), 1);
  return lane_id() == 0 ? T{0} : before;
}

/// The lanes that hold the same value as this one.
template <typename T>
TAMIS_DEVICE LaneMask lanes_with_same(T value) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "integers of 4 or 8 bytes");
#ifdef TAMIS_GPU_HIP
  LaneMask same = kAllLanes;
#pragma unroll
  for (int bit = 0; bit < static_cast<int>(8 * sizeof(T)); ++bit) {
    const bool set = ((value >> bit) & 1) != 0;
    const LaneMask lanes = wave_ballot(set);
    same &= set ? lanes : ~lanes;
  }
  return same;
#else
  return __match_any_sync(kAllLanes, value);
#endif
}

}  // namespace tamis::device
