// The field, its reconstruction and the error side by side: the same slices, the same cells.
#include <algorithm>
#include <cmath>

#include "report_chart.hpp"
#include "report_image.hpp"
#include "report_sections.hpp"
#include "report_slice.hpp"
#include "report_text.hpp"

namespace tamis::cli::report {
namespace {

constexpr int kMaxSide = 720;
constexpr int kMaxSlices = 9;
// Pixels of one picture over all of its slices; at some 2.3 bytes of page each for the three
// pictures together this keeps them below 1.7 MB.
constexpr int kPixelBudget = 700000;
// Slices smaller than this are not worth having in numbers.
constexpr int kLeastSlicePixels = 130000;

struct Picture {
  const char* title;
  const char* alt;
  ColourMap map;
  std::string bar;
  std::string slices;
};

IndexedImage to_image(const SlicePixels& pixels, const std::vector<float>& places) {
  IndexedImage image{pixels.width, pixels.height, {}};
  image.pixels.reserve(places.size());
  for (const float place : places) image.pixels.push_back(colour_index(place));
  return image;
}

void add_slice(Picture& picture, const IndexedImage& image, const std::string& label, bool shown) {
  picture.slices += "<img src=\"" + png_data_uri(image, picture.map) + "\" alt=\"" + picture.alt +
                    ", slice " + label + "\"";
  // Small slices are enlarged, and crisp squares are honest about the resolution. Errors are noise:
  // smoothing would mix blue and orange to a brown that is no error at all.
  if (image.width < 300 || picture.map == ColourMap::kDiverging)
    picture.slices += " class=\"crisp\"";
  picture.slices += shown ? ">" : " hidden>";
}

std::string bar_ticks(double low, double high, const std::vector<Tick>& ticks) {
  std::string out = "<div class=\"ticks\">";
  for (const Tick& tick : ticks) {
    const double share = high > low ? (tick.value - low) / (high - low) : 0.5;
    appendf(out, "<span style=\"left:%.2f%%\">%s</span>", 100.0 * std::clamp(share, 0.0, 1.0),
            tick.label.c_str());
  }
  return out + "</div>";
}

std::string colour_bar(ColourMap map, const std::string& classes, const std::string& ticks,
                       const std::string& caption) {
  return "<div class=\"bar\"><div class=\"ramp" + classes +
         "\" style=\"background:" + css_gradient(map) + "\"></div>" + ticks + "<div class=\"of\">" +
         caption + "</div></div>";
}

std::string value_bar(const ReportInput& in, const ValueRange& range) {
  if (std::isnan(in.info.min_value)) {
    return colour_bar(ColourMap::kSequential, "", bar_ticks(0, 1, {}), "no values to colour");
  }
  const TickSet set = linear_ticks(range.low, range.high, 4);
  std::string classes;
  if (range.clipped_low) classes += " low";
  if (range.clipped_high) classes += " high";
  return colour_bar(ColourMap::kSequential, classes, bar_ticks(range.low, range.high, set.ticks),
                    axis_title("value", in.units, set.exponent));
}

std::string error_bar(const ReportInput& in, const ErrorUnit& unit) {
  const char* name = unit.is_bound ? "bound" : "largest error";
  if (unit.relative > 0.0) {
    const std::string percent = format_value(100.0 * unit.relative, 3) + "\u00A0%";
    return colour_bar(
        ColourMap::kDiverging, "",
        bar_ticks(-1, 1, {{-1, "−" + percent, true}, {0, "0", true}, {1, "+" + percent, true}}),
        "error as a share of each value, ± bound");
  }
  if (!unit.is_bound && in.difference.max_abs_error == 0.0) {
    return colour_bar(ColourMap::kDiverging, "", bar_ticks(-1, 1, {{0, "0", true}}),
                      "decoded − original: no error anywhere");
  }
  const std::string size = format_value(unit.absolute, 3);
  std::string caption = std::string("decoded − original, ± ") + name;
  if (!in.units.empty()) caption += " (" + html_escape(in.units) + ")";
  return colour_bar(
      ColourMap::kDiverging, "",
      bar_ticks(-1, 1, {{-1, "−" + size, true}, {0, "0", true}, {1, "+" + size, true}}), caption);
}

// Slider positions and cell size that fit the budget.
struct Layout {
  SlicePlan plan;
  CellSize cells;
};

Layout choose_layout(const Extents& shape) {
  for (const int count : {kMaxSlices, 5, 3}) {
    Layout layout{plan_slices(shape, count), {}};
    if (layout.plan.is_line) return layout;
    const int slices = static_cast<int>(layout.plan.slide.size());
    const int share = kPixelBudget / slices;
    const std::int64_t width = shape[layout.plan.column_dim];
    const std::int64_t height = shape[layout.plan.row_dim];
    layout.cells = choose_cells(width, height, kMaxSide, share);
    const bool native = layout.cells.width == 1 && layout.cells.height == 1;
    if (native || share >= kLeastSlicePixels) return layout;
  }
  Layout layout{plan_slices(shape, 1), {}};
  layout.cells = choose_cells(shape[layout.plan.column_dim], shape[layout.plan.row_dim], kMaxSide,
                              kPixelBudget);
  return layout;
}

std::string slider(const SlicePlan& plan) {
  if (plan.slide.size() < 2) return {};
  std::string labels;
  for (std::size_t k = 0; k < plan.slide.size(); ++k) {
    labels += (k > 0 ? "|" : "") + slice_label(plan, k);
  }
  std::string out;
  appendf(out,
          "<label class=\"slider\"><span>Slice along dimension %d</span><input type=\"range\" "
          "id=\"slice\" min=\"0\" max=\"%zu\" step=\"1\" value=\"%zu\" data-labels=\"%s\">"
          "<output id=\"slice-label\">%s</output></label>\n",
          plan.slide_dim, plan.slide.size() - 1, plan.first_shown, labels.c_str(),
          slice_label(plan, plan.first_shown).c_str());
  return out;
}

std::string notes(const ReportInput& in, const Layout& layout, const ValueRange& range) {
  std::string out = "<p class=\"notes\">";
  if (layout.cells.width > 1 || layout.cells.height > 1) {
    appendf(out,
            "One pixel stands for %d × %d points: their mean in the first two pictures, their "
            "largest error in the third. ",
            layout.cells.height, layout.cells.width);
  }
  if (range.clipped_low || range.clipped_high) {
    out +=
        "The colours leave out the outermost values, so that a few outliers do not take the "
        "whole scale. ";
  }
  out += "The first row is at the top";
  if (layout.plan.slide.size() < 2 && in.original.shape.rank() > 2) {
    out += "; the slice is " + slice_label(layout.plan, 0);
  }
  out += ". ";
  const std::int64_t hidden = in.info.masked_count + in.info.nonfinite_count;
  if (hidden > 0) {
    out +=
        "<span class=\"swatch hatch\" aria-hidden=\"true\"></span>Hatched: fill or not finite, "
        "kept exactly and without an error. ";
  }
  return out + "<span class=\"screen\">Click a picture to look closer in all three.</span></p>\n";
}

}  // namespace

std::string pictures_section(const ReportInput& in) {
  if (in.original.shape.element_count() == 0) return {};
  const Layout layout = choose_layout(in.original.shape);
  const SlicePlan& plan = layout.plan;
  if (plan.is_line) return {};
  const ValueRange range = shown_range(in, plan);
  const ErrorUnit unit = error_unit(in);

  Picture pictures[] = {
      {"Field", "The field", ColourMap::kSequential, value_bar(in, range), {}},
      {"Reconstruction", "The reconstruction", ColourMap::kSequential, value_bar(in, range), {}},
      {"Error", "The error", ColourMap::kDiverging, error_bar(in, unit), {}}};
  int width = 1;
  int height = 1;
  for (std::size_t k = 0; k < plan.slide.size(); ++k) {
    SlicePixels pixels = sample_slice(in, plan, k, range, layout.cells);
    for (float& error : pixels.error) error = 0.5F + 0.5F * error;
    const std::string label = slice_label(plan, k);
    const bool shown = k == plan.first_shown;
    add_slice(pictures[0], to_image(pixels, pixels.original), label, shown);
    add_slice(pictures[1], to_image(pixels, pixels.decoded), label, shown);
    add_slice(pictures[2], to_image(pixels, pixels.error), label, shown);
    width = pixels.width * pixels.cell_width;
    height = pixels.height * pixels.cell_height;
  }

  std::string out = "<section id=\"pictures\">\n<h2>What it looks like</h2>\n" + slider(plan);
  out += "<div class=\"pictures\">\n";
  // Very long or tall slices are stretched: a ribbon of a few pixels shows nothing.
  const double aspect = std::clamp(static_cast<double>(width) / height, 0.72, 2.6);
  for (const Picture& picture : pictures) {
    appendf(out,
            "<figure><figcaption>%s</figcaption><div class=\"frame hatch\" "
            "style=\"aspect-ratio:%.4f\">",
            picture.title, aspect);
    out += picture.slices + "</div>" + picture.bar + "</figure>\n";
  }
  return out + "</div>\n" + notes(in, layout, range) + "</section>\n";
}

}  // namespace tamis::cli::report
