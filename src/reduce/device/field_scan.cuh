// What each thread and each block finds out about its values. Everything is done on bits: extremes
// are those of ranks, which are integers, and a batch of values is taken whole where its extremes
// say that it is plain, that is, finite and without fill.
#pragma once

#include "gpu/device/copy.cuh"
#include "gpu/device/warp.cuh"
#include "reduce/device/field_tally.hpp"

namespace tamis::device {

template <int kBytes>
struct FloatBits;
template <>
struct FloatBits<4> {
  using Word = u32;
  static constexpr u32 kInfinity = 0x7f800000;
};
template <>
struct FloatBits<8> {
  using Word = u64;
  static constexpr u64 kInfinity = 0x7ff0000000000000;
};

/// Rises with the value, -0 just below +0.
template <typename Word>
TAMIS_DEVICE Word rank_of(Word bits) {
  constexpr Word kSign = ~(~Word{0} >> 1);
  return (bits & kSign) != 0 ? static_cast<Word>(~bits) : static_cast<Word>(bits | kSign);
}

/// Which values are masked: those that equal the fill value, or any NaN where that is one.
template <int kBytes>
struct FillMatch {
  using Word = typename FloatBits<kBytes>::Word;
  static constexpr Word kSign = ~(~Word{0} >> 1);
  bool nan = false;
  Word care = 0;             // bits that must agree
  Word want = 1;             // nothing agrees with 1 in no bit
  Word low_rank = ~Word{0};  // of what matches and is finite; in reverse when nothing is
  Word high_rank = 0;

  TAMIS_DEVICE FillMatch(bool has_fill, Word fill) {
    if (!has_fill) return;
    nan = (fill & ~kSign) > FloatBits<kBytes>::kInfinity;
    if (nan) return;
    const bool zero = (fill & ~kSign) == 0;  // of either sign
    care = zero ? static_cast<Word>(~kSign) : ~Word{0};
    want = fill & care;
    low_rank = zero ? rank_of(kSign) : rank_of(fill);
    high_rank = zero ? rank_of(Word{0}) : rank_of(fill);
  }
};

/// Of the values that one thread has seen; fewer than 2^32 of them.
template <int kBytes>
struct ThreadTally {
  using Word = typename FloatBits<kBytes>::Word;
  using Match = FillMatch<kBytes>;
  static constexpr Word kSign = Match::kSign;
  static constexpr Word kInfinity = FloatBits<kBytes>::kInfinity;
  static constexpr int kPerVector = 16 / kBytes;

  Word low = ~Word{0};
  Word high = 0;
  u32 nan = 0;
  u32 infinite = 0;
  u32 masked = 0;
  u32 masked_special = 0;
  bool zero = false;
  bool negative = false;
  u64 first_nan = ~u64{0};

  TAMIS_DEVICE void add(Word bits, u64 index, const Match& fill) {
    const Word magnitude = bits & ~kSign;
    const bool is_special = magnitude >= kInfinity;
    const bool is_nan = magnitude > kInfinity;
    const bool is_masked = fill.nan ? is_nan : (bits & fill.care) == fill.want;
    const bool counts = !is_masked && !is_special;
    const Word rank = rank_of(bits);
    if (is_nan) first_nan = min_of(first_nan, index);
    masked += is_masked ? 1 : 0;
    masked_special += is_masked && is_special ? 1 : 0;
    nan += !is_masked && is_nan ? 1 : 0;
    infinite += !is_masked && is_special && !is_nan ? 1 : 0;
    low = min_of(low, counts ? rank : low);
    high = max_of(high, counts ? rank : high);
    zero = zero || (counts && magnitude == 0);
    negative = negative || (!is_masked && (bits & kSign) != 0);
  }

  static TAMIS_DEVICE Word value_of(Vec16 v, int i) {
    if constexpr (kBytes == 4) {
      return v.word[i];
    } else {
      return v.word[2 * i] | u64{v.word[2 * i + 1]} << 32;
    }
  }

