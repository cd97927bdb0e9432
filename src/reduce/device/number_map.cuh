// Number maps on the device, one value at a time: the arithmetic of reduce/number_map.cpp and of
// the point check of reduce/field_rows.cpp, bit for bit.
#pragma once

#include "gpu/device/basics.cuh"
#include "reduce/device/grid_args.hpp"

namespace tamis::device {

TAMIS_DEVICE u32 bits_of(float v) { return __float_as_uint(v); }
TAMIS_DEVICE u64 bits_of(double v) { return static_cast<u64>(__double_as_longlong(v)); }
// Lattice integers, where they stand for values (grids of anchors), are their own bits.
TAMIS_DEVICE u32 bits_of(i32 v) { return static_cast<u32>(v); }
TAMIS_DEVICE u64 bits_of(i64 v) { return static_cast<u64>(v); }
TAMIS_DEVICE float value_of(u32 bits) { return __uint_as_float(bits); }
TAMIS_DEVICE double value_of(u64 bits) { return __longlong_as_double(static_cast<i64>(bits)); }

template <typename T>
struct BitsOf;
template <>
struct BitsOf<float> {
  using U = u32;
  using I = i32;
};
template <>
struct BitsOf<double> {
  using U = u64;
  using I = i64;
};
template <>
struct BitsOf<i32> {
  using U = u32;
  using I = i32;
};
template <>
struct BitsOf<i64> {
  using U = u64;
  using I = i64;
};
template <typename I>
struct Unsigned;
template <>
struct Unsigned<i32> {
  using U = u32;
};
template <>
struct Unsigned<i64> {
  using U = u64;
};

// Sums and products wrap.
template <typename I>
TAMIS_DEVICE I wrap_add(I a, I b) {
  using U = typename Unsigned<I>::U;
  return static_cast<I>(static_cast<U>(a) + static_cast<U>(b));
}
template <typename I>
TAMIS_DEVICE I wrap_sub(I a, I b) {
  using U = typename Unsigned<I>::U;
  return static_cast<I>(static_cast<U>(a) - static_cast<U>(b));
}
template <typename I>
TAMIS_DEVICE I wrap_mul(I a, I b) {
  using U = typename Unsigned<I>::U;
  return static_cast<I>(static_cast<U>(a) * static_cast<U>(b));
}

template <typename T>
TAMIS_DEVICE typename BitsOf<T>::I ordered_bits(T v) {
  using U = typename BitsOf<T>::U;
  using I = typename BitsOf<T>::I;
  const U bits = bits_of(v);
  constexpr U kTop = U{1} << (8 * sizeof(U) - 1);
  return static_cast<I>((bits & kTop) != 0 ? ~bits | kTop : bits);
}
template <typename T>
TAMIS_DEVICE T from_ordered_bits(typename BitsOf<T>::I ordered) {
  using U = typename BitsOf<T>::U;
  constexpr U kTop = U{1} << (8 * sizeof(U) - 1);
  const U bits = static_cast<U>(ordered);
  return value_of((bits & kTop) != 0 ? ~bits | kTop : bits);
}

template <typename T>
TAMIS_DEVICE bool is_finite(T v) {
  return fabs(static_cast<double>(v)) <= 1.7976931348623157e308;
}

/// Nearest integer to value / step; the step is odd, so there are no ties.
TAMIS_DEVICE i32 divide_nearest(i32 value, i32 step, u64 reciprocal) {
  const u32 magnitude = value < 0 ? 0u - static_cast<u32>(value) : static_cast<u32>(value);
  const u32 n = magnitude + static_cast<u32>(step) / 2;
  u32 quotient = __umulhi(n, static_cast<u32>(reciprocal));
  if (n - quotient * static_cast<u32>(step) >= static_cast<u32>(step)) ++quotient;
  return static_cast<i32>(value < 0 ? 0u - quotient : quotient);
}
TAMIS_DEVICE i64 divide_nearest(i64 value, i64 step, u64 reciprocal) {
  const u64 magnitude = value < 0 ? u64{0} - static_cast<u64>(value) : static_cast<u64>(value);
  const u64 n = magnitude + static_cast<u64>(step) / 2;
  u64 quotient = __umul64hi(n, reciprocal);
  if (n - quotient * static_cast<u64>(step) >= static_cast<u64>(step)) ++quotient;
  return static_cast<i64>(value < 0 ? u64{0} - quotient : quotient);
}

template <typename I>
struct LatticeLimit;
template <>
struct LatticeLimit<i32> {
  static constexpr double kValue = 268435456.0;  // 2^28
};
template <>
struct LatticeLimit<i64> {
  static constexpr double kValue = 288230376151711744.0;  // 2^58
};

// Conversions between doubles and integers below 2^51 in magnitude by adding 1.5 * 2^52: conversion
// instructions have a fraction of the rate of additions.
inline constexpr double kIntegerMagic = 6755399441055744.0;
template <typename I>
TAMIS_DEVICE I nearest_integer(double value) {
  return static_cast<I>(__double_as_longlong(__dadd_rn(value, kIntegerMagic)) -
                        __double_as_longlong(kIntegerMagic));
}
TAMIS_DEVICE double exact_double(i32 value) {
  // 2^52 + 2^31 + value, taken apart again.
  const u64 bits = u64{0x43300000} << 32 | (static_cast<u32>(value) ^ 0x80000000u);
  return __dsub_rn(__longlong_as_double(static_cast<i64>(bits)), 4503601774854144.0);
}
TAMIS_DEVICE double exact_double(i64 value) { return static_cast<double>(value); }

/// The affine map of a value between `low` and `high`.
template <typename I>
TAMIS_DEVICE I quantise_affine(const LatticeArgs& map, double value) {
  const double scaled = __dmul_rn(__dsub_rn(value, map.offset), map.inverse);
  if constexpr (sizeof(I) == 4) {
    return nearest_integer<I>(scaled);
  } else {
    return static_cast<I>(__double2ll_rn(scaled));
  }
}
/// Before it is rounded to the type of values.
template <typename I>
TAMIS_DEVICE double reconstruct_affine(const LatticeArgs& map, I lattice) {
  return __dadd_rn(map.offset, __dmul_rn(map.unit, exact_double(lattice)));
}

TAMIS_DEVICE i64 palette_index(const LatticeArgs& map, double value) {
  i64 low = 0;  // entries below `low` are below the value
  i64 high = map.palette_size;
  while (low < high) {
    const i64 middle = (low + high) / 2;
    if (map.palette[middle] < value) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == 0) return 0;
  if (low == map.palette_size) return map.palette_size - 1;
  return low - (value - map.palette[low - 1] <= map.palette[low] - value ? 1 : 0);
}

/// Lattice value of a field value; false when it has none of its own.
template <typename I, typename T>
TAMIS_DEVICE bool quantise(const LatticeArgs& map, T value, I& lattice) {
  if (map.kind <= kMapLattice) {
    const double scaled = (static_cast<double>(value) - map.offset) * map.inverse;
    lattice = sizeof(I) == 4 ? static_cast<I>(__double2int_rn(scaled))
                             : static_cast<I>(__double2ll_rn(scaled));
    return fabs(scaled) < LatticeLimit<I>::kValue;
  }
  if (map.kind == kMapOrdered) {
    lattice = static_cast<I>(ordered_bits(value));
    return true;
  }
  if (!is_finite(value)) return false;
  if (map.kind == kMapPalette) {
    lattice = static_cast<I>(palette_index(map, static_cast<double>(value)));
  } else {
    lattice = static_cast<I>(ordered_bits(value < 0 ? -value : value + T{0}));
  }
  return true;
}

/// Field value of a lattice value.
template <typename T, typename I>
TAMIS_DEVICE T reconstruct(const LatticeArgs& map, I lattice) {
  using Bits = typename BitsOf<T>::I;
  if (map.kind <= kMapLattice) {
    return static_cast<T>(reconstruct_affine(map, lattice));
  }
  if (map.kind == kMapOrdered) return from_ordered_bits<T>(static_cast<Bits>(lattice));
  if (map.kind == kMapPalette) {
    const i64 top = map.palette_size - 1;
    return static_cast<T>(map.palette[clamp_to(static_cast<i64>(lattice), i64{0}, top)]);
  }
  constexpr u64 kTop = (u64{1} << (8 * sizeof(Bits) - 1)) - 1;
  const I top = sizeof(I) >= sizeof(Bits) ? static_cast<I>(kTop) : static_cast<I>(0x7fffffff);
  return from_ordered_bits<T>(static_cast<Bits>(clamp_to(lattice, I{0}, top)));
}

/// Exact comparison where the rounded difference is the bound itself (two-sum, Knuth).
TAMIS_DEVICE bool tie_holds(double x, double r, double bound) {
  const double high = x > r ? x : r;
  const double low = x > r ? r : x;
  const double difference = __dsub_rn(high, low);
  const double back = __dsub_rn(difference, high);
  const double error =
      __dadd_rn(__dsub_rn(high, __dsub_rn(difference, back)), __dsub_rn(-low, back));
  return difference < bound || (difference == bound && error <= 0);
}

/// True when r may stand for x.
template <typename T>
TAMIS_DEVICE bool point_holds(int check, double bound, T x, T r) {
  const double a = static_cast<double>(x);
  const double b = static_cast<double>(r);
  if (check == kCheckAbsolute) {
    const double error = fabs(__dsub_rn(a, b));
    if (error < bound) return true;  // false for NaN
    if (bits_of(x) == bits_of(r)) return true;
    return is_finite(a) && error == bound && tie_holds(a, b, bound);
  }
  if (bits_of(x) == bits_of(r)) return true;
  if (check == kCheckExact) return false;
  if (!is_finite(a) || a == 0 || (a < 0) != (b < 0 || (b == 0 && __double_as_longlong(b) < 0))) {
    return false;
  }
  const double allowed = __dmul_rn(__dmul_rn(bound, fabs(a)), 1 - 0x1p-50);
  return fabs(__dsub_rn(a, b)) < allowed;
}

}  // namespace tamis::device
