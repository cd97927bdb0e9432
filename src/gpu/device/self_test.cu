// Kernels that try each function of the device headers, for the program gpu_self_test, which knows
// what they must give. TAMIS_THREADS (of a block) and TAMIS_ITEMS (a thread) are its parameters.
#include "gpu/device/basics.cuh"
#include "gpu/device/bits.cuh"
#include "gpu/device/block_scan.cuh"
#include "gpu/device/copy.cuh"
#include "gpu/device/lookback.cuh"
#include "gpu/device/warp.cuh"
#include "gpu/device/xxh3.cuh"

using namespace tamis::device;

namespace {

// Writes result `row` of element i; rows are `count` long.
template <typename T>
TAMIS_DEVICE void put(T* results, u64 count, int row, u64 i, T value) {
  if (i < count) results[static_cast<u64>(row) * count + i] = value;
}

TAMIS_DEVICE u32 as_u32(bool value) { return value ? 1 : 0; }

}  // namespace

// (count) -> (15, count): one row an operation; lanes beyond `count` hold 0.
TAMIS_KERNEL void wave_operations_32(const u32* values, u32* results, u64 count) {
  const u64 i = grid_thread();
  const u32 value = i < count ? values[i] : 0;
  const LaneMask odd = wave_ballot((value & 1) != 0);
  put(results, count, 0, i, wave_sum(value));
  put(results, count, 1, i, wave_min(value));
  put(results, count, 2, i, wave_max(value));
  put(results, count, 3, i, wave_inclusive_sum(value));
  put(results, count, 4, i, wave_exclusive_sum(value));
  put(results, count, 5, i, static_cast<u32>(count_ones(odd)));
  put(results, count, 6, i, static_cast<u32>(count_ones(odd & lanes_before())));
  put(results, count, 7, i, static_cast<u32>(lowest_one(odd)));
  put(results, count, 8, i, static_cast<u32>(count_ones(lanes_with_same(value % 5))));
  put(results, count, 9, i, shuffle(value, (lane_id() * 7 + 3) % kWave));
  put(results, count, 10, i, shuffle_xor(value, 5));
  put(results, count, 11, i, shuffle_up(value, 3));
  put(results, count, 12, i, shuffle_down(value, 3));
  put(results, count, 13, i, as_u32(wave_any(value % 64 == 9)));
  put(results, count, 14, i, as_u32(wave_all(value % 64 != 9)));
}

// (count) -> (6, count)
TAMIS_KERNEL void wave_operations_64(const u64* values, u64* results, u64 count) {
  const u64 i = grid_thread();
  const u64 value = i < count ? values[i] : 0;
  put(results, count, 0, i, wave_sum(value));
  put(results, count, 1, i, wave_max(value));
  put(results, count, 2, i, wave_inclusive_sum(value));
  put(results, count, 3, i, wave_exclusive_sum(value));
  put(results, count, 4, i, shuffle_xor(value, 1));
  put(results, count, 5, i, static_cast<u64>(count_ones(lanes_with_same(value % 3))));
}

// Neighbours exchange values through shared memory, ordered by sync_wave() alone.
TAMIS_KERNEL void wave_exchange(const u32* values, u32* results, u64 count) {
  __shared__ u32 slots[TAMIS_THREADS];
  const u64 i = grid_thread();
  slots[threadIdx.x] = i < count ? values[i] : 0;
  sync_wave();
  const u32 reversed = slots[wave_id() * kWave + kWave - 1 - lane_id()];
  if (i < count) results[i] = reversed;
}

// (count) -> (3, count): sum of the earlier threads of the block, of the block, and again.
TAMIS_KERNEL void block_sums(const u64* values, u64* results, u64 count) {
  using Scan = BlockScan<TAMIS_THREADS, u64>;
  __shared__ Scan::Scratch scratch;
  const u64 i = grid_thread();
  const u64 value = i < count ? values[i] : 0;
  u64 total;
  const u64 before = Scan::exclusive_sum(value, scratch, total);
  put(results, count, 0, i, before);
  put(results, count, 1, i, total);
  put(results, count, 2, i, Scan::sum(value, scratch));
}

// Exclusive prefix sum over the grid in one pass. `words` holds 1 + number of blocks zeros.
TAMIS_KERNEL void scan_exclusive(const u64* values, u64* sums, u64 count, u64* words) {
  using Scan = BlockScan<TAMIS_THREADS, u64>;
  __shared__ Scan::Scratch scratch;
  __shared__ i64 slot;
  __shared__ u64 earlier_tiles;
  const ScanState state{words};
  const i64 tile = take_tile(state, slot);
  const u64 first = (static_cast<u64>(tile) * TAMIS_THREADS + threadIdx.x) * TAMIS_ITEMS;
  u64 items[TAMIS_ITEMS];
  u64 sum = 0;
#pragma unroll
  for (int k = 0; k < TAMIS_ITEMS; ++k) {
    items[k] = first + k < count ? values[first + k] : 0;
    sum += items[k];
  }
  u64 tile_sum;
  u64 before = Scan::exclusive_sum(sum, scratch, tile_sum);
  if (wave_id() == 0) {
    const u64 earlier = sum_of_earlier_tiles(state, tile, tile_sum);
    if (lane_id() == 0) earlier_tiles = earlier;
  }
  __syncthreads();
  before += earlier_tiles;
#pragma unroll
  for (int k = 0; k < TAMIS_ITEMS; ++k) {
    if (first + k < count) sums[first + k] = before;
    before += items[k];
  }
}

