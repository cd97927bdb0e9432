// Dense Rice segments, the encoder's part: each lane writes the bits of its piece of 16 codes,
// plane by plane and level by level.
#pragma once

#include "codec/device/bit_sink.cuh"
#include "codec/device/byte_planes.cuh"
#include "codec/device/rice_layout.cuh"
#include "codec/device/rice_plan.cuh"

namespace tamis::device {

/// The levels of a piece's quotients, four at a time: at(i) says which codes have at least 4 r + i
/// when next() has been called r times.
struct QuotientLevels {
  u32 plane[kQuotientPlanes];

  TAMIS_DEVICE u32 upper() const { return plane[2] | plane[3] | plane[4]; }
  /// i from 1 to 4.
  TAMIS_DEVICE u32 at(int i) const {
    if (i == 4) return upper();
    if (i == 3) return upper() | (plane[1] & plane[0]);
    return i == 2 ? upper() | plane[1] : upper() | plane[1] | plane[0];
  }
  /// Takes 4 off all quotients that have as much; the others become 0.
  TAMIS_DEVICE void next() {
    const u32 stay = upper();
    plane[0] &= stay;
    plane[1] &= stay;
    u32 borrow = stay;
#pragma unroll
    for (int b = 2; b < kQuotientPlanes; ++b) {
      const u32 before = plane[b];
      plane[b] = before ^ borrow;
      borrow &= ~before;
    }
  }
};

/// Codes in full, of those of the lane's piece that `escapes` names.
template <typename I>
TAMIS_DEVICE void put_escapes(const I* piece, u32 escapes, BitSink sink, u32 at) {
  for (; escapes != 0; escapes &= escapes - 1) {
    sink.put_code(at, zigzag(piece[lowest_one(escapes)]));
    at += CodeTraits<I>::kBits;
  }
}

/// Planes of low bits from 0 to the parameter, of any number, which takes reading the codes again.
template <typename I>
TAMIS_DEVICE void put_planes(const RicePlan<I>& plan, const I* piece, const PieceShape& shape,
                             BitSink sink, u32 at) {
  for (int first = 0; wave_any(plan.parameter > first); first += 8) {
    u32 bytes[kPieceWords] = {};
    MemoryPiece<I>{piece, shape.codes}.each([&](UnsignedCode<I> u, int i) {
      bytes[i / 4] |= (static_cast<u32>(u >> first) & 0xff) << (8 * (i % 4));
    });
    bytes_to_planes(bytes);
#pragma unroll
    for (int b = 0; b < 8; ++b) {
      if (plan.parameter > first + b) sink.put(at, plane_of(bytes, b));
      at += static_cast<u32>(shape.group_codes);
    }
  }
}

/// The levels from `level` on when no more codes than lanes are alive there: then each gets a lane
/// of its own. `alive` says which of the lane's piece they are, `bytes` holds the quotients, `at`
/// is where the level begins for the lane's group.
TAMIS_DEVICE void put_last_levels(const u32 (&bytes)[kPieceWords], u32 alive, int count, u32 level,
                                  u32 at, u32* exchange, BitSink sink) {
  sync_wave();  // the exchange may still be read
  u32 to = wave_exclusive_sum(static_cast<u32>(count_ones(alive)));
  const u32 group = static_cast<u32>(lane_id() / kGroupLanes) << kQuotientPlanes;
  for (; alive != 0; alive &= alive - 1) {
    const u32 byte = piece_byte(bytes, lowest_one(alive));
    exchange[to++] = group | (byte & ((1u << kQuotientPlanes) - 1));
  }
  sync_wave();
  const bool mine = lane_id() < count;
  const u32 entry = mine ? exchange[lane_id()] : ~0u;
  const LaneMask in_group = lanes_with_same(entry >> kQuotientPlanes);
  const LaneMask before = in_group & lanes_before();
  const u32 quotient = mine ? entry & ((1u << kQuotientPlanes) - 1) : 0;
  at = shuffle(at, mine ? static_cast<int>(entry >> kQuotientPlanes) * kGroupLanes : 0);
  LaneMask lanes = wave_ballot(mine);
  for (; lanes != 0 && level < kEscape; ++level) {
    const bool greater = quotient > level;
    sink.put_bit(at + static_cast<u32>(count_ones(lanes & before)), greater);
    at += static_cast<u32>(count_ones(lanes & in_group));
    lanes = wave_ballot(greater);
  }
}

/// Writes a planned dense segment to the start of `words`, where a word behind the last one becomes
/// 0. `exchange` has kWave words.
template <typename I>
TAMIS_DEVICE void put_dense(const RicePlan<I>& plan, const I* segment, int n, u32* exchange,
                            u32* words) {
  clear_words(words, plan.bits);
  const BitSink sink(words);
  const u32 start = sink.begin();
  const PieceShape shape = PieceShape::of(n);
  const int parameter = plan.parameter;
  if (shape.in_group == 0 && shape.group_codes > 0) {
    const u32 head = parameter + 1 < kWideHead
                         ? static_cast<u32>(parameter + 1)
                         : kWideHead | (static_cast<u32>(parameter) << kHeadBits);
    const bool first = shape.group == 0;  // with the segment's head before it
    sink.put(start + (first ? 0 : plan.head_at), first ? kDenseHead | (head << kHeadBits) : head);
  }
  const u32 group_at = start + plan.at;
  const u32 stride = static_cast<u32>(shape.group_codes);
  u32 at = group_at + static_cast<u32>(kPieceCodes * shape.in_group);
  const I* piece = segment + kPieceCodes * lane_id();
  if (!plan.folded) put_planes(plan, piece, shape, sink, at);
  u32 planes[kPieceWords];
#pragma unroll
  for (int w = 0; w < kPieceWords; ++w) planes[w] = plan.bytes[w];
  bytes_to_planes(planes);
  if (plan.folded && wave_any(parameter > 0)) {
#pragma unroll
    for (int b = 0; b < kMostFolded; ++b) {
      if (b < parameter) {
        sink.put(at + static_cast<u32>(b) * stride, plane_of(planes, kQuotientPlanes + b));
      }
    }
  }
  QuotientLevels levels;
#pragma unroll
  for (int b = 0; b < kQuotientPlanes; ++b) levels.plane[b] = plane_of(planes, b);
  const u32 escapes = plan.capped ? levels.plane[4] & levels.plane[3] : 0;
  at += static_cast<u32>(max_of(parameter, 0)) * stride;
  u32 alive = levels.at(1);
  sink.put(at, alive);
  at = group_at + static_cast<u32>(max_of(parameter, 0) + 1) * stride;  // now where a level begins
  for (int first = 1;; first += 4) {
    const u32 count = wave_sum(static_cast<u32>(count_ones(alive)));
    if (count <= kWave) {
      if (count > 0) {
        put_last_levels(plan.bytes, alive, static_cast<int>(count), static_cast<u32>(first), at,
                        exchange, sink);
      }
      break;
    }
    // Levels first to first + 3 have a bit for each of `mask`; the largest level has none at all.
    u32 mask[5] = {alive, levels.at(2), levels.at(3), levels.at(4), 0};
    if (first + 3 == kEscape) mask[3] = 0;
    levels.next();
    mask[4] = first + 3 == kEscape ? 0 : levels.at(1);
    u32 counts = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i) counts |= static_cast<u32>(count_ones(mask[i])) << (8 * i);
    u32 totals = 0;
    const u32 before = group_prefix(counts, totals);
    // Bytes: the levels before in the group, and the pieces before in the level; at most 240.
    const u32 offsets = totals * 0x01010100u + before;
    const u32 third = first + 3 == kEscape ? escapes : mask[3];
    const u32 lower = gather_halves(mask[1] | (mask[2] << 16), mask[0] | (mask[1] << 16));
    const u32 upper = gather_halves(third | (mask[4] << 16), mask[2] | (mask[3] << 16));
    sink.put(at + (offsets & 0xff), lower & 0xffff);
    sink.put(at + ((offsets >> 8) & 0xff), lower >> 16);
    sink.put(at + ((offsets >> 16) & 0xff), upper & 0xffff);
    sink.put(at + (offsets >> 24), upper >> 16);
    at = add_bytes(totals, at);
    alive = mask[4];
  }
  if (!plan.capped || !wave_any(escapes != 0)) return;
  u32 total = 0;
  const u32 before = group_prefix(static_cast<u32>(count_ones(escapes)), total);
  put_escapes(piece, escapes, sink,
              group_at + plan.payload - (total - before) * CodeTraits<I>::kBits);
}

}  // namespace tamis::device
