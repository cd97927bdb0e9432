// What every kernel needs: fixed-width types, the macros that differ between CUDA and HIP, small
// arithmetic. NVRTC and hipRTC compile this without any toolkit header; the wave size is a constant
// of the compilation (TAMIS_WAVE), never a literal in logic.
#pragma once

// Run-time compilation defines these; nvcc and hipcc, used for debugging, do not. Tests that run
// device text on the host (tests/simulator) define TAMIS_GPU_SIM besides one of them.
#if !defined(TAMIS_GPU_CUDA) && !defined(TAMIS_GPU_HIP)
#ifdef __HIP__
#define TAMIS_GPU_HIP 1
#else
#define TAMIS_GPU_CUDA 1
#endif
#endif
#ifndef TAMIS_WAVE
#ifdef TAMIS_GPU_HIP
#define TAMIS_WAVE 64
#else
#define TAMIS_WAVE 32
#endif
#endif

#define TAMIS_DEVICE __device__ __forceinline__
#define TAMIS_KERNEL extern "C" __global__

namespace tamis::device {

using i8 = signed char;
using u8 = unsigned char;
using i16 = short;
using u16 = unsigned short;
using i32 = int;
using u32 = unsigned int;
using i64 = long long;
using u64 = unsigned long long;
static_assert(sizeof(u16) == 2 && sizeof(u32) == 4 && sizeof(u64) == 8, "unexpected type sizes");

/// Lanes of a wave (a warp on NVIDIA): 32 or 64.
inline constexpr int kWave = TAMIS_WAVE;

template <typename T>
TAMIS_DEVICE T min_of(T a, T b) {
  return b < a ? b : a;
}
template <typename T>
TAMIS_DEVICE T max_of(T a, T b) {
  return a < b ? b : a;
}
template <typename T>
TAMIS_DEVICE T clamp_to(T value, T low, T high) {
  return min_of(max_of(value, low), high);
}

/// Quotient rounded up; both at least 0, `b` not 0.
template <typename T>
TAMIS_DEVICE T ceil_div(T a, T b) {
  return a / b + (a % b != 0);
}

/// Number of bits that the value takes: 0 for 0, 1 for 1, 2 for 2 and 3.
TAMIS_DEVICE int bit_width(u32 value) { return 32 - __clz(static_cast<int>(value)); }
TAMIS_DEVICE int bit_width(u64 value) { return 64 - __clzll(static_cast<i64>(value)); }

/// Index of this thread in a one-dimensional grid, and how many threads the grid has.
TAMIS_DEVICE u64 grid_thread() { return u64{blockIdx.x} * blockDim.x + threadIdx.x; }
TAMIS_DEVICE u64 grid_threads() { return u64{gridDim.x} * blockDim.x; }

}  // namespace tamis::device
