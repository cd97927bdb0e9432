// One-dimensional fields: original and decoded over one another with the error below, once for the
// whole length and once for a short stretch in which single points can be told apart.
#include <algorithm>
#include <cmath>
#include <limits>

#include "report_chart.hpp"
#include "report_sections.hpp"
#include "report_slice.hpp"
#include "report_text.hpp"

namespace tamis::cli::report {
namespace {

constexpr std::int64_t kMaxColumns = 700;
constexpr std::int64_t kStretch = 240;

struct Column {
  double at = 0.0;  // index at its middle
  double low = 0.0, high = 0.0;
  double decoded_low = 0.0, decoded_high = 0.0;
  double error_low = 0.0, error_high = 0.0;  // in units
  bool masked = true;
};

struct Line {
  std::vector<Column> columns;
  std::int64_t first = 0;
  std::int64_t count = 0;
  bool single_points = false;  // one point a column
};

Line read_line(const ReportInput& in, const SlicePlan& plan, std::int64_t first,
               std::int64_t count) {
  const ErrorUnit unit = error_unit(in);
  const std::int64_t columns = std::min(count, kMaxColumns);
  const std::int64_t base_o = slice_offset(plan, in.original, 0);
  const std::int64_t base_d = slice_offset(plan, in.decoded, 0);
  Line line{{}, first, count, columns == count};
  for (std::int64_t c = 0; c < columns; ++c) {
    // Not c * count: the product of two sizes can leave 64 bits only for absurd fields, but then.
    const auto edge = [&](std::int64_t k) {
      return first + count / columns * k + count % columns * k / columns;
    };
    Column column;
    column.at = 0.5 * static_cast<double>(edge(c) + edge(c + 1) - 1);
    for (std::int64_t i = edge(c); i < edge(c + 1); ++i) {
      const double o = value_at(in.original, base_o + i * in.original.strides[plan.column_dim]);
      const double d = value_at(in.decoded, base_d + i * in.decoded.strides[plan.column_dim]);
      if (is_masked(o, in.info)) continue;
      const double e = unit.measure(o, d);
      if (column.masked) {
        column = {column.at, o, o, d, d, e, e, false};
      } else {
        column.low = std::min(column.low, o);
        column.high = std::max(column.high, o);
        column.decoded_low = std::min(column.decoded_low, d);
        column.decoded_high = std::max(column.decoded_high, d);
        column.error_low = std::min(column.error_low, e);
        column.error_high = std::max(column.error_high, e);
      }
    }
    line.columns.push_back(column);
  }
  return line;
}

// Calls `run(first, last)` for each stretch of columns without (or with) a mask.
template <typename Run>
void for_each_run(const Line& line, bool masked, const Run& run) {
  const std::size_t size = line.columns.size();
  for (std::size_t a = 0; a < size;) {
    std::size_t b = a;
    while (b < size && line.columns[b].masked == line.columns[a].masked) ++b;
    if (line.columns[a].masked == masked) run(a, b);
    a = b;
  }
}

template <typename Value>
Chart::Points trace(const Line& line, std::size_t a, std::size_t b, const Value& value) {
  Chart::Points points;
  for (std::size_t k = a; k < b; ++k)
    points.emplace_back(line.columns[k].at, value(line.columns[k]));
  return points;
}

template <typename Low, typename High>
void draw_band(Chart& chart, const Line& line, const std::string& css_class, const Low& low,
               const High& high) {
  for_each_run(line, false, [&](std::size_t a, std::size_t b) {
    Chart::Points points = trace(line, a, b, high);
    Chart::Points back = trace(line, a, b, low);
    points.insert(points.end(), back.rbegin(), back.rend());
    chart.polygon(points, css_class);
  });
}

template <typename Value>
void draw_trace(Chart& chart, const Line& line, const std::string& css_class, const Value& value) {
  for_each_run(line, false, [&](std::size_t a, std::size_t b) {
    chart.polyline(trace(line, a, b, value), css_class);
  });
}

void draw_mask(Chart& chart, const Line& line, double low, double high) {
  const double half = 0.5 * static_cast<double>(line.count) /
                      static_cast<double>(std::max<std::size_t>(line.columns.size(), 1));
  for_each_run(line, true, [&](std::size_t a, std::size_t b) {
    chart.rectangle(line.columns[a].at - half, line.columns[b - 1].at + half, low, high, "masked",
                    "fill or not finite");
  });
}

// Limits of the value axis with some air; a constant gets a span of its own.
void value_limits(const Line& line, double& low, double& high) {
  low = std::numeric_limits<double>::infinity();
  high = -low;
  for (const Column& c : line.columns) {
    if (c.masked) continue;
    low = std::min({low, c.low, c.decoded_low});
    high = std::max({high, c.high, c.decoded_high});
  }
  if (!(low <= high) || !std::isfinite(high - low)) {
    low = 0.0;
    high = 1.0;
  }
  const double span = high - low;
  const double air = span > 0.0 ? 0.06 * span : std::max(0.5 * std::fabs(low), 1e-300);
  low -= air;
  high += air;
}

Axis index_axis(const Line& line, const std::string& title) {
  const double low = static_cast<double>(line.first) - 0.5;
  const double high = static_cast<double>(line.first + line.count) - 0.5;
  Axis axis{low, high, false, title, {}};
  // Indices are whole numbers and look best with thousands separators.
  for (const Tick& tick : linear_ticks(low, high, 7).ticks) {
    if (tick.value == std::floor(tick.value)) {
      axis.ticks.push_back({tick.value, format_count(static_cast<std::int64_t>(tick.value)), true});
    }
  }
  return axis;
}

std::string value_chart(const ReportInput& in, const Line& line) {
  double low = 0.0;
  double high = 1.0;
  value_limits(line, low, high);
  const TickSet set = linear_ticks(low, high, 5);
  Axis x = index_axis(line, "");
  for (Tick& tick : x.ticks) tick.label.clear();  // the error chart below has them
  Chart chart({1000, 270, 74, 16, 12, 14}, std::move(x),
              {low, high, false, axis_title("value", in.units, set.exponent), set.ticks});
  draw_mask(chart, line, low, high);
  if (line.single_points) {
    draw_trace(chart, line, "original", [](const Column& c) { return c.low; });
    draw_trace(chart, line, "decoded", [](const Column& c) { return c.decoded_low; });
  } else {
    draw_band(
        chart, line, "original-band", [](const Column& c) { return c.low; },
        [](const Column& c) { return c.high; });
    draw_trace(chart, line, "decoded thin", [](const Column& c) { return c.decoded_low; });
    draw_trace(chart, line, "decoded thin", [](const Column& c) { return c.decoded_high; });
  }
  if (line.columns.size() == 1 && !line.columns[0].masked) {
    chart.marker(Marker::kCircle, line.columns[0].at, line.columns[0].decoded_low, "s1",
                 format_value(line.columns[0].decoded_low, 6));
  }
  return chart.svg("Original and decoded values over the index");
}

std::string error_chart(const ReportInput& in, const Line& line, const std::string& x_title) {
  const ErrorUnit unit = error_unit(in);
  std::vector<Tick> ticks = {{-1, unit.is_bound ? "−bound" : "−max", true},
                             {0, "0", true},
                             {1, unit.is_bound ? "+bound" : "+max", true}};
  Chart chart({1000, 170, 74, 16, 8, 50}, index_axis(line, x_title),
              {-1.2, 1.2, false, "error", std::move(ticks)});
  draw_mask(chart, line, -1.2, 1.2);
  if (line.single_points) {
    // Stems from zero show the sign of each point even where neighbours alternate.
    const double half = std::min(0.35, 0.002 * static_cast<double>(line.count) + 0.05);
    for (const Column& c : line.columns) {
      if (c.masked || c.error_low == 0.0) continue;
      chart.rectangle(c.at - half, c.at + half, 0.0, std::clamp(c.error_low, -1.2, 1.2), "stem");
    }
  } else {
    draw_band(
        chart, line, "error-band", [](const Column& c) { return c.error_low; },
        [](const Column& c) { return c.error_high; });
  }
  if (unit.is_bound) {
    chart.horizontal(-1.0, "limit");
    chart.horizontal(1.0, "limit");
  }
  return chart.svg("Decoded minus original over the index, between plus and minus the bound");
}

std::string line_charts(const ReportInput& in, const Line& line) {
  return "<div class=\"scroll\">" + value_chart(in, line) + error_chart(in, line, "index") +
         "</div>\n";
}

}  // namespace

std::string lines_section(const ReportInput& in) {
  if (in.original.shape.element_count() == 0) return {};
  const SlicePlan plan = plan_slices(in.original.shape, 1);
  if (!plan.is_line) return {};
  const std::int64_t size = in.original.shape[plan.column_dim];
  std::string out = "<section id=\"lines\">\n<h2>What it looks like</h2>\n";
  out +=
      "<p class=\"legend\"><span><i class=\"sample original\"></i>original</span><span><i "
      "class=\"sample decoded\"></i>decoded</span>";
  if (in.info.masked_count + in.info.nonfinite_count > 0) {
    out += "<span><i class=\"swatch hatch\"></i>fill or not finite</span>";
  }
  out += "</p>\n";
  if (in.original.shape.rank() > 1) {
    out += "<p class=\"notes\">The line " + slice_label(plan, 0) + " of the field.</p>\n";
  }
  const Line whole = read_line(in, plan, 0, size);
  if (!whole.single_points) {
    out += "<h3>The whole length</h3>\n<p class=\"notes\">Each column covers " +
           format_count(size / kMaxColumns) +
           (size % kMaxColumns == 0 ? "" : " or " + format_count(size / kMaxColumns + 1)) +
           " points, from their least to their greatest.</p>\n";
  }
  out += line_charts(in, whole);
  if (size > 2 * kStretch) {
    const std::int64_t first = (size - kStretch) / 2;
    out += "<h3>" + format_count(kStretch) + " points from the middle</h3>\n";
    out += line_charts(in, read_line(in, plan, first, kStretch));
  }
  return out + "</section>\n";
}

}  // namespace tamis::cli::report
