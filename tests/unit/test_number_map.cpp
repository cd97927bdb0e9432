// Reals to integers and back: order, extremes, the two ways of computing, and the exact verdict on
// points at the bound.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "reduce/field_rows.hpp"
#include "reduce/map_rows.hpp"
#include "reduce/number_map.hpp"
#include "support/each_target.hpp"
#include "support/field_oracle.hpp"

namespace tamis::reduce {
namespace {

template <typename T>
std::vector<T> landmarks() {
  using L = std::numeric_limits<T>;
  std::vector<T> v = {
      -L::infinity(), -L::max(),       -T(1.5),  -T(1), -L::min(), -L::denorm_min(), -T(0),
      T(0),           L::denorm_min(), L::min(), T(1),  T(1.5),    L::max(),         L::infinity()};
  return v;
}

template <typename T>
void expect_ordered() {
  const std::vector<T> v = landmarks<T>();
  for (std::size_t i = 0; i < v.size(); ++i) {
    EXPECT_EQ(testing::raw_bits(from_ordered_bits(ordered_bits(v[i]))), testing::raw_bits(v[i]));
    if (i > 0) {
      EXPECT_LT(ordered_bits(v[i - 1]), ordered_bits(v[i])) << i;
    }
  }
  EXPECT_EQ(ordered_bits(T(0)) - ordered_bits(-T(0)), 1);
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    const auto bits = static_cast<testing::BitsOf<T>>(random());
    T x;
    std::memcpy(&x, &bits, sizeof x);
    ASSERT_EQ(testing::raw_bits(from_ordered_bits(ordered_bits(x))), bits);
    const T y = static_cast<T>(static_cast<double>(random() % 1000) - 500.0);
    if (std::isfinite(x) && x != y) {
      ASSERT_EQ(x < y, ordered_bits(x) < ordered_bits(y));
    }
  }
}

TEST(OrderedBits, KeepTheOrderOfF32) { expect_ordered<float>(); }
TEST(OrderedBits, KeepTheOrderOfF64) { expect_ordered<double>(); }

NumberMap map_of(MapKind kind, double offset, double unit, bool wide = false) {
  NumberMap map;
  map.kind = kind;
  map.offset = offset;
  map.unit = unit;
  map.wide = wide;
  return map;
}

// Whatever the instruction set: nearest lattice point, ties to even, in one rounding of
// (x - offset) / unit and one of offset + unit * X.
template <typename T, typename I>
void expect_affine(double offset, double unit) {
  const NumberMap map = map_of(MapKind::kAffine, offset, unit, sizeof(I) == 8);
  std::mt19937_64 random(7);
  std::vector<T> x(1003);
  for (T& v : x)
    v = static_cast<T>(offset + unit * (static_cast<double>(random() % 2000001) / 4 - 250000));
  std::sort(x.begin(), x.end());
  std::vector<I> lattice(x.size());
  map.quantise(x.data(), 1, static_cast<int>(x.size()), lattice.data());
  const double inverse = 1.0 / unit;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double scaled = (static_cast<double>(x[i]) - offset) * inverse;
    ASSERT_EQ(lattice[i], static_cast<I>(std::nearbyint(scaled)));
    if (i > 0) {
      ASSERT_LE(lattice[i - 1], lattice[i]);
    }
  }
  std::vector<T> back(x.size());
  map.reconstruct(lattice.data(), static_cast<int>(x.size()), back.data());
  for (std::size_t i = 0; i < x.size(); ++i) {
    ASSERT_EQ(back[i], static_cast<T>(offset + unit * static_cast<double>(lattice[i])));
  }
  // Strided reading gives the same integers.
  std::vector<I> third(x.size() / 3);
  map.quantise(x.data(), 3, static_cast<int>(third.size()), third.data());
  for (std::size_t i = 0; i < third.size(); ++i) ASSERT_EQ(third[i], lattice[3 * i]);
}

