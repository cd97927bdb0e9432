// The HTML report: well-formed whatever the field looks like, nothing fetched from outside, names
// escaped.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "report.hpp"
#include "support/expect_error.hpp"

namespace tamis::cli {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Keeps the arrays that a ReportInput only looks at.
struct Example {
  std::vector<float> values;
  Tensor decoded;
  ReportInput in;
};

Example make_example(std::vector<float> values, const Extents& shape,
                     const reduce::CompressOptions& options) {
  Example example;
  example.values = std::move(values);
  example.in.original = make_view(std::as_const(example.values).data(), shape);
  const reduce::CompressResult packed = reduce::compress(example.in.original, options);
  example.decoded = reduce::decompress(packed.bytes);
  example.in.field_name = "field";
  example.in.decoded = std::as_const(example.decoded).view();
  example.in.info = packed.info;
  example.in.difference = reduce::compare(example.in.original, example.in.decoded, packed.info);
  example.in.compress_seconds = 0.5;
  example.in.decompress_seconds = 0.25;
  example.in.options = options;
  return example;
}

Example make_example(std::vector<float> values, const Extents& shape,
                     reduce::Bound bound = reduce::Bound::relative(1e-3)) {
  reduce::CompressOptions options;
  options.bound = bound;
  return make_example(std::move(values), shape, options);
}

std::vector<float> waves(std::int64_t count) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = 10.0F * std::sin(0.031F * static_cast<float>(i)) + static_cast<float>(i % 7);
  }
  return values;
}

// Empty when every element is closed in order, else what went wrong first. Knows the elements that
// HTML never closes and skips the text of <style> and <script>.
std::string check_tags(const std::string& html) {
  static const std::set<std::string> void_names = {"meta",  "img",  "br", "hr",
                                                   "input", "link", "col"};
  std::vector<std::string> open;
  std::size_t at = 0;
  while ((at = html.find('<', at)) != std::string::npos) {
    if (html.compare(at, 2, "<!") == 0) {
      at = html.find('>', at);
      continue;
    }
    const bool closing = html[at + 1] == '/';
    const std::size_t start = at + (closing ? 2 : 1);
    std::size_t end = start;
    while (end < html.size() && (std::isalnum(static_cast<unsigned char>(html[end])) != 0)) ++end;
    const std::string name = html.substr(start, end - start);
    if (name.empty()) return "bare '<' near: " + html.substr(at, 60);
    char quote = '\0';
    while (end < html.size() && (quote != '\0' || html[end] != '>')) {
      if (quote == '\0' && html[end] == '<') return "'<' inside <" + name;
      if (html[end] == '"') quote = quote == '\0' ? '"' : '\0';
      ++end;
    }
    if (end >= html.size()) return "unfinished <" + name;
    const bool self_closed = html[end - 1] == '/';
    if (closing) {
      if (open.empty() || open.back() != name) return "unexpected </" + name + ">";
      open.pop_back();
    } else if (!self_closed && void_names.count(name) == 0) {
      open.push_back(name);
    }
    at = end + 1;
    if (!closing && (name == "style" || name == "script")) at = html.find("</" + name, at);
  }
  return open.empty() ? "" : "never closed: <" + open.back() + ">";
}

void expect_sound_page(const std::string& html) {
  EXPECT_EQ(check_tags(html), "");
  EXPECT_EQ(html.find("http:"), std::string::npos);
  EXPECT_EQ(html.find("https:"), std::string::npos);
  EXPECT_EQ(html.find("=\"nan"), std::string::npos);
  EXPECT_EQ(html.find("=\"-nan"), std::string::npos);
  EXPECT_EQ(html.find("=\"inf"), std::string::npos);
  EXPECT_LT(html.size(), std::size_t{3} << 20);
  for (std::size_t at = 0; (at = html.find("src=\"", at)) != std::string::npos; at += 5) {
    EXPECT_EQ(html.compare(at + 5, 22, "data:image/png;base64,"), 0);
  }
}

TEST(ReportPage, TagCheckerFindsFaults) {
  EXPECT_EQ(check_tags("<!DOCTYPE html><p>a<br>b<i class=\"x>y\"/></p>"), "");
  EXPECT_NE(check_tags("<p><b></p></b>"), "");
  EXPECT_NE(check_tags("<p>"), "");
  EXPECT_NE(check_tags("<p>1 < 2</p>"), "");
}

TEST(ReportPage, PicturesOfTwoDimensions) {
  const std::string html = report_html(make_example(waves(60 * 80), {60, 80}).in);
  expect_sound_page(html);
  EXPECT_NE(html.find("id=\"pictures\""), std::string::npos);
  EXPECT_NE(html.find("id=\"curves\""), std::string::npos);
  EXPECT_EQ(html.find("id=\"slice\""), std::string::npos);
}

TEST(ReportPage, SliderOverThreeDimensions) {
  const std::string html = report_html(make_example(waves(12 * 30 * 20), {12, 30, 20}).in);
  expect_sound_page(html);
  EXPECT_NE(html.find("id=\"slice\""), std::string::npos);
  EXPECT_NE(html.find("[11, :, :]"), std::string::npos);
}

