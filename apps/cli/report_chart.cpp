// Ticks, axes and marks as SVG.
#include "report_chart.hpp"

#include <algorithm>
#include <cmath>

#include "report_text.hpp"

namespace tamis::cli::report {
namespace {

double round_step(double span, int wanted) {
  const double rough = span / std::max(1, wanted);
  const double decade = std::pow(10.0, std::floor(std::log10(rough)));
  const double factor = rough / decade;
  return decade * (factor < 1.41 ? 1.0 : factor < 3.16 ? 2.0 : factor < 7.07 ? 5.0 : 10.0);
}

std::string points_text(const Chart& chart, const Chart::Points& points) {
  std::string out;
  for (const auto& [x, y] : points) {
    appendf(out, "%s%.1f,%.1f", out.empty() ? "" : " ", chart.place_x(x), chart.place_y(y));
  }
  return out;
}

std::string marker_shape(Marker marker, double x, double y) {
  std::string out;
  switch (marker) {
    case Marker::kCircle:
      appendf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4.6\"/>", x, y);
      break;
    case Marker::kSquare:
      appendf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"8.4\" height=\"8.4\"/>", x - 4.2, y - 4.2);
      break;
    case Marker::kTriangle:
      appendf(out, "<path d=\"M%.1f %.1fl5.4 9.2h-10.8z\"/>", x, y - 5.8);
      break;
    case Marker::kRing:
      appendf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"8.5\" class=\"ring\"/>", x, y);
      break;
  }
  return out;
}

std::string title_element(const std::string& tooltip) {
  return tooltip.empty() ? std::string() : "<title>" + html_escape(tooltip) + "</title>";
}

}  // namespace

TickSet linear_ticks(double low, double high, int wanted) {
  TickSet out;
  const double span = high - low;
  const double largest = std::max(std::fabs(low), std::fabs(high));
  if (!std::isfinite(span) || !(span > 0.0) || !(span > 1e-14 * largest)) {
    if (std::isfinite(low)) out.ticks.push_back({low, format_value(low), true});
    return out;
  }
  const int magnitude = static_cast<int>(std::floor(std::log10(largest)));
  if (magnitude >= 5 || magnitude < -3) out.exponent = magnitude;
  const double step = round_step(span, wanted);
  const int step_magnitude = static_cast<int>(std::floor(std::log10(step) + 1e-9));
  const int decimals = std::clamp(out.exponent - step_magnitude, 0, 12);
  const double first = std::ceil(low / step - 1e-6);
  for (double k = first; k * step <= high + 1e-6 * step && out.ticks.size() < 50; k += 1.0) {
    const double value = k * step;
    out.ticks.push_back(
        {value, format_fixed(value / std::pow(10.0, out.exponent), decimals), true});
  }
  return out;
}

TickSet log_ticks(double low, double high, int wanted) {
  TickSet out;
  if (!(low > 0.0) || !(high > low) || !std::isfinite(high)) return out;
  const int first = static_cast<int>(std::floor(std::log10(low)));
  const int last = static_cast<int>(std::ceil(std::log10(high)));
  const int stride = std::max(1, (last - first + wanted - 1) / std::max(1, wanted));
  const bool plain = low >= 0.09 && high <= 2e4;
  const bool dense = std::log10(high / low) < 3.0;
  for (int k = first; k <= last; ++k) {
    for (int m = 1; m < 10; ++m) {
      const double value = m * std::pow(10.0, k);
      if (value < low * 0.9999 || value > high * 1.0001) continue;
      Tick tick{value, {}, m == 1};
      const bool labelled = (m == 1 && k % stride == 0) || (dense && (m == 2 || m == 5));
      if (labelled && m == 1) {
        tick.label = plain
                         ? value >= 1000.0 ? format_count(std::llround(value)) : format_value(value)
                     : k == 0 ? "1"
                              : format_power_of_ten(k);
      } else if (labelled) {
        tick.label = format_value(value, 2);
      }
      if (m == 1 || dense) out.ticks.push_back(tick);
    }
  }
  return out;
}

std::string axis_title(const std::string& name, const std::string& units, int exponent) {
  std::string out = html_escape(name);
  if (exponent == 0 && units.empty()) return out;
  out += " (";
  if (exponent != 0) out += "×" + format_power_of_ten(exponent);
  if (exponent != 0 && !units.empty()) out += " ";
  return out + html_escape(units) + ")";
}

std::string legend_marker(Marker marker, const std::string& css_class) {
  return "<svg class=\"key " + css_class +
         "\" viewBox=\"0 0 20 20\" width=\"20\" height=\"20\" aria-hidden=\"true\">" +
         marker_shape(marker, 10.0, 10.0) + "</svg>";
}

Chart::Chart(const Size& size, Axis x, Axis y) : size_(size), x_(std::move(x)), y_(std::move(y)) {}

