// Every promise over sampled shapes, types, modes, bounds and kinds of data, judged in quadruple
// precision by tests/support/field_oracle.hpp. The samples are the same in every run.
#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>
#include <vector>

#include "support/field_oracle.hpp"
#include "support/made_fields.hpp"
#include "tamis/reduce.hpp"

namespace tamis::reduce {
namespace {

using testing::Kind;

template <typename T>
std::span<const T> values(const Tensor& tensor) {
  return {static_cast<const T*>(tensor.data()), static_cast<std::size_t>(tensor.element_count())};
}

std::string title(const Extents& shape, Kind kind, const CompressOptions& options, DType dtype) {
  return shape.to_string() + " " + dtype_name(dtype) + " " + testing::kind_name(kind) + " " +
         mode_name(options.mode) + " " + bound_kind_name(options.bound.kind) + " " +
         std::to_string(options.bound.value);
}

// What the container says of the field must be true.
template <typename T>
void expect_true_info(const Info& info, const std::vector<T>& field, const Extents& shape,
                      const CompressResult& result) {
  EXPECT_EQ(info.shape, shape);
  EXPECT_EQ(info.raw_bytes, static_cast<std::int64_t>(field.size() * sizeof(T)));
  EXPECT_EQ(info.compressed_bytes, static_cast<std::int64_t>(result.bytes.size()));
  std::int64_t masked = 0;
  std::int64_t nonfinite = 0;
  for (const T v : field) {
    masked += testing::is_masked(v, info.fill_value);
    nonfinite += !std::isfinite(v);
  }
  EXPECT_EQ(info.masked_count, masked);
  EXPECT_EQ(info.nonfinite_count, nonfinite);
  const testing::TrueRange range = testing::true_range(std::span<const T>(field), info.fill_value);
  if (range.count > 0) {
    EXPECT_EQ(info.min_value, static_cast<double>(range.low));
    EXPECT_EQ(info.max_value, static_cast<double>(range.high));
  } else {
    EXPECT_TRUE(std::isnan(info.min_value));
    EXPECT_TRUE(std::isnan(info.max_value));
  }
}

template <typename T>
void expect_promise(const Extents& shape, Kind kind, CompressOptions options, unsigned seed) {
  const std::vector<T> field = testing::make_field<T>(kind, shape, seed);
  const ConstTensorView view = make_view(field.data(), shape);
  SCOPED_TRACE(title(shape, kind, options, view.dtype));
  options.threads = 1;
  const CompressResult result = compress(view, options);
  const Info info = inspect(result.bytes);
  expect_true_info(info, field, shape, result);
  EXPECT_LE(result.bytes.size(), field.size() * sizeof(T) + 1024);
  DecompressOptions plain;
  plain.threads = 1;
  const Tensor decoded = decompress(result.bytes, plain);
  EXPECT_EQ(decoded.shape(), shape);
  const std::optional<double> fill = options.fill_value ? options.fill_value : info.fill_value;
  EXPECT_EQ(
      testing::broken_promise(std::span<const T>(field), values<T>(decoded), options.bound, fill),
      "");
  // The library's own judge must agree.
  EXPECT_EQ(compare(view, decoded.view(), info, 1).violations, 0);
}

Bound sampled_bound(BoundKind kind, std::mt19937_64& random) {
  const auto pick = [&](std::initializer_list<double> list) {
    return list.begin()[random() % list.size()];
  };
  switch (kind) {
    case BoundKind::kAbsolute:
      return Bound::absolute(pick({0.0, 1e-9, 1e-3, 0.05, 0.5, 1.0, 300.0, 1e30}));
    case BoundKind::kRelative:
      return Bound::relative(pick({0.0, 1e-12, 1e-7, 1e-4, 1e-2, 0.3, 1.0, 2.0}));
    case BoundKind::kPointwiseRelative:
      return Bound::pointwise_relative(pick({0.0, 1e-14, 1e-8, 1e-4, 1e-2, 0.3, 0.6, 0.999}));
    case BoundKind::kPsnr:
      return Bound::psnr(pick({0.0, 10.0, 40.0, 76.5, 100.0, 150.0, 400.0}));
    case BoundKind::kLossless:
      break;
  }
  return Bound::lossless();
}

// One sample of shape for each mode and kind of data; the bound's kind is the parameter.
class Promise : public ::testing::TestWithParam<BoundKind> {};

template <typename T>
void run_samples(BoundKind bound, std::uint64_t salt) {
  std::mt19937_64 random(salt + 100 * static_cast<unsigned>(bound));
  unsigned seed = 0;
  for (const Mode mode : {Mode::kDefault, Mode::kRatio, Mode::kFast}) {
    for (const Kind kind : testing::kAllKinds) {
      const int rank = 1 + static_cast<int>(random() % 6);
      CompressOptions options;
      options.mode = mode;
      options.bound = sampled_bound(bound, random);
      options.detect_fill = random() % 4 != 0;
      const Extents shape = testing::awkward_shape(rank, 9000, random);
      expect_promise<T>(shape, kind, options, ++seed);
      if (::testing::Test::HasFailure()) return;
    }
  }
}

TEST_P(Promise, HoldsForSampledF32Fields) { run_samples<float>(GetParam(), 1); }
TEST_P(Promise, HoldsForSampledF64Fields) { run_samples<double>(GetParam(), 2); }

INSTANTIATE_TEST_SUITE_P(Bounds, Promise,
                         ::testing::Values(BoundKind::kAbsolute, BoundKind::kRelative,
                                           BoundKind::kPointwiseRelative, BoundKind::kPsnr,
                                           BoundKind::kLossless),
                         [](const auto& kind) { return bound_kind_name(kind.param); });

TEST(CompressShapes, EveryPairOfAwkwardExtents) {
  std::mt19937_64 random(5);
  unsigned seed = 0;
  for (const std::int64_t a : testing::kAwkwardExtents) {
    for (const std::int64_t b : testing::kAwkwardExtents) {
      CompressOptions options;
      options.mode = static_cast<Mode>(1 + random() % 3);
      options.bound = random() % 4 ? Bound::absolute(1e-3) : Bound::lossless();
      const Kind kind = random() % 2 ? Kind::kSpecials : Kind::kSmooth;
      if (a * b > 3400 && seed % 3) continue;
      expect_promise<float>({a, b}, kind, options, ++seed);
      if (HasFailure()) return;
    }
  }
}

TEST(CompressShapes, LongLinesAcrossTilesAndChunks) {
  unsigned seed = 0;
  for (const std::int64_t n : {4095, 4096, 4097, 8191, 8193, 12289, 40961}) {
    CompressOptions options;
    options.mode = static_cast<Mode>(1 + seed % 3);
    options.bound = Bound::absolute(1e-4);
    expect_promise<double>({n}, seed % 2 ? Kind::kSpecials : Kind::kSmooth, options, seed);
    ++seed;
  }
}

TEST(CompressShapes, ManyTilesInEachRank) {
  CompressOptions options;
  options.bound = Bound::relative(1e-4);
  for (const Mode mode : {Mode::kDefault, Mode::kRatio, Mode::kFast}) {
    options.mode = mode;
    expect_promise<float>({200, 260}, Kind::kFill, options, 1);
    expect_promise<float>({50, 35, 49}, Kind::kSpecials, options, 2);
    expect_promise<double>({3, 33, 4, 65, 2}, Kind::kSteps, options, 3);
  }
}

// Axes of one node vanish, long shapes are folded: what was promised stays.
TEST(CompressShapes, HighRanks) {
  CompressOptions options;
  options.bound = Bound::absolute(1e-3);
  expect_promise<float>({1, 1, 1, 1, 1, 1, 1}, Kind::kSmooth, options, 1);
  expect_promise<float>({2, 1, 3, 1, 4, 1, 5, 1, 6}, Kind::kSpecials, options, 2);
  expect_promise<double>({2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2}, Kind::kNoise, options, 3);
  expect_promise<double>({3, 5, 2, 3, 4, 5, 6}, Kind::kSmooth, options, 4);
  expect_promise<float>(Extents::filled(kMaxRank, 1), Kind::kConstant, options, 5);
}

// The bound is met exactly at ties: integers under a bound of 1/2 or 1, and decimals whose binary
// neighbours lie on either side of the bound.
TEST(CompressBounds, TiesAreJudgedExactly) {
  for (const double bound : {0.5, 1.0, 2.0, 0.1, 0.3, 0.05, 0.15}) {
    for (const Kind kind : {Kind::kIntegers, Kind::kTenths}) {
      CompressOptions options;
      options.bound = Bound::absolute(bound);
      expect_promise<float>({60, 50}, kind, options, 1);
      expect_promise<double>({60, 50}, kind, options, 2);
      options.bound = Bound::relative(bound / 16);
      expect_promise<float>({60, 50}, kind, options, 3);
      expect_promise<double>({60, 50}, kind, options, 4);
    }
  }
}

TEST(CompressBounds, BelowOneUlpIsExact) {
  for (const Kind kind : {Kind::kSmooth, Kind::kOffset, Kind::kHuge, Kind::kDenormal}) {
    const Extents shape{33, 40};
    const std::vector<float> field = testing::make_field<float>(kind, shape, 3);
    CompressOptions options;
    options.bound = Bound::absolute(1e-60);
    const CompressResult result = compress(make_view(field.data(), shape), options);
    const Tensor decoded = decompress(result.bytes);
    EXPECT_EQ(testing::broken_promise(std::span<const float>(field), values<float>(decoded),
                                      Bound::lossless(), std::nullopt),
              "");
  }
}

// value * range is not a double: a bound rounded up would let errors of the whole product pass.
TEST(CompressBounds, RelativeBoundsAreNotRoundedUp) {
  for (const int range : {3, 7, 10, 11, 49, 93, 107, 161, 187, 197}) {
    std::vector<double> field(2000);
    for (std::size_t i = 0; i < field.size(); ++i) {
      field[i] = static_cast<double>(i * i % static_cast<std::size_t>(range + 1));
    }
    for (int error = 1; error <= range / 2; ++error) {
      const Bound bound = Bound::relative(static_cast<double>(error) / range);
      CompressOptions options;
      options.bound = bound;
      options.mode = Mode::kFast;
      const CompressResult result = compress(make_view(field.data(), {2000}), options);
      const Tensor decoded = decompress(result.bytes);
      ASSERT_EQ(testing::broken_promise(std::span<const double>(field), values<double>(decoded),
                                        bound, std::nullopt),
                "")
          << error << " / " << range;
      ASSERT_TRUE(testing::Quad(result.info.absolute_bound) <=
                  testing::Quad(bound.value) * testing::Quad(range))
          << error << " / " << range;
    }
  }
}

TEST(CompressBounds, BoundsOfFieldsBelowTheNormalRange) {
  for (const double value : {0.6, 0.26, 0.11, 0.03, 0.003}) {
    CompressOptions options;
    for (const Extents& shape : {Extents{40}, Extents{30, 35}}) {
      options.bound = Bound::relative(value);
      expect_promise<double>(shape, Kind::kDenormal, options, 1);
      options.bound = Bound::pointwise_relative(value);
      expect_promise<double>(shape, Kind::kDenormal, options, 2);
      options.bound = Bound::psnr(-20 * std::log10(value));
      expect_promise<double>(shape, Kind::kDenormal, options, 3);
    }
  }
}

// Squares of errors near the ends of the exponent range must neither overflow nor vanish.
TEST(CompressBounds, PsnrOfExtremeMagnitudes) {
  for (const double scale : {1e-300, 1e-200, 1e-160, 1e160, 1e200, 1e290, 1e307}) {
    for (const double target : {20.0, 60.0, 191.0}) {
      std::vector<double> field = testing::make_field<double>(Kind::kSmooth, {40, 30}, 2);
      for (double& v : field) v *= scale;
      CompressOptions options;
      options.bound = Bound::psnr(target);
      const CompressResult result = compress(make_view(field.data(), {40, 30}), options);
      const Tensor decoded = decompress(result.bytes);
      EXPECT_EQ(testing::broken_promise(std::span<const double>(field), values<double>(decoded),
                                        options.bound, std::nullopt),
                "")
          << scale;
      EXPECT_LT(static_cast<double>(result.bytes.size()), 1200 * 8 * target / 191 + 1000) << scale;
    }
  }
}

// Nothing may overflow on the way to the lattice of such a bound.
TEST(CompressBounds, HugeBounds) {
  for (const double bound : {1e300, 8e307, 1.7e308, std::numeric_limits<double>::max()}) {
    for (const Kind kind : {Kind::kSmooth, Kind::kHuge, Kind::kMixed, Kind::kSpecials}) {
      CompressOptions options;
      options.bound = Bound::absolute(bound);
      expect_promise<double>({30, 40}, kind, options, 1);
      expect_promise<float>({30, 40}, kind, options, 1);
      options.bound = Bound::relative(bound);
      expect_promise<double>({30, 40}, kind, options, 1);
    }
  }
}

// Bounds from far below the precision of the data to above their range.
TEST(CompressBounds, SweepOfAbsoluteBounds) {
  CompressOptions options;
  for (int exponent = -40; exponent <= 40; exponent += 4) {
    options.bound = Bound::absolute(std::ldexp(1.7, exponent));
    options.mode = static_cast<Mode>(1 + (exponent + 40) / 4 % 3);
    expect_promise<float>({17, 70}, Kind::kOffset, options, 1);
    expect_promise<double>({17, 70}, Kind::kOffset, options, 2);
    expect_promise<double>({17, 70}, Kind::kMixed, options, 3);
  }
}

// PSNR must be met, but not by giving the field away losslessly: within 1.5 dB where there is
// something to gain.
TEST(CompressBounds, PsnrIsMetClosely) {
  const Extents shape{90, 120};
  for (const Kind kind : {Kind::kSmooth, Kind::kNoise}) {
    const std::vector<float> field = testing::make_field<float>(kind, shape, 4);
    const ConstTensorView view = make_view(field.data(), shape);
    for (const double target : {30.0, 45.0, 60.0, 80.0}) {
      CompressOptions options;
      options.bound = Bound::psnr(target);
      const CompressResult result = compress(view, options);
      const Tensor decoded = decompress(result.bytes);
      const Difference d = compare(view, decoded.view(), result.info);
      EXPECT_GE(d.psnr, target);
      EXPECT_LE(d.psnr, target + 1.5) << testing::kind_name(kind);
    }
  }
}

}  // namespace
}  // namespace tamis::reduce