// (count), (count) -> (8, count)
TAMIS_KERNEL void bit_operations_32(const u32* values, const u32* masks, u32* results, u64 count) {
  const u64 i = grid_thread();
  const u32 value = i < count ? values[i] : 0;
  const u32 mask = i < count ? masks[i] : 0;
  put(results, count, 0, i, transpose_bits(value));
  put(results, count, 1, i, extract_bits(value, mask));
  put(results, count, 2, i, deposit_bits(value, mask));
  put(results, count, 3, i, static_cast<u32>(bit_width(value)));
  put(results, count, 4, i, static_cast<u32>(highest_one(mask)));
  put(results, count, 5, i, static_cast<u32>(lowest_one(mask)));
  put(results, count, 6, i, static_cast<u32>(count_ones_below(mask, value % 33)));
  put(results, count, 7, i, clamp_to(ceil_div(value, (mask | 1)), 1u, 1000u));
}

// (count), (count) -> (6, count)
TAMIS_KERNEL void bit_operations_64(const u64* values, const u64* masks, u64* results, u64 count) {
  const u64 i = grid_thread();
  if (i >= count) return;
  const u64 value = values[i];
  const u64 mask = masks[i];
  put(results, count, 0, i, extract_bits(value, mask));
  put(results, count, 1, i, deposit_bits(value, mask));
  put(results, count, 2, i, static_cast<u64>(bit_width(value)));
  put(results, count, 3, i, static_cast<u64>(highest_one(mask)));
  put(results, count, 4, i, static_cast<u64>(lowest_one(mask)));
  put(results, count, 5, i, static_cast<u64>(count_ones_below(mask, value % 65)));
}

// Block b copies size[b] bytes from from_offset[b] to to_offset[b].
TAMIS_KERNEL void copy_segments(const u8* from, u8* to, const i64* from_offset,
                                const i64* to_offset, const i64* size) {
  copy_by_block(to + to_offset[blockIdx.x], from + from_offset[blockIdx.x], size[blockIdx.x]);
}

// Block b hashes size[b] bytes from offset[b], twice, so that the scratch memory is used again.
TAMIS_KERNEL void hash_runs(const u8* bytes, const u64* offset, const u64* size, u64* results) {
  using Hash = BlockXxh3<TAMIS_THREADS / kWave>;
  __shared__ Hash::Scratch scratch;
  const u8* run = bytes + offset[blockIdx.x];
  const u64 h = Hash::hash(run, size[blockIdx.x], scratch);
  const u64 again = TAMIS_ITEMS > 1 ? Hash::hash(run, size[blockIdx.x], scratch) : h;
  if (h != again) results[blockIdx.x] = 0;
  if (threadIdx.x == 0 && h == again) results[blockIdx.x] = h;
}

// `count` vectors of 16 bytes, each word increased by 1.
TAMIS_KERNEL void copy_streaming(const u8* from, u8* to, u64 count) {
  for (u64 i = grid_thread(); i < count; i += grid_threads()) {
    Vec16 value = load_16_streaming(from + 16 * i);
    for (u32& word : value.word) word += 1;
    store_16_streaming(to + 16 * i, value);
  }
}

TAMIS_KERNEL void add_number(u64* values, u64 count, u64 number) {
  for (u64 i = grid_thread(); i < count; i += grid_threads()) values[i] += number;
}

// Reverses `count` words within one block, through dynamic shared memory.
TAMIS_KERNEL void reverse_in_shared(u32* values, u32 count) {
  extern __shared__ u32 shared_words[];
  for (u32 i = threadIdx.x; i < count; i += blockDim.x) shared_words[i] = values[i];
  __syncthreads();
  for (u32 i = threadIdx.x; i < count; i += blockDim.x) values[i] = shared_words[count - 1 - i];
}

// Arguments of several sizes, to check how they are passed.
TAMIS_KERNEL void store_arguments(u64* results, u8 a, i16 b, u32 c, double d, i64 e) {
  results[0] = a;
  results[1] = static_cast<u64>(static_cast<i64>(b));
  results[2] = c;
  results[3] = static_cast<u64>(__double_as_longlong(d));
  results[4] = static_cast<u64>(e);
}

// Faults on purpose: what a driver reports after it must reach the user.
TAMIS_KERNEL void write_to_nowhere(u32* address) { *address = 1; }
