// Sixteen bytes of a lane as eight bit planes of 16 bits, and back; and arithmetic on four bytes
// of a word at a time.
#pragma once

#include "gpu/device/bits.cuh"

namespace tamis::device {

/// Byte k of the result is the byte that hexadecimal digit k of the selector names, 0 to 3 in a
/// and 4 to 7 in b.
template <u32 kSelector>
TAMIS_DEVICE u32 pick_bytes(u32 a, u32 b) {
#if defined(TAMIS_GPU_HIP) && !defined(TAMIS_GPU_SIM)
  constexpr u32 kSpread = (kSelector & 7) | ((kSelector & 0x70) << 4) | ((kSelector & 0x700) << 8) |
                          ((kSelector & 0x7000) << 12);
  return __builtin_amdgcn_perm(b, a, kSpread);
#else
  return __byte_perm(a, b, kSelector);
#endif
}

/// The low word of (high, low) >> (shift mod 32).
TAMIS_DEVICE u32 funnel_right(u32 low, u32 high, u32 shift) {
#if defined(TAMIS_GPU_HIP) && !defined(TAMIS_GPU_SIM)
  return static_cast<u32>(((u64{high} << 32) | low) >> (shift & 31));
#else
  return __funnelshift_r(low, high, shift);
#endif
}

/// `sum` and the four bytes of the word.
TAMIS_DEVICE u32 add_bytes(u32 word, u32 sum) {
#if defined(TAMIS_GPU_CUDA) && !defined(TAMIS_GPU_SIM)
  return __dp4a(word, 0x01010101u, sum);
#else
  const u32 pairs = (word & 0x00ff00ffu) + ((word >> 8) & 0x00ff00ffu);
  return sum + (pairs & 0xffff) + (pairs >> 16);
#endif
}

/// The value in each byte.
TAMIS_DEVICE u32 in_each_byte(u32 value) { return value * 0x01010101u; }

/// Bit 7 of each byte that is at least `least`, 1 to 127.
template <u32 kLeast>
TAMIS_DEVICE u32 bytes_from(u32 word) {
  static_assert(kLeast >= 1 && kLeast <= 127, "a carry must reach bit 7 and no further");
  return (((word & 0x7f7f7f7fu) + (128 - kLeast) * 0x01010101u) | word) & 0x80808080u;
}

/// Each byte that is larger becomes `most`; `larger` gets bit 7 of those that were not below it.
template <u32 kMost>
TAMIS_DEVICE u32 cap_bytes(u32 word, u32& reached) {
  reached = bytes_from<kMost>(word);
  const u32 whole = (reached >> 7) * 0xff;
  return (word & ~whole) | (whole & (kMost * 0x01010101u));
}

/// An 8 x 8 bit matrix whose row i is byte i of (low, high), transposed (H. S. Warren, "Hacker's
/// Delight", 2nd ed., 7-3).
TAMIS_DEVICE void transpose_8x8(u32& low, u32& high) {
  u32 t = (low ^ (low >> 7)) & 0x00aa00aau;
  low ^= t ^ (t << 7);
  t = (high ^ (high >> 7)) & 0x00aa00aau;
  high ^= t ^ (t << 7);
  t = (low ^ (low >> 14)) & 0x0000ccccu;
  low ^= t ^ (t << 14);
  t = (high ^ (high >> 14)) & 0x0000ccccu;
  high ^= t ^ (t << 14);
  t = (low ^ (high << 4)) & 0xf0f0f0f0u;
  low ^= t;
  high ^= t >> 4;
}

/// From 16 bytes, byte i of which is byte i % 4 of word i / 4, to planes: word k holds plane 2 k
/// in its low half and plane 2 k + 1 in its high half, bit i of each is that of byte i.
TAMIS_DEVICE void bytes_to_planes(u32 (&words)[4]) {
  transpose_8x8(words[0], words[1]);
  transpose_8x8(words[2], words[3]);
  const u32 a = words[0], b = words[1], c = words[2], d = words[3];
  words[0] = pick_bytes<0x5140>(a, c);
  words[1] = pick_bytes<0x7362>(a, c);
  words[2] = pick_bytes<0x5140>(b, d);
  words[3] = pick_bytes<0x7362>(b, d);
}

/// The inverse.
TAMIS_DEVICE void planes_to_bytes(u32 (&words)[4]) {
  const u32 a = words[0], b = words[1], c = words[2], d = words[3];
  words[0] = pick_bytes<0x6420>(a, b);
  words[2] = pick_bytes<0x7531>(a, b);
  words[1] = pick_bytes<0x6420>(c, d);
  words[3] = pick_bytes<0x7531>(c, d);
  transpose_8x8(words[0], words[1]);
  transpose_8x8(words[2], words[3]);
}

/// Plane b of what bytes_to_planes() gives; b must be known at compile time.
TAMIS_DEVICE u32 plane_of(const u32 (&words)[4], int b) {
  return b % 2 == 0 ? words[b / 2] & 0xffff : words[b / 2] >> 16;
}

// Few bits are alive in a unary level, so bits are moved one by one, a lane by itself: about five
// instructions each, where extract_bits() takes ninety for any mask. Two a round; a round with an
// empty mask changes nothing.

/// As extract_bits(), for masks with few ones.
TAMIS_DEVICE u32 gather_few(u32 value, u32 mask) {
  u32 result = 0;
  u32 place = 1;
  while (mask != 0) {
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      const u32 rest = mask & (mask - 1);
      if ((value & (mask ^ rest)) != 0) result += place;
      place += place;
      mask = rest;
    }
  }
  return result;
}

/// As deposit_bits(), for masks with few ones.
TAMIS_DEVICE u32 scatter_few(u32 value, u32 mask) {
  u32 result = 0;
  while (mask != 0) {
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      const u32 rest = mask & (mask - 1);
      if ((value & 1) != 0) result |= mask ^ rest;
      value >>= 1;
      mask = rest;
    }
  }
  return result;
}

}  // namespace tamis::device
