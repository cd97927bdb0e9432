// The edges of the interface: empty and tiny fields, fills, arguments without meaning, bounded
// expansion, and what the header says about them.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "support/expect_error.hpp"
#include "support/field_oracle.hpp"
#include "support/made_fields.hpp"
#include "tamis/reduce.hpp"

namespace tamis::reduce {
namespace {

using testing::Kind;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

CompressOptions with_bound(const Bound& bound) {
  CompressOptions options;
  options.bound = bound;
  options.threads = 1;
  return options;
}

template <typename T>
std::vector<T> round_trip(const std::vector<T>& field, const Extents& shape,
                          const CompressOptions& options, Info* info = nullptr) {
  const CompressResult result = compress(make_view(field.data(), shape), options);
  if (info != nullptr) *info = inspect(result.bytes);
  const Tensor decoded = decompress(result.bytes);
  const T* data = static_cast<const T*>(decoded.data());
  return {data, data + decoded.element_count()};
}

template <typename T>
void expect_same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(testing::raw_bits(a[i]), testing::raw_bits(b[i])) << "point " << i;
  }
}

const std::vector<Bound>& all_bounds() {
  static const std::vector<Bound> kBounds = {Bound::absolute(1e-3), Bound::absolute(0),
                                             Bound::relative(1e-3), Bound::pointwise_relative(1e-3),
                                             Bound::psnr(60),       Bound::lossless()};
  return kBounds;
}

TEST(CompressLimits, BoundsWithoutMeaning) {
  const float x = 1;
  const ConstTensorView view = make_view(&x, {1});
  for (const BoundKind kind : {BoundKind::kAbsolute, BoundKind::kRelative,
                               BoundKind::kPointwiseRelative, BoundKind::kPsnr}) {
    for (const double value : {-1.0, -1e-300, kNan, kInf, -kInf}) {
      EXPECT_TAMIS_ERROR(ErrorCode::kInvalidArgument, bound_kind_name(kind),
                         compress(view, with_bound({kind, value})));
    }
  }
  EXPECT_TAMIS_ERROR(ErrorCode::kInvalidArgument, "kind",
                     compress(view, with_bound({static_cast<BoundKind>(0), 1})));
  EXPECT_TAMIS_ERROR(ErrorCode::kInvalidArgument, "kind",
                     compress(view, with_bound({static_cast<BoundKind>(6), 1})));
  // The value of a lossless bound is ignored.
  EXPECT_EQ(round_trip(std::vector<float>{1}, {1}, with_bound({BoundKind::kLossless, kNan}))[0], 1);
}

TEST(CompressLimits, OtherArgumentsWithoutMeaning) {
  const float x = 1;
  const CompressOptions options = with_bound(Bound::absolute(1));
  EXPECT_TAMIS_ERROR(ErrorCode::kInvalidArgument, "null",
                     compress(make_view(static_cast<const float*>(nullptr), {2}), options));
  EXPECT_TAMIS_ERROR(ErrorCode::kInvalidArgument, "axes", compress(make_view(&x, {}), options));
  EXPECT_TAMIS_ERROR(ErrorCode::kInvalidArgument, "negative",
                     compress(make_view(&x, {2, -1}), options));
  EXPECT_TAMIS_ERROR(ErrorCode::kInvalidArgument, "2^60",
                     compress(make_view(&x, {1 << 30, 1 << 30, 1 << 30}), options));
  const double y = 1;
  EXPECT_TAMIS_ERROR(ErrorCode::kInvalidArgument, "bytes",
                     compress({&y, DType::kF64, {1LL << 60}, {0}}, options));
#if !defined(__SANITIZE_ADDRESS__)  // whose operator new ends the program instead of throwing
  EXPECT_TAMIS_ERROR(ErrorCode::kOutOfMemory, "memory",
                     compress({&y, DType::kF64, {1LL << 55}, {0}}, options));
#endif
  CompressOptions odd = options;
  odd.threads = -1;
  EXPECT_TAMIS_ERROR(ErrorCode::kInvalidArgument, "thread", compress(make_view(&x, {1}), odd));
  odd = options;
  odd.mode = static_cast<Mode>(4);
  EXPECT_TAMIS_ERROR(ErrorCode::kInvalidArgument, "mode", compress(make_view(&x, {1}), odd));
}

