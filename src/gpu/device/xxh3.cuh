// XXH3-64 (seed 0, default secret) of a run of bytes by one block, equal to core/checksum.hpp's.
// The sums over blocks of 1024 bytes depend on nothing before them, so most waves make these while
// one does what is serial, the scrambling (see xxh3_parts.cuh for the source of the algorithm).
#pragma once

#include "gpu/device/xxh3_parts.cuh"

namespace tamis::device {

/// For one-dimensional blocks of exactly kWaves waves.
template <int kWaves>
struct BlockXxh3 {
  static constexpr int kFeeders = kWaves > 1 ? kWaves - 1 : 1;  // waves that sum blocks
  static constexpr int kWaveBlocks = kWave / 4;                 // four lanes sum one
  static constexpr int kRound = kFeeders * kWaveBlocks;
  static constexpr int kAhead = 8;  // sums that the chain has in registers before it needs them
  static constexpr int kBatch = 8;  // stripes whose loads are under way at once
  static_assert(kRound >= kAhead, "a round fills what is read ahead");

  /// In shared memory; may be used again as soon as a call has returned.
  struct alignas(16) Scratch {
    u64 secret[2][xxh3::kSecretWords];  // the second from word 1 on: all pairs on 16 bytes
    u64 sums[2][kRound + kAhead][8];    // behind the last of a round: read ahead, not used
    u64 result;
  };

  /// The hash, in every thread. All threads call, with the same run. Reads whole 16-byte words, as
  /// far as they hold bytes of the run, through the L1 cache.
  static TAMIS_DEVICE u64 hash(const u8* bytes, u64 size, Scratch& scratch) {
    if (size < xxh3::kShortest) return xxh3::hash_16(bytes, size);
    for (int i = static_cast<int>(threadIdx.x); i < xxh3::kSecretWords; i += kWaves * kWave) {
      const u64 word = xxh3::secret_word(i);
      scratch.secret[0][i] = word;
      if (i > 0) scratch.secret[1][i - 1] = word;
    }
    __syncthreads();
    u64 h = 0;
    if (size > xxh3::kLongest) {
      h = hash_long(bytes, size, scratch);
    } else if (wave_id() == 0) {
      h = hash_pieces(bytes, size, scratch);
    }
    if (threadIdx.x == 0) scratch.result = h;
    __syncthreads();
    h = scratch.result;
    __syncthreads();
    return h;
  }

 private:
  using Pair = xxh3::Pair;

  /// The secret from any byte on.
  static TAMIS_DEVICE u64 key_at(const Scratch& scratch, int byte) {
    const int shift = 8 * (byte % 8);
    const u64 low = scratch.secret[0][byte / 8];
    return shift == 0 ? low : low >> shift | scratch.secret[1][byte / 8] << (64 - shift);
  }

  /// 17 to 240 bytes, by one wave: a lane mixes 16 of them.
  static TAMIS_DEVICE u64 hash_pieces(const u8* bytes, u64 size, const Scratch& scratch) {
    const int lane = lane_id();
    const bool from_both_ends = size <= 128;
    const int count = static_cast<int>(from_both_ends ? (size + 31) / 32 * 2 : size / 16 + 1);
    u64 mixed = 0;
    if (lane < count) {
      const int half = lane / 2;
      u64 at = u64{16} * static_cast<u64>(lane);
      int key = lane < 8 ? 16 * lane : 16 * (lane - 8) + 3;
      if (from_both_ends) {
        at = lane % 2 == 0 ? u64{16} * static_cast<u64>(half)
                           : size - u64{16} * static_cast<u64>(half + 1);
      } else if (lane == count - 1) {
        at = size - 16;
        key = 119;
      }
      const Pair v = xxh3::read_16(bytes + at, 16);
      mixed = xxh3::fold_product(v.low ^ key_at(scratch, key), v.high ^ key_at(scratch, key + 8));
    }
    const bool early = from_both_ends || lane < 8;
    const u64 h = xxh3::avalanche(size * xxh3::kPrime64A + wave_sum(early ? mixed : u64{0}));
    const u64 late = wave_sum(early ? u64{0} : mixed);
    return from_both_ends ? h : xxh3::avalanche(h + late);
  }

  /// What two neighbouring words of a stripe add to the sums of the same places.
  static TAMIS_DEVICE void add_words(Pair& sum, Pair v, Pair key) {
    const u64 low = v.low ^ key.low;
    const u64 high = v.high ^ key.high;
    sum.low += u64{static_cast<u32>(low)} * (low >> 32) + v.high;
    sum.high += u64{static_cast<u32>(high)} * (high >> 32) + v.low;
  }

