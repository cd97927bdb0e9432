// Values typed on the command line: what is accepted, and that everything else is refused whole.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "field_check.hpp"
#include "packed_values.hpp"
#include "parse_values.hpp"
#include "summary_text.hpp"
#include "support/expect_error.hpp"

namespace tamis::cli {
namespace {

constexpr auto kInvalid = ErrorCode::kInvalidArgument;

TEST(ParseShape, SlowestFirst) {
  EXPECT_EQ(parse_shape("100x200x300"), Extents({100, 200, 300}));
  EXPECT_EQ(parse_shape("3X4"), Extents({3, 4}));
  EXPECT_EQ(parse_shape("7,8"), Extents({7, 8}));
  EXPECT_EQ(parse_shape("5"), Extents({5}));
  EXPECT_EQ(parse_shape("0x5"), Extents({0, 5}));
}

TEST(ParseShape, RefusesAllElse) {
  for (const char* text : {"", "x", "3x", "x3", "3xx4", "-3x4", "3.5", "3 x 4", "3x4,5", "+3",
                           "99999999999999999999", "0x10y"}) {
    EXPECT_TAMIS_ERROR(kInvalid, "--shape", parse_shape(text));
  }
  EXPECT_TAMIS_ERROR(kInvalid, "17 dimensions", parse_shape("1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1"));
  EXPECT_TAMIS_ERROR(kInvalid, "", parse_shape("4000000000x4000000000"));
}

TEST(ParseDtype, Names) {
  EXPECT_EQ(parse_dtype("f32"), DType::kF32);
  EXPECT_EQ(parse_dtype("Float64"), DType::kF64);
  EXPECT_TAMIS_ERROR(kInvalid, "expected f32 or f64", parse_dtype("i32"));
}

TEST(ParseNumber, WholeTextOnly) {
  EXPECT_EQ(parse_number("--abs", "1e-3"), 1e-3);
  EXPECT_EQ(parse_number("--fill", "-1e34"), -1e34);
  EXPECT_TRUE(std::isnan(parse_number("--fill", "nan")));
  for (const char* text : {"", " 1", "1 ", "1e", "1,5", "one", "1e-3x"}) {
    EXPECT_TAMIS_ERROR(kInvalid, "--abs", parse_number("--abs", text));
  }
}

TEST(ParseNumberList, Commas) {
  EXPECT_EQ(parse_number_list("--rel", "1e-2,1e-3"), (std::vector<double>{1e-2, 1e-3}));
  EXPECT_TAMIS_ERROR(kInvalid, "--rel", parse_number_list("--rel", "1,,2"));
}

TEST(ParseByteSize, Suffixes) {
  EXPECT_EQ(parse_byte_size("--memory", "1500"), 1500);
  EXPECT_EQ(parse_byte_size("--memory", "2G"), std::int64_t{2} << 30);
  EXPECT_EQ(parse_byte_size("--memory", "2GiB"), std::int64_t{2} << 30);
  EXPECT_EQ(parse_byte_size("--memory", "1.5k"), 1536);
  EXPECT_EQ(parse_byte_size("--memory", "512mb"), 512 << 20);
  for (const char* text : {"", "G", "0", "-1", "2X", "nan", "inf", "1e30", "0.1", "b", "2GG"}) {
    EXPECT_TAMIS_ERROR(kInvalid, "--memory", parse_byte_size("--memory", text));
  }
}

TEST(ParseBox, HalfOpenRanges) {
  const Extents shape{10, 20, 30};
  const reduce::Box box = parse_box("2:10,-5:,:", shape);
  EXPECT_EQ(box.origin, Extents({2, 15, 0}));
  EXPECT_EQ(box.extent, Extents({8, 5, 30}));
  const reduce::Box point = parse_box("9,-1,0:1", shape);
  EXPECT_EQ(point.origin, Extents({9, 19, 0}));
  EXPECT_EQ(point.extent, Extents({1, 1, 1}));
  EXPECT_EQ(parse_box(":", Extents{0}).extent, Extents({0}));
}

TEST(ParseBox, RefusesAllElse) {
  const Extents shape{10, 20};
  for (const char* text : {"", ":", "0:1", "0:1,0:1,0:1", "0:11,:", "5:5,:", "6:5,:", "-11:,:",
                           "10,:", "0:9:2,:", ",:", "a,:", "1.5,:", "0:1,"}) {
    EXPECT_TAMIS_ERROR(kInvalid, "--box", parse_box(text, shape));
  }
}

TEST(EachPiece, CoversOnceAtAlignedEnds) {
  for (const std::int64_t piece : {1, 100, 6400, 7000, 1 << 20}) {
    std::int64_t expected = 37;
    each_piece(37, 1000, 100, piece, [&](const RowRange& rows) {
      EXPECT_EQ(rows.first, expected);
      EXPECT_GT(rows.count, 0);
      expected += rows.count;
      if (piece == 7000 && expected < 1037) {
        EXPECT_EQ(expected % 64, 0);
      }
    });
    EXPECT_EQ(expected, 1037);
  }
  each_piece(0, 0, 100, 100, [](const RowRange&) { FAIL(); });
}

// Extents of files that promise more than there is, and of fields without an element.
TEST(RowElements, NeverOverflows) {
  const std::int64_t large = std::int64_t{1} << 38;
  EXPECT_EQ(row_elements(Extents{5, 6, 7}), 42);
  EXPECT_EQ(row_elements(Extents{0, 6, 0}), 0);
  EXPECT_GT(row_elements(Extents{0, large, large}), large);
  EXPECT_EQ(row_elements(Extents{0, large, large, 0}), 0);
}

TEST(Unpacking, TypeFollowsAttributes) {
  Field field;
  ValueAttributes plain;
  EXPECT_EQ(plan_unpacking({2, true}, plain, {}, field).dtype, DType::kF32);
  EXPECT_EQ(plan_unpacking({4, true}, plain, {}, field).dtype, DType::kF64);
  ValueAttributes single;
  single.scale_factor = NumericAttribute{0.5, true};
  EXPECT_EQ(plan_unpacking({2, true}, single, {}, field).dtype, DType::kF32);
  EXPECT_EQ(plan_unpacking({4, true}, single, {}, field).dtype, DType::kF64);
  single.add_offset = NumericAttribute{1.0, false};
  EXPECT_EQ(plan_unpacking({2, true}, single, {}, field).dtype, DType::kF64);
}

TEST(Unpacking, FillIsMaskedAndWideIntegersRefused) {
  Field field;
  ValueAttributes attributes;
  attributes.scale_factor = NumericAttribute{0.5, true};
  attributes.fill_value = NumericAttribute{-1.0, true};
  const Unpacking plan = plan_unpacking({2, true}, attributes, {}, field);
  ASSERT_TRUE(field.fill.has_value());
  EXPECT_TRUE(std::isnan(field.fill->value));
  const double stored[] = {4.0, -1.0};
  float values[2] = {};
  plan.convert(stored, 2, values);
  EXPECT_EQ(values[0], 2.0F);
  EXPECT_TRUE(std::isnan(values[1]));
  const double wide[] = {0x1p53};
  double out[1] = {};
  EXPECT_TAMIS_ERROR(ErrorCode::kUnsupported, "2^53",
                     plan_unpacking({8, true}, {}, {}, field).convert(wide, 1, out));
}

TEST(RoundToDtype, FillAsTheFieldHoldsIt) {
  EXPECT_EQ(round_to_dtype(1e20, DType::kF32), static_cast<double>(1e20F));
  EXPECT_EQ(round_to_dtype(1e20, DType::kF64), 1e20);
  EXPECT_EQ(round_to_dtype(1e300, DType::kF32), 1e300);
  EXPECT_TRUE(std::isnan(round_to_dtype(NAN, DType::kF32)));
}

TEST(SummaryText, Numbers) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(999), "999 B");
  EXPECT_EQ(format_bytes(4152960), "4.15 MB");
  EXPECT_EQ(format_bytes(999999999), "1.00 GB");
  EXPECT_EQ(format_percent(0.99999, 1.0), "99.9 %");
  EXPECT_EQ(format_percent(1.0, 1.0), "100.0 %");
  EXPECT_EQ(format_percent(1.0, 0.0), "-");
  EXPECT_EQ(format_speed(1000000, 0.0), "-");
  EXPECT_EQ(format_speed(1000000, 0.5), "2.00 MB/s");
  EXPECT_EQ(number_json(NAN), "nan");
  EXPECT_EQ(number_json(-INFINITY), "-inf");
}

TEST(KeepsPromise, CountsViolationsAndPsnr) {
  reduce::Info info;
  reduce::Difference difference;
  info.bound = reduce::Bound::psnr(60.0);
  difference.psnr = 60.1;
  EXPECT_TRUE(keeps_promise(info, difference));
  difference.psnr = 59.9;
  EXPECT_FALSE(keeps_promise(info, difference));
  difference.psnr = NAN;  // no finite value: nothing to promise
  EXPECT_TRUE(keeps_promise(info, difference));
  difference.violations = 1;
  EXPECT_FALSE(keeps_promise(info, difference));
}

}  // namespace
}  // namespace tamis::cli