TEST(NumberMap, AffineOnEveryTarget) {
  testing::each_target([] {
    for (const double offset : {0.0, 273.15, -1e6}) {
      for (const double unit : {1.0, 0.1, 1e-3, 3.7e5}) {
        expect_affine<float, std::int32_t>(offset, unit);
        expect_affine<double, std::int32_t>(offset, unit);
        expect_affine<float, std::int64_t>(offset, unit);
        expect_affine<double, std::int64_t>(offset, unit);
      }
    }
  });
}

// No code can stand for what is not finite or too far away: the value before is repeated.
// Values that round beyond the largest float become infinite, in rows of any length.
TEST(NumberMap, OverflowIsInfiniteOnEveryTarget) {
  const NumberMap map = map_of(MapKind::kAffine, 0, 1e38);
  testing::each_target([&] {
    for (const int count : {1, 7, 8, 9, 40}) {
      const std::vector<std::int32_t> lattice(static_cast<std::size_t>(count), 4);
      std::vector<float> out(lattice.size());
      map.reconstruct(lattice.data(), count, out.data());
      for (const float v : out) ASSERT_EQ(v, std::numeric_limits<float>::infinity());
      const std::vector<float> largest(lattice.size(), std::numeric_limits<float>::max());
      const ValueRows<const float> rows{{largest.data()}, 1, count};
      EXPECT_EQ(check_rows(map, rows, lattice.data(), 0, 1e39), 1U) << "infinity is not within it";
    }
  });
}

TEST(NumberMap, NonfiniteValuesRepeatTheOneBefore) {
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const NumberMap affine = map_of(MapKind::kAffine, 0, 1);
  testing::each_target([&] {
    for (const int stride : {1, 2}) {
      const std::vector<float> x = {nan, 9, 5, 9, inf, 9, -inf, 9, 7, 9, 1e30F, 9, nan, 9, -3, 9};
      std::vector<float> used;
      for (std::size_t i = 0; i < x.size(); i += 2) used.push_back(x[i]);
      std::vector<std::int32_t> out(8);
      affine.quantise(stride == 1 ? used.data() : x.data(), stride, 8, out.data());
      EXPECT_EQ(out, (std::vector<std::int32_t>{0, 5, 5, 5, 7, 7, 7, -3}));
    }
  });
}

TEST(NumberMap, PaletteTakesTheNearest) {
  NumberMap map = map_of(MapKind::kPalette, 0, 1);
  map.palette = {-10, 0, 0.5, 100};
  const std::vector<double> x = {-1e300, -10, -5.1, -4.9, 0, 0.24, 0.26, 0.5, 50, 51, 1e300};
  std::vector<std::int32_t> lattice(x.size());
  map.quantise(x.data(), 1, static_cast<int>(x.size()), lattice.data());
  EXPECT_EQ(lattice, (std::vector<std::int32_t>{0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3}));
  // Hostile integers are taken to the ends.
  const std::vector<std::int32_t> hostile = {INT32_MIN, -1, 4, INT32_MAX};
  std::vector<double> back(4);
  map.reconstruct(hostile.data(), 4, back.data());
  EXPECT_EQ(back, (std::vector<double>{-10, -10, 100, 100}));
}

TEST(NumberMap, LogarithmIsOfMagnitudes) {
  const NumberMap map = map_of(MapKind::kLogarithm, 0, 1, true);
  const std::vector<double> x = {1.0, -1.0, 0.0, -2.5, 1e-310, -1e308};
  std::vector<std::int64_t> lattice(x.size());
  map.quantise(x.data(), 1, 6, lattice.data());
  std::vector<double> back(6);
  map.reconstruct(lattice.data(), 6, back.data());
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(back[i], std::fabs(x[i]));
  const std::vector<std::int64_t> hostile = {INT64_MIN, -1, INT64_MAX};
  map.reconstruct(hostile.data(), 3, back.data());
  EXPECT_EQ(back[0], 0.0);
  EXPECT_EQ(back[1], 0.0);
  EXPECT_FALSE(std::signbit(back[2]));
}

