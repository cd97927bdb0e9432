// Runs device text on the host: a thread a lane, barriers where the hardware has lockstep. Far too
// slow for anything but checking the logic of the device headers, for both wave sizes, on machines
// without a GPU. Include it before any device header; TAMIS_WAVE comes from the build.
#pragma once

#include <atomic>
#include <barrier>
#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#ifndef TAMIS_WAVE
#define TAMIS_WAVE 32
#endif
#define TAMIS_GPU_HIP 1
#define __device__
#define __forceinline__ inline
#define __shared__ static
#define __global__
#define __HIP_MEMORY_SCOPE_AGENT 0
#define __builtin_amdgcn_fence(order, scope) static_cast<void>(0)
#define __builtin_amdgcn_wave_barrier() ::tamis::host_simt::sync_lanes()
#define __hip_atomic_load(word, order, scope) __atomic_load_n(word, order)
#define __hip_atomic_store(word, value, order, scope) __atomic_store_n(word, value, order)

namespace tamis::host_simt {

struct Index {
  unsigned x = 0;
};

// The lanes of one wave meet at a barrier; a slot a lane carries what they exchange.
struct WaveState {
  std::barrier<> barrier{TAMIS_WAVE};
  std::uint64_t slots[TAMIS_WAVE] = {};
};

inline thread_local WaveState* t_wave = nullptr;
inline thread_local std::barrier<>* t_block = nullptr;

inline void sync_lanes() { t_wave->barrier.arrive_and_wait(); }

}  // namespace tamis::host_simt

inline thread_local tamis::host_simt::Index threadIdx;
inline thread_local tamis::host_simt::Index blockIdx;
inline thread_local tamis::host_simt::Index blockDim;
inline thread_local tamis::host_simt::Index gridDim;

inline void __syncthreads() { tamis::host_simt::t_block->arrive_and_wait(); }

template <typename T>
T __shfl(T value, int from) {
  auto& wave = *tamis::host_simt::t_wave;
  std::memcpy(&wave.slots[threadIdx.x % TAMIS_WAVE], &value, sizeof value);
  wave.barrier.arrive_and_wait();
  T result;
  std::memcpy(&result, &wave.slots[from], sizeof result);
  wave.barrier.arrive_and_wait();
  return result;
}

inline unsigned long long __ballot(bool predicate) {
  unsigned long long mask = 0;
  auto& wave = *tamis::host_simt::t_wave;
  wave.slots[threadIdx.x % TAMIS_WAVE] = predicate ? 1 : 0;
  wave.barrier.arrive_and_wait();
  for (int lane = 0; lane < TAMIS_WAVE; ++lane) mask |= (wave.slots[lane] & 1ull) << lane;
  wave.barrier.arrive_and_wait();
  return mask;
}

inline int __popc(unsigned value) { return std::popcount(value); }
inline int __popcll(unsigned long long value) { return std::popcount(value); }
inline int __clz(int value) { return std::countl_zero(static_cast<unsigned>(value)); }
inline int __clzll(long long value) {
  return std::countl_zero(static_cast<unsigned long long>(value));
}
inline int __ffs(int value) {
  return value == 0 ? 0 : std::countr_zero(static_cast<unsigned>(value)) + 1;
}
inline int __ffsll(long long value) {
  return value == 0 ? 0 : std::countr_zero(static_cast<unsigned long long>(value)) + 1;
}
inline unsigned long long atomicAdd(unsigned long long* word, unsigned long long value) {
  return std::atomic_ref<unsigned long long>(*word).fetch_add(value);
}

namespace tamis::host_simt {

/// Runs one block of `threads`, a multiple of the wave size; `kernel` is called by every thread.
inline void run_block(unsigned threads, const std::function<void()>& kernel) {
  std::barrier<> block(static_cast<std::ptrdiff_t>(threads));
  std::vector<std::unique_ptr<WaveState>> waves;
  for (unsigned w = 0; w < threads / TAMIS_WAVE; ++w)
    waves.push_back(std::make_unique<WaveState>());
  std::vector<std::thread> lanes;
  for (unsigned t = 0; t < threads; ++t) {
    lanes.emplace_back([&, t] {
      threadIdx.x = t;
      blockDim.x = threads;
      gridDim.x = 1;
      t_block = &block;
      t_wave = waves[t / TAMIS_WAVE].get();
      kernel();
    });
  }
  for (std::thread& lane : lanes) lane.join();
}

}  // namespace tamis::host_simt