TEST(CompressLimits, FieldsOfOnePoint) {
  for (const double value : {0.0, -0.0, 1.5, -1e300, 5e-324, kInf, -kInf, kNan, 1e20, -9999.0}) {
    for (const Bound& bound : all_bounds()) {
      for (const Extents& shape : {Extents{1}, Extents{1, 1, 1}}) {
        const std::vector<double> field{value};
        const std::vector<double> got = round_trip(field, shape, with_bound(bound));
        EXPECT_EQ(testing::broken_promise(std::span<const double>(field),
                                          std::span<const double>(got), bound, std::nullopt),
                  "");
      }
    }
  }
}

TEST(CompressLimits, EmptyFields) {
  for (const Extents& shape : {Extents{0}, Extents{3, 0, 5}, Extents{0, 0}}) {
    for (const Bound& bound : all_bounds()) {
      const ConstTensorView view = make_view(static_cast<const double*>(nullptr), shape);
      const CompressResult result = compress(view, with_bound(bound));
      const Info info = inspect(result.bytes);
      EXPECT_EQ(info.shape, shape);
      EXPECT_TRUE(std::isnan(info.min_value));
      EXPECT_EQ(decompress(result.bytes).shape(), shape);
      int calls = 0;
      std::vector<std::byte> streamed;
      compress_stream(
          DType::kF64, shape, [&](std::int64_t, std::int64_t, void*) { ++calls; },
          [&](std::span<const std::byte> b) {
            streamed.insert(streamed.end(), b.begin(), b.end());
          },
          with_bound(bound));
      EXPECT_EQ(streamed, result.bytes);
      EXPECT_EQ(calls, 0);
    }
  }
}

// Random bits cannot be made smaller; they may cost at most the header.
TEST(CompressLimits, ExpansionIsBounded) {
  for (const Mode mode : {Mode::kDefault, Mode::kRatio, Mode::kFast}) {
    for (const Extents& shape : {Extents{1}, Extents{7}, Extents{60, 70}}) {
      for (const Bound& bound : all_bounds()) {
        CompressOptions options = with_bound(bound);
        options.mode = mode;
        const std::vector<float> field = testing::make_field<float>(Kind::kRandomBits, shape, 1);
        const auto bytes = compress(make_view(field.data(), shape), options).bytes;
        EXPECT_LE(bytes.size(), field.size() * 4 + 1024) << shape.to_string();
        const std::vector<double> wide = testing::make_field<double>(Kind::kRandomBits, shape, 1);
        const auto more = compress(make_view(wide.data(), shape), options).bytes;
        EXPECT_LE(more.size(), wide.size() * 8 + 1024) << shape.to_string();
      }
    }
  }
}

// Easy data must become small: a wrong turn to raw storage or to patches would show here.
TEST(CompressLimits, EasyDataBecomesSmall) {
  const Extents shape{100, 100};
  const auto bytes_for = [&](Kind kind, const Bound& bound) {
    const std::vector<float> field = testing::make_field<float>(kind, shape, 1);
    return compress(make_view(field.data(), shape), with_bound(bound)).bytes.size();
  };
  EXPECT_LT(bytes_for(Kind::kConstant, Bound::lossless()), 600U);
  EXPECT_LT(bytes_for(Kind::kSmooth, Bound::absolute(1e-2)), 4000U);
  EXPECT_LT(bytes_for(Kind::kSteps, Bound::lossless()), 8000U);
  EXPECT_LT(bytes_for(Kind::kIntegers, Bound::absolute(0.1)), 12000U);
  EXPECT_LT(bytes_for(Kind::kFill, Bound::absolute(1e-2)), 6000U);
}

