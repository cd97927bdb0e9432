// Prefix sums over a whole grid in one pass, by decoupled look-back (D. Merrill and M. Garland,
// "Single-pass Parallel Prefix Scan with Decoupled Look-back", NVIDIA NVR-2016-002): a tile first
// publishes its own sum, then adds up its predecessors' until it meets one that knows all before
// it.
//
// Why it is correct:
// - Status and sum share one naturally aligned 64-bit word, so one load sees both or neither. The
//   sum is all that passes between tiles, hence relaxed loads and stores suffice: nothing has to be
//   ordered around the word. Each word is written by one thread, empty -> partial -> complete, and
//   coherence forbids that a reader sees it go back.
//   A kernel that also reads what an earlier tile wrote elsewhere needs fences of its own.
// - A tile waits for lower tiles only, and tiles are numbered in the order in which blocks start
//   (take_tile), so whoever is waited for is running and the lowest unfinished tile never waits.
#pragma once

#include "gpu/device/warp.cuh"

namespace tamis::device {

/// Sums must stay below 2^62; the two high bits of a word are its status.
inline constexpr u64 kTilePartial = u64{1} << 62;
inline constexpr u64 kTileComplete = u64{2} << 62;
inline constexpr u64 kTileSumMask = kTilePartial - 1;

/// What the tiles of one scan share. The words lie in global memory and are zero when the kernel
/// starts: one that numbers the tiles and one a tile (gpu/scan_state.hpp gives the size).
struct ScanState {
  u64* words;
  TAMIS_DEVICE u64* ticket() const { return words; }
  TAMIS_DEVICE u64* tile(i64 index) const { return words + 1 + index; }
};

TAMIS_DEVICE void store_relaxed(u64* word, u64 value) {
#if defined(TAMIS_GPU_SIM)
  simt::store(word, value);
#elif defined(TAMIS_GPU_HIP)
  __hip_atomic_store(word, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
#else
  asm volatile("st.relaxed.gpu.u64 [%0], %1;" : : "l"(word), "l"(value) : "memory");
#endif
}
TAMIS_DEVICE u64 load_relaxed(const u64* word) {
#if defined(TAMIS_GPU_SIM)
  return simt::load(word);
#elif defined(TAMIS_GPU_HIP)
  return __hip_atomic_load(word, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
#else
  u64 value;
  asm volatile("ld.relaxed.gpu.u64 %0, [%1];" : "=l"(value) : "l"(word) : "memory");
  return value;
#endif
}

/// The tile of this block, one each. All threads call, once; `slot` lies in shared memory.
TAMIS_DEVICE i64 take_tile(const ScanState& state, i64& slot) {
  if (threadIdx.x == 0) slot = static_cast<i64>(atomicAdd(state.ticket(), u64{1}));
  __syncthreads();
  return slot;
}

/// The words of up to kWave predecessors, lane 0 the nearest, once they suffice to go on: none is
/// empty up to the nearest complete one.
TAMIS_DEVICE u64 await_window(const ScanState& state, i64 end, LaneMask& complete) {
  const i64 index = end - 1 - lane_id();
  for (;;) {
    // Before the first tile the sum is complete, and 0.
    const u64 word = index >= 0 ? load_relaxed(state.tile(index)) : kTileComplete;
    const LaneMask empty = wave_ballot((word & ~kTileSumMask) == 0);
    complete = wave_ballot((word & kTileComplete) != 0);
    const LaneMask nearer = (complete & (~complete + 1)) - 1;  // all lanes when none is complete
    if ((empty & nearer) == 0) return word;
  }
}

/// Publishes the tile's sum and returns that of all earlier tiles, in every lane. The lanes of one
/// wave of the block call it, once a tile; every tile below the highest must come to call it too.
TAMIS_DEVICE u64 sum_of_earlier_tiles(const ScanState& state, i64 tile, u64 tile_sum) {
  if (lane_id() == 0) {
    store_relaxed(state.tile(tile), (tile == 0 ? kTileComplete : kTilePartial) | tile_sum);
  }
  if (tile == 0) return 0;
  u64 earlier = 0;
  LaneMask complete = 0;
  for (i64 end = tile; complete == 0; end -= kWave) {
    const u64 word = await_window(state, end, complete);
    const int last = complete != 0 ? lowest_one(complete) : kWave - 1;
    earlier += wave_sum(lane_id() <= last ? word & kTileSumMask : u64{0});
  }
  if (lane_id() == 0) store_relaxed(state.tile(tile), kTileComplete | (earlier + tile_sum));
  return earlier;
}

}  // namespace tamis::device
