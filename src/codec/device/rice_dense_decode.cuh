// Dense Rice segments, the decoder's part. Where a group ends is found group after group, by its
// zeros; then all groups are decoded together, each lane its piece of 16 codes. A group with codes
// in full ends elsewhere, which shows only then: the groups behind it are done anew.
#pragma once

#include "codec/device/bit_walk.cuh"
#include "codec/device/code_pieces.cuh"
#include "codec/device/rice_layout.cuh"
#include "codec/device/stream_fault.hpp"

namespace tamis::device {

using codec::StreamFault;

/// Bits that 64 numbers in unary can take without an escape, 64 zeros and 23 ones each, and a word.
inline constexpr u32 kQuotientReach = kGroupCodes * kEscape + 32;
static_assert(kQuotientReach + 32 <= kWindowBits, "a group fits the window");

/// Shared memory of a wave that decodes.
struct DenseScratch {
  alignas(16) u32 exchange[kSegmentWords];
  alignas(16) u32 tops[kSegmentWords];  // quotients that lanes found for others, a byte each
  u8 scatter[256];                      // see fill_scatter_table()
};

/// Entry 16 b + m has the bits b scattered to the ones of m, four bits each, and above them how
/// many ones m has.
TAMIS_DEVICE void fill_scatter_table(u8* table) {
  for (u32 i = static_cast<u32>(lane_id()); i < 256; i += kWave) {
    const u32 mask = i & 15;
    table[i] =
        static_cast<u8>(scatter_few(i >> 4, mask) | (static_cast<u32>(count_ones(mask)) << 4));
  }
}
/// deposit_bits() for a mask of 16 bits.
TAMIS_DEVICE u32 scatter_piece(const u8* table, u32 bits, u32 mask) {
  u32 result = 0;
  bits <<= 4;
#pragma unroll
  for (int shift = 0; shift < kPieceCodes; shift += 4) {
    const u32 entry = table[(bits & 0xf0) | ((mask >> shift) & 15)];
    result |= (entry & 15) << shift;
    bits >>= entry >> 4;
  }
  return result;
}

template <typename I>
struct DenseDecoder {
  using U = UnsignedCode<I>;
  static constexpr u32 kCodeBits = CodeTraits<I>::kBits;

  BitWalk& walk;
  DenseScratch& scratch;
  PieceShape shape = {};
  // Of the lane's group.
  int parameter = -1;
  u32 start = 0;
  // Of the lane's piece.
  u32 quotient[kQuotientPlanes] = {};
  u32 escapes = 0;
  u32 escape_at = 0;

