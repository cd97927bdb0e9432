// CUDA's functions for lanes, waves, bits and atomics, for device text that runs on the host (block
// by block, see block_executor.hpp). Include it before any device text. Stricter than hardware: all
// lanes take part in every operation of waves and blocks, or it is an error.
//
// TAMIS_GPU_SIM comes on top of TAMIS_GPU_CUDA or TAMIS_GPU_HIP: text with inline assembly, or with
// loops that wait for memory, has a branch for it that uses load() and store() below.
#pragma once

#include "simulator/lane_interface.hpp"

#define TAMIS_GPU_SIM 1
#ifndef TAMIS_WAVE
#define TAMIS_WAVE 32
#endif
#if !defined(TAMIS_GPU_CUDA) && !defined(TAMIS_GPU_HIP)
#define TAMIS_GPU_CUDA 1
#endif

#define __device__
#define __host__
#define __forceinline__ inline
#define __align__(n) __attribute__((aligned(n)))

namespace tamis::simt {

// Neither is zero at the start: that keeps them out of the memory that each block finds
// overwritten.
inline Lane g_lane{};
inline constexpr Services kNoServices{nullptr, nullptr, nullptr, nullptr};
inline const Services* g_services = &kNoServices;

inline constexpr unsigned kWaveSize = TAMIS_WAVE;
#if TAMIS_WAVE == 64
using Mask = unsigned long long;
#else
using Mask = unsigned;
#endif

[[noreturn]] inline void fail(const char* why) { g_services->fail(why); }
inline void pause() { g_services->pause(); }

/// Access to words that other blocks or lanes change meanwhile, of any order: lanes switch at fixed
/// points only. A load lets the others go on.
template <typename T>
inline T load(const T* word) {
  pause();
  return *static_cast<const volatile T*>(word);
}
template <typename T>
inline void store(T* word, T value) {
  *static_cast<volatile T*>(word) = value;
}

template <typename T>
inline Word to_word(T value) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "waves exchange 4 or 8 bytes");
  Word word = 0;
  __builtin_memcpy(&word, &value, sizeof value);
  return word;
}
template <typename T>
inline T from_word(Word word) {
  T value;
  __builtin_memcpy(&value, &word, sizeof value);
  return value;
}

inline const Word* exchange(const char* operation, Mask mask, Word value) {
  if (mask != static_cast<Mask>(~Mask{0})) fail("a mask of lanes other than all of the wave");
  return g_services->exchange(operation, value);
}

/// The value of lane `from`, for each lane another.
template <typename T>
inline T take_from(const char* operation, Mask mask, T value, unsigned from) {
  return from_word<T>(exchange(operation, mask, to_word(value))[from % kWaveSize]);
}

}  // namespace tamis::simt

inline tamis::simt::Index& threadIdx = tamis::simt::g_lane.thread;
inline tamis::simt::Index& blockIdx = tamis::simt::g_lane.block;
inline tamis::simt::Index& blockDim = tamis::simt::g_lane.block_size;
inline tamis::simt::Index& gridDim = tamis::simt::g_lane.grid_size;
inline constexpr int warpSize = TAMIS_WAVE;

// --- the block, fences -------------------------------------------------------------------------
inline void __syncthreads(int line = __builtin_LINE()) {
  tamis::simt::g_services->meet("__syncthreads", line, false);
}
inline int __syncthreads_count(int predicate, int line = __builtin_LINE()) {
  return static_cast<int>(
      tamis::simt::g_services->meet("__syncthreads_count", line, predicate != 0));
}
inline int __syncthreads_or(int predicate, int line = __builtin_LINE()) {
  return tamis::simt::g_services->meet("__syncthreads_or", line, predicate != 0) != 0;
}
inline int __syncthreads_and(int predicate, int line = __builtin_LINE()) {
  return tamis::simt::g_services->meet("__syncthreads_and", line, predicate == 0) == 0;
}
inline void __threadfence() {}
inline void __threadfence_block() {}
inline void __threadfence_system() {}
inline void __nanosleep(unsigned) { tamis::simt::pause(); }
[[noreturn]] inline void __trap() { tamis::simt::fail("__trap()"); }

