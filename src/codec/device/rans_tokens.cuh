// What encoder and decoder of rANS streams share: constants, tokens, fixed-point logarithms. All of
// it must agree with codec/rans.hpp to the last bit.
#pragma once

#include "gpu/device/bits.cuh"

namespace tamis::device {

inline constexpr int kRansBits = 12;  // probabilities are multiples of 2^-12
inline constexpr u32 kRansTotal = 1u << kRansBits;
inline constexpr u32 kRansLow = 1u << 16;  // states stay in [2^16, 2^32)
inline constexpr int kRansContexts = 64;
inline constexpr int kMaxRansLanes = 32;
static_assert(kMaxRansLanes <= kWave, "a wave holds the lanes of a stream");
inline constexpr int kRansRawPiece = 12;  // raw bits go through a state at most this many at a time
inline constexpr int kDirectTokens = 16;

/// Tokens that tables may list, whatever the codes' type.
inline constexpr int kMostRansTokens = kDirectTokens + 2 * (64 - 4);

template <typename I>
struct RansCode;
template <>
struct RansCode<i32> {
  using Unsigned = u32;
};
template <>
struct RansCode<i64> {
  using Unsigned = u64;
};
template <typename I>
using RansUnsigned = typename RansCode<I>::Unsigned;

template <typename I>
inline constexpr int kRansCodeBits = 8 * static_cast<int>(sizeof(I));
/// Tokens that codes of this type reach.
template <typename I>
inline constexpr int kRansTokens = kDirectTokens + 2 * (kRansCodeBits<I> - 4);

template <typename I>
TAMIS_DEVICE RansUnsigned<I> rans_zigzag(I code) {
  using U = RansUnsigned<I>;
  return (static_cast<U>(code) << 1) ^ static_cast<U>(code >> (kRansCodeBits<I> - 1));
}
template <typename I>
TAMIS_DEVICE I rans_unzigzag(RansUnsigned<I> value) {
  using U = RansUnsigned<I>;
  return static_cast<I>((value >> 1) ^ (U{0} - (value & 1)));
}

/// The raw bits of a value that has them are its lowest.
struct RansToken {
  int token;
  int raw_bits;
};

template <typename U>
TAMIS_DEVICE RansToken rans_token(U value) {
  const bool direct = value < U{kDirectTokens};
  const int raw_bits = direct ? 0 : bit_width(value) - 2;
  const int wide = kDirectTokens + 2 * (raw_bits - 3) + static_cast<int>(value >> raw_bits & 1);
  return {direct ? static_cast<int>(value) : wide, raw_bits};
}

TAMIS_DEVICE int raw_bits_of(int token) {
  return token < kDirectTokens ? 0 : 3 + (token - kDirectTokens) / 2;
}

inline constexpr int kLogTableBits = 12;
inline constexpr int kLogTableSize = 1 << kLogTableBits;

/// Logarithms of 1 + i / 4096 by repeated squaring, in 1/65536, by a block, in shared memory. No
/// barrier at the end.
TAMIS_DEVICE void make_log_table(u16* table) {
  for (u32 i = threadIdx.x; i < kLogTableSize; i += blockDim.x) {
    u32 mantissa = (u32{kLogTableSize} + i) << (31 - kLogTableBits);
    u32 result = 0;
#pragma unroll 4
    for (int bit = 15; bit >= 0; --bit) {
      const u64 square = u64{mantissa} * mantissa >> 31;
      const u32 carry = static_cast<u32>(square >> 32);
      mantissa = static_cast<u32>(square >> carry);
      result |= carry << bit;
    }
    table[i] = static_cast<u16>(result);
  }
}

/// About 65536 * log2(value); value > 0.
TAMIS_DEVICE u32 log2_fixed(u32 value, const u16* table) {
  const int exponent = bit_width(value) - 1;
  const u32 mantissa = value << (31 - exponent) >> (31 - kLogTableBits);
  return (static_cast<u32>(exponent) << 16) + table[mantissa & (kLogTableSize - 1)];
}

/// value * log2(value) in 1/65536; 0 for 0.
TAMIS_DEVICE u64 times_log2(u32 value, const u16* table) {
  return u64{value} * log2_fixed(max_of(value, 1u), table);
}

}  // namespace tamis::device
