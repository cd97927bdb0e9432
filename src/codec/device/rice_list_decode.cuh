// Sparse Rice segments, the decoder's part: a lane follows one number of a list at a time through
// the levels.
#pragma once

#include "codec/device/bit_walk.cuh"
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
  BitRing& ring;
  u16* positions;  // kSegmentCodes of them, shared; always the same lane uses an entry

  /// Decodes the segment of n codes whose head is before `at`, which moves behind it.
  TAMIS_DEVICE StreamFault decode(int n, u32 low, u32& at, I* codes) {
    const int count = static_cast<int>(walk.get(at) & 511) + 1;
    at += 9;
    const u32 lows_at = at;
    at += static_cast<u32>(count) * low;
    u32 next = 0;  // the position behind the last entry
    for (int first = 0; first < count; first += kGroupCodes) {
      if (at > walk.end) return codec::kStreamEnds;
      const int group = min_of(count - first, kGroupCodes);
      // Gaps of a good segment have fewer than 512 ones in all.
      const u32 behind =
          walk.behind_zeros(ring, at, static_cast<u32>(group), kGroupCodes + kSegmentCodes);
      if (behind == kNowhere) return codec::kStreamGap;
      if (!read_gaps(n, low, lows_at, first, group, at, next)) return codec::kStreamGap;
      at = behind;
    }
    const u32 signs_at = at;
    at += static_cast<u32>(count);
    store_zeros(codes, n);
    sync_wave();  // the zeros are there before other lanes' codes
    bool full = false;
    for (int first = 0; first < count; first += kGroupCodes) {
      if (at > walk.end) return codec::kStreamEnds;
      full = read_sizes(signs_at, first, min_of(count - first, kGroupCodes), at, codes) || full;
    }
    if (full) read_full(count, at, codes);
    return at > walk.end ? codec::kStreamEnds : codec::kStreamFine;
  }

 private:
  /// The number whose first bit is at p, up to `most`.
  TAMIS_DEVICE u32 read_number(u32 fixed, u32 p, u32 most) const {
    u32 number = 0;
    while (number < most) {
      const RingWord word = BitWalk::ring_word(ring, p);
      if (((word.bits >> (p & 31)) & 1) == 0) break;
      p = fixed + BitWalk::ones_before(word, p);
      ++number;
    }
    return number;
  }

  /// False when a position is not below n.
  TAMIS_DEVICE bool read_gaps(int n, u32 low, u32 lows_at, int first, int group, u32 at,
                              u32& next) {
    const u32 fixed = at + static_cast<u32>(group) - BitWalk::ones_before(ring, at);
    for (int row = 0; row < group; row += kWave) {
      const int i = row + lane_id();
      u32 taken = 0;  // the gap and the code behind it; at most 2^17
      if (i < group) {
        const u32 low_part = walk.get(lows_at + static_cast<u32>(first + i) * low);
        taken = 1 + (low_part & ((1u << low) - 1)) +
                (read_number(fixed, at + static_cast<u32>(i), kSegmentCodes) << low);
      }
      const u32 behind = next + wave_inclusive_sum(taken);
      next = shuffle(behind, kWave - 1);
      if (next > static_cast<u32>(n)) return false;
      if (i < group) positions[first + i] = static_cast<u16>(behind - 1);
    }
    return true;
  }

  /// Sizes of a group, and its codes but for those in full; whether there are any.
  TAMIS_DEVICE bool read_sizes(u32 signs_at, int first, int group, u32& at, I* codes) {
    const u32 behind = walk.behind_zeros(ring, at, static_cast<u32>(group), kQuotientReach);
    const u32 fixed = at + static_cast<u32>(group) - BitWalk::ones_before(ring, at);
    bool full = false;
    for (int row = 0; row < group; row += kWave) {
      const int i = row + lane_id();
      if (i >= group) continue;
      const u32 size = read_number(fixed, at + static_cast<u32>(i), kEscape);
      if (size == kEscape) {
        positions[first + i] |= kListedInFull;
        full = true;
        continue;
      }
      const u32 sign = walk.get(signs_at + static_cast<u32>(first + i)) & 1;
      codes[positions[first + i]] = unzigzag(static_cast<U>(2 * (size + 1) - sign));
    }
    if (!wave_any(full)) {
      at = behind;
      return false;
    }
    for (int level = 0; level < kEscape; ++level) at = fixed + BitWalk::ones_before(ring, at);
    return true;
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
