// A bit stream as one wave reads it: windows of a word a lane, loaded one ahead, kept in a ring in
// shared memory with the number of ones before each word.
//
// The ones are what makes unary lists parallel. Let a group of n numbers begin at bit x and let
// C(p) be the number of ones before bit p. Each number that ends has one 0, so the group ends
// behind its n-th 0, wherever its levels are. And the ones of a level are, in order, the bits of
// the next: the bit that follows bit p of the same number is at
//     n + x - C(x) + C(p),
// in every level, so that lanes find their bits by counting, without waiting for each other.
#pragma once

#include "codec/device/byte_planes.cuh"
#include "gpu/device/warp.cuh"

namespace tamis::device {

struct alignas(8) RingWord {
  u32 bits;
  u32 ones;  // before this word
};

/// Shared memory of a wave.
struct BitRing {
  static constexpr u32 kWindows = 8;
  static constexpr u32 kWords = kWindows * kWave;
  RingWord words[kWords];
};

inline constexpr u32 kWindowBits = 32 * kWave;
/// Position that was not found.
inline constexpr u32 kNowhere = ~0u;

/// Positions are bits from the first byte of the word in which the stream begins. Behind the end
/// all bits are 0, and memory is never read beyond the words that hold the stream.
struct BitWalk {
  const u32* words;
  u32 last;       // index of the word that holds the last byte
  u32 last_mask;  // its bits that belong to the stream
  u32 end;
  u32 loaded = 0;  // windows, from the first on
  u32 ones = 0;    // in them
  u32 ahead;       // this lane's word of the next window

  /// Returns the position of the first bit. `size` is from 1 to kMostStreamBytes.
  TAMIS_DEVICE u32 open(const u8* bytes, u32 size) {
    const u32 skipped = static_cast<u32>(reinterpret_cast<u64>(bytes) & 3);
    words = reinterpret_cast<const u32*>(bytes - skipped);
    end = 8 * (skipped + size);
    last = (end - 1) / 32;
    last_mask = ~0u >> (31 - (end - 1) % 32);
    ahead = word(static_cast<u32>(lane_id()));
    return 8 * skipped;
  }

  TAMIS_DEVICE u32 word(u32 index) const {
    const u32 value = words[min_of(index, last)];
    if (index < last) return value;
    return index == last ? value & last_mask : 0;
  }
  /// 32 bits from memory.
  TAMIS_DEVICE u32 get(u32 at) const { return funnel_right(word(at / 32), word(at / 32 + 1), at); }
  /// The same where the bits that count are known to be in the stream; the others are anything.
  TAMIS_DEVICE u32 get_inside(u32 at) const {
    return funnel_right(words[min_of(at / 32, last)], words[min_of(at / 32 + 1, last)], at);
  }

  TAMIS_DEVICE static u32 window_of(u32 at) { return at / kWindowBits; }

  /// Loads windows up to that of bit `at`; the last kWindows stay in the ring.
  TAMIS_DEVICE void load_to(BitRing& ring, u32 at) {
    while (loaded <= window_of(at)) {
      const u32 here = ahead;
      ahead = word((loaded + 1) * kWave + static_cast<u32>(lane_id()));
      const u32 mine = static_cast<u32>(count_ones(here));
      const u32 through = wave_inclusive_sum(mine);
      ring.words[(loaded % BitRing::kWindows) * kWave + lane_id()] = {here, ones + through - mine};
      ones += shuffle(through, kWave - 1);
      ++loaded;
    }
    sync_wave();
  }

  TAMIS_DEVICE static RingWord ring_word(const BitRing& ring, u32 at) {
    return ring.words[(at / 32) % BitRing::kWords];
  }
  /// Ones before a bit, whose window is in the ring.
  TAMIS_DEVICE static u32 ones_before(RingWord word, u32 at) {
    return word.ones + static_cast<u32>(count_ones(word.bits & ((1u << (at & 31)) - 1)));
  }
  TAMIS_DEVICE static u32 ones_before(const BitRing& ring, u32 at) {
    return ones_before(ring_word(ring, at), at);
  }

  /// The position behind the n-th zero from `at` on, n at least 1, or kNowhere when that is not in
  /// the windows up to bit at + reach. All windows from `at` to there are in the ring then.
  TAMIS_DEVICE u32 behind_zeros(BitRing& ring, u32 at, u32 n, u32 reach) {
    load_to(ring, at);
    const u32 target = at - ones_before(ring, at) + n;
    for (u32 window = window_of(at); window <= window_of(at + reach); ++window) {
      load_to(ring, window * kWindowBits);
      const u32 first = window * kWindowBits + 32 * static_cast<u32>(lane_id());
      const RingWord mine = ring_word(ring, first);
      const u32 zeros = first - mine.ones;
      const LaneMask through =
          wave_ballot(zeros + 32 - static_cast<u32>(count_ones(mine.bits)) >= target);
      if (through == 0) continue;
      const int lane = lowest_one(through);
      const u32 bits = shuffle(mine.bits, lane);
      const u32 wanted = target - shuffle(zeros, lane);
      const LaneMask enough = wave_ballot(
          static_cast<u32>(count_ones(~bits & (~0u >> (31 - (lane_id() & 31))))) >= wanted);
      return window * kWindowBits + static_cast<u32>(32 * lane + lowest_one(enough) + 1);
    }
    return kNowhere;
  }
};

}  // namespace tamis::device
