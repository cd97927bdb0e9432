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
TAMIS_DEVICE u32 group_prefix(u32 value, int in_group, u32& total) {
  u32 sum = value;
#pragma unroll
  for (int step = 1; step < kGroupLanes; step *= 2) {
    const u32 before = shuffle_up(sum, step);
    if (in_group >= step) sum += before;
  }
  total = shuffle(sum, lane_id() | (kGroupLanes - 1));
  return sum - value;
}

/// The same over the groups of a segment, of values that the lanes of a group share.
TAMIS_DEVICE u32 segment_prefix(u32 value, u32& total) {
  u32 sum = value;
#pragma unroll
  for (int step = kGroupLanes; step < kPieceLanes; step *= 2) {
    const u32 before = shuffle_up(sum, step);
    if (lane_id() >= step) sum += before;
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

/// Stores four neighbouring codes where the address suits, else one by one; none from `valid` on.
TAMIS_DEVICE void store_quad(i32* to, const i32 (&codes)[4], int valid, bool aligned) {
  if (aligned && valid >= 4) {
    store_16(to, {{static_cast<u32>(codes[0]), static_cast<u32>(codes[1]),
                   static_cast<u32>(codes[2]), static_cast<u32>(codes[3])}});
    return;
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (i < valid) to[i] = codes[i];
  }
}
TAMIS_DEVICE void store_quad(i64* to, const i64 (&codes)[4], int valid, bool aligned) {
#pragma unroll
  for (int i = 0; i < 4; i += 2) {
    const u64 a = static_cast<u64>(codes[i]);
    const u64 b = static_cast<u64>(codes[i + 1]);
    if (aligned && valid >= i + 2) {
      store_16(to + i, {{static_cast<u32>(a), static_cast<u32>(a >> 32), static_cast<u32>(b),
                         static_cast<u32>(b >> 32)}});
    } else {
      if (i < valid) to[i] = codes[i];
      if (i + 1 < valid) to[i + 1] = codes[i + 1];
    }
  }
}
template <typename I>
TAMIS_DEVICE bool is_aligned_16(const I* address) {
  return (reinterpret_cast<u64>(address) & 15) == 0;
}

/// Writes n zeros, at most a segment.
template <typename I>
TAMIS_DEVICE void store_zeros(I* to, int n) {
  const I zeros[4] = {};
  const bool aligned = is_aligned_16(to);
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

/// Reads a segment's codes and hands the low byte of each u to the lane that owns it. Returns the
/// OR of this lane's u before that. Lanes need a barrier before `exchange` is used again.
template <typename I>
TAMIS_DEVICE UnsignedCode<I> load_low_bytes(const I* segment, int n, u32* exchange,
                                            u32 (&bytes)[kPieceWords]) {
  constexpr int kLoads = kSegmentWords / kWave;
  UnsignedCode<I> u[kLoads][4];
#pragma unroll
  for (int k = 0; k < kLoads; ++k) load_quad(segment + 4 * (k * kWave + lane_id()), u[k]);
  if (n < kSegmentCodes) {
#pragma unroll
    for (int k = 0; k < kLoads; ++k) clear_from(u[k], n - 4 * (k * kWave + lane_id()));
  }
  UnsignedCode<I> all = 0;
#pragma unroll
  for (int k = 0; k < kLoads; ++k) {
    all |= (u[k][0] | u[k][1]) | (u[k][2] | u[k][3]);
    exchange[k * kWave + lane_id()] =
        (static_cast<u32>(u[k][0]) & 0xff) | ((static_cast<u32>(u[k][1]) & 0xff) << 8) |
        ((static_cast<u32>(u[k][2]) & 0xff) << 16) | (static_cast<u32>(u[k][3]) << 24);
  }
  sync_wave();
  Vec16 mine = {};
  if (lane_id() < kPieceLanes) mine = load_16(exchange + kPieceWords * lane_id());
#pragma unroll
  for (int k = 0; k < kPieceWords; ++k) bytes[k] = mine.word[k];
  return all;
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
#pragma unroll
  for (int k = 0; k < kSegmentWords / kWave; ++k) {
    const int quad = k * kWave + lane_id();
    const u32 word = exchange[quad];
    const u32 negative = (word & 0x01010101u) * 0xff;
    const u32 signed_bytes = ((word >> 1) & 0x7f7f7f7fu) ^ negative;
    I four[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) four[i] = static_cast<i8>(signed_bytes >> (8 * i));
    store_quad(codes + 4 * quad, four, n - 4 * quad, aligned);
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
