// Dense Rice segments, the decoder's part. Where a group ends is found group after group, by its
// zeros; then all groups are decoded together, each lane its piece of 16 codes. A group with codes
// in full ends elsewhere, which shows only then: the groups behind it are done anew.
#pragma once

#include "codec/device/bit_walk.cuh"
#include "codec/device/rice_layout.cuh"
#include "codec/device/stream_fault.hpp"

namespace tamis::device {

using codec::StreamFault;

/// Bits that 64 numbers in unary can take without an escape: 64 zeros and 23 ones each.
inline constexpr u32 kQuotientReach = kGroupCodes * kEscape;

template <typename I>
struct DenseDecoder {
  using U = UnsignedCode<I>;
  static constexpr u32 kCodeBits = CodeTraits<I>::kBits;

  BitWalk& walk;
  BitRing& ring;
  PieceShape shape;
  // Of the lane's group.
  int parameter = -1;
  u32 start = 0;
  // Of the lane's piece.
  u32 quotient[kQuotientPlanes] = {};
  u32 escapes = 0;
  u32 escape_at = 0;

  /// Decodes the segment of n codes whose head is before `at`, which moves behind it. Nothing is
  /// written when there is a fault.
  TAMIS_DEVICE StreamFault decode(int n, u32& at, u32* exchange, I* codes) {
    shape = PieceShape::of(n);
    const int groups = ceil_div(n, kGroupCodes);
    if (!read_heads(groups, at)) return codec::kStreamParameter;
    for (int group = 0; group < groups;) {
      if (!decode_some(groups, n, group, at)) return codec::kStreamEnds;
    }
    if (at > walk.end) return codec::kStreamEnds;
    store(n, exchange, codes);
    if (wave_any(escapes != 0)) store_escapes(codes);
    return codec::kStreamFine;
  }

 private:
  TAMIS_DEVICE bool read_heads(int groups, u32& at) {
    const u32 heads = walk.get(at);
    const bool mine = shape.group < groups && shape.group < kSegmentGroups;
    const int head = mine ? static_cast<int>((heads >> (4 * (shape.group & 7))) & 15) : 0;
    parameter = head - 1;
    if (!wave_any(head == kWideHead)) {
      at += kHeadBits * static_cast<u32>(groups);
      return true;
    }
    bool good = true;
    for (int g = 0; g < groups; ++g) {
      const u32 bits = walk.get(at);
      const bool wide = (bits & 15) == kWideHead;
      const int found =
          wide ? static_cast<int>((bits >> kHeadBits) & 63) : static_cast<int>(bits & 15) - 1;
      at += wide ? kHeadBits + kWideBits : kHeadBits;
      if (mine && g == shape.group) parameter = found;
      good = good && found < static_cast<int>(kCodeBits);
    }
    return good;
  }

  /// Decodes groups from `group` on, as many as the ring has room for, up to the first with codes
  /// in full. `at` is where the first begins and becomes the end of the last. False when a group
  /// leads beyond the stream.
  TAMIS_DEVICE bool decode_some(int groups, int n, int& group, u32& at) {
    u32 x = kNowhere;  // where the quotients of the lane's group begin
    u32 first_window = 0;
    bool any = false;
    int next = group;
    u32 behind = at;
    for (; next < groups; ++next) {
      const int k = shuffle(parameter, next * kGroupLanes);
      if (k < 0) continue;
      const u32 codes = static_cast<u32>(min_of(n - next * kGroupCodes, kGroupCodes));
      const u32 quotients = behind + codes * static_cast<u32>(k);
      const u32 window = BitWalk::window_of(quotients);
      if (quotients > walk.end) {
        if (!any) return false;
        break;
      }
      // The ring must hold all from the first group's quotients on.
      if (any &&
          BitWalk::window_of(quotients + kQuotientReach) - first_window >= BitRing::kWindows) {
        break;
      }
      if (!any) first_window = window;
      any = true;
      if (shape.group == next) {
        x = quotients;
        start = behind;
      }
      const u32 found = walk.behind_zeros(ring, quotients, codes, kQuotientReach);
      behind = found;
      if (found > walk.end) {  // kNowhere too: right only if the group has codes in full
        ++next;
        break;
      }
    }
    if (any) {
      const int full = read_quotients(x, behind);
      if (full >= 0) next = full + 1;
    }
    group = next;
    at = behind;
    return behind <= walk.end;
  }

