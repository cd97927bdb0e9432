// Fields for tests, made from a seed: the kinds of data that break compressors, over any shape.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "support/field_oracle.hpp"
#include "tamis/tensor.hpp"

namespace tamis::testing {

enum class Kind {
  kSmooth,
  kNoise,
  kConstant,
  kSteps,
  kOffset,     // small waves on 1e6
  kDenormal,   // below the normal range, both signs
  kHuge,       // up to the largest finite value
  kMixed,      // magnitudes of every exponent, both signs, zeros
  kSpecials,   // smooth with NaN of several payloads, infinities, -0
  kFill,       // half of it 1e20
  kTenths,     // decimals of one digit
  kIntegers,   // with negative zeros
  kRandomBits  // any bit pattern
};
inline constexpr std::array<Kind, 13> kAllKinds = {
    Kind::kSmooth,   Kind::kNoise,    Kind::kConstant,  Kind::kSteps,    Kind::kOffset,
    Kind::kDenormal, Kind::kHuge,     Kind::kMixed,     Kind::kSpecials, Kind::kFill,
    Kind::kTenths,   Kind::kIntegers, Kind::kRandomBits};

inline const char* kind_name(Kind kind) {
  constexpr std::array<const char*, 13> kNames = {
      "smooth", "noise",    "constant", "steps",  "offset",   "denormal",   "huge",
      "mixed",  "specials", "fill",     "tenths", "integers", "random bits"};
  return kNames[static_cast<std::size_t>(kind)];
}

template <typename T>
T from_raw_bits(std::uint64_t bits) {
  const auto narrow = static_cast<BitsOf<T>>(bits);
  T value;
  std::memcpy(&value, &narrow, sizeof value);
  return value;
}

/// A wave along each axis; the same on every machine to the precision of sin().
inline double wave(const Extents& shape, std::int64_t linear, unsigned seed) {
  double sum = 0;
  for (int d = shape.rank() - 1; d >= 0; --d) {
    const auto x = static_cast<double>(linear % shape[d]);
    linear /= shape[d];
    sum += std::sin(0.13 * x + d + seed) * std::cos(0.031 * x * (d + 1));
  }
  return sum;
}

template <typename T>
T special_value(std::uint64_t random) {
  using L = std::numeric_limits<T>;
  constexpr int kMantissa = L::digits - 1;
  const std::uint64_t exponent =
      sizeof(T) == 4 ? std::uint64_t{0xff} << 23 : std::uint64_t{0x7ff} << 52;
  switch (random % 7) {
    case 0:
      return L::quiet_NaN();
    case 1:
      return from_raw_bits<T>(exponent | (random >> 8 & ((std::uint64_t{1} << kMantissa) - 1)) | 1);
    case 2:
      return from_raw_bits<T>(exponent | std::uint64_t{1} << (sizeof(T) * 8 - 1) | 5);
    case 3:
      return L::infinity();
    case 4:
      return -L::infinity();
    case 5:
      return T{0};
    default:
      return -T{0};
  }
}

template <typename T>
std::vector<T> make_field(Kind kind, const Extents& shape, unsigned seed) {
  using L = std::numeric_limits<T>;
  std::mt19937_64 random(seed * 7919U + static_cast<unsigned>(kind));
  std::vector<T> field(static_cast<std::size_t>(shape.element_count()));
  const auto uniform = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  for (std::size_t i = 0; i < field.size(); ++i) {
    const double w = wave(shape, static_cast<std::int64_t>(i), seed);
    double v = w;
    switch (kind) {
      case Kind::kSmooth:
        break;
      case Kind::kNoise:
        v = uniform() - 0.5;
        break;
      case Kind::kConstant:
        v = 273.15;
        break;
      case Kind::kSteps:
        v = std::floor(2 * w) * 10;
        break;
      case Kind::kOffset:
        v = 1e6 + 0.01 * w;
        break;
      case Kind::kDenormal:
        v = w * 40 * static_cast<double>(L::denorm_min()) * (sizeof(T) == 4 ? 1000.0 : 1.0);
        break;
      case Kind::kHuge:
        v = uniform() < 0.1 ? static_cast<double>(L::max()) * (random() % 2 ? 1 : -1)
                            : w * 0.15 * static_cast<double>(L::max());
        break;
      case Kind::kMixed:
        v = random() % 16 == 0
                ? 0.0
                : std::ldexp(uniform() - 0.5, static_cast<int>(random() % 240) - 120);
        break;
      case Kind::kSpecials:
        if (random() % 9 == 0) {
          field[i] = special_value<T>(random());
          continue;
        }
        break;
      case Kind::kFill:
        v = w > 0.3 ? 1e20 : w + 10;
        break;
      case Kind::kTenths:
        v = std::round(w * 200) * 0.1;
        break;
      case Kind::kIntegers:
        v = std::round(w * 20);
        break;
      case Kind::kRandomBits:
        field[i] = from_raw_bits<T>(random());
        continue;
    }
    field[i] = static_cast<T>(v);
  }
  return field;
}

inline constexpr std::array<std::int64_t, 14> kAwkwardExtents = {1,  2,  3,  4,  5,  15, 16,
                                                                 17, 18, 31, 33, 64, 65, 100};

/// A shape of this rank out of awkward extents, with at most `limit` points.
inline Extents awkward_shape(int rank, std::int64_t limit, std::mt19937_64& random) {
  for (;;) {
    Extents shape = Extents::filled(rank, 1);
    for (int d = 0; d < rank; ++d) shape[d] = kAwkwardExtents[random() % kAwkwardExtents.size()];
    if (shape.element_count() <= limit) return shape;
  }
}

}  // namespace tamis::testing
