// Dense Rice segments, the encoder's part: each lane writes the bits of its piece of 16 codes,
// plane by plane and level by level.
#pragma once

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
TAMIS_DEVICE void put_escapes(const I* piece, u32 escapes, u32* words, u32 at) {
  for (; escapes != 0; escapes &= escapes - 1) {
    or_code(words, at, zigzag(piece[lowest_one(escapes)]));
    at += CodeTraits<I>::kBits;
  }
}

/// Planes of low bits from 0 to the parameter, of any number, which takes reading the codes again.
template <typename I>
TAMIS_DEVICE void put_planes(const RicePlan<I>& plan, const I* piece, const PieceShape& shape,
                             u32* words, u32 at) {
  for (int first = 0; wave_any(plan.parameter > first); first += 8) {
    u32 bytes[kPieceWords] = {};
    MemoryPiece<I>{piece, shape.codes}.each([&](UnsignedCode<I> u, int i) {
      bytes[i / 4] |= (static_cast<u32>(u >> first) & 0xff) << (8 * (i % 4));
    });
    bytes_to_planes(bytes);
#pragma unroll
    for (int b = 0; b < 8; ++b) {
      if (plan.parameter > first + b) or_bits(words, at, plane_of(bytes, b));
      at += static_cast<u32>(shape.group_codes);
    }
  }
}

/// Writes a planned dense segment to bit `start` of the buffer.
template <typename I>
TAMIS_DEVICE void put_dense(const RicePlan<I>& plan, const I* segment, int n, u32* words,
                            u32 start) {
  const PieceShape shape = PieceShape::of(n);
  const int parameter = plan.parameter;
  if (lane_id() == 0) or_bits(words, start, kDenseHead);
  if (shape.in_group == 0 && shape.group_codes > 0) {
    const u32 head = parameter + 1 < kWideHead
                         ? static_cast<u32>(parameter + 1)
                         : kWideHead | (static_cast<u32>(parameter) << kHeadBits);
    or_bits(words, start + plan.head_at, head);
  }
  const u32 group_at = start + plan.at;
  const u32 stride = static_cast<u32>(shape.group_codes);
  u32 at = group_at + static_cast<u32>(kPieceCodes * shape.in_group);
  const I* piece = segment + kPieceCodes * lane_id();
  if (!plan.folded) put_planes(plan, piece, shape, words, at);
  u32 planes[kPieceWords];
#pragma unroll
  for (int w = 0; w < kPieceWords; ++w) planes[w] = plan.bytes[w];
  bytes_to_planes(planes);
  if (plan.folded && wave_any(parameter > 0)) {
#pragma unroll
    for (int b = 0; b < kMostFolded; ++b) {
      if (b < parameter) {
        or_bits(words, at + static_cast<u32>(b) * stride, plane_of(planes, kQuotientPlanes + b));
      }
    }
  }
  QuotientLevels levels;
#pragma unroll
  for (int b = 0; b < kQuotientPlanes; ++b) levels.plane[b] = plane_of(planes, b);
  const u32 escapes = plan.capped ? levels.plane[4] & levels.plane[3] : 0;
  at += static_cast<u32>(max_of(parameter, 0)) * stride;
  u32 alive = levels.at(1);
  or_bits(words, at, alive);
  at = group_at + static_cast<u32>(max_of(parameter, 0) + 1) * stride;  // now where a level begins
  for (int first = 1; wave_any(alive != 0); first += 4) {
    // Levels first to first + 3 have a bit for each of `mask`; the largest level has none at all.
    u32 mask[5] = {alive, levels.at(2), levels.at(3), levels.at(4), 0};
    if (first + 3 == kEscape) mask[3] = 0;
    levels.next();
    mask[4] = first + 3 == kEscape ? 0 : levels.at(1);
    u32 counts = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i) counts |= static_cast<u32>(count_ones(mask[i])) << (8 * i);
    u32 totals = 0;
    const u32 before = group_prefix(counts, shape.in_group, totals);
    // Bytes: the levels before in the group, and the pieces before in the level; at most 240.
    const u32 offsets = totals * 0x01010100u + before;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const u32 greater = first + i + 1 == kEscape ? escapes : mask[i + 1];
      or_bits(words, at + ((offsets >> (8 * i)) & 0xff), gather_few(greater, mask[i]));
    }
    at = add_bytes(totals, at);
    alive = mask[4];
  }
  if (!plan.capped || !wave_any(escapes != 0)) return;
  u32 total = 0;
  const u32 before = group_prefix(static_cast<u32>(count_ones(escapes)), shape.in_group, total);
  put_escapes(piece, escapes, words,
              group_at + plan.payload - (total - before) * CodeTraits<I>::kBits);
}

}  // namespace tamis::device