// --- waves, as CUDA spells them ----------------------------------------------------------------
inline constexpr tamis::simt::Mask kEveryLane = static_cast<tamis::simt::Mask>(~0ull);

inline void __syncwarp(tamis::simt::Mask mask = kEveryLane) {
  tamis::simt::exchange("__syncwarp", mask, 0);
}
inline tamis::simt::Mask __ballot_sync(tamis::simt::Mask mask, int predicate) {
  const tamis::simt::Word* all = tamis::simt::exchange("__ballot_sync", mask, predicate != 0);
  return static_cast<tamis::simt::Mask>(all[tamis::simt::kVotesSlot]);
}
inline int __any_sync(tamis::simt::Mask mask, int predicate) {
  return __ballot_sync(mask, predicate) != 0;
}
inline int __all_sync(tamis::simt::Mask mask, int predicate) {
  return __ballot_sync(mask, predicate) == kEveryLane;
}
template <typename T>
inline T __shfl_sync(tamis::simt::Mask mask, T value, int from, int width = TAMIS_WAVE) {
  const unsigned lane = tamis::simt::g_lane.in_wave;
  const unsigned within = static_cast<unsigned>(width) - 1;
  return tamis::simt::take_from("__shfl_sync", mask, value,
                                (lane & ~within) | (static_cast<unsigned>(from) & within));
}
template <typename T>
inline T __shfl_up_sync(tamis::simt::Mask mask, T value, unsigned delta, int width = TAMIS_WAVE) {
  const unsigned lane = tamis::simt::g_lane.in_wave;
  const unsigned within = lane & (static_cast<unsigned>(width) - 1);
  return tamis::simt::take_from("__shfl_up_sync", mask, value,
                                within >= delta ? lane - delta : lane);
}
template <typename T>
inline T __shfl_down_sync(tamis::simt::Mask mask, T value, unsigned delta, int width = TAMIS_WAVE) {
  const unsigned lane = tamis::simt::g_lane.in_wave;
  const unsigned within = lane & (static_cast<unsigned>(width) - 1);
  return tamis::simt::take_from(
      "__shfl_down_sync", mask, value,
      within + delta < static_cast<unsigned>(width) ? lane + delta : lane);
}
template <typename T>
inline T __shfl_xor_sync(tamis::simt::Mask mask, T value, int bits, int width = TAMIS_WAVE) {
  const unsigned lane = tamis::simt::g_lane.in_wave;
  const unsigned from = lane ^ static_cast<unsigned>(bits);
  const unsigned end = (lane & ~(static_cast<unsigned>(width) - 1)) + static_cast<unsigned>(width);
  return tamis::simt::take_from("__shfl_xor_sync", mask, value, from < end ? from : lane);
}
template <typename T>
inline tamis::simt::Mask __match_any_sync(tamis::simt::Mask mask, T value) {
  const tamis::simt::Word mine = tamis::simt::to_word(value);
  const tamis::simt::Word* all = tamis::simt::exchange("__match_any_sync", mask, mine);
  tamis::simt::Mask same = 0;
  for (unsigned k = 0; k < tamis::simt::kWaveSize; ++k) {
    same |= static_cast<tamis::simt::Mask>(all[k] == mine) << k;
  }
  return same;
}

namespace tamis::simt {
template <typename T, typename Combine>
inline T reduce(const char* operation, Mask mask, T value, const Combine& combine) {
  const Word* all = exchange(operation, mask, to_word(value));
  T result = from_word<T>(all[0]);
  for (unsigned k = 1; k < kWaveSize; ++k) result = combine(result, from_word<T>(all[k]));
  return result;
}
}  // namespace tamis::simt

#define TAMIS_SIM_REDUCE(name, T, expression)                                             \
  inline T name(tamis::simt::Mask mask, T value) {                                        \
    return tamis::simt::reduce(#name, mask, value,                                        \
                               [](T a, T b) -> T { return static_cast<T>(expression); }); \
  }
