// The pieces of the HTML report: pictures that decode to what was drawn, the choice of slices and
// crops, numbers as text, ticks.
#include <gtest/gtest.h>
#include <png.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "report.hpp"
#include "report_chart.hpp"
#include "report_image.hpp"
#include "report_ladder.hpp"
#include "report_slice.hpp"
#include "report_text.hpp"
#include "support/expect_error.hpp"

namespace tamis::cli {
namespace {

using namespace report;  // NOLINT(google-build-using-namespace)

TEST(ReportImage, Base64) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64("\xff\xfe\xfd"), "//79");
}

TEST(ReportImage, PngRoundTrip) {
  for (const ColourMap map : {ColourMap::kSequential, ColourMap::kDiverging}) {
    const IndexedImage image{3, 2, {0, 127, 254, 255, 10, 200}};
    const std::string bytes = encode_png(image, map);
    png_image reader{};
    reader.version = PNG_IMAGE_VERSION;
    ASSERT_NE(png_image_begin_read_from_memory(&reader, bytes.data(), bytes.size()), 0);
    reader.format = PNG_FORMAT_RGBA;
    ASSERT_EQ(reader.width, 3U);
    ASSERT_EQ(reader.height, 2U);
    std::vector<png_byte> pixels(PNG_IMAGE_SIZE(reader));
    ASSERT_NE(png_image_finish_read(&reader, nullptr, pixels.data(), 0, nullptr), 0);
    for (std::size_t i = 0; i < image.pixels.size(); ++i) {
      const bool clear = image.pixels[i] == kTransparentIndex;
      EXPECT_EQ(pixels[4 * i + 3], clear ? 0 : 255) << i;
      if (clear) continue;
      const Rgb colour = colour_at(map, image.pixels[i] / double{kColourCount - 1});
      EXPECT_EQ(pixels[4 * i], colour.red) << i;
      EXPECT_EQ(pixels[4 * i + 1], colour.green) << i;
      EXPECT_EQ(pixels[4 * i + 2], colour.blue) << i;
    }
  }
  EXPECT_TAMIS_ERROR(ErrorCode::kInvalidArgument, "0x0",
                     encode_png(IndexedImage{}, ColourMap::kSequential));
}

TEST(ReportImage, ColourIndicesAreClamped) {
  EXPECT_EQ(colour_index(-1e300), 0);
  EXPECT_EQ(colour_index(0.5), 127);
  EXPECT_EQ(colour_index(std::numeric_limits<double>::infinity()), kColourCount - 1);
  EXPECT_EQ(colour_index(std::nan("")), kTransparentIndex);
}

TEST(ReportSlice, ChoosesSpaceOverComponents) {
  const SlicePlan flow = plan_slices({45, 49, 76, 3}, 9);
  EXPECT_EQ(flow.row_dim, 1);
  EXPECT_EQ(flow.column_dim, 2);
  EXPECT_EQ(flow.slide_dim, 0);
  ASSERT_EQ(flow.slide.size(), 9U);
  EXPECT_EQ(flow.slide.front(), 0);
  EXPECT_EQ(flow.slide.back(), 44);
  EXPECT_EQ(slice_label(flow, 8), "[44, :, :, 1]");
  EXPECT_TRUE(plan_slices({1, 100000, 3}, 9).is_line);
  EXPECT_FALSE(plan_slices({2, 3}, 9).is_line);
}

TEST(ReportSlice, CellsMeetTheirBudget) {
  const CellSize none = choose_cells(360, 330, 720, 700000);
  EXPECT_EQ(none.width, 1);
  EXPECT_EQ(none.height, 1);
  const CellSize large = choose_cells(100000, 3, 720, 1000);
  EXPECT_LE((100000 / large.width + 1) * 3, 1003);
}