// Every other zero is negative: lossless must keep them without paying for each.
TEST(CompressLimits, NegativeZerosAreCheap) {
  std::vector<float> field(10000);
  for (std::size_t i = 0; i < field.size(); ++i)
    field[i] = i / 100 % 2 ? -0.0F : (i % 7 ? 0.0F : 1.0F);
  Info info;
  expect_same_bits(round_trip(field, {100, 100}, with_bound(Bound::lossless()), &info), field);
  EXPECT_LT(info.compressed_bytes, 16000);
  const Bound bound = Bound::pointwise_relative(0.1);
  const std::vector<float> got = round_trip(field, {100, 100}, with_bound(bound));
  EXPECT_EQ(testing::broken_promise(std::span<const float>(field), std::span<const float>(got),
                                    bound, std::nullopt),
            "");
}

TEST(CompressLimits, DeclaredFillIsKeptAndLeftOut) {
  for (const double fill : {-9999.0, 0.0, 1.0, 1e300, kInf}) {
    std::vector<double> field(60 * 70);
    for (std::size_t i = 0; i < field.size(); ++i) {
      field[i] = i % 3 ? fill : 10 + std::sin(0.01 * static_cast<double>(i));
    }
    CompressOptions options = with_bound(Bound::relative(1e-3));
    options.fill_value = fill;
    Info info;
    const std::vector<double> got = round_trip(field, {60, 70}, options, &info);
    EXPECT_EQ(testing::broken_promise(std::span<const double>(field), std::span<const double>(got),
                                      options.bound, fill),
              "");
    EXPECT_EQ(info.fill_value, fill);
    EXPECT_FALSE(info.fill_detected);
    EXPECT_EQ(info.masked_count, 2800);
    EXPECT_LE(info.max_value - info.min_value, 2.0);
    EXPECT_LE(info.absolute_bound, 2e-3);
  }
}

TEST(CompressLimits, DeclaredNanMatchesEveryNan) {
  std::vector<float> field(4000, 2.5F);
  for (std::size_t i = 0; i < field.size(); i += 3) {
    field[i] = testing::from_raw_bits<float>(i % 2 ? 0x7fc00000U : 0xffc12345U);
  }
  for (const Bound& bound : all_bounds()) {
    CompressOptions options = with_bound(bound);
    options.fill_value = kNan;
    Info info;
    const std::vector<float> got = round_trip(field, {40, 100}, options, &info);
    EXPECT_EQ(testing::broken_promise(std::span<const float>(field), std::span<const float>(got),
                                      bound, kNan),
              "");
    EXPECT_EQ(info.masked_count, 1334);
  }
}

// All the NaN of a field are R's NA, whose payload is not the default one: they must not each cost
// a patch because the caller said just "NaN".
TEST(CompressLimits, NanWithAPayloadIsCheap) {
  std::vector<double> field(10000, 2.5);
  for (std::size_t i = 0; i < field.size(); ++i) {
    if (i % 100 < 50) field[i] = testing::from_raw_bits<double>(0x7ff00000000007a2U);
  }
  for (const bool declared : {false, true}) {
    CompressOptions options = with_bound(Bound::absolute(1e-3));
    if (declared) options.fill_value = kNan;
    Info info;
    const std::vector<double> got = round_trip(field, {100, 100}, options, &info);
    EXPECT_EQ(testing::broken_promise(std::span<const double>(field), std::span<const double>(got),
                                      options.bound, kNan),
              "");
    EXPECT_LT(info.compressed_bytes, 2000) << declared;
  }
}

TEST(CompressLimits, DetectionCanBeSwitchedOff) {
  std::vector<float> field(5000, 3.0F);
  for (std::size_t i = 0; i < field.size(); i += 2) field[i] = 1e20F;
  CompressOptions options = with_bound(Bound::relative(1e-6));
  Info info;
  expect_same_bits(round_trip(field, {5000}, options, &info), field);
  EXPECT_TRUE(info.fill_detected);
  EXPECT_EQ(info.masked_count, 2500);
  options.detect_fill = false;
  round_trip(field, {5000}, options, &info);
  EXPECT_FALSE(info.fill_value.has_value());
  EXPECT_EQ(info.max_value, static_cast<double>(1e20F));
}