double Chart::place_x(double value) const {
  const double share = x_.logarithmic ? std::log(value / x_.low) / std::log(x_.high / x_.low)
                                      : (value - x_.low) / (x_.high - x_.low);
  // Far outside is as good as just outside, and keeps the numbers in the file short.
  const double safe = std::isfinite(share) ? std::clamp(share, -2.0, 3.0) : 0.0;
  return left() + safe * (right() - left());
}

double Chart::place_y(double value) const {
  const double share = y_.logarithmic ? std::log(value / y_.low) / std::log(y_.high / y_.low)
                                      : (value - y_.low) / (y_.high - y_.low);
  const double safe = std::isfinite(share) ? std::clamp(share, -2.0, 3.0) : 0.0;
  return bottom() - safe * (bottom() - top());
}

void Chart::polyline(const Points& points, const std::string& css_class) {
  if (points.empty()) return;
  marks_ +=
      "<polyline class=\"" + css_class + "\" points=\"" + points_text(*this, points) + "\"/>\n";
}

void Chart::polygon(const Points& points, const std::string& css_class) {
  if (points.empty()) return;
  marks_ +=
      "<polygon class=\"" + css_class + "\" points=\"" + points_text(*this, points) + "\"/>\n";
}

void Chart::rectangle(double x0, double x1, double y0, double y1, const std::string& css_class,
                      const std::string& tooltip) {
  const double a = std::min(place_x(x0), place_x(x1));
  const double b = std::min(place_y(y0), place_y(y1));
  appendf(marks_, "<rect class=\"%s\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"",
          css_class.c_str(), a, b, std::fabs(place_x(x1) - place_x(x0)),
          std::fabs(place_y(y1) - place_y(y0)));
  marks_ += tooltip.empty() ? "/>\n" : ">" + title_element(tooltip) + "</rect>\n";
}

void Chart::marker(Marker marker, double x, double y, const std::string& css_class,
                   const std::string& tooltip) {
  above_ += "<g class=\"mark " + css_class + "\">" + title_element(tooltip) +
            marker_shape(marker, place_x(x), place_y(y)) + "</g>\n";
}

void Chart::vertical(double x, const std::string& css_class) {
  appendf(marks_, "<line class=\"%s\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n",
          css_class.c_str(), place_x(x), place_x(x), top(), bottom());
}

void Chart::horizontal(double y, const std::string& css_class) {
  appendf(marks_, "<line class=\"%s\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n",
          css_class.c_str(), left(), right(), place_y(y), place_y(y));
}

void Chart::text(double x, double y, double dx, double dy, const std::string& anchor,
                 const std::string& text, const std::string& css_class) {
  appendf(above_, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n",
          css_class.c_str(), place_x(x) + dx, place_y(y) + dy, anchor.c_str(), text.c_str());
}

void Chart::draw_axes(std::string& out) const {
  for (const Tick& tick : y_.ticks) {
    const double y = place_y(tick.value);
    appendf(out, "<line class=\"%s\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>",
            tick.major ? "grid" : "grid minor", left(), right(), y, y);
    if (tick.label.empty()) continue;
    appendf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", left() - 7, y + 4.2,
            tick.label.c_str());
  }
  for (const Tick& tick : x_.ticks) {
    const double x = place_x(tick.value);
    appendf(out, "<line class=\"%s\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>",
            tick.major ? "grid" : "grid minor", x, x, top(), bottom());
    if (tick.label.empty()) continue;
    appendf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n", x, bottom() + 18,
            tick.label.c_str());
  }
  appendf(out, "<line class=\"axis\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n", left(),
          right(), bottom(), bottom());
  appendf(out, "<text class=\"title\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n",
          (left() + right()) / 2, size_.height - 8.0, x_.title.c_str());
  // A title turned on its side; the offset leaves room for its descenders.
  const double middle = (top() + bottom()) / 2;
  appendf(out,
          "<text class=\"title\" x=\"14\" y=\"%.1f\" text-anchor=\"middle\" "
          "transform=\"rotate(-90 14 %.1f)\">%s</text>\n",
          middle, middle, y_.title.c_str());
}

std::string Chart::svg(const std::string& alt) const {
  std::string out;
  appendf(out, "<svg class=\"chart\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">\n",
          size_.width, size_.height, html_escape(alt).c_str());
  draw_axes(out);
  // A nested <svg> clips without needing an id that is unique on the page.
  appendf(out,
          "<svg x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" viewBox=\"%.1f %.1f %.1f "
          "%.1f\">\n",
          left(), top(), right() - left(), bottom() - top(), left(), top(), right() - left(),
          bottom() - top());
  return out + marks_ + "</svg>\n" + above_ + "</svg>\n";
}

}  // namespace tamis::cli::report
