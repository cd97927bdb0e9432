// The integer arithmetic of the transform, one value at a time. Host and device compile this file
// alike and every vector path must agree with it bit for bit; sums wrap, so hostile codes are
// harmless and no result depends on an order of evaluation.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

namespace tamis::reduce {

template <typename I>
constexpr I wrap_add(I a, I b) {
  using U = std::make_unsigned_t<I>;
  return static_cast<I>(static_cast<U>(a) + static_cast<U>(b));
}

template <typename I>
constexpr I wrap_sub(I a, I b) {
  using U = std::make_unsigned_t<I>;
  return static_cast<I>(static_cast<U>(a) - static_cast<U>(b));
}

template <typename I>
constexpr I wrap_mul(I a, I b) {
  using U = std::make_unsigned_t<I>;
  return static_cast<I>(static_cast<U>(a) * static_cast<U>(b));
}

/// |a|, and 0 for the one value whose magnitude does not fit.
template <typename I>
constexpr I magnitude(I a) {
  const I m = a < 0 ? wrap_sub<I>(0, a) : a;
  return m < 0 ? I{0} : m;
}

/// Midpoint of b and c, rounded up at halves.
template <typename I>
constexpr I predict_linear(I b, I c) {
  return static_cast<I>(wrap_add<I>(wrap_add(b, c), 1) >> 1);
}

/// Four-point cubic (-1 9 9 -1)/16 at the middle of a b . c e, arranged so that nothing exceeds
/// 32 bits while the values stay below 2^28.
template <typename I>
constexpr I predict_cubic(I a, I b, I c, I e) {
  const I bend = wrap_add<I>(wrap_add(wrap_sub(b, a), wrap_sub(c, e)), 4) >> 3;
  return static_cast<I>(wrap_add<I>(wrap_add(wrap_add(b, c), bend), 1) >> 1);
}

/// The value after a b c on the parabola through them: a - 3b + 3c.
template <typename I>
constexpr I extend_parabola(I a, I b, I c) {
  return wrap_add(a, wrap_mul<I>(3, wrap_sub(c, b)));
}

/// The value after a b on the line through them: 2b - a.
template <typename I>
constexpr I extend_line(I a, I b) {
  return wrap_add(b, wrap_sub(b, a));
}

/// How rough the data are around a linear or cubic prediction, in lattice units.
template <typename I>
constexpr I activity_linear(I b, I c) {
  return magnitude(wrap_sub(b, c));
}
template <typename I>
constexpr I activity_cubic(I a, I b, I c, I e) {
  const I turn = magnitude(wrap_sub(wrap_sub(b, a), wrap_sub(e, c)));
  return wrap_add<I>(turn, magnitude(wrap_sub(b, c)) >> 2);
}

/// Nearest integer to value / step for odd step >= 1 (an odd step knows no ties).
template <typename I>
constexpr I divide_nearest(I value, I step) {
  if (step == 1) return value;
  I quotient = value / step;
  const I rest = value - quotient * step;
  const I half = step / 2;
  if (rest > half) ++quotient;
  if (rest < -half) --quotient;
  return quotient;
}

inline constexpr int kActivityClasses = 16;

/// Class 0 .. 15 of an activity: half octaves of 1 + activity / step in single precision.
template <typename I>
inline std::uint8_t activity_class(I activity, float inverse_step) {
  const float scaled = static_cast<float>(activity < 0 ? I{0} : activity) * inverse_step + 1.0F;
  const std::uint32_t half_octave = (std::bit_cast<std::uint32_t>(scaled) >> 22) - 254U;
  return static_cast<std::uint8_t>(half_octave < kActivityClasses ? half_octave
                                                                  : kActivityClasses - 1);
}

}  // namespace tamis::reduce