TEST(CompressLimits, AllMaskedAndAllNonfinite) {
  for (const float value : {1e20F, std::numeric_limits<float>::quiet_NaN(),
                            std::numeric_limits<float>::infinity(), 5.0F}) {
    for (const bool declared : {false, true}) {
      for (const Bound& bound : all_bounds()) {
        const std::vector<float> field(33 * 70, value);
        CompressOptions options = with_bound(bound);
        if (declared) options.fill_value = static_cast<double>(value);
        const std::vector<float> got = round_trip(field, {33, 70}, options);
        const std::optional<double> fill = options.fill_value;
        EXPECT_EQ(testing::broken_promise(std::span<const float>(field),
                                          std::span<const float>(got), bound, fill),
                  "");
      }
    }
  }
}

TEST(DecompressLimits, BoxesAndLevelsOutside) {
  const std::vector<float> field(20 * 30, 1.0F);
  const auto bytes =
      compress(make_view(field.data(), {20, 30}), with_bound(Bound::absolute(1))).bytes;
  const auto with = [&](std::optional<Box> box, int level) {
    DecompressOptions options;
    options.box = box;
    options.level = level;
    return decompress(bytes, options);
  };
  EXPECT_EQ(inspect(bytes).level_count, 6);
  EXPECT_TAMIS_ERROR(ErrorCode::kInvalidArgument, "level", with(std::nullopt, -1));
  EXPECT_TAMIS_ERROR(ErrorCode::kInvalidArgument, "level", with(std::nullopt, 6));
  EXPECT_TAMIS_ERROR(ErrorCode::kInvalidArgument, "axis 1", with(Box{{0, 1}, {20, 30}}, 0));
  EXPECT_TAMIS_ERROR(ErrorCode::kInvalidArgument, "axis 0", with(Box{{-1, 0}, {5, 5}}, 0));
  EXPECT_TAMIS_ERROR(ErrorCode::kInvalidArgument, "axis 0", with(Box{{0, 0}, {-1, 5}}, 0));
  EXPECT_TAMIS_ERROR(ErrorCode::kInvalidArgument, "axis 0",
                     with(Box{{INT64_MAX, 0}, {INT64_MAX, 5}}, 0));
  EXPECT_TAMIS_ERROR(ErrorCode::kInvalidArgument, "2 axes", with(Box{{0}, {5}}, 0));
  EXPECT_EQ(with(Box{{20, 30}, {0, 0}}, 0).element_count(), 0);
  EXPECT_EQ(with(Box{{3, 3}, {1, 1}}, 1).element_count(), 0);
}

TEST(DecompressLimits, TargetsThatDoNotFit) {
  const std::vector<float> field(20 * 30, 1.0F);
  const auto bytes =
      compress(make_view(field.data(), {20, 30}), with_bound(Bound::absolute(1))).bytes;
  std::vector<double> out(600);
  EXPECT_TAMIS_ERROR(ErrorCode::kInvalidArgument, "f64",
                     decompress_into(bytes, make_view(out.data(), {20, 30})));
  EXPECT_TAMIS_ERROR(
      ErrorCode::kInvalidArgument, "20x30",
      decompress_into(bytes, make_view(reinterpret_cast<float*>(out.data()), {30, 20})));
  DecompressOptions options;
  options.max_output_bytes = 2399;
  EXPECT_TAMIS_ERROR(ErrorCode::kOutOfMemory, "2400", decompress(bytes, options));
  options.max_output_bytes = 2400;
  EXPECT_EQ(decompress(bytes, options).element_count(), 600);
}

}  // namespace
}  // namespace tamis::reduce