  /// The quotients of the groups that have begun at some x. Returns the first group with codes in
  /// full, and its end in `behind`; -1 when there is none. Groups behind that are of no worth.
  TAMIS_DEVICE int read_quotients(u32 x, u32& behind) {
    const bool mine = x != kNowhere;
    if (!mine) x = 0;
    const u32 codes = static_cast<u32>(shape.group_codes);
    // The next bit of a number whose bit is at p: `fixed` and the ones before p.
    const u32 fixed = x + codes - BitWalk::ones_before(ring, x);
    u32 at = x + static_cast<u32>(kPieceCodes * shape.in_group);
    u32 alive = mine ? low_bits_32(shape.codes) : 0;
    if (mine) {
#pragma unroll
      for (int b = 0; b < kQuotientPlanes; ++b) quotient[b] = 0;
    }
    alive &= read_level(fixed, at);
    for (int level = 1; wave_any(alive != 0); level += 4) {
      const u32 one = scatter_few(read_level(fixed, at), alive);
      const u32 two = scatter_few(read_level(fixed, at), one);
      const u32 three = scatter_few(read_level(fixed, at), two);
      quotient[0] |= (alive & ~one) | (two & ~three);
      quotient[1] |= one & ~three;
      u32 carry = three;
#pragma unroll
      for (int b = 2; b < kQuotientPlanes; ++b) {
        const u32 before = quotient[b];
        quotient[b] = before ^ carry;
        carry &= before;
      }
      alive = three;
      if (level + 3 == kEscape) break;
      alive = scatter_few(read_level(fixed, at), alive);
    }
    if (mine) escapes = alive;
    const LaneMask full = wave_ballot(alive != 0);
    if (full == 0) return -1;
    return place_escapes(lowest_one(full) / kGroupLanes, alive, at, behind);
  }

  /// The bits of the lane's piece in the level that begins for it at `at`, which moves to the next
  /// level.
  TAMIS_DEVICE u32 read_level(u32 fixed, u32& at) const {
    const RingWord word = BitWalk::ring_word(ring, at);
    const u32 bits = funnel_right(word.bits, BitWalk::ring_word(ring, at + 32).bits, at);
    at = fixed + BitWalk::ones_before(word, at);
    return bits;
  }

  TAMIS_DEVICE int place_escapes(int group, u32 alive, u32 level_at, u32& behind) {
    u32 total = 0;
    const u32 before = group_prefix(static_cast<u32>(count_ones(alive)), shape.in_group, total);
    // For the first piece of a group, level 24 would begin where the codes in full do.
    const u32 codes_at = shuffle(level_at, lane_id() & ~(kGroupLanes - 1));
    escape_at = alive != 0 ? codes_at + before * kCodeBits : escape_at;
    behind = shuffle(codes_at + total * kCodeBits, group * kGroupLanes);
    return group;
  }

  TAMIS_DEVICE u32 low_plane(int b) const {
    if (b >= parameter) return 0;
    return walk.get_inside(start + static_cast<u32>(b * shape.group_codes) +
                           static_cast<u32>(kPieceCodes * shape.in_group)) &
           low_bits_32(shape.codes);
  }

  TAMIS_DEVICE void store(int n, u32* exchange, I* codes) {
    const int k = max_of(parameter, 0);
    const bool folded = !wave_any(parameter > kMostFolded);
    u32 bytes[kPieceWords] = {quotient[0] | (quotient[1] << 16), quotient[2] | (quotient[3] << 16),
                              quotient[4], 0};
    if (folded && wave_any(parameter > 0)) {
      bytes[2] |= low_plane(0) << 16;
      bytes[3] = low_plane(1) | (low_plane(2) << 16);
    }
    planes_to_bytes(bytes);
    if (!folded) {
      store_planes(
          shape, bytes, k, parameter, [&](int b) { return low_plane(b); }, codes);
      return;
    }
    // Each u fits a byte.
#pragma unroll
    for (int w = 0; w < kPieceWords; ++w) {
      bytes[w] = ((bytes[w] & 0x1f1f1f1fu) << k) | ((bytes[w] >> kQuotientPlanes) & 0x07070707u);
    }
    store_bytes(bytes, n, exchange, codes);
  }

  TAMIS_DEVICE void store_escapes(I* codes) {
    sync_wave();  // other lanes may have stored something else there
    u32 at = escape_at;
    for (u32 rest = escapes; rest != 0; rest &= rest - 1) {
      U u = walk.get_inside(at);
      if (sizeof(I) == 8) u |= static_cast<U>(u64{walk.get_inside(at + 32)} << 32);
      codes[kPieceCodes * lane_id() + lowest_one(rest)] = unzigzag(u);
      at += kCodeBits;
    }
  }
};

}  // namespace tamis::device