TEST(ReportLadder, CropsTheMiddle) {
  const std::vector<float> values(100 * 50, 1.0F);
  const ConstTensorView field = make_view(values.data(), {100, 50});
  const ConstTensorView crop = centred_crop(field, 1000);
  EXPECT_LE(crop.shape.element_count(), 1000);
  EXPECT_GE(crop.shape.element_count(), 900);
  EXPECT_EQ(crop.strides, field.strides);
  const std::int64_t top = (100 - crop.shape[0]) / 2;
  const std::int64_t left = (50 - crop.shape[1]) / 2;
  EXPECT_EQ(crop.data, values.data() + top * 50 + left);
  EXPECT_EQ(centred_crop(field, 5000).shape, field.shape);
}

TEST(ReportLadder, BoundsAreOfTheKindAsked) {
  std::vector<float> values;
  for (int i = 0; i < 400; ++i) values.push_back(std::exp(0.02F * static_cast<float>(i)));
  ReportInput in;
  in.original = make_view(std::as_const(values).data(), {20, 20});
  for (const bool pointwise : {false, true}) {
    in.info.bound = pointwise ? reduce::Bound::pointwise_relative(1e-3) : reduce::Bound::psnr(60);
    const Ladder ladder = climb_ladder(in);
    EXPECT_EQ(ladder.pointwise, pointwise);
    ASSERT_EQ(ladder.rungs.size(), kLadder.size() * kLadderModes.size());
    for (const Rung& rung : ladder.rungs) {
      EXPECT_GT(rung.bound_used, 0.0);
      EXPECT_LE(rung.bound_used, 1.0 + 1e-9);
    }
  }
}

TEST(ReportText, Indices) {
  EXPECT_EQ(format_index(0, {7}), "(0)");
  EXPECT_EQ(format_index(119, {4, 5, 6}), "(3, 4, 5)");
  EXPECT_EQ(format_index(-1, {4, 5, 6}), "");
}

TEST(ReportText, Numbers) {
  EXPECT_EQ(format_value(0.0), "0");
  EXPECT_EQ(format_value(-12.5), "−12.5");
  EXPECT_EQ(format_value(1.5e-21, 3), "1.5×10⁻²¹");
  EXPECT_EQ(format_value(std::nan("")), "NaN");
  EXPECT_EQ(format_value(-HUGE_VAL), "−∞");
  EXPECT_EQ(format_figure(9.3, 3), "9.30");
  EXPECT_EQ(format_count(1038240), "1,038,240");
  EXPECT_EQ(format_count(-999), "−999");
  EXPECT_EQ(format_bytes(4152960.0), "4.15\u00A0MB");
  EXPECT_EQ(format_bytes(999.6), "1.00\u00A0kB");
  EXPECT_EQ(format_speed(1e6, 0.0), "–");
  EXPECT_EQ(format_share(0.99999), "over\u00A099.99\u00A0%");
  EXPECT_EQ(format_bound_share(0.9999), "99.9");
  EXPECT_EQ(format_bound_share(1.0), "100.0");
  EXPECT_EQ(html_escape("<&>\"'"), "&lt;&amp;&gt;&quot;&#39;");
  EXPECT_EQ(html_escape("é\xc3"), "é\uFFFD");
  EXPECT_EQ(command_line({"tamis", "a b", "it's", "--rel", "1e-3"}),
            "tamis 'a b' 'it'\\''s' --rel 1e-3");
}

TEST(ReportChart, TicksAreRound) {
  const TickSet plain = linear_ticks(229.4, 303.2, 4);
  ASSERT_EQ(plain.ticks.size(), 4U);
  EXPECT_EQ(plain.ticks.front().label, "240");
  const TickSet tiny = linear_ticks(-3e-21, 3e-21, 6);
  EXPECT_EQ(tiny.exponent, -21);
  EXPECT_EQ(tiny.ticks.back().label, "3");
  EXPECT_EQ(linear_ticks(2.0, 2.0, 5).ticks.size(), 1U);
  EXPECT_TRUE(linear_ticks(std::nan(""), 1.0, 5).ticks.empty());
  EXPECT_TRUE(log_ticks(0.0, 1.0, 5).ticks.empty());
}

}  // namespace
}  // namespace tamis::cli
