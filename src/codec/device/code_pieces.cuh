// How a wave shares a segment of 512 codes: a lane owns a piece of 16 neighbours, four lanes a
// group of 64. Pieces are small enough for registers, and bit planes of a piece come from
// arithmetic within the lane, which costs a tenth of a ballot for each bit.
#pragma once

#include "codec/device/byte_planes.cuh"
#include "gpu/device/bits.cuh"
#include "gpu/device/copy.cuh"
#include "gpu/device/warp.cuh"

namespace tamis::device {

inline constexpr int kSegmentCodes = 512;
inline constexpr int kGroupCodes = 64;
inline constexpr int kPieceCodes = 16;
inline constexpr int kSegmentGroups = kSegmentCodes / kGroupCodes;
inline constexpr int kGroupLanes = kGroupCodes / kPieceCodes;
/// Lanes that own a piece; in a larger wave the others own none.
inline constexpr int kPieceLanes = kSegmentCodes / kPieceCodes;
static_assert(kWave >= kPieceLanes && kWave % kPieceLanes == 0, "a wave holds a segment");
/// Words of a segment's codes when each takes a byte.
inline constexpr int kSegmentWords = kSegmentCodes / 4;
inline constexpr int kPieceWords = kPieceCodes / 4;

template <typename I>
struct CodeTraits;
template <>
struct CodeTraits<i32> {
  using Unsigned = u32;
  static constexpr int kBits = 32;
};
template <>
struct CodeTraits<i64> {
  using Unsigned = u64;
  static constexpr int kBits = 64;
};
template <typename I>
using UnsignedCode = typename CodeTraits<I>::Unsigned;

/// Signed to unsigned with small magnitudes first, and back.
TAMIS_DEVICE u32 zigzag(i32 code) { return (static_cast<u32>(code) << 1) ^ (code >> 31); }
TAMIS_DEVICE u64 zigzag(i64 code) { return (static_cast<u64>(code) << 1) ^ (code >> 63); }
TAMIS_DEVICE i32 unzigzag(u32 u) { return static_cast<i32>((u >> 1) ^ (0 - (u & 1))); }
TAMIS_DEVICE i64 unzigzag(u64 u) { return static_cast<i64>((u >> 1) ^ (0 - (u & 1))); }

/// What of a segment of n codes falls to this lane.
struct PieceShape {
  int group;        // of the segment; kSegmentGroups and above where the lane owns nothing
  int in_group;     // which piece of its group
  int group_codes;  // 0 for groups behind the end
  int codes;        // of the piece