  /// Decodes the segment of n codes whose head is before `at`, which moves behind it. Nothing is
  /// written when there is a fault.
  TAMIS_DEVICE StreamFault decode(int n, u32& at, I* codes) {
    shape = PieceShape::of(n);
    const int groups = ceil_div(n, kGroupCodes);
    if (!read_heads(groups, at)) return codec::kStreamParameter;
    sync_wave();  // the tops of an earlier segment have been read
    if (lane_id() < kPieceLanes) store_16(scratch.tops + kPieceWords * lane_id(), {});
    // The first lanes of the groups that are not zero.
    LaneMask groups_left = wave_ballot(parameter >= 0 && shape.in_group == 0);
    while (groups_left != 0) {
      if (!decode_some(n, groups_left, at)) return codec::kStreamEnds;
    }
    if (at > walk.end) return codec::kStreamEnds;
    store(n, codes);
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
#pragma unroll 1
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

  /// Decodes the first groups of those left, as many as the window holds, up to the first with
  /// codes in full. `at` is where the first begins and becomes the end of the last. False when a
  /// group leads beyond the stream.
  TAMIS_DEVICE bool decode_some(int n, LaneMask& groups_left, u32& at) {
    int lane = lowest_one(groups_left);
    u32 codes = static_cast<u32>(min_of(n - kPieceCodes * lane, kGroupCodes));
    u32 planes = codes * static_cast<u32>(shuffle(parameter, lane));
    if (at + planes > walk.end) return false;
    walk.focus(at + planes, kQuotientReach);
    u32 x = kNowhere;  // where the quotients of the lane's group begin
    u32 behind = at - walk.origin;
    LaneMask left = groups_left;
    bool first = true;
    bool lost = false;  // the first does not end in the window
    for (;;) {
      const u32 quotients = behind + planes;
      const u32 zeros = quotients - walk.ones_before(quotients) + codes;
      const LaneMask through = walk.zero_lanes(zeros, quotients < kWindowBits);
      // A group that may end behind the window waits until that moves.
      if (through == 0 && !first) break;
      if (lane_id() - shape.in_group == lane) {
        x = quotients;
        start = walk.origin + behind;
      }
      left &= left - 1;
      lost = through == 0;
      if (lost) break;
      first = false;
      behind = walk.behind_zero(zeros, through);
      if (left == 0) break;
      lane = lowest_one(left);
      codes = static_cast<u32>(min_of(n - kPieceCodes * lane, kGroupCodes));
      planes = codes * static_cast<u32>(shuffle(parameter, lane));
    }
    const LaneMask full = read_quotients(x, behind);
    if (full != 0) left = groups_left & ~(full | (full - 1));
    // It must then have codes in full.
    if (lost && full == 0) return false;
    groups_left = left;
    at = walk.origin + behind;
    return at <= walk.end;
  }

  /// The quotients of the groups that begin at some x. Returns the last lane of the first group
  /// with codes in full, and its end in `behind`; 0 when there is none. Groups behind that are of
  /// no worth.
  TAMIS_DEVICE LaneMask read_quotients(u32 x, u32& behind) {
    const bool mine = x != kNowhere;
    if (!mine) x = 0;
    // The next bit of a number whose bit is at p: `fixed` and the ones before p.
    const u32 fixed = x + static_cast<u32>(shape.group_codes) - walk.ones_before(x);
    u32 at = x + static_cast<u32>(kPieceCodes * shape.in_group);
    u32 alive = mine ? low_bits_32(shape.codes) : 0;
    if (mine) {
#pragma unroll
      for (int b = 0; b < kQuotientPlanes; ++b) quotient[b] = 0;
    }
    alive &= read_level(fixed, at);
    bool follow = true;
#pragma unroll 1
    for (int level = 1;; level += 4) {
      const u32 count = wave_sum(static_cast<u32>(count_ones(alive)));
      if (count == 0) break;
      if (follow && count <= kWave) {
        if (follow_last(alive, at, fixed, static_cast<u32>(level), static_cast<int>(count))) {
          alive = 0;
          break;
        }
        follow = false;
      }
      const u32 one = scatter_piece(scratch.scatter, read_level(fixed, at), alive);
      const u32 two = scatter_piece(scratch.scatter, read_level(fixed, at), one);
      const u32 three = scatter_piece(scratch.scatter, read_level(fixed, at), two);
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
      alive = scatter_piece(scratch.scatter, read_level(fixed, at), alive);
    }
    if (mine) escapes = alive;
    const LaneMask full = wave_ballot(alive != 0);
    if (full == 0) return 0;
    const int last_lane = lowest_one(full) | (kGroupLanes - 1);
    place_escapes(last_lane, alive, at, behind);
    return LaneMask{1} << last_lane;
  }

  /// The bits of the lane's piece in the level that begins for it at `at`, which moves to the next
  /// level.
  TAMIS_DEVICE u32 read_level(u32 fixed, u32& at) const {
    const WindowWord word = walk.window_word(at);
    const u32 bits = funnel_right(word.bits, walk.window_word(at + 32).bits, at);
    at = fixed + BitWalk::ones_before(word, at);
    return bits;
  }

  /// Once no more codes than lanes are alive, a lane follows each to its end and leaves the
  /// quotient among the tops. False, and nothing is left, when one of them is written in full.
  TAMIS_DEVICE bool follow_last(u32 alive, u32 at, u32 fixed, u32 level, int count) {
    // What is left in `quotient` for these codes counts the levels before; the tops count from
    // there on.
    sync_wave();  // the exchange may still be read
    u32 to = wave_exclusive_sum(static_cast<u32>(count_ones(alive)));
    const u32 first = static_cast<u32>(kPieceCodes * lane_id());
    for (; alive != 0; alive &= alive - 1) {
      scratch.exchange[to] = at++;
      scratch.exchange[kWave + to] = first + static_cast<u32>(lowest_one(alive));
      ++to;
    }
    sync_wave();
    const bool mine = lane_id() < count;
    u32 p = mine ? scratch.exchange[lane_id()] : 0;
    const u32 code = mine ? scratch.exchange[kWave + lane_id()] : 0;
    fixed = shuffle(fixed, static_cast<int>(code / kPieceCodes));
    u32 number = mine ? level : kEscape + 1;
    while (number < kEscape) {
      const WindowWord word = walk.window_word(p);
      if (((word.bits >> (p & 31)) & 1) == 0) break;
      p = fixed + BitWalk::ones_before(word, p);
      ++number;
    }
    if (wave_any(number == kEscape)) return false;
    if (mine) reinterpret_cast<u8*>(scratch.tops)[code] = static_cast<u8>(number - level + 1);
    return true;
  }

  TAMIS_DEVICE void place_escapes(int lane, u32 alive, u32 level_at, u32& behind) {
    u32 total = 0;
    const u32 before = group_prefix(static_cast<u32>(count_ones(alive)), total);
    // For the first piece of a group, level 24 would begin where the codes in full do.
    const u32 codes_at = shuffle(level_at, lane_id() & ~(kGroupLanes - 1));
    if (alive != 0) escape_at = walk.origin + codes_at + before * kCodeBits;
    behind = shuffle(codes_at + total * kCodeBits, lane);
  }

  TAMIS_DEVICE u32 low_plane(int b) const {
    if (b >= parameter) return 0;
    return walk.get_inside(start + static_cast<u32>(b * shape.group_codes) +
                           static_cast<u32>(kPieceCodes * shape.in_group)) &
           low_bits_32(shape.codes);
  }

  TAMIS_DEVICE void store(int n, I* codes) {
    const int k = max_of(parameter, 0);
    const bool folded = !wave_any(parameter > kMostFolded);
    u32 bytes[kPieceWords] = {quotient[0] | (quotient[1] << 16), quotient[2] | (quotient[3] << 16),
                              quotient[4], 0};
    if (folded) {
      if (wave_any(parameter > 0)) bytes[2] |= low_plane(0) << 16;
      if (wave_any(parameter > 1)) bytes[3] = low_plane(1) | (low_plane(2) << 16);
    }
    planes_to_bytes(bytes);
    sync_wave();  // for the tops
    if (lane_id() < kPieceLanes) {
      const Vec16 tops = load_16(scratch.tops + kPieceWords * lane_id());
#pragma unroll
      for (int w = 0; w < kPieceWords; ++w) bytes[w] += tops.word[w];
    }
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
    store_bytes(bytes, n, scratch.exchange, codes);
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
