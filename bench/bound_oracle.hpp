// The benchmarks' own judge of a promised bound; shares nothing with reduce::compare. Differences
// and products are kept as unevaluated long double pairs (value, rounding error), so the verdict at
// a point is that of exact arithmetic: an error equal to the bound passes, one bit more does not.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>

#include "tamis/reduce.hpp"

namespace tamis::bench {

/// high + low is exact.
struct Pair {
  long double high = 0;
  long double low = 0;
};

inline Pair exact_sum(long double a, long double b) {
  const long double s = a + b;
  const long double t = s - a;
  return {s, (a - (s - t)) + (b - t)};
}
inline Pair exact_product(long double a, long double b) {
  const long double p = a * b;
  return {p, std::fmal(a, b, -p)};
}
inline Pair magnitude(Pair p) {
  const bool negative = p.high < 0 || (p.high == 0 && p.low < 0);
  return negative ? Pair{-p.high, -p.low} : p;
}
/// a > b; the difference of the leading parts is exact whenever the trailing ones can matter.
inline bool exceeds(Pair a, Pair b) { return (a.high - b.high) + (a.low - b.low) > 0; }

struct Verdict {
  std::int64_t violations = 0;
  std::int64_t first_violation = -1;
  std::int64_t finite = 0;
  long double worst = 0;  // largest error / bound; for psnr, rms error / allowed rms error
  long double max_error = 0;
};

template <typename T>
class Oracle {
 public:
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

  /// Reads the original once for its range; `fill` as the container states it.
  Oracle(const T* original, std::int64_t count, std::optional<double> fill)
      : original_(original), count_(count), fill_(fill) {
    for (std::int64_t i = 0; i < count_; ++i) {
      if (!counts(original_[i])) continue;
      low_ = std::min(low_, original_[i]);
      high_ = std::max(high_, original_[i]);
    }
    if (low_ <= high_) range_ = exact_sum(high_, -static_cast<long double>(low_));
  }

  long double range() const { return range_.high; }
  T low() const { return low_; }

  Verdict judge(const T* decoded, const reduce::Bound& bound) const {
    switch (bound.kind) {
      case reduce::BoundKind::kAbsolute:
        return judge_absolute(decoded, {static_cast<long double>(bound.value), 0});
      case reduce::BoundKind::kRelative: {
        Pair limit = exact_product(bound.value, range_.high);
        limit.low += bound.value * range_.low;
        return judge_absolute(decoded, limit);
      }
      case reduce::BoundKind::kPointwiseRelative:
        return judge_pointwise(decoded, bound.value);
      case reduce::BoundKind::kPsnr:
        return judge_psnr(decoded, bound.value);
      case reduce::BoundKind::kLossless:
        break;
    }
    Verdict v;
    for (std::int64_t i = 0; i < count_; ++i) {
      v.finite += std::isfinite(original_[i]);
      if (!same_bits(original_[i], decoded[i])) note(v, i);
    }
    return v;
  }

 private:
  static bool same_bits(T a, T b) { return std::bit_cast<Bits>(a) == std::bit_cast<Bits>(b); }
  bool masked(T x) const {
    return fill_ && (std::isnan(*fill_) ? std::isnan(x) : x == static_cast<T>(*fill_));
  }
  bool counts(T x) const { return std::isfinite(x) && !masked(x); }
  static void note(Verdict& v, std::int64_t i) {
    ++v.violations;
    if (v.first_violation < 0) v.first_violation = i;
  }
  static Pair error_of(T x, T y) {
    return magnitude(exact_sum(static_cast<long double>(x), -static_cast<long double>(y)));
  }

  Verdict judge_absolute(const T* decoded, Pair limit) const {
    Verdict v;
    double worst = 0;
    // Below this a plain double difference is beyond doubt.
    const double sure = static_cast<double>(limit.high) * (1 - 1e-12);
    for (std::int64_t i = 0; i < count_; ++i) {
      const T x = original_[i];
      if (!counts(x)) {
        if (!same_bits(x, decoded[i])) note(v, i);
        continue;
      }
      ++v.finite;
      const double plain = std::fabs(static_cast<double>(x) - static_cast<double>(decoded[i]));
      if (plain > worst) worst = plain;
      if (plain < sure) continue;
      if (!std::isfinite(decoded[i]) || exceeds(error_of(x, decoded[i]), limit)) note(v, i);
    }
    v.max_error = worst;
    v.worst = limit.high > 0 ? worst / limit.high : 0;
    return v;
  }

  Verdict judge_pointwise(const T* decoded, double value) const {
    Verdict v;
    for (std::int64_t i = 0; i < count_; ++i) {
      const T x = original_[i], y = decoded[i];
      if (!counts(x) || x == 0) {
        if (!same_bits(x, y)) note(v, i);
        continue;
      }
      ++v.finite;
      const long double size = std::fabs(static_cast<long double>(x));
      const Pair error = error_of(x, y);
      const long double share = error.high / (value * size);
      v.worst = std::max(v.worst, share);
      v.max_error = std::max(v.max_error, error.high);
      bool bad = std::signbit(x) != std::signbit(y) || !std::isfinite(y);
      if (!bad && share > 1 - 1e-12L) bad = exceeds(error, exact_product(value, size));
      if (bad) note(v, i);
    }
    return v;
  }

  Verdict judge_psnr(const T* decoded, double decibels) const {
    Verdict v;
    long double squares = 0;
    for (std::int64_t i = 0; i < count_; ++i) {
      const T x = original_[i];
      if (!counts(x)) {
        if (!same_bits(x, decoded[i])) note(v, i);
        continue;
      }
      ++v.finite;
      const long double error = error_of(x, decoded[i]).high;
      squares += error * error;
      v.max_error = std::max(v.max_error, error);
    }
    if (v.finite == 0) return v;
    const long double rms = std::sqrt(squares / static_cast<long double>(v.finite));
    const long double allowed = range_.high * std::pow(10.0L, -decibels / 20.0L);
    if (rms > 0)
      v.worst = allowed > 0 ? rms / allowed : std::numeric_limits<long double>::infinity();
    if (!(rms <= allowed)) note(v, 0);
    return v;
  }

  const T* original_;
  std::int64_t count_;
  std::optional<double> fill_;
  T low_ = std::numeric_limits<T>::infinity();
  T high_ = -std::numeric_limits<T>::infinity();
  Pair range_;
};

}  // namespace tamis::bench