  static TAMIS_DEVICE PieceShape of(int n) {
    const int lane = lane_id();
    if (kWave > kPieceLanes && lane >= kPieceLanes) n = 0;
    PieceShape shape;
    shape.group = lane / kGroupLanes;
    shape.in_group = lane % kGroupLanes;
    shape.group_codes = clamp_to(n - shape.group * kGroupCodes, 0, kGroupCodes);
    shape.codes = clamp_to(n - lane * kPieceCodes, 0, kPieceCodes);
    return shape;
  }
};

/// Sum and OR over the lanes of a group.
template <typename T>
TAMIS_DEVICE T group_sum(T value) {
#pragma unroll
  for (int step = 1; step < kGroupLanes; step *= 2) value += shuffle_xor(value, step);
  return value;
}
template <typename T>
TAMIS_DEVICE T group_or(T value) {
#pragma unroll
  for (int step = 1; step < kGroupLanes; step *= 2) value |= shuffle_xor(value, step);
  return value;
}

/// Sum over the lanes of the group before this one; `total` gets that of all four.
TAMIS_DEVICE u32 group_prefix(u32 value, u32& total) {
  u32 sum = value;
#pragma unroll
  for (int step = 1; step < kGroupLanes; step *= 2) sum = add_from_below<kGroupLanes>(sum, step);
  total = shuffle(sum, lane_id() | (kGroupLanes - 1));
  return sum - value;
}

/// The same over the groups of a segment, of values that the lanes of a group share.
TAMIS_DEVICE u32 segment_prefix(u32 value, u32& total) {
  u32 sum = value;
#pragma unroll
  for (int step = kGroupLanes; step < kPieceLanes; step *= 2) {
    sum = add_from_below<kPieceLanes>(sum, step);
  }
  total = shuffle(sum, kPieceLanes - 1);
  return sum - value;
}
TAMIS_DEVICE u32 segment_sum(u32 value) {
#pragma unroll
  for (int step = kGroupLanes; step < kPieceLanes; step *= 2) value += shuffle_xor(value, step);
  return kWave > kPieceLanes ? shuffle(value, 0) : value;
}

/// Four neighbouring codes as unsigned; memory is readable, codes from `valid` on become 0.
TAMIS_DEVICE void load_quad(const i32* codes, u32 (&u)[4]) {
  const Vec16 v = load_16(codes);
#pragma unroll
  for (int i = 0; i < 4; ++i) u[i] = zigzag(static_cast<i32>(v.word[i]));
}
TAMIS_DEVICE void load_quad(const i64* codes, u64 (&u)[4]) {
#pragma unroll
  for (int i = 0; i < 4; i += 2) {
    const Vec16 v = load_16(codes + i);
    u[i] = zigzag(static_cast<i64>((u64{v.word[1]} << 32) | v.word[0]));
    u[i + 1] = zigzag(static_cast<i64>((u64{v.word[3]} << 32) | v.word[2]));
  }
}
template <typename U>
TAMIS_DEVICE void clear_from(U (&u)[4], int valid) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (i >= valid) u[i] = 0;
  }
}

/// Stores four neighbouring codes at a multiple of 16 bytes.
TAMIS_DEVICE void store_quad(i32* to, const i32 (&codes)[4]) {
  store_16(to, {{static_cast<u32>(codes[0]), static_cast<u32>(codes[1]), static_cast<u32>(codes[2]),
                 static_cast<u32>(codes[3])}});
}
TAMIS_DEVICE void store_quad(i64* to, const i64 (&codes)[4]) {
#pragma unroll
  for (int i = 0; i < 4; i += 2) {
    const u64 a = static_cast<u64>(codes[i]);
    const u64 b = static_cast<u64>(codes[i + 1]);
    store_16(to + i, {{static_cast<u32>(a), static_cast<u32>(a >> 32), static_cast<u32>(b),
                       static_cast<u32>(b >> 32)}});
  }
}
/// Stores four neighbouring codes where the address suits, else one by one; none from `valid` on.
template <typename I>
TAMIS_DEVICE void store_quad(I* to, const I (&codes)[4], int valid, bool aligned) {
  if (aligned && valid >= 4) {
    store_quad(to, codes);
    return;
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (i < valid) to[i] = codes[i];
  }
}
template <typename I>
TAMIS_DEVICE bool is_aligned_16(const I* address) {
  return (reinterpret_cast<u64>(address) & 15) == 0;
}

/// Writes n zeros, at most a segment.
template <typename I>
TAMIS_DEVICE void store_zeros(I* to, int n) {
  const bool aligned = is_aligned_16(to);
  if (aligned && n == kSegmentCodes) {
    constexpr int kStoreCodes = 16 / sizeof(I);
#pragma unroll
    for (int k = 0; k < kSegmentCodes / kStoreCodes; k += kWave) {
      store_16(to + kStoreCodes * (k + lane_id()), {});
    }
    return;
  }
  const I zeros[4] = {};
  for (int i = 4 * lane_id(); i < n; i += 4 * kWave) store_quad(to + i, zeros, n - i, aligned);
}

/// The u of the lane's piece, one after the other: `visit(u, i)`.
template <typename I>
struct MemoryPiece {
  const I* codes;
  int valid;

