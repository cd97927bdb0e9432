// Judges a reconstruction against what was asked for, sharing nothing with the library:
// differences, ranges and products are quadruple precision, so the verdict is that of exact
// arithmetic and there is no tolerance anywhere. Used by tests and fuzzers, hence without
// GoogleTest.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <type_traits>

#include "tamis/reduce.hpp"

namespace tamis::testing {

#if defined(__SIZEOF_FLOAT128__)
__extension__ using Quad = __float128;
#else
using Quad = long double;
#endif

template <typename T>
using BitsOf = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

template <typename T>
BitsOf<T> raw_bits(T value) {
  BitsOf<T> bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

/// Same points masked as the user said, or as the container says where it looked by itself.
template <typename T>
bool is_masked(T value, const std::optional<double>& fill) {
  if (!fill) return false;
  return std::isnan(*fill) ? std::isnan(value) : value == static_cast<T>(*fill);
}

/// Range of the finite, unmasked values.
struct TrueRange {
  Quad low = 0;
  Quad high = 0;
  std::int64_t count = 0;
  Quad width() const { return high - low; }
};

template <typename T>
TrueRange true_range(std::span<const T> field, const std::optional<double>& fill) {
  TrueRange r;
  for (const T v : field) {
    if (!std::isfinite(v) || is_masked(v, fill)) continue;
    const Quad q = v;
    if (r.count == 0 || q < r.low) r.low = q;
    if (r.count == 0 || q > r.high) r.high = q;
    ++r.count;
  }
  return r;
}

template <typename T>
std::string describe(std::int64_t index, T x, T y, const char* what) {
  char text[160];
  std::snprintf(text, sizeof text, "point %lld: %.17g became %.17g (bits %llx, %llx): %s",
                static_cast<long long>(index), static_cast<double>(x), static_cast<double>(y),
                static_cast<unsigned long long>(raw_bits(x)),
                static_cast<unsigned long long>(raw_bits(y)), what);
  return text;
}

/// Empty when `decoded` keeps the promise, else what is wrong with the first point that breaks it.
template <typename T>
std::string broken_promise(std::span<const T> field, std::span<const T> decoded,
                           const reduce::Bound& bound, const std::optional<double>& fill) {
  using reduce::BoundKind;
  if (field.size() != decoded.size()) return "another number of points";
  const TrueRange range = true_range(field, fill);
  const Quad value = bound.value;
  Quad squares = 0;
  for (std::size_t i = 0; i < field.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    const T x = field[i];
    const T y = decoded[i];
    if (raw_bits(x) == raw_bits(y)) continue;
    if (bound.kind == BoundKind::kLossless) return describe(at, x, y, "lossless");
    if (!std::isfinite(x)) return describe(at, x, y, "not finite");
    if (is_masked(x, fill)) return describe(at, x, y, "masked");
    if (!std::isfinite(y)) return describe(at, x, y, "result not finite");
    const Quad difference = Quad(x) - Quad(y);
    const Quad error = difference < 0 ? -difference : difference;
    const Quad size = x < 0 ? -Quad(x) : Quad(x);
    switch (bound.kind) {
      case BoundKind::kAbsolute:
        if (error > value) return describe(at, x, y, "absolute bound");
        break;
      case BoundKind::kRelative:
        if (error > value * range.width()) return describe(at, x, y, "relative bound");
        break;
      case BoundKind::kPointwiseRelative:
        if (std::signbit(x) != std::signbit(y)) return describe(at, x, y, "sign");
        if (error > value * size) return describe(at, x, y, "pointwise relative bound");
        break;
      case BoundKind::kPsnr:
        squares += error * error;
        break;
      case BoundKind::kLossless:
        break;
    }
  }
  if (bound.kind == BoundKind::kPsnr && squares > 0) {
    const Quad ratio = range.width() * range.width() / (squares / Quad(range.count));
    const double decibels = 10 * std::log10(static_cast<double>(ratio));
    if (!(decibels >= bound.value)) {
      return "PSNR " + std::to_string(decibels) + " dB, asked for " + std::to_string(bound.value);
    }
  }
  return {};
}

}  // namespace tamis::testing