  /// One of the four pairs of sums of a whole block, which may differ between lanes of the wave.
  static TAMIS_DEVICE Pair sum_block(const u8* block, int pair, const Scratch& scratch) {
    const u32 skew = xxh3::skew_of(block);
    const u8* words = block - skew + 16 * pair;
    const int next_word = skew != 0 ? 16 : 0;
    Pair sum{0, 0};
#pragma unroll
    for (int first = 0; first < xxh3::kBlockStripes; first += kBatch) {
      Vec16 here[kBatch];
      Vec16 next[kBatch];
#pragma unroll
      for (int i = 0; i < kBatch; ++i) {
        const u8* stripe = words + static_cast<int>(xxh3::kStripeBytes) * (first + i);
        here[i] = load_16(stripe);
        next[i] = load_16(stripe + next_word);
      }
      sync_wave();  // or the compiler spreads the loads, and few are under way at a time
#pragma unroll
      for (int i = 0; i < kBatch; ++i) {
        const int n = first + i;
        const Vec16 key = load_16(&scratch.secret[n % 2][n / 2 * 2 + 2 * pair]);
        add_words(sum, xxh3::cut_16(here[i], next[i], skew), xxh3::to_pair(key));
      }
    }
    return sum;
  }

  /// The stripes behind the whole blocks, of the last bytes too, by one wave: lane i gets sum i
  /// % 8.
  static TAMIS_DEVICE u64 sum_tail(const u8* bytes, u64 size, const Scratch& scratch) {
    const u64 start = (size - 1) / xxh3::kBlockBytes * xxh3::kBlockBytes;
    const int stripes = static_cast<int>((size - 1 - start) / xxh3::kStripeBytes);
    const int pair = lane_id() % 4;
    Pair sum{0, 0};
    for (int n = lane_id() / 4; n <= stripes; n += kWaveBlocks) {
      const bool last = n == stripes;
      const u64 at =
          last ? size - xxh3::kStripeBytes : start + xxh3::kStripeBytes * static_cast<u64>(n);
      const int key = (last ? xxh3::kLastStripeKey : 8 * n) + 16 * pair;
      add_words(sum, xxh3::read_16(bytes + at + 16 * pair, 16),
                {key_at(scratch, key), key_at(scratch, key + 8)});
    }
#pragma unroll
    for (int step = 4; step < kWave; step *= 2) {
      sum.low += shuffle_xor(sum.low, step);
      sum.high += shuffle_xor(sum.high, step);
    }
    const int from = lane_id() % 8 / 2;
    const u64 low = shuffle(sum.low, from);
    const u64 high = shuffle(sum.high, from);
    return lane_id() % 2 == 0 ? low : high;
  }

  /// Passes `count` blocks, whose sums are there, in turn.
  static TAMIS_DEVICE u64 follow_chain(u64 x, u64 key, const u64 (*sums)[8], int count) {
    const int lane = lane_id() % 8;
    u64 ahead[kAhead];
#pragma unroll
    for (int i = 0; i < kAhead; ++i) ahead[i] = sums[i][lane];
    int at = 0;
    for (; at + kAhead <= count; at += kAhead) {
#pragma unroll
      for (int i = 0; i < kAhead; ++i) {
        x = xxh3::scramble_and_add(x, key, ahead[i]);
        ahead[i] = sums[at + kAhead + i][lane];
      }
    }
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      if (at + i < count) x = xxh3::scramble_and_add(x, key, ahead[i]);
    }
    return x;
  }

  /// More than 240 bytes; the result is in the first wave.
  static TAMIS_DEVICE u64 hash_long(const u8* bytes, u64 size, Scratch& scratch) {
    const u64 blocks = (size - 1) / xxh3::kBlockBytes;
    const u64 rounds = ceil_div(blocks, u64{kRound});
    const bool chains = wave_id() == 0;
    const int feeder = kWaves > 1 ? wave_id() - 1 : 0;
    const int lane = lane_id() % 8;
    const int slot = feeder * kWaveBlocks + lane_id() / 4;
    const int pair = lane_id() % 4;
    const u64 key = scratch.secret[0][xxh3::kSecretWords - 8 + lane];
    u64 x = xxh3::unscramble(xxh3::first_sum(lane), key);
    u64 tail = 0;
    for (u64 round = 0; round <= rounds; ++round) {
      const u64 of_wave = round * kRound + static_cast<u64>(feeder * kWaveBlocks);
      if (feeder >= 0 && of_wave < blocks) {
        // Lanes behind the last block repeat it; nothing reads their sums.
        const u64 block = min_of(of_wave + static_cast<u64>(lane_id() / 4), blocks - 1);
        const Pair sum = sum_block(bytes + xxh3::kBlockBytes * block, pair, scratch);
        store_16(&scratch.sums[round % 2][slot][2 * pair], xxh3::to_vec(sum));
      }
      if (chains && round == 0) tail = sum_tail(bytes, size, scratch);
      if (chains && round > 0) {
        const u64 left = blocks - (round - 1) * kRound;
        x = follow_chain(x, key, scratch.sums[(round - 1) % 2],
                         static_cast<int>(min_of(left, u64{kRound})));
      }
      __syncthreads();
    }
    if (!chains) return 0;
    x = xxh3::scramble_and_add(x, key, tail);
    const u64 mine = x ^ key_at(scratch, xxh3::kMergeKey + 8 * lane);
    const u64 other = shuffle_xor(mine, 1);
    const bool counts = lane_id() < 8 && lane % 2 == 0;
    const u64 merged = wave_sum(counts ? xxh3::fold_product(mine, other) : u64{0});
    return xxh3::avalanche(size * xxh3::kPrime64A + merged);
  }
};

}  // namespace tamis::device