  template <typename Visit>
  TAMIS_DEVICE void each(Visit visit) const {
#pragma unroll
    for (int i = 0; i < kPieceCodes; i += 4) {
      UnsignedCode<I> u[4] = {};
      if (i < valid) {
        load_quad(codes + i, u);
        clear_from(u, valid - i);
      }
#pragma unroll
      for (int j = 0; j < 4; ++j) visit(u[j], i + j);
    }
  }
};

/// The same from registers.
template <typename U>
struct RegisterPiece {
  U u[kPieceCodes];

  template <typename Visit>
  TAMIS_DEVICE void each(Visit visit) const {
#pragma unroll
    for (int i = 0; i < kPieceCodes; ++i) visit(u[i], i);
  }
};

/// Four neighbouring codes as bytes of u; 254 or 255, of the same parity, for what is larger.
TAMIS_DEVICE u32 load_quad_bytes(const i32* codes) {
  const Vec16 v = load_16(codes);
  return zigzag_bytes(saturated_bytes(static_cast<i32>(v.word[0]), static_cast<i32>(v.word[1]),
                                      static_cast<i32>(v.word[2]), static_cast<i32>(v.word[3])));
}
TAMIS_DEVICE u32 load_quad_bytes(const i64* codes) {
  i32 half[4];
#pragma unroll
  for (int i = 0; i < 4; i += 2) {
    const Vec16 v = load_16(codes + i);
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      const i32 low = static_cast<i32>(v.word[2 * j]);
      const i32 high = static_cast<i32>(v.word[2 * j + 1]);
      half[i + j] = high == low >> 31 ? low : (high >> 31) ^ 0x7fffffff;
    }
  }
  return zigzag_bytes(saturated_bytes(half[0], half[1], half[2], half[3]));
}

/// Reads a segment's codes and hands the bytes of their u to the lane that owns them; `exchange`
/// keeps them, in order. What is larger than 253 becomes 254 or 255, of the same parity. Returns
/// whether there is none such. Lanes need a barrier before `exchange` is used for something else.
template <typename I>
TAMIS_DEVICE bool load_bytes(const I* segment, int n, u32* exchange, u32 (&bytes)[kPieceWords]) {
  constexpr int kLoads = kSegmentWords / kWave;
  u32 quad[kLoads];
#pragma unroll
  for (int k = 0; k < kLoads; ++k) {
    quad[k] = load_quad_bytes(segment + 4 * (k * kWave + lane_id()));
  }
  if (n < kSegmentCodes) {
#pragma unroll
    for (int k = 0; k < kLoads; ++k) {
      quad[k] &= low_bits_32(8 * clamp_to(n - 4 * (k * kWave + lane_id()), 0, 4));
    }
  }
  u32 seen = 0;
#pragma unroll
  for (int k = 0; k < kLoads; ++k) {
    seen |= quad[k];
    exchange[k * kWave + lane_id()] = quad[k];
  }
  sync_wave();
  Vec16 mine = {};
  if (kWave == kPieceLanes || lane_id() < kPieceLanes) {
    mine = load_16(exchange + kPieceWords * lane_id());
  }
#pragma unroll
  for (int k = 0; k < kPieceWords; ++k) bytes[k] = mine.word[k];
  if (!wave_any((seen & (seen << 1) & 0x80808080u) != 0)) return true;  // none above 191
  u32 large = 0;
#pragma unroll
  for (int k = 0; k < kLoads; ++k) large |= bytes_from<127>(quad[k] >> 1 & 0x7f7f7f7fu);
  return !wave_any(large != 0);
}

/// Asks for a segment that the wave will read next, as far as it is below `end`.
template <typename I>
TAMIS_DEVICE void prefetch_segment(const I* segment, const I* end) {
  constexpr int kLineCodes = 128 / sizeof(I);
  const I* line = segment + kLineCodes * lane_id();
  if (lane_id() < kSegmentCodes / kLineCodes && line < end) prefetch_line(line);
}

