// Numbers in unary, a group of up to 64 at a time, level by level: one bit for each number that is
// still alive says whether it is greater than the level. That costs as many bits as one number
// after the other, but takes a few word operations a level, and a parallel decoder finds its bit by
// counting. Inside, numbers are bit-sliced: plane b holds bit b of each. (Include guard toggles per
// target.)
#if defined(TAMIS_CODEC_UNARY_PLANES_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef TAMIS_CODEC_UNARY_PLANES_INL_HPP_
#undef TAMIS_CODEC_UNARY_PLANES_INL_HPP_
#else
#define TAMIS_CODEC_UNARY_PLANES_INL_HPP_
#endif

#include <hwy/highway.h>

#include <bit>
#include <cstdint>

#if HWY_ARCH_X86
#include <immintrin.h>
#endif

#include "codec/bit_planes.hpp"
#include "codec/bit_stream.hpp"

HWY_BEFORE_NAMESPACE();
namespace tamis::codec {
namespace HWY_NAMESPACE {

// AVX2 targets come with BMI2.
#if HWY_ARCH_X86_64 && HWY_TARGET <= HWY_AVX2
HWY_INLINE std::uint64_t extract_bits(std::uint64_t value, std::uint64_t mask) {
  return _pext_u64(value, mask);
}
HWY_INLINE std::uint64_t deposit_bits(std::uint64_t value, std::uint64_t mask) {
  return _pdep_u64(value, mask);
}
#else
// The bits of `value` under the mask, side by side; and back to their places.
HWY_INLINE std::uint64_t extract_bits(std::uint64_t value, std::uint64_t mask) {
  std::uint64_t out = 0;
  for (int i = 0; mask != 0; mask &= mask - 1, ++i) {
    out |= (value >> std::countr_zero(mask) & 1U) << i;
  }
  return out;
}
HWY_INLINE std::uint64_t deposit_bits(std::uint64_t value, std::uint64_t mask) {
  std::uint64_t out = 0;
  for (; mask != 0; mask &= mask - 1, value >>= 1) {
    if (value & 1U) out |= mask & (~mask + 1);
  }
  return out;
}
#endif

HWY_INLINE std::uint64_t first_bits(int n) {
  return n < 64 ? (std::uint64_t{1} << n) - 1 : ~std::uint64_t{0};
}

// Numbers 0 .. n - 1 of `count` planes, which it uses up; none may be above `most`. At that level
// no bit follows.
HWY_INLINE void put_unary_planes(std::uint64_t* planes, int count, int n, int most,
                                 BitWriter& out) {
  std::uint64_t alive = first_bits(n);
  for (int level = 0; level < most; ++level) {
    std::uint64_t greater = 0;
    for (int b = 0; b < count; ++b) greater |= planes[b];
    out.put_wide(extract_bits(greater, alive), std::popcount(alive));
    if (greater == 0) return;
    alive = greater;
    std::uint64_t borrow = greater;
    for (int b = 0; borrow != 0; ++b) {
      const std::uint64_t plane = planes[b];
      planes[b] = plane ^ borrow;
      borrow &= ~plane;
    }
  }
}

// The inverse, for planes that are zero; returns which of the numbers are `most`. `count` is raised
// to the number of planes in use.
HWY_INLINE std::uint64_t get_unary_planes(int n, int most, BitReader& in, std::uint64_t* planes,
                                          int& count) {
  std::uint64_t alive = first_bits(n);
  for (int level = 0; level < most; ++level) {
    alive = deposit_bits(in.get_wide(std::popcount(alive)), alive);
    if (alive == 0) return 0;
    std::uint64_t carry = alive;
    int b = 0;
    for (; carry != 0; ++b) {
      const std::uint64_t plane = planes[b];
      planes[b] = plane ^ carry;
      carry &= plane;
    }
    count = b > count ? b : count;
  }
  return alive;
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace tamis::codec
HWY_AFTER_NAMESPACE();

#endif  // include guard
