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

/// The high word of (high, low) << (shift mod 32).
TAMIS_DEVICE u32 funnel_left(u32 low, u32 high, u32 shift) {
#if defined(TAMIS_GPU_HIP) && !defined(TAMIS_GPU_SIM)
  return static_cast<u32>((((u64{high} << 32) | low) << (shift & 31)) >> 32);
#else
  return __funnelshift_l(low, high, shift);
#endif
}

/// Shifts by any amount; nothing is left from 32 on.
TAMIS_DEVICE u32 shift_left(u32 value, u32 by) {
#if defined(TAMIS_GPU_CUDA) && !defined(TAMIS_GPU_SIM)
  u32 result;
  asm("shl.b32 %0, %1, %2;" : "=r"(result) : "r"(value), "r"(by));
  return result;
#else
  return by < 32 ? value << by : 0;
#endif
}
TAMIS_DEVICE u32 shift_right(u32 value, u32 by) {
#if defined(TAMIS_GPU_CUDA) && !defined(TAMIS_GPU_SIM)
  u32 result;
  asm("shr.u32 %0, %1, %2;" : "=r"(result) : "r"(value), "r"(by));
  return result;
#else
  return by < 32 ? value >> by : 0;
#endif
}

/// Four numbers as signed bytes, saturated, the first lowest.
TAMIS_DEVICE u32 saturated_bytes(i32 a, i32 b, i32 c, i32 d) {
#if defined(TAMIS_GPU_CUDA) && !defined(TAMIS_GPU_SIM)
  u32 result;
  asm("{ .reg .b32 upper;\n"
      "cvt.pack.sat.s8.s32.b32 upper, %4, %3, 0;\n"
      "cvt.pack.sat.s8.s32.b32 %0, %2, %1, upper; }"
      : "=r"(result)
      : "r"(a), "r"(b), "r"(c), "r"(d));
  return result;
#else
  const auto byte = [](i32 value) { return static_cast<u32>(clamp_to(value, -128, 127)) & 0xff; };
  return byte(a) | (byte(b) << 8) | (byte(c) << 16) | (byte(d) << 24);
#endif
}

/// The sign of each byte in all its bits.
TAMIS_DEVICE u32 byte_signs(u32 word) {
#if defined(TAMIS_GPU_CUDA) && !defined(TAMIS_GPU_SIM)
  u32 result;
  asm("prmt.b32 %0, %1, 0, 0xba98;" : "=r"(result) : "r"(word));
  return result;
#else
  return ((word >> 7) & 0x01010101u) * 0xff;
#endif
}
/// Signed bytes to unsigned ones, as zigzag() does.
TAMIS_DEVICE u32 zigzag_bytes(u32 word) { return ((word << 1) & 0xfefefefeu) ^ byte_signs(word); }

/// Byte i of a word of signed bytes.
template <int kIndex>
TAMIS_DEVICE i32 signed_byte(u32 word) {
#if defined(TAMIS_GPU_CUDA) && !defined(TAMIS_GPU_SIM)
  i32 result;
  asm("prmt.b32 %0, %1, 0, %2;" : "=r"(result) : "r"(word), "n"(0x8880 + 0x1111 * kIndex));
  return result;
#else
  return static_cast<i8>(word >> (8 * kIndex));
#endif
}

/// `sum` and the products of the bytes.
TAMIS_DEVICE u32 dot_bytes(u32 a, u32 b, u32 sum) {
#if defined(TAMIS_GPU_CUDA) && !defined(TAMIS_GPU_SIM)
  return __dp4a(a, b, sum);
#else
#pragma unroll
  for (int i = 0; i < 32; i += 8) sum += ((a >> i) & 0xff) * ((b >> i) & 0xff);
  return sum;
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
/// Delight", 2nd ed., 7-3). A product moves and keeps the bits of t at once.
TAMIS_DEVICE void transpose_8x8(u32& low, u32& high) {
  u32 t = (low ^ (low >> 7)) & 0x00aa00aau;
  low ^= t * 129;
  t = (high ^ (high >> 7)) & 0x00aa00aau;
  high ^= t * 129;
  t = (low ^ (low >> 14)) & 0x0000ccccu;
  low ^= t * 16385;
  t = (high ^ (high >> 14)) & 0x0000ccccu;
  high ^= t * 16385;
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

/// Gathers the bits of `value`, all of them ones of `mask` too, to the low ends of the two halves,
/// in order: extract_bits() for two numbers of 16 bits.
TAMIS_DEVICE u32 gather_halves(u32 value, u32 mask) {
  u32 zeros = (~mask << 1) & 0xfffefffeu;
#pragma unroll
  for (int step = 1; step < 16; step *= 2) {
    u32 parity = zeros ^ ((zeros << 1) & 0xfffefffeu);
    parity ^= (parity << 2) & 0xfffcfffcu;
    parity ^= (parity << 4) & 0xfff0fff0u;
    parity ^= (parity << 8) & 0xff00ff00u;
    const u32 moving = parity & mask;
    mask = (mask ^ moving) | (moving >> step);
    const u32 bits = value & moving;
    value = (value ^ bits) | (bits >> step);
    zeros &= ~parity;
  }
  return value;
}

/// As deposit_bits(), for masks with few ones: five instructions each, where deposit_bits() takes
/// more than a hundred for any mask. Two a round; a round with an empty mask changes nothing.
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
