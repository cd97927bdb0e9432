// What the bound costs: rate-distortion and ratio curves of all modes, and the figures behind them.
#include <algorithm>
#include <cmath>

#include "report_chart.hpp"
#include "report_ladder.hpp"
#include "report_sections.hpp"
#include "report_text.hpp"

namespace tamis::cli::report {
namespace {

struct Series {
  reduce::Mode mode;
  Marker marker;
  const char* css_class;
};

constexpr Series kSeries[] = {{reduce::Mode::kRatio, Marker::kSquare, "s2"},
                              {reduce::Mode::kDefault, Marker::kCircle, "s1"},
                              {reduce::Mode::kFast, Marker::kTriangle, "s3"}};

std::string bound_label(double bound) {
  return format_power_of_ten(static_cast<int>(std::lround(std::log10(bound))));
}

// What the ladder's bounds are relative to, and the axis that says so.
std::string yardstick(const Ladder& ladder) {
  return ladder.pointwise ? "each value" : "the range of the values";
}
const char* bound_axis(const Ladder& ladder) {
  return ladder.pointwise ? "bound ÷ value" : "bound ÷ range";
}

std::string describe(const Ladder& ladder, const Rung& rung) {
  return std::string(reduce::mode_name(rung.mode)) + " mode, bound " + bound_label(rung.bound) +
         " of " + yardstick(ladder) + ": " + format_value(rung.bits_per_value, 3) +
         " bits a value, ratio " + format_value(rung.ratio, 3) + ", PSNR " +
         format_fixed(rung.psnr, 1) + " dB";
}

std::string legend(const ReportInput& in, bool with_this_file) {
  std::string out = "<p class=\"legend\">";
  for (const Series& series : kSeries) {
    out += "<span>" + legend_marker(series.marker, series.css_class) +
           reduce::mode_name(series.mode) + "</span>";
  }
  if (with_this_file) {
    out += "<span>" + legend_marker(Marker::kRing, "here") + "this file (" +
           reduce::mode_name(in.info.mode) + ")</span>";
  }
  return out + "</p>\n";
}

double bits_per_value(const ReportInput& in) {
  return 8.0 * static_cast<double>(in.info.compressed_bytes) /
         static_cast<double>(in.info.shape.element_count());
}

// Only points with a finite, positive rate and a finite PSNR have a place on the chart.
bool on_distortion_chart(const Rung& rung) {
  return std::isfinite(rung.psnr) && rung.bits_per_value > 0.0;
}

std::string distortion_chart(const ReportInput& in, const Ladder& ladder) {
  double most_bits = 0.0;
  double least = HUGE_VAL;
  double most = -HUGE_VAL;
  const auto include = [&](double bits, double psnr) {
    most_bits = std::max(most_bits, bits);
    least = std::min(least, psnr);
    most = std::max(most, psnr);
  };
  for (const Rung& rung : ladder.rungs) {
    if (on_distortion_chart(rung)) include(rung.bits_per_value, rung.psnr);
  }
  if (!(least <= most)) return "<p>Every bound gives the field back exactly: no curve to draw.</p>";
  const bool here = std::isfinite(in.difference.psnr);
  if (here) include(bits_per_value(in), in.difference.psnr);
  const double low = std::floor((least - 4.0) / 10.0) * 10.0;
  const double high = std::ceil((most + 4.0) / 10.0) * 10.0;
  Chart chart({580, 380, 58, 40, 14, 50},
              {0.0, most_bits * 1.06, false, "bits per value",
               linear_ticks(0.0, most_bits * 1.06, 7).ticks},
              {low, high, false, "PSNR (dB)", linear_ticks(low, high, 7).ticks});
  for (const Series& series : kSeries) {
    Chart::Points points;
    for (const Rung& rung : ladder.rungs) {
      if (rung.mode != series.mode || !on_distortion_chart(rung)) continue;
      points.emplace_back(rung.bits_per_value, rung.psnr);
      chart.marker(series.marker, rung.bits_per_value, rung.psnr, series.css_class,
                   describe(ladder, rung));
    }
    chart.polyline(points, std::string("series ") + series.css_class);
  }
  // The bound is written once a rung, to the right of the series that needs the most bits, where no
  // curve passes: they all rise to the right.
  for (const double bound : kLadder) {
    const Rung* rightmost = nullptr;
    for (const Rung& rung : ladder.rungs) {
      if (rung.bound != bound || !on_distortion_chart(rung)) continue;
      if (rightmost == nullptr || rung.bits_per_value > rightmost->bits_per_value)
        rightmost = &rung;
    }
    if (rightmost == nullptr) continue;
    chart.text(rightmost->bits_per_value, rightmost->psnr, 9.0, 13.0, "start", bound_label(bound));
  }
  if (here) {
    chart.marker(Marker::kRing, bits_per_value(in), in.difference.psnr, "here",
                 "this file: " + format_value(bits_per_value(in), 3) + " bits a value, PSNR " +
                     format_fixed(in.difference.psnr, 1) + " dB");
  }
  return chart.svg("Rate-distortion curves: PSNR over bits per value for the three modes");
}

std::string ratio_chart(const Ladder& ladder) {
  double least = HUGE_VAL;
  double most = 0.0;
  for (const Rung& rung : ladder.rungs) {
    if (!(rung.ratio > 0.0)) continue;
    least = std::min(least, rung.ratio);
    most = std::max(most, rung.ratio);
  }
  if (!(least <= most)) return {};
  least /= 1.35;
  most *= 1.35;
  // The loosest bound stands on the left, as in the table.
  Axis x{0.2, 5e-7, true, bound_axis(ladder), {}};
  for (const double bound : kLadder) x.ticks.push_back({bound, bound_label(bound), true});
  Chart chart({440, 380, 58, 14, 14, 50}, std::move(x),
              {least, most, true, "ratio", log_ticks(least, most, 6).ticks});
  for (const Series& series : kSeries) {
    Chart::Points points;
    for (const Rung& rung : ladder.rungs) {
      if (rung.mode != series.mode || !(rung.ratio > 0.0)) continue;
      points.emplace_back(rung.bound, rung.ratio);
      chart.marker(series.marker, rung.bound, rung.ratio, series.css_class, describe(ladder, rung));
    }
    chart.polyline(points, std::string("series ") + series.css_class);
  }
  return chart.svg("Compression ratio over the bound on logarithmic axes for the three modes");
}

std::string cell(const std::string& text) { return "<td class=\"n\">" + text + "</td>"; }

std::string figures_table(const Ladder& ladder) {
  std::string out =
      "<div class=\"scroll\"><table class=\"figures\">\n<thead><tr><th scope=\"col\">Mode</th>"
      "<th scope=\"col\" class=\"n\">" +
      std::string(bound_axis(ladder)) +
      "</th><th scope=\"col\" class=\"n\">size</th>"
      "<th scope=\"col\" class=\"n\">ratio</th><th scope=\"col\" class=\"n\">bits/value</th>"
      "<th scope=\"col\" class=\"n\">PSNR, dB</th><th scope=\"col\" class=\"n\">of the bound</th>"
      "<th scope=\"col\" class=\"n\">compress</th><th scope=\"col\" class=\"n\">decompress</th>"
      "</tr></thead>\n";
  const auto raw = static_cast<double>(ladder.raw_bytes);
  for (const Series& series : kSeries) {
    const auto rows = std::count_if(ladder.rungs.begin(), ladder.rungs.end(),
                                    [&](const Rung& rung) { return rung.mode == series.mode; });
    if (rows == 0) continue;
    bool first = true;
    out += "<tbody>\n";
    for (const Rung& rung : ladder.rungs) {
      if (rung.mode != series.mode) continue;
      out += "<tr>";
      if (first) {
        out += "<th scope=\"rowgroup\" rowspan=\"" + std::to_string(rows) + "\">" +
               legend_marker(series.marker, series.css_class) + reduce::mode_name(series.mode) +
               "</th>";
      }
      first = false;
      out += cell(bound_label(rung.bound)) +
             cell(format_bytes(static_cast<double>(rung.compressed_bytes))) +
             cell(rung.ratio >= 1000.0 ? format_count(std::llround(rung.ratio))
                                       : format_fixed(rung.ratio, 2)) +
             cell(format_fixed(rung.bits_per_value, 3)) + cell(format_fixed(rung.psnr, 1)) +
             cell(format_bound_share(rung.bound_used) + "\u00A0%") +
             cell(format_speed(raw, rung.compress_seconds)) +
             cell(format_speed(raw, rung.decompress_seconds)) + "</tr>\n";
    }
    out += "</tbody>\n";
  }
  return out + "</table></div>\n";
}

}  // namespace

std::string curves_section(const ReportInput& in) {
  const Ladder ladder = climb_ladder(in);
  if (ladder.rungs.empty()) return {};
  std::string out = "<section id=\"curves\">\n<h2>What the bound costs</h2>\n<p class=\"notes\">";
  if (ladder.cropped) {
    out += "Measured on the middle of the field, " + format_shape(ladder.shape) + " of " +
           format_shape(in.original.shape) + " points, to keep this page quick to make. ";
  }
  out +=
      "Each point is a run of its own: compressed, decompressed and compared. The bounds, from "
      "10⁻¹ to 10⁻⁶, are relative to " +
      yardstick(ladder) + (ladder.pointwise ? ", as this file’s is" : "") + ".</p>\n";
  const bool here = std::isfinite(in.difference.psnr);
  out += legend(in, here) +
         "<div class=\"two\">\n<figure><figcaption>Rate and distortion"
         "</figcaption>" +
         distortion_chart(in, ladder) + "</figure>\n<figure><figcaption>Ratio</figcaption>" +
         ratio_chart(ladder) + "</figure>\n</div>\n";
  out += "<details open><summary>The figures behind the curves</summary>\n" +
         figures_table(ladder) + "</details>\n";
  return out + "</section>\n";
}

}  // namespace tamis::cli::report