TAMIS_SIM_REDUCE(__reduce_add_sync, unsigned, a + b)
TAMIS_SIM_REDUCE(__reduce_add_sync, int, static_cast<unsigned>(a) + static_cast<unsigned>(b))
TAMIS_SIM_REDUCE(__reduce_min_sync, unsigned, b < a ? b : a)
TAMIS_SIM_REDUCE(__reduce_min_sync, int, b < a ? b : a)
TAMIS_SIM_REDUCE(__reduce_max_sync, unsigned, a < b ? b : a)
TAMIS_SIM_REDUCE(__reduce_max_sync, int, a < b ? b : a)
TAMIS_SIM_REDUCE(__reduce_and_sync, unsigned, a& b)
TAMIS_SIM_REDUCE(__reduce_or_sync, unsigned, a | b)
TAMIS_SIM_REDUCE(__reduce_xor_sync, unsigned, a ^ b)
#undef TAMIS_SIM_REDUCE

// --- waves and atomic access, as HIP spells them -----------------------------------------------
#ifdef TAMIS_GPU_HIP
#define __HIP_MEMORY_SCOPE_AGENT 0
#define __builtin_amdgcn_fence(order, scope) static_cast<void>(0)
#define __builtin_amdgcn_wave_barrier() ::__syncwarp()
#define __hip_atomic_load(word, order, scope) ::tamis::simt::load(word)
#define __hip_atomic_store(word, value, order, scope) ::tamis::simt::store(word, value)
template <typename T>
inline T __shfl(T value, int from) {
  return __shfl_sync(kEveryLane, value, from);
}
inline unsigned long long __ballot(bool predicate) { return __ballot_sync(kEveryLane, predicate); }
#endif

namespace tamis::simt {
__extension__ typedef __int128 Wide;
__extension__ typedef unsigned __int128 UnsignedWide;
}  // namespace tamis::simt

// --- bits --------------------------------------------------------------------------------------
inline int __popc(unsigned v) { return __builtin_popcount(v); }
inline int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
inline int __clz(int v) { return v == 0 ? 32 : __builtin_clz(static_cast<unsigned>(v)); }
inline int __clzll(long long v) {
  return v == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(v));
}
inline int __ffs(int v) { return __builtin_ffs(v); }
inline int __ffsll(long long v) { return __builtin_ffsll(v); }
inline unsigned long long __brevll(unsigned long long v) {
  unsigned long long r = 0;
  for (int k = 0; k < 64; ++k, v >>= 1) r = (r << 1) | (v & 1);
  return r;
}
inline unsigned __brev(unsigned v) { return static_cast<unsigned>(__brevll(v) >> 32); }
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  const unsigned long long both = (static_cast<unsigned long long>(high) << 32) | low;
  return static_cast<unsigned>((both << (shift & 31)) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  const unsigned long long both = (static_cast<unsigned long long>(high) << 32) | low;
  return static_cast<unsigned>(both >> (shift & 31));
}
inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
inline unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}
inline unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
  const unsigned long long bytes = (static_cast<unsigned long long>(b) << 32) | a;
  unsigned result = 0;
  for (int k = 0; k < 4; ++k) {
    const unsigned choice = selector >> (4 * k);
    unsigned byte = static_cast<unsigned>(bytes >> (8 * (choice & 7))) & 0xff;
    if ((choice & 8) != 0) byte = (byte & 0x80) != 0 ? 0xff : 0;
    result |= byte << (8 * k);
  }
  return result;
}
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<unsigned long long>(a) * b) >> 32);
}
inline int __mulhi(int a, int b) { return static_cast<int>((static_cast<long long>(a) * b) >> 32); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>((static_cast<tamis::simt::UnsignedWide>(a) * b) >> 64);
}
inline long long __mul64hi(long long a, long long b) {
  return static_cast<long long>((static_cast<tamis::simt::Wide>(a) * b) >> 64);
}