  /// `count` vectors whose first values have the indices first, first + stride, ...
  template <int kCount>
  TAMIS_DEVICE void add_vectors(const Vec16 (&vectors)[kCount], u64 first, u64 stride,
                                const Match& fill) {
    Word lowest = ~Word{0};
    Word highest = 0;
#pragma unroll
    for (int i = 0; i < kCount * kPerVector; ++i) {
      const Word rank = rank_of(value_of(vectors[i / kPerVector], i % kPerVector));
      lowest = min_of(lowest, rank);
      highest = max_of(highest, rank);
    }
    const bool finite =
        lowest > rank_of(static_cast<Word>(kSign | kInfinity)) && highest < rank_of(kInfinity);
    if (!finite || (fill.low_rank <= highest && fill.high_rank >= lowest)) {
#pragma unroll
      for (int i = 0; i < kCount * kPerVector; ++i) {
        add(value_of(vectors[i / kPerVector], i % kPerVector),
            first + stride * static_cast<u64>(i / kPerVector) + static_cast<u64>(i % kPerVector),
            fill);
      }
      return;
    }
    low = min_of(low, lowest);
    high = max_of(high, highest);
    negative = negative || lowest < kSign;
    if (zero || lowest > rank_of(Word{0}) || highest < rank_of(kSign)) return;
#pragma unroll
    for (int i = 0; i < kCount * kPerVector; ++i) {
      const Word bits = value_of(vectors[i / kPerVector], i % kPerVector);
      zero = zero || (bits & ~kSign) == 0;
    }
  }
};

/// What a wave or a block knows, in 64 bits each; all zeros when that is nothing.
struct WideTally {
  u64 low_mirrored;
  u64 high;
  u64 nan;
  u64 infinite;
  u64 masked;
  u64 masked_special;
  u64 zero;
  u64 negative;
  u64 first_nan_mirrored;

  /// Over the lanes of the wave; every lane calls.
  TAMIS_DEVICE void join_wave() {
    low_mirrored = wave_max(low_mirrored);
    high = wave_max(high);
    nan = wave_sum(nan);
    infinite = wave_sum(infinite);
    masked = wave_sum(masked);
    masked_special = wave_sum(masked_special);
    zero = wave_any(zero != 0) ? 1 : 0;
    negative = wave_any(negative != 0) ? 1 : 0;
    first_nan_mirrored = wave_max(first_nan_mirrored);
  }

  /// By one thread a block.
  TAMIS_DEVICE void add_to(FieldTally* result) const {
    const auto keep_highest = [](unsigned long long* word, u64 value) {
      if (value != 0) atomicMax(word, value);
    };
    const auto add_up = [](unsigned long long* word, u64 value) {
      if (value != 0) atomicAdd(word, value);
    };
    keep_highest(&result->low_mirrored, low_mirrored);
    keep_highest(&result->high, high);
    add_up(&result->nan, nan);
    add_up(&result->infinite, infinite);
    add_up(&result->masked, masked);
    add_up(&result->masked_special, masked_special);
    keep_highest(&result->zero, zero);
    keep_highest(&result->negative, negative);
    keep_highest(&result->first_nan_mirrored, first_nan_mirrored);
  }
};

template <int kBytes>
TAMIS_DEVICE WideTally widen(const ThreadTally<kBytes>& t) {
  WideTally wide{};
  wide.low_mirrored = t.low <= t.high ? ~u64{t.low} : 0;
  wide.high = t.low <= t.high ? u64{t.high} : 0;
  wide.nan = t.nan;
  wide.infinite = t.infinite;
  wide.masked = t.masked;
  wide.masked_special = t.masked_special;
  wide.zero = t.zero ? 1 : 0;
  wide.negative = t.negative ? 1 : 0;
  wide.first_nan_mirrored = ~t.first_nan;
  return wide;
}

}  // namespace tamis::device
