// Sparse Rice segments, the decoder's part: a lane follows one number of a list at a time through
// the levels.
#pragma once

#include "codec/device/bit_walk.cuh"
#include "codec/device/rice_dense_decode.cuh"
#include "codec/device/rice_layout.cuh"
#include "codec/device/stream_fault.hpp"

namespace tamis::device {

using codec::StreamFault;

/// An entry's position is kept with this flag when its code is written in full.
inline constexpr u32 kListedInFull = 1u << 15;
template <typename I>
struct ListDecoder {
  using U = UnsignedCode<I>;
  static constexpr u32 kCodeBits = CodeTraits<I>::kBits;

  BitWalk& walk;
  u16* positions;  // kSegmentCodes of them, shared; always the same lane uses an entry

  /// Decodes the segment of n codes as a list of `count` with `low` low bits of gaps, which begin
  /// at `at`; that moves behind the segment.
  TAMIS_DEVICE StreamFault decode(int n, int count, u32 low, u32& at, I* codes) {
    u32 lows_at = at;
    at += static_cast<u32>(count) * low;
    u32 next = 0;  // the position behind the last entry
    for (int first = 0; first < count; first += kGroupCodes) {
      if (at > walk.end) return codec::kStreamEnds;
      if (!read_gaps(n, low, lows_at, first, min_of(count - first, kGroupCodes), at, next)) {
        return codec::kStreamGap;
      }
      lows_at += kGroupCodes * low;
    }
    u32 signs_at = at;
    at += static_cast<u32>(count);
    store_zeros(codes, n);
    sync_wave();  // the zeros are there before other lanes' codes
    bool full = false;
    for (int first = 0; first < count; first += kGroupCodes) {
      if (at > walk.end) return codec::kStreamEnds;
      full = read_sizes(signs_at, first, min_of(count - first, kGroupCodes), at, codes) || full;
      signs_at += kGroupCodes;
    }
    if (wave_any(full)) read_full(count, at, codes);
    return at > walk.end ? codec::kStreamEnds : codec::kStreamFine;
  }

 private:
  /// A group's numbers in unary, in the window.
  struct Unary {
    const BitWalk& walk;
    u32 begin;
    u32 fixed;  // see bit_walk.cuh

    TAMIS_DEVICE Unary(const BitWalk& bits, u32 at, int group)
        : walk(bits),
          begin(at - bits.origin),
          fixed(begin + static_cast<u32>(group) - bits.ones_before(begin)) {}

    /// Number i, up to kMost.
    template <u32 kMost>
    TAMIS_DEVICE u32 read(int i) const {
      u32 p = begin + static_cast<u32>(i);
      u32 number = 0;
#pragma unroll 1
      while (number < kMost) {
        const WindowWord word = walk.window_word(p);
        if (((word.bits >> (p & 31)) & 1) == 0) break;
        p = fixed + BitWalk::ones_before(word, p);
        ++number;
      }
      return number;
    }
  };

  /// Makes the window hold `reach` bits from `at` on, and those from `before` on too unless that is
  /// too much: whether it does.
  TAMIS_DEVICE bool focus(u32 before, u32 at, u32 reach) {
    const u32 most = at + reach + 64;
    const bool both = most - before <= kWindowBits - 32;
    const u32 from = both ? before : at;
    walk.focus(from, most - from);
    return both;
  }

  /// Positions of a group of entries; false when one is not below n. `at` is where the numbers
  /// begin, and moves behind them.
  TAMIS_DEVICE bool read_gaps(int n, u32 low, u32 lows_at, int first, int group, u32& at,
                              u32& next) {
    // Good numbers have no more ones than this. A window that holds so many shows all others bad.
    const u32 ones = static_cast<u32>(kSegmentCodes) >> low;
    const bool near = focus(lows_at, at, static_cast<u32>(group) + ones);
    const Unary unary(walk, at, group);
    u32 total = 0;
#pragma unroll 1
    for (int row = 0; row < group; row += kWave) {
      const int i = row + lane_id();
      u32 taken = 0;  // the gap and the code behind it; at most 2^17
      if (i < group) {
        const u32 low_at = lows_at + static_cast<u32>(i) * low;
        const u32 low_part = near ? walk.peek(low_at) : walk.get(low_at);
        const u32 number = unary.template read<kSegmentCodes>(i);
        total += number + 1;
        taken = 1 + (low_part & ((1u << low) - 1)) + (number << low);
      }
      const u32 through = next + wave_inclusive_sum(taken);
      next = shuffle(through, kWave - 1);
      if (next > static_cast<u32>(n)) return false;
      if (i < group) positions[first + i] = static_cast<u16>(through - 1);
    }
    at += wave_sum(total);
    return true;
  }

  /// Sizes of a group, and its codes but for those in full; whether the lane has such.
  TAMIS_DEVICE bool read_sizes(u32 signs_at, int first, int group, u32& at, I* codes) {
    const bool near = focus(signs_at, at, static_cast<u32>(group * kEscape));
    const Unary unary(walk, at, group);
    bool full = false;
    u32 total = 0;
#pragma unroll 1
    for (int row = 0; row < group; row += kWave) {
      const int i = row + lane_id();
      if (i >= group) continue;
      const u32 size = unary.template read<kEscape>(i);
      if (size == kEscape) {
        positions[first + i] |= kListedInFull;
        full = true;
        total += kEscape;
        continue;
      }
      const u32 sign_at = signs_at + static_cast<u32>(i);
      const u32 sign = (near ? walk.peek(sign_at) : walk.get(sign_at)) & 1;
      codes[positions[first + i]] = unzigzag(static_cast<U>(2 * (size + 1) - sign));
      total += size + 1;
    }
    at += wave_sum(total);
    return full;
  }

  TAMIS_DEVICE void read_full(int count, u32& at, I* codes) {
    for (int first = 0; first < count; first += kWave) {
      const int i = first + lane_id();
      const u32 position = i < count ? positions[i] : 0;
      const bool full = (position & kListedInFull) != 0;
      const LaneMask lanes = wave_ballot(full);
      const u32 mine = at + static_cast<u32>(count_ones(lanes & lanes_before())) * kCodeBits;
      at += static_cast<u32>(count_ones(lanes)) * kCodeBits;
      if (!full) continue;
      U u = walk.get(mine);
      if (sizeof(I) == 8) u |= static_cast<U>(u64{walk.get(mine + 32)} << 32);
      codes[position & ~kListedInFull] = unzigzag(u);
    }
  }
};

}  // namespace tamis::device
