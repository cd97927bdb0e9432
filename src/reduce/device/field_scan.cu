// One look at a field of TAMIS_VALUE (4 or 8) bytes a value, at the speed of memory: extremes,
// special values, fill (see reduce/field_scan.hpp). Blocks have TAMIS_THREADS threads.
#include "reduce/device/field_scan.cuh"

using namespace tamis::device;

namespace {

constexpr int kBytes = TAMIS_VALUE;
constexpr int kVectors = 4;  // that a thread has under way at once
constexpr int kWaves = TAMIS_THREADS / kWave;
using Word = FloatBits<kBytes>::Word;
using Tally = ThreadTally<kBytes>;

// Tiles of consecutive vectors go to the blocks in turn; the first vector lies on 16 bytes.
TAMIS_DEVICE void add_aligned(Tally& tally, const Word* values, u64 first, u64 vectors,
                              const Tally::Match& fill) {
  constexpr u64 kStride = TAMIS_THREADS;
  constexpr u64 kTile = kVectors * kStride;
  const auto load = [&](u64 v) {
    return load_16_streaming(values + first + v * Tally::kPerVector);
  };
  for (u64 at = blockIdx.x * kTile; at < vectors; at += gridDim.x * kTile) {
    const u64 mine = at + threadIdx.x;
    if (at + kTile <= vectors) {
      Vec16 batch[kVectors];
#pragma unroll
      for (int k = 0; k < kVectors; ++k) batch[k] = load(mine + static_cast<u64>(k) * kStride);
      tally.add_vectors(batch, first + mine * Tally::kPerVector, kStride * Tally::kPerVector, fill);
      continue;
    }
    for (u64 v = mine; v < vectors; v += kStride) {
      const Vec16 single[1] = {load(v)};
      tally.add_vectors(single, first + v * Tally::kPerVector, 0, fill);
    }
  }
}

// Over the block; thread 0 has the result.
TAMIS_DEVICE WideTally join_block(WideTally mine) {
  __shared__ WideTally of_wave[kWaves];
  mine.join_wave();
  if (lane_id() == 0) of_wave[wave_id()] = mine;
  __syncthreads();
  if (wave_id() != 0) return mine;
  WideTally all{};
  if (lane_id() < kWaves) all = of_wave[lane_id()];
  all.join_wave();
  return all;
}

}  // namespace

// `result` begins as zeros. Values lie on multiples of their size. Any grid will do.
TAMIS_KERNEL void field_tally(const Word* values, u64 count, u32 has_fill, u64 fill_bits,
                              FieldTally* result) {
  const Tally::Match fill(has_fill != 0, static_cast<Word>(fill_bits));
  const u64 skew = (-reinterpret_cast<u64>(values) & 15) / kBytes;
  const u64 head = min_of(skew, count);
  const u64 vectors = (count - head) / Tally::kPerVector;
  const u64 tail = head + vectors * Tally::kPerVector;
  Tally tally;
  add_aligned(tally, values, head, vectors, fill);
  if (blockIdx.x == 0) {
    for (u64 i = threadIdx.x; i < head; i += TAMIS_THREADS) tally.add(values[i], i, fill);
    for (u64 i = tail + threadIdx.x; i < count; i += TAMIS_THREADS) tally.add(values[i], i, fill);
  }
  const WideTally all = join_block(widen(tally));
  if (threadIdx.x != 0) return;
  all.add_to(result);
  // The last block knows the first NaN, whose bits may become the fill's.
  __threadfence();
  if (atomicAdd(&result->blocks_done, 1ull) != gridDim.x - 1) return;
  const u64 mirrored = atomicMax(&result->first_nan_mirrored, 0ull);
  if (mirrored != 0) result->first_nan_bits = values[~mirrored];
}

// Every `stride`th value, `count` of them. A thread takes one.
TAMIS_KERNEL void gather_sample(const Word* values, u64 stride, u64 count, Word* sample) {
  const u64 i = grid_thread();
  if (i < count) sample[i] = values[i * stride];
}
