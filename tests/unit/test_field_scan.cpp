// What the encoder finds out about a field before it begins: range, fill values, and which number
// maps fit.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "reduce/field_scan.hpp"
#include "reduce/map_choice.hpp"
#include "support/field_oracle.hpp"

namespace tamis::reduce {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

// In pieces, so that their seams are tested too.
template <typename T>
EachPiece<T> pieces_of(const std::vector<T>& field) {
  return [&field](const std::function<bool(std::int64_t, std::int64_t, const T*)>& fn) {
    const auto n = static_cast<std::int64_t>(field.size());
    for (std::int64_t at = 0; at < n; at += 4999) {
      if (!fn(at, std::min<std::int64_t>(4999, n - at), field.data() + at)) return;
    }
  };
}

template <typename T>
FieldScan<T> scan(const std::vector<T>& field, std::optional<double> declared = std::nullopt,
                  bool detect = true) {
  CompressOptions options;
  options.fill_value = declared;
  options.detect_fill = detect;
  options.threads = 1;
  return scan_field<T>(pieces_of(field), static_cast<std::int64_t>(field.size()), options);
}

template <typename T>
std::vector<T> waves(std::size_t count, double amplitude, double offset) {
  std::vector<T> field(count);
  for (std::size_t i = 0; i < count; ++i) {
    field[i] = static_cast<T>(offset + amplitude * std::sin(0.01 * static_cast<double>(i)));
  }
  return field;
}

TEST(FieldScan, RangeAndCounts) {
  std::vector<double> field = waves<double>(20000, 3, 10);
  field[7000] = -40;
  field[13000] = 99;
  field[1] = kInf;
  field[2] = -kInf;
  const FieldScan<double> s = scan(field);
  EXPECT_EQ(s.min_value, -40);
  EXPECT_EQ(s.max_value, 99);
  EXPECT_EQ(s.max_magnitude, 99);
  EXPECT_EQ(s.nonfinite_count, 2);
  EXPECT_EQ(s.finite_count, 19998);
  EXPECT_EQ(s.valid_count, 20000);
  EXPECT_TRUE(s.has_negative);
  EXPECT_FALSE(s.fill.has_value());
}

// What a scan calls certain must be: it may report zeros or signs that are not there, never the
// other way round.
TEST(FieldScan, ZerosAndSigns) {
  std::vector<float> field(9000, 2.0F);
  EXPECT_FALSE(scan(field).may_have_zeros);
  EXPECT_FALSE(scan(field).has_negative);
  field[8191] = -0.0F;
  EXPECT_TRUE(scan(field).may_have_zeros);
  EXPECT_TRUE(scan(field).has_negative);
  field[8191] = -std::numeric_limits<float>::infinity();
  EXPECT_TRUE(scan(field).has_negative);
  field[8191] = -std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(scan(field).may_have_zeros);
}

TEST(FieldScan, UsualFillsAreFound) {
  for (const double fill : {1e20, 9.969209968386869e36, -1e34, 1e30, 1e36}) {
    std::vector<float> field = waves<float>(20000, 5, 280);
    for (std::size_t i = 0; i < field.size(); i += 3) field[i] = static_cast<float>(fill);
    const FieldScan<float> s = scan(field);
    ASSERT_TRUE(s.fill.has_value()) << fill;
    EXPECT_EQ(*s.fill, static_cast<float>(fill));
    EXPECT_TRUE(s.fill_detected);
    EXPECT_EQ(s.masked_count, 6667);
    EXPECT_LE(s.max_value, 285);
    EXPECT_GE(s.min_value, 275);
    EXPECT_FALSE(scan(field, std::nullopt, false).fill.has_value());
  }
}

TEST(FieldScan, NanIsAFillWithItsPayload) {
  std::vector<double> field = waves<double>(10000, 5, 280);
  const double na = std::bit_cast<double>(0x7ff00000000007a2U);  // R's NA
  for (std::size_t i = 1; i < field.size(); i += 2) field[i] = na;
  for (const bool declared : {false, true}) {
    const FieldScan<double> s = declared ? scan(field, kNan) : scan(field);
    ASSERT_TRUE(s.fill.has_value());
    EXPECT_EQ(testing::raw_bits(*s.fill), 0x7ff00000000007a2U);
    EXPECT_EQ(s.masked_count, 5000);
    EXPECT_EQ(s.fill_detected, !declared);
  }
}

TEST(FieldScan, PlausibleFillsMustLieApart) {
  std::vector<float> field = waves<float>(10000, 5, 15);
  for (std::size_t i = 0; i < field.size(); i += 4) field[i] = -9999;
  EXPECT_EQ(scan(field).fill, -9999.0F);
  // The same number as one end of a range that reaches it.
  std::vector<float> deep = waves<float>(10000, 5000, -5000);
  for (std::size_t i = 0; i < deep.size(); i += 4) deep[i] = -9999;
  EXPECT_FALSE(scan(deep).fill.has_value());
  // And once only, which may be a measurement.
  std::vector<float> single = waves<float>(10000, 5, 15);
  single[77] = -9999;
  EXPECT_FALSE(scan(single).fill.has_value());
  // 1e20 is data where the rest is as large.
  std::vector<double> large = waves<double>(10000, 1e20, 0);
  large[5] = 1e20;
  EXPECT_FALSE(scan(large).fill.has_value());
}

TEST(FieldScan, NothingButFill) {
  const std::vector<float> nan(5000, std::numeric_limits<float>::quiet_NaN());
  EXPECT_EQ(scan(nan).masked_count, 5000);
  EXPECT_TRUE(std::isnan(scan(nan).min_value));
  const std::vector<float> declared(5000, -9999.0F);
  const FieldScan<float> s = scan(declared, -9999.0);
  EXPECT_EQ(s.masked_count, 5000);
  EXPECT_EQ(s.finite_count, 0);
  EXPECT_TRUE(std::isnan(s.max_value));
  // Alone, 1e20 is a constant like any other.
  const std::vector<float> constant(5000, 1e20F);
  const FieldScan<float> c = scan(constant);
  EXPECT_EQ(c.masked_count + c.valid_count, 5000);
}

TEST(FieldScan, DeclaredFillThatTheTypeCannotHold) {
  const std::vector<float> field = {1, 2, std::numeric_limits<float>::max()};
  EXPECT_EQ(scan(field, -1e300).masked_count, 0);
  EXPECT_EQ(scan(field, 1e300).max_value, static_cast<double>(std::numeric_limits<float>::max()));
}

// What a device reports, as it stands in its integers.
TEST(FieldScan, TalliesOfADevice) {
  const Tally<float> nothing = tally_of<float>({});
  EXPECT_GT(nothing.low, nothing.high);
  EXPECT_FALSE(nothing.first_nan.has_value());
  device::FieldTally found = {};
  found.low_mirrored = ~std::uint64_t{~0xc0000000U};  // -2
  found.high = 0xbfc00000;                            // 1.5
  found.nan = 3;
  found.infinite = 4;
  found.masked = 6;
  found.masked_special = 5;
  found.negative = 1;
  found.first_nan_mirrored = ~std::uint64_t{0};
  found.first_nan_bits = 0x7fc00007;
  const Tally<float> t = tally_of<float>(found);
  EXPECT_EQ(t.low, -2);
  EXPECT_EQ(t.high, 1.5F);
  EXPECT_EQ(testing::raw_bits(t.first_nan.value()), 0x7fc00007U);
  EXPECT_FALSE(t.zero);
  EXPECT_TRUE(t.negative);
  const TallyField<float> report = [&](std::optional<float>) { return t; };
  CompressOptions options;
  options.detect_fill = false;
  const FieldScan<float> s = scan_by_tallies<float>(report, 100, options);
  EXPECT_EQ(s.valid_count, 94);
  EXPECT_EQ(s.finite_count, 87);
  EXPECT_EQ(s.nonfinite_count, 12);
  EXPECT_EQ(s.max_magnitude, 2);
  found.low_mirrored = (std::uint64_t{1} << 63) | 1;  // inverted twice: the bits themselves
  found.high = (std::uint64_t{1} << 63) | 1;
  EXPECT_EQ(tally_of<double>(found).low, -std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(tally_of<double>(found).high, std::numeric_limits<double>::denorm_min());
}

std::vector<NumberMap> maps_for(const std::vector<float>& field, const PointCheck& check) {
  return candidate_maps<float>(pieces_of(field), scan(field), check);
}

bool offers(const std::vector<NumberMap>& maps, MapKind kind) {
  return std::any_of(maps.begin(), maps.end(), [&](const NumberMap& m) { return m.kind == kind; });
}

// Every value must come back as it was through the map that is said to fit.
void expect_lattice(const std::vector<float>& field, double spacing) {
  for (const NumberMap& m : maps_for(field, PointCheck{})) {
    if (m.kind != MapKind::kLattice) continue;
    EXPECT_NEAR(m.unit, spacing, spacing * 1e-5);
    std::vector<std::int32_t> lattice(field.size());
    std::vector<float> back(field.size());
    m.quantise(field.data(), 1, static_cast<int>(field.size()), lattice.data());
    m.reconstruct(lattice.data(), static_cast<int>(field.size()), back.data());
    EXPECT_EQ(back, field);
    return;
  }
  ADD_FAILURE() << "no lattice of spacing " << spacing;
}

TEST(MapChoice, FindsTheLatticeOfTheData) {
  std::mt19937 random(1);
  for (const double spacing : {1.0, 0.125, 0.1, 0.01, 5.0, 0.025}) {
    std::vector<float> field(8000);
    for (float& v : field)
      v = static_cast<float>(spacing * (1 + static_cast<double>(random() % 20000)));
    expect_lattice(field, spacing);
  }
}

TEST(MapChoice, NoLatticeInNoise) {
  std::mt19937_64 random(1);
  std::vector<float> field(8000);
  for (float& v : field)
    v = static_cast<float>(static_cast<double>(random() >> 11) * 0x1p-53 * 1e-3 + 1e-9);
  EXPECT_FALSE(offers(maps_for(field, PointCheck{}), MapKind::kLattice));
  EXPECT_FALSE(offers(maps_for(field, PointCheck{}), MapKind::kPalette));
  EXPECT_TRUE(offers(maps_for(field, PointCheck{}), MapKind::kOrdered));
}

TEST(MapChoice, PaletteOfUnevenValues) {
  const float values[] = {-3.7F, 0.0F, 0.001F, 8.25F, 1e10F};
  std::vector<float> field(8000);
  for (std::size_t i = 0; i < field.size(); ++i) field[i] = values[i * i % 5];
  const auto maps = maps_for(field, PointCheck{});
  ASSERT_TRUE(offers(maps, MapKind::kPalette));
  for (const NumberMap& m : maps) {
    if (m.kind == MapKind::kPalette) {
      EXPECT_TRUE(std::is_sorted(m.palette.begin(), m.palette.end()));
    }
  }
}

TEST(MapChoice, AffineUnderABound) {
  std::vector<float> field = waves<float>(8000, 3.3, 20);
  const auto maps = maps_for(field, {PointCheck::Kind::kAbsolute, 1e-3});
  ASSERT_TRUE(offers(maps, MapKind::kAffine));
  for (const NumberMap& m : maps) {
    EXPECT_EQ(m.step % 2, 1);
    if (m.kind != MapKind::kAffine) continue;
    EXPECT_LE(m.unit * static_cast<double>(m.step), 2e-3);
    EXPECT_GE(m.unit * static_cast<double>(m.step), 1.9e-3);
  }
  // Below the precision of the data only bits are left.
  EXPECT_FALSE(offers(maps_for(field, {PointCheck::Kind::kAbsolute, 1e-9}), MapKind::kAffine));
}

TEST(MapChoice, LogarithmUnderAPointwiseBound) {
  const std::vector<float> field = waves<float>(8000, 3, 20);
  const auto maps = maps_for(field, {PointCheck::Kind::kPointwise, 1e-3});
  ASSERT_TRUE(offers(maps, MapKind::kLogarithm));
  EXPECT_TRUE(offers(maps_for(field, {PointCheck::Kind::kPointwise, 1e-12}), MapKind::kOrdered));
  const std::vector<float> nothing(100, std::numeric_limits<float>::infinity());
  EXPECT_EQ(maps_for(nothing, {PointCheck::Kind::kPointwise, 1e-3}).size(), 1U);
}

}  // namespace
}  // namespace tamis::reduce