// |x - r| and the bound compared exactly, next to ties that a rounded difference cannot tell apart.
TEST(PointHolds, AbsoluteIsExact) {
  std::mt19937_64 random(3);
  int ties = 0;
  for (int i = 0; i < 200000; ++i) {
    const double x =
        std::ldexp(static_cast<double>(random() >> 11), static_cast<int>(random() % 8) - 56);
    double bound = std::ldexp(static_cast<double>(random() % 1000 + 1), -10);
    double r = x - bound;
    if (i % 2) r = x + bound;
    for (int k = static_cast<int>(random() % 3); k > 0; --k)
      r = std::nextafter(r, random() % 2 ? 1e9 : -1e9);
    const testing::Quad difference = testing::Quad(x) - testing::Quad(r);
    const testing::Quad error = difference < 0 ? -difference : difference;
    ties += error != bound && std::fabs(x - r) == bound;
    const PointCheck check{PointCheck::Kind::kAbsolute, bound};
    ASSERT_EQ(point_holds(check, x, r), error <= bound) << x << " " << r << " " << bound;
    ASSERT_EQ(within_bound(&x, &r, 1, bound) && error > bound, false);
  }
  EXPECT_GT(ties, 1000);  // or the test tests nothing
}

TEST(PointHolds, PointwiseNeverSaysYesTooOften) {
  std::mt19937_64 random(5);
  int yes = 0;
  for (int i = 0; i < 200000; ++i) {
    const double x = std::ldexp(static_cast<double>(random() >> 11) - 0x1p52,
                                static_cast<int>(random() % 200) - 1074);
    const double bound = static_cast<double>(random() % 1000 + 1) / 1001.5;
    double r = x * (1 + bound * (random() % 2 ? 1 : -1));
    for (int k = static_cast<int>(random() % 4); k > 0; --k)
      r = std::nextafter(r, random() % 2 ? 1e300 : -1e300);
    const testing::Quad difference = testing::Quad(x) - testing::Quad(r);
    const testing::Quad error = difference < 0 ? -difference : difference;
    const testing::Quad size = x < 0 ? -testing::Quad(x) : testing::Quad(x);
    const bool holds = point_holds({PointCheck::Kind::kPointwise, bound}, x, r);
    yes += holds;
    if (holds) {
      ASSERT_TRUE(error <= testing::Quad(bound) * size && std::signbit(x) == std::signbit(r));
    }
  }
  EXPECT_GT(yes, 1000);
}

TEST(PointHolds, SpecialValues) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  for (const auto kind :
       {PointCheck::Kind::kAbsolute, PointCheck::Kind::kPointwise, PointCheck::Kind::kExact}) {
    const PointCheck check{kind, std::numeric_limits<double>::max()};
    EXPECT_TRUE(point_holds(check, nan, nan));
    EXPECT_FALSE(point_holds(check, nan, -nan));
    EXPECT_FALSE(point_holds(check, nan, 0.0));
    EXPECT_FALSE(point_holds(check, inf, 1e308));
    EXPECT_FALSE(point_holds(check, 1e308, inf));
    EXPECT_FALSE(point_holds(check, 0.0, nan));
    EXPECT_TRUE(point_holds(check, -inf, -inf));
    EXPECT_FALSE(point_holds(check, inf, -inf));
  }
  EXPECT_TRUE(point_holds({PointCheck::Kind::kAbsolute, 0.1}, 0.0, -0.0));
  EXPECT_FALSE(point_holds({PointCheck::Kind::kExact, 0}, 0.0, -0.0));
  EXPECT_FALSE(point_holds({PointCheck::Kind::kPointwise, 0.5}, 0.0, -0.0));
  EXPECT_FALSE(point_holds({PointCheck::Kind::kPointwise, 0.5}, 0.0, 5e-324));
}

}  // namespace
}  // namespace tamis::reduce
