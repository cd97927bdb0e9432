// How the errors spread: a histogram over all points with the bound marked, and shares within parts
// of it.
#include <algorithm>
#include <array>
#include <cmath>

#include "report_chart.hpp"
#include "report_sections.hpp"
#include "report_slice.hpp"
#include "report_text.hpp"

namespace tamis::cli::report {
namespace {

constexpr int kBins = 81;  // odd, so that one bin is centred on zero

struct ErrorSpread {
  std::array<std::int64_t, kBins> bins{};  // error / unit over -1 .. 1
  std::int64_t below = 0;                  // outside of the unit
  std::int64_t above = 0;
  std::int64_t count = 0;  // points that have an error
  std::int64_t zero = 0;
  std::array<std::int64_t, 4> within{};  // |error| up to 1/8, 1/4, 1/2 and 1 unit
  double sum = 0.0;
  double sum_of_squares = 0.0;
};

constexpr std::array<double, 4> kParts = {0.125, 0.25, 0.5, 1.0};
constexpr std::array<const char*, 4> kPartNames = {"⅛", "¼", "½", "1"};

void add_error(ErrorSpread& spread, double error) {
  ++spread.count;
  if (error == 0.0) ++spread.zero;
  const double size = std::fabs(error);
  for (std::size_t k = 0; k < kParts.size(); ++k) {
    if (size <= kParts[k]) ++spread.within[k];
  }
  if (size <= 1.0) {
    const int bin = static_cast<int>((error + 1.0) * 0.5 * kBins);
    ++spread.bins[static_cast<std::size_t>(std::clamp(bin, 0, kBins - 1))];
  } else {
    ++(error < 0.0 ? spread.below : spread.above);
  }
  if (std::isfinite(error)) {
    spread.sum += error;
    spread.sum_of_squares += error * error;
  }
}

ErrorSpread measure_spread(const ReportInput& in, const ErrorUnit& unit) {
  ErrorSpread spread;
  const Extents& shape = in.original.shape;
  if (shape.element_count() == 0) return spread;
  const int last = shape.rank() - 1;
  const std::int64_t row_count = shape.element_count() / shape[last];
  Extents index = Extents::filled(shape.rank(), 0);
  for (std::int64_t row = 0; row < row_count; ++row) {
    std::int64_t offset_o = 0;
    std::int64_t offset_d = 0;
    for (int d = 0; d < last; ++d) {
      offset_o += index[d] * in.original.strides[d];
      offset_d += index[d] * in.decoded.strides[d];
    }
    for (std::int64_t x = 0; x < shape[last]; ++x) {
      const double o = value_at(in.original, offset_o + x * in.original.strides[last]);
      if (is_masked(o, in.info)) continue;
      const double d = value_at(in.decoded, offset_d + x * in.decoded.strides[last]);
      add_error(spread, unit.measure(o, d));
    }
    for (int d = last - 1; d >= 0 && ++index[d] == shape[d]; --d) index[d] = 0;
  }
  return spread;
}

std::vector<Tick> unit_ticks(const ErrorUnit& unit) {
  if (!unit.is_bound)
    return {{-1, "−1", true}, {-0.5, "−½", true}, {0, "0", true}, {0.5, "½", true}, {1, "1", true}};
  return {{-1, "−bound", true},
          {-0.5, "−½", true},
          {0, "0", true},
          {0.5, "+½", true},
          {1, "+bound", true}};
}

std::string histogram(const ReportInput& in, const ErrorUnit& unit, const ErrorSpread& spread) {
  const std::int64_t tallest = std::max({*std::max_element(spread.bins.begin(), spread.bins.end()),
                                         spread.below, spread.above, std::int64_t{1}});
  const double foot = 0.7;  // below one, so that a single point shows
  const double head = std::pow(10.0, std::ceil(std::log10(static_cast<double>(tallest) * 1.3)));
  std::string name = "(decoded − original) ÷ ";
  if (unit.relative > 0.0) {
    name += "(bound × |original|)";
  } else {
    name += unit.is_bound ? "bound" : "largest error";
    name += " of " + format_value(unit.absolute, 3) + (in.units.empty() ? "" : " " + in.units);
  }
  Axis x{-1.12, 1.12, false, html_escape(name), unit_ticks(unit)};
  Axis y{foot, head, true, "points in the bin", log_ticks(foot, head, 6).ticks};
  Chart chart({620, 330, 62, 14, 14, 50}, std::move(x), std::move(y));
  for (int k = 0; k < kBins; ++k) {
    const std::int64_t points = spread.bins[static_cast<std::size_t>(k)];
    if (points == 0) continue;
    const double low = -1.0 + 2.0 * k / kBins;
    const double high = -1.0 + 2.0 * (k + 1) / kBins;
    chart.rectangle(low + 0.002, high - 0.002, foot, static_cast<double>(points), "column",
                    format_fixed(low, 2) + " to " + format_fixed(high, 2) + ": " +
                        format_count(points) + (points == 1 ? " point" : " points"));
  }
  if (spread.below > 0) {
    chart.rectangle(-1.09, -1.02, foot, static_cast<double>(spread.below), "column beyond",
                    "below −bound: " + format_count(spread.below));
  }
  if (spread.above > 0) {
    chart.rectangle(1.02, 1.09, foot, static_cast<double>(spread.above), "column beyond",
                    "above +bound: " + format_count(spread.above));
  }
  if (unit.is_bound) {
    chart.vertical(-1.0, "limit");
    chart.vertical(1.0, "limit");
  }
  return chart.svg("Histogram of the signed error in units of the " +
                   std::string(unit.is_bound ? "bound" : "largest error") +
                   ", counts on a logarithmic axis");
}

std::string share_row(const std::string& label, std::int64_t points, std::int64_t count) {
  const double share = count > 0 ? static_cast<double>(points) / static_cast<double>(count) : 0.0;
  std::string out = "<tr><th scope=\"row\">" + label + "</th><td class=\"meter\">";
  appendf(out, "<span class=\"gauge\" aria-hidden=\"true\"><i style=\"width:%.2f%%\"></i></span>",
          100.0 * share);
  return out + "</td><td class=\"n\">" + format_share(share) + "</td><td class=\"n\">" +
         format_count(points) + "</td></tr>\n";
}

std::string shares_table(const ErrorUnit& unit, const ErrorSpread& spread) {
  const std::string name = unit.is_bound ? "bound" : "largest error";
  std::string out =
      "<table class=\"shares\">\n<thead><tr><th scope=\"col\">Error</th>"
      "<td></td><th scope=\"col\" class=\"n\">share</th><th scope=\"col\" "
      "class=\"n\">points</th></tr></thead>\n<tbody>\n";
  out += share_row("none at all", spread.zero, spread.count);
  for (std::size_t k = 0; k < kParts.size(); ++k) {
    out += share_row(
        "≤ " + (kParts[k] < 1.0 ? std::string(kPartNames[k]) + " " : std::string()) + name,
        spread.within[k], spread.count);
  }
  if (unit.is_bound) out += share_row("beyond it", spread.below + spread.above, spread.count);
  const auto count = static_cast<double>(std::max<std::int64_t>(spread.count, 1));
  const double mean = spread.sum / count;
  const double rms = std::sqrt(spread.sum_of_squares / count);
  out += "</tbody>\n<tfoot>\n<tr><th scope=\"row\">mean</th><td></td><td class=\"n\">" +
         format_fixed(100.0 * mean, 2) + "\u00A0%</td><td class=\"n soft\">of the " + name +
         "</td></tr>\n<tr><th scope=\"row\">rms</th><td></td><td class=\"n\">" +
         format_fixed(100.0 * rms, 1) + "\u00A0%</td><td class=\"n soft\">of the " + name +
         "</td></tr>\n</tfoot>\n</table>\n";
  return out;
}

}  // namespace

std::string errors_section(const ReportInput& in) {
  const ErrorUnit unit = error_unit(in);
  const ErrorSpread spread = measure_spread(in, unit);
  if (spread.count == 0) return {};
  std::string out = "<section id=\"errors\">\n<h2>Where the error goes</h2>\n";
  if (spread.zero == spread.count) {
    return out + "<p>" +
           (spread.count == 1 ? "The one value comes"
                              : "All " + format_count(spread.count) + " values come") +
           " back exactly; there is no error to plot.</p>\n</section>\n";
  }
  out += "<div class=\"two wide-left\">\n<div>" + histogram(in, unit, spread) + "</div>\n<div>" +
         shares_table(unit, spread) + "</div>\n</div>\n";
  return out + "</section>\n";
}

}  // namespace tamis::cli::report
