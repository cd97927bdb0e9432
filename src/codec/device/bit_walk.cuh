// A bit stream as one wave reads it: through a window of two words a lane, kept in registers and,
// with the number of ones before each word, in shared memory.
//
// The ones are what makes unary lists parallel. Let a group of n numbers begin at bit x and let
// C(p) be the number of ones before bit p. Each number that ends has one 0, so the group ends
// behind its n-th 0, wherever its levels are. And the ones of a level are, in order, the bits of
// the next: the bit that follows bit p of the same number is at
//     n + x - C(x) + C(p),
// in every level, so that lanes find their bits by counting, without waiting for each other.
#pragma once

#include "codec/device/byte_planes.cuh"
#include "gpu/device/copy.cuh"
#include "gpu/device/warp.cuh"

namespace tamis::device {

inline constexpr u32 kWindowBits = 64 * kWave;
/// A position that is none.
inline constexpr u32 kNowhere = ~0u;

struct alignas(8) WindowWord {
  u32 bits;
  u32 ones;  // of the window before this word
};

/// Shared memory of a wave.
struct alignas(16) BitWindow {
  WindowWord words[2 * kWave];
};

/// Positions in the stream are bits from the first byte of the word in which it begins; positions
/// in the window, from its origin. Behind the end all bits are 0, and memory is never read beyond
/// the words that hold the stream.
struct BitWalk {
  BitWindow& window;
  const u32* words;
  u32 last;       // index of the word that holds the last byte
  u32 last_mask;  // its bits that belong to the stream
  u32 end;
  u32 origin = 0;
  bool open = false;
  // This lane's words of the window, and the zeros up to and with them.
  u32 low = 0;
  u32 high = 0;
  u32 zeros_through = 0;

  /// `size` is from 1 to kMostStreamBytes; `at` gets the position of the first bit.
  TAMIS_DEVICE BitWalk(BitWindow& room, const u8* bytes, u32 size, u32& at) : window(room) {
    const u32 skipped = wave_uniform(static_cast<u32>(reinterpret_cast<u64>(bytes) & 3));
    words = reinterpret_cast<const u32*>(bytes - skipped);
    end = 8 * (skipped + size);
    last = (end - 1) / 32;
    last_mask = ~0u >> (31 - (end - 1) % 32);
    at = 8 * skipped;
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

  /// Moves the window unless it holds `reach` bits from `at` on.
  TAMIS_DEVICE void focus(u32 at, u32 reach) {
    if (open && at >= origin && at + reach <= origin + kWindowBits) return;
    open = true;
    origin = at & ~31u;
    const u32 first = at / 32 + 2 * static_cast<u32>(lane_id());
    low = word(first);
    high = word(first + 1);
    const u32 in_low = static_cast<u32>(count_ones(low));
    const u32 mine = in_low + static_cast<u32>(count_ones(high));
    const u32 through = wave_inclusive_sum(mine);
    const u32 before = through - mine;
    zeros_through = 64 * static_cast<u32>(lane_id() + 1) - through;
    sync_wave();  // the lanes may still read the window as it was
    store_16(&window.words[2 * lane_id()], {{low, before, high, before + in_low}});
    sync_wave();
  }

  /// 32 bits where the window holds 64.
  TAMIS_DEVICE u32 peek(u32 at) const {
    const WindowWord* word = window.words + (at - origin) / 32;
    return funnel_right(word[0].bits, word[1].bits, at);
  }

  // Below, positions are those in the window.

  TAMIS_DEVICE WindowWord window_word(u32 at) const {
    return window.words[(at / 32) % (2 * kWave)];
  }
  TAMIS_DEVICE static u32 ones_before(WindowWord word, u32 at) {
    return word.ones + static_cast<u32>(count_ones(word.bits & ((1u << (at & 31)) - 1)));
  }
  TAMIS_DEVICE u32 ones_before(u32 at) const { return ones_before(window_word(at), at); }

  /// The lanes whose words end behind the n-th zero of the window, n at least 1; none if not
  /// `valid`.
  TAMIS_DEVICE LaneMask zero_lanes(u32 n, bool valid = true) const {
    return wave_ballot(zeros_through >= n && valid);
  }
  /// The position behind the n-th zero of the window; `through` is zero_lanes(n), not 0.
  TAMIS_DEVICE u32 behind_zero(u32 n, LaneMask through) const {
    const int lane = lowest_one(through);
    const u32 first = shuffle(low, lane);
    const u32 second = shuffle(high, lane);
    // Zeros that are too many, counted from the end of the lane's words backwards.
    const u32 surplus = shuffle(zeros_through, lane) - n;
    const u32 in_second = 32 - static_cast<u32>(count_ones(second));
    const bool is_first = surplus >= in_second;
    const u32 bits = is_first ? first : second;
    const u32 more = is_first ? surplus - in_second : surplus;
    // In the word, the last lane behind whose bit there are still enough zeros.
    const u32 behind = ~bits & (~1u << (lane_id() & 31));
    const u32 enough = static_cast<u32>(wave_ballot(static_cast<u32>(count_ones(behind)) > more));
    return static_cast<u32>(64 * lane + bit_width(enough) + 1) + (is_first ? 0 : 32);
  }
};

}  // namespace tamis::device