/// Byte i of a piece.
TAMIS_DEVICE u32 piece_byte(const u32 (&bytes)[kPieceWords], int i) {
  const u32 low = (i & 4) == 0 ? bytes[0] : bytes[1];
  const u32 high = (i & 4) == 0 ? bytes[2] : bytes[3];
  return (((i & 8) == 0 ? low : high) >> (8 * (i & 3))) & 0xff;
}

/// Stores n codes from bytes that hold the u of each lane's piece. Neighbouring lanes store
/// neighbouring codes: pieces are exchanged first.
template <typename I>
TAMIS_DEVICE void store_bytes(const u32 (&bytes)[kPieceWords], int n, u32* exchange, I* codes) {
  sync_wave();
  if (lane_id() < kPieceLanes) {
    store_16(exchange + kPieceWords * lane_id(), {{bytes[0], bytes[1], bytes[2], bytes[3]}});
  }
  sync_wave();
  const bool aligned = is_aligned_16(codes);
  const bool plain = aligned && n == kSegmentCodes;
#pragma unroll
  for (int k = 0; k < kSegmentWords / kWave; ++k) {
    const int quad = k * kWave + lane_id();
    const u32 word = exchange[quad];
    const u32 negative = (word & 0x01010101u) * 0xff;
    const u32 signed_bytes = ((word >> 1) & 0x7f7f7f7fu) ^ negative;
    const I four[4] = {signed_byte<0>(signed_bytes), signed_byte<1>(signed_bytes),
                       signed_byte<2>(signed_bytes), signed_byte<3>(signed_bytes)};
    if (plain) {
      store_quad(codes + 4 * quad, four);
    } else {
      store_quad(codes + 4 * quad, four, n - 4 * quad, aligned);
    }
  }
}

/// Stores pieces of any width. A lane's u are the bytes of `top`, shifted left by `shift`, and
/// below them `planes` bit planes, which `plane(b)` gives. Codes of 64 bits are made in two halves,
/// for the sake of registers.
template <typename I, typename Plane>
TAMIS_DEVICE void store_planes(const PieceShape& shape, const u32 (&top)[kPieceWords], int shift,
                               int planes, Plane plane, I* codes) {
  using U = UnsignedCode<I>;
  constexpr int kPart = sizeof(I) == 4 ? kPieceCodes : kPieceCodes / 2;
  const bool aligned = is_aligned_16(codes);
  I* piece = codes + kPieceCodes * lane_id();
#pragma unroll 1
  for (int first = 0; first < kPieceCodes; first += kPart) {
    U u[kPart];
#pragma unroll
    for (int i = 0; i < kPart; ++i) {
      const u32 word = first == 0 ? top[i / 4] : top[(i + kPieceCodes - kPart) / 4];
      u[i] = static_cast<U>((word >> (8 * (i % 4))) & 0xff) << shift;
    }
#pragma unroll 1
    for (int low = 0; wave_any(low < planes); low += 8) {
      u32 bytes[kPieceWords];
#pragma unroll
      for (int b = 0; b < 8; b += 2) {
        bytes[b / 2] = ((plane(low + b) >> first) & 0xffff) | ((plane(low + b + 1) >> first) << 16);
      }
      planes_to_bytes(bytes);
#pragma unroll
      for (int i = 0; i < kPart; ++i) {
        u[i] |= static_cast<U>((bytes[i / 4] >> (8 * (i % 4))) & 0xff) << low;
      }
    }
#pragma unroll
    for (int i = 0; i < kPart; i += 4) {
      const I four[4] = {unzigzag(u[i]), unzigzag(u[i + 1]), unzigzag(u[i + 2]),
                         unzigzag(u[i + 3])};
      store_quad(piece + first + i, four, shape.codes - first - i, aligned);
    }
  }
}

}  // namespace tamis::device