TEST(ReportPage, LinesForOneDimension) {
  for (const std::int64_t size : {1, 2, 500, 5000}) {
    const std::string html = report_html(make_example(waves(size), {size}).in);
    expect_sound_page(html);
    EXPECT_NE(html.find("id=\"lines\""), std::string::npos) << size;
    EXPECT_EQ(html.find("id=\"pictures\""), std::string::npos) << size;
  }
}

TEST(ReportPage, EveryKindOfBound) {
  for (const reduce::Bound bound : {reduce::Bound::absolute(0.01), reduce::Bound::relative(1e-4),
                                    reduce::Bound::pointwise_relative(1e-2),
                                    reduce::Bound::psnr(60.0), reduce::Bound::lossless()}) {
    expect_sound_page(report_html(make_example(waves(40 * 40), {40, 40}, bound).in));
  }
}

TEST(ReportPage, DegenerateFields) {
  std::vector<float> mixed = waves(400);
  mixed[3] = kNaN;
  mixed[7] = kInfinity;
  for (std::size_t i = 100; i < 180; ++i) mixed[i] = 1e20F;
  std::vector<float> huge = {-3e38F, 3e38F, 1.0F, 0.0F, -1e-40F, 2e38F};
  const std::vector<std::pair<std::vector<float>, Extents>> fields = {
      {{}, {0}},
      {{}, {4, 0, 3}},
      {{7.25F}, {1}},
      {{7.25F}, {1, 1, 1}},
      {{1.0F, 2.0F, 3.0F, 4.0F, 5.0F, 6.5F}, {2, 3}},
      {std::vector<float>(400, 3.5F), {20, 20}},
      {std::vector<float>(400, kNaN), {20, 20}},
      {std::vector<float>(400, kNaN), {400}},
      {std::vector<float>(400, -kInfinity), {20, 20}},
      {mixed, {20, 20}},
      {mixed, {400}},
      {mixed, {5, 4, 5, 4}},
      {huge, {6}},
      {huge, {2, 3}}};
  for (const auto& [values, shape] : fields) {
    SCOPED_TRACE(shape.to_string());
    expect_sound_page(report_html(make_example(values, shape).in));
  }
}

TEST(ReportPage, EscapesNamesAndUnits) {
  Example example = make_example(waves(400), {20, 20});
  example.in.field_name = "a<script>alert(1)</script>&\"'\x01\xff";
  example.in.units = "<b>K</b>\"";
  example.in.info.sections = {"<i>odd\"name: 12", "no number", ": 5"};
  example.in.info.number_map = "<map>";
  const std::string html = report_html(example.in);
  expect_sound_page(html);
  EXPECT_EQ(html.find("<script>alert"), std::string::npos);
  EXPECT_EQ(html.find("<b>K"), std::string::npos);
  EXPECT_EQ(html.find("<i>odd"), std::string::npos);
  EXPECT_EQ(html.find("<map>"), std::string::npos);
  EXPECT_NE(html.find("&lt;script&gt;alert"), std::string::npos);
}

TEST(ReportPage, SaysWhenTheBoundIsBroken) {
  Example example = make_example(waves(400), {20, 20});
  static_cast<float*>(example.decoded.data())[42] += 5.0F;
  example.in.difference = reduce::compare(example.in.original, example.in.decoded, example.in.info);
  const std::string html = report_html(example.in);
  expect_sound_page(html);
  EXPECT_NE(html.find("verdict bad"), std::string::npos);
  EXPECT_NE(html.find("1 point is outside"), std::string::npos);
}

TEST(ReportPage, ReadsStridedViews) {
  const std::vector<float> values = waves(20 * 30);
  const Example plain = make_example(values, {20, 30});
  Example turned = make_example(values, {20, 30});
  // The same field, stored with its rows upside down and read from the last one.
  std::vector<float> stored(values.size());
  for (std::size_t y = 0; y < 20; ++y) {
    std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(30 * y), 30,
                stored.begin() + static_cast<std::ptrdiff_t>(30 * (19 - y)));
  }
  turned.in.original.data = stored.data() + 19 * 30;
  turned.in.original.strides = {-30, 1};
  const auto pictures = [](const ReportInput& in) {
    const std::string html = report_html(in);
    const std::size_t at = html.find("id=\"pictures\"");
    return html.substr(at, html.find("</section>", at) - at);
  };
  EXPECT_EQ(pictures(plain.in), pictures(turned.in));
}

TEST(ReportPage, RefusesViewsThatDisagree) {
  Example example = make_example(waves(400), {20, 20});
  example.in.decoded.shape = {400};
  example.in.decoded.strides = {1};
  EXPECT_TAMIS_ERROR(ErrorCode::kInvalidArgument, "20x20", report_html(example.in));
}

TEST(ReportFile, IsWrittenWholeOrNotAtAll) {
  const std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) / "tamis_report_test";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directory(folder);
  const Example example = make_example(waves(400), {20, 20});
  write_report((folder / "page.html").string(), example.in);
  std::ifstream file(folder / "page.html");
  std::stringstream text;
  text << file.rdbuf();
  expect_sound_page(text.str());
  EXPECT_NE(text.str().find("</html>"), std::string::npos);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
  EXPECT_TAMIS_ERROR(ErrorCode::kIo, "absent",
                     write_report((folder / "absent" / "page.html").string(), example.in));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace tamis::cli
