// Memory access in pieces of 16 bytes, with hints for data that is touched once, and the copy of a
// run of bytes by a block wherever it starts.
#pragma once

#include "gpu/device/basics.cuh"

namespace tamis::device {

/// Four words that travel in one instruction; addresses are multiples of 16 bytes.
struct alignas(16) Vec16 {
  u32 word[4];
};

#ifdef TAMIS_GPU_HIP
typedef u32 NativeVec16 __attribute__((ext_vector_type(4)));  // NOLINT: an attribute of the type
#else
using NativeVec16 = uint4;
#endif
static_assert(sizeof(NativeVec16) == 16, "a vector of 16 bytes");

TAMIS_DEVICE Vec16 from_native(NativeVec16 v) { return {{v.x, v.y, v.z, v.w}}; }
TAMIS_DEVICE NativeVec16 to_native(Vec16 v) {
  NativeVec16 native;
  native.x = v.word[0];
  native.y = v.word[1];
  native.z = v.word[2];
  native.w = v.word[3];
  return native;
}

TAMIS_DEVICE Vec16 load_16(const void* address) {
  return from_native(*static_cast<const NativeVec16*>(address));
}
TAMIS_DEVICE void store_16(void* address, Vec16 value) {
  *static_cast<NativeVec16*>(address) = to_native(value);
}

/// For data that is read once: leaves the caches to others.
TAMIS_DEVICE Vec16 load_16_streaming(const void* address) {
#ifdef TAMIS_GPU_HIP
  return from_native(__builtin_nontemporal_load(static_cast<const NativeVec16*>(address)));
#else
  return from_native(__ldcs(static_cast<const NativeVec16*>(address)));
#endif
}
/// For data that nothing reads soon.
TAMIS_DEVICE void store_16_streaming(void* address, Vec16 value) {
#ifdef TAMIS_GPU_HIP
  __builtin_nontemporal_store(to_native(value), static_cast<NativeVec16*>(address));
#else
  __stcs(static_cast<NativeVec16*>(address), to_native(value));
#endif
}

/// Asks for a line of 128 bytes that is needed later.
TAMIS_DEVICE void prefetch_line(const void* address) {
#if defined(TAMIS_GPU_CUDA) && !defined(TAMIS_GPU_SIM)
  asm volatile("prefetch.global.L2 [%0];" : : "l"(address));
#else
  static_cast<void>(address);
#endif
}

/// Copies `size` bytes, all threads of a one-dimensional block together. Any alignment; 16 bytes at
/// a time where source and target are equally far from a multiple of 16. No barrier at the end.
TAMIS_DEVICE void copy_by_block(u8* to, const u8* from, i64 size) {
  const i64 thread = threadIdx.x;
  const i64 threads = blockDim.x;
  const u64 target = reinterpret_cast<u64>(to);
  if (((target ^ reinterpret_cast<u64>(from)) & 15) != 0) {
    for (i64 i = thread; i < size; i += threads) to[i] = from[i];
    return;
  }
  const i64 head = min_of(static_cast<i64>(-target & 15), size);
  const i64 vectors = (size - head) / 16;
  const i64 tail = head + 16 * vectors;
  for (i64 i = thread; i < head; i += threads) to[i] = from[i];
  for (i64 i = thread; i < vectors; i += threads) {
    store_16(to + head + 16 * i, load_16(from + head + 16 * i));
  }
  for (i64 i = tail + thread; i < size; i += threads) to[i] = from[i];
}

/// Copies `size` bytes from whole words to any address, all threads of a one-dimensional block
/// together, 16 bytes a store. Only words that hold bytes of the run are read. No barrier at the
/// end.
TAMIS_DEVICE void copy_words_by_block(u8* to, const u32* from, u32 size) {
  const u32 head = min_of(static_cast<u32>(-reinterpret_cast<u64>(to) & 15), size);
  const u32 vectors = (size - head) / 16;
  const u32 tail = head + 16 * vectors;
  const u8* bytes = reinterpret_cast<const u8*>(from);
  if (threadIdx.x < head) to[threadIdx.x] = bytes[threadIdx.x];
  const u32 shift = head % 4 * 8;
  const u32* words = from + head / 4;
  for (u32 i = threadIdx.x; i < vectors; i += blockDim.x) {
    u32 word[5];
#pragma unroll
    for (int k = 0; k < 4; ++k) word[k] = words[4 * i + k];
    word[4] = shift != 0 ? words[4 * i + 4] : 0;
    Vec16 out;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      out.word[k] = shift != 0 ? (word[k] >> shift) | (word[k + 1] << (32 - shift)) : word[k];
    }
    store_16(to + head + 16 * i, out);
  }
  if (threadIdx.x < size - tail) to[tail + threadIdx.x] = bytes[tail + threadIdx.x];
}

}  // namespace tamis::device
