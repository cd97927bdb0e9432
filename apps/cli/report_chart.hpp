// A small chart writer: axes with round ticks, and marks placed in data coordinates, as SVG that
// takes its colours from the page's style sheet (classes), so that it follows light and dark.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tamis::cli::report {

struct Tick {
  double value = 0.0;
  std::string label;  // empty: a grid line without a number
  bool major = true;
};

struct TickSet {
  std::vector<Tick> ticks;
  int exponent = 0;  // labels are in units of 10^exponent
};

/// About `wanted` round ticks within [low, high], labels with the same number of decimals.
TickSet linear_ticks(double low, double high, int wanted);
/// Decades, with 2 and 5 when there are fewer than three of them.
TickSet log_ticks(double low, double high, int wanted);

/// "error (K)", "strain (×10⁻²¹)": a title with units and the ticks' common factor. Escaped.
std::string axis_title(const std::string& name, const std::string& units, int exponent);

struct Axis {
  double low = 0.0;
  double high = 1.0;
  bool logarithmic = false;
  std::string title;  // SVG text, already escaped
  std::vector<Tick> ticks;
};

enum class Marker { kCircle, kSquare, kTriangle, kRing };

/// A marker of the series as a stand-alone <svg> for legends and tables.
std::string legend_marker(Marker marker, const std::string& css_class);

class Chart {
 public:
  struct Size {
    int width = 560;
    int height = 340;
    int left = 58;
    int right = 16;
    int top = 14;
    int bottom = 50;
  };

  Chart(const Size& size, Axis x, Axis y);

  double place_x(double value) const;
  double place_y(double value) const;
  double left() const { return size_.left; }
  double right() const { return size_.width - size_.right; }
  double top() const { return size_.top; }
  double bottom() const { return size_.height - size_.bottom; }

  using Points = std::vector<std::pair<double, double>>;  // data coordinates
  void polyline(const Points& points, const std::string& css_class);
  void polygon(const Points& points, const std::string& css_class);
  void rectangle(double x0, double x1, double y0, double y1, const std::string& css_class,
                 const std::string& tooltip = {});
  void marker(Marker marker, double x, double y, const std::string& css_class,
              const std::string& tooltip);
  /// Line across the plot at a data value.
  void vertical(double x, const std::string& css_class);
  void horizontal(double y, const std::string& css_class);
  /// Text at data coordinates, shifted by (dx, dy) pixels; `text` is escaped already.
  void text(double x, double y, double dx, double dy, const std::string& anchor,
            const std::string& text, const std::string& css_class = "note");

  /// `alt` says what the chart shows to those who cannot see it; escaped here.
  std::string svg(const std::string& alt) const;

 private:
  void draw_axes(std::string& out) const;

  Size size_;
  Axis x_;
  Axis y_;
  std::string marks_;  // clipped to the plot
  std::string above_;  // markers and text, not clipped
};

}  // namespace tamis::cli::report
