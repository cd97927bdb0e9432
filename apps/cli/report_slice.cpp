// Choice of slices and their reduction to picture size.
#include "report_slice.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tamis::cli::report {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Trailing dimensions of up to this many entries are taken for vector components, not for space.
constexpr std::int64_t kMaxComponents = 4;

// Two dimensions to draw, slowest first; -1 where there is none.
void choose_plane(const Extents& shape, SlicePlan& plan) {
  for (const std::int64_t longer_than : {kMaxComponents, std::int64_t{1}}) {
    int found[2] = {-1, -1};
    int count = 0;
    for (int d = shape.rank() - 1; d >= 0 && count < 2; --d) {
      if (shape[d] > longer_than) found[count++] = d;
    }
    if (count == 2) {
      plan.column_dim = found[0];
      plan.row_dim = found[1];
      return;
    }
    // One long dimension and some short ones read better as a line than as a ribbon.
    if (count == 1) {
      plan.is_line = true;
      plan.column_dim = found[0];
      return;
    }
  }
  plan.is_line = true;
  plan.column_dim = shape.rank() - 1;
}

void choose_slider(const Extents& shape, int max_slices, SlicePlan& plan) {
  for (int d = 0; d < shape.rank(); ++d) {
    if (d == plan.row_dim || d == plan.column_dim || shape[d] < 2) continue;
    if (plan.slide_dim < 0 || shape[d] > shape[plan.slide_dim]) plan.slide_dim = d;
  }
  if (plan.is_line || max_slices < 2) plan.slide_dim = -1;
  if (plan.slide_dim < 0) {
    plan.slide = {0};
    return;
  }
  const std::int64_t size = shape[plan.slide_dim];
  const std::int64_t count = std::min<std::int64_t>(size, max_slices);
  for (std::int64_t k = 0; k < count; ++k) {
    plan.slide.push_back(count == size ? k : k * (size - 1) / (count - 1));
  }
  plan.first_shown = plan.slide.size() / 2;
}

// What the points of one pixel come to.
struct Cell {
  double original = 0.0;  // sums of places on the colour scale
  double decoded = 0.0;
  double error = 0.0;
  std::int64_t count = 0;  // points that are not masked
};

struct CellReader {
  const ReportInput& in;
  ErrorUnit unit;
  ValueRange range;
  std::int64_t original_offset;
  std::int64_t decoded_offset;
  int row_dim;
  int column_dim;

  double value(const ConstTensorView& view, std::int64_t base, std::int64_t y,
               std::int64_t x) const {
    return value_at(view, base + y * view.strides[row_dim] + x * view.strides[column_dim]);
  }

  double place(double value) const {
    const double span = range.high - range.low;
    return span > 0.0 ? (value - range.low) / span : 0.5;
  }

  Cell read(std::int64_t top, std::int64_t bottom, std::int64_t left, std::int64_t right) const {
    Cell cell;
    for (std::int64_t y = top; y < bottom; ++y) {
      for (std::int64_t x = left; x < right; ++x) {
        const double o = value(in.original, original_offset, y, x);
        if (is_masked(o, in.info)) continue;
        const double d = value(in.decoded, decoded_offset, y, x);
        // Places before summing: a sum of values near the largest double would overflow.
        cell.original += place(o);
        cell.decoded += place(d);
        const double e = unit.measure(o, d);
        if (std::fabs(e) > std::fabs(cell.error)) cell.error = e;
        ++cell.count;
      }
    }
    return cell;
  }
};

}  // namespace

double value_at(const ConstTensorView& view, std::int64_t offset) {
  return view.dtype == DType::kF32 ? static_cast<const float*>(view.data)[offset]
                                   : static_cast<const double*>(view.data)[offset];
}

bool is_masked(double value, const reduce::Info& info) {
  return !std::isfinite(value) || (info.fill_value && value == *info.fill_value);
}

double ErrorUnit::measure(double original, double decoded) const {
  const double difference = decoded - original;
  if (difference == 0.0) return 0.0;
  // A finite value that came back as NaN is as wrong as can be.
  if (std::isnan(difference)) return std::numeric_limits<double>::infinity();
  return difference / (relative > 0.0 ? relative * std::fabs(original) : absolute);
}

ErrorUnit error_unit(const ReportInput& in) {
  ErrorUnit unit;
  if (in.info.bound.kind == reduce::BoundKind::kPointwiseRelative && in.info.bound.value > 0.0) {
    unit.relative = in.info.bound.value;
    unit.is_bound = true;
  } else if (in.info.absolute_bound > 0.0 && std::isfinite(in.info.absolute_bound)) {
    unit.absolute = in.info.absolute_bound;
    unit.is_bound = true;
  } else {
    const double largest = in.difference.max_abs_error;
    unit.absolute = largest > 0.0 && std::isfinite(largest) ? largest : 1.0;
  }
  return unit;
}

SlicePlan plan_slices(const Extents& shape, int max_slices) {
  SlicePlan plan;
  plan.at = shape;
  for (int d = 0; d < shape.rank(); ++d) plan.at[d] = shape[d] / 2;
  choose_plane(shape, plan);
  choose_slider(shape, max_slices, plan);
  return plan;
}

std::string slice_label(const SlicePlan& plan, std::size_t k) {
  std::string out = "[";
  for (int d = 0; d < plan.at.rank(); ++d) {
    if (d > 0) out += ", ";
    if (d == plan.row_dim || d == plan.column_dim) {
      out += ":";
    } else {
      out += std::to_string(d == plan.slide_dim ? plan.slide[k] : plan.at[d]);
    }
  }
  return out + "]";
}

std::int64_t slice_offset(const SlicePlan& plan, const ConstTensorView& view, std::size_t k) {
  std::int64_t offset = 0;
  for (int d = 0; d < view.shape.rank(); ++d) {
    if (d == plan.row_dim || d == plan.column_dim) continue;
    offset += view.strides[d] * (d == plan.slide_dim ? plan.slide[k] : plan.at[d]);
  }
  return offset;
}

CellSize choose_cells(std::int64_t width, std::int64_t height, int max_side, int max_pixels) {
  const auto ceil_div = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
  std::int64_t across = ceil_div(width, max_side);
  std::int64_t down = ceil_div(height, max_side);
  // Widen the cell along the side that still has more pixels.
  while (ceil_div(width, across) * ceil_div(height, down) > max_pixels) {
    (ceil_div(width, across) >= ceil_div(height, down) ? across : down) += 1;
  }
  return {static_cast<int>(across), static_cast<int>(down)};
}

ValueRange shown_range(const ReportInput& in, const SlicePlan& plan) {
  // A regular subset of the points is enough for a colour scale.
  constexpr std::int64_t kMaxSamples = 400000;
  const ConstTensorView& view = in.original;
  const std::int64_t width = view.shape[plan.column_dim];
  const std::int64_t height = plan.row_dim < 0 ? 1 : view.shape[plan.row_dim];
  const std::int64_t row_stride = plan.row_dim < 0 ? 0 : view.strides[plan.row_dim];
  const auto points = static_cast<double>(width) * static_cast<double>(height) *
                      static_cast<double>(plan.slide.size());
  const auto step = static_cast<std::int64_t>(std::ceil(std::sqrt(points / kMaxSamples)));
  const std::int64_t step_y = std::max<std::int64_t>(1, std::min(step, height));
  const std::int64_t step_x = std::max<std::int64_t>(1, step * step / step_y);
  std::vector<double> values;
  for (std::size_t k = 0; k < plan.slide.size(); ++k) {
    const std::int64_t base = slice_offset(plan, view, k);
    for (std::int64_t y = 0; y < height; y += step_y) {
      for (std::int64_t x = 0; x < width; x += step_x) {
        const double value =
            value_at(view, base + y * row_stride + x * view.strides[plan.column_dim]);
        if (!is_masked(value, in.info)) values.push_back(value);
      }
    }
  }
  ValueRange range;
  if (values.empty()) return range;
  std::sort(values.begin(), values.end());
  const std::size_t last = values.size() - 1;
  range.low = values.front();
  range.high = values.back();
  const double inner_low = values[last / 200];
  const double inner_high = values[last - last / 200];
  const double inner = inner_high - inner_low;
  // Thrice the span of 99 % of the points: below that the full range keeps its contrast.
  if (inner > 0.0 && range.high - range.low > 3.0 * inner) {
    range.clipped_low = range.low < inner_low - 0.25 * inner;
    range.clipped_high = range.high > inner_high + 0.25 * inner;
    if (range.clipped_low) range.low = inner_low;
    if (range.clipped_high) range.high = inner_high;
  }
  return range;
}

SlicePixels sample_slice(const ReportInput& in, const SlicePlan& plan, std::size_t k,
                         const ValueRange& range, const CellSize& cells) {
  const std::int64_t width = in.original.shape[plan.column_dim];
  const std::int64_t height = in.original.shape[plan.row_dim];
  SlicePixels out;
  out.cell_width = cells.width;
  out.cell_height = cells.height;
  out.width = static_cast<int>((width + cells.width - 1) / cells.width);
  out.height = static_cast<int>((height + cells.height - 1) / cells.height);
  const std::size_t size = static_cast<std::size_t>(out.width) * out.height;
  out.original.reserve(size);
  out.decoded.reserve(size);
  out.error.reserve(size);
  const CellReader reader{in,
                          error_unit(in),
                          range,
                          slice_offset(plan, in.original, k),
                          slice_offset(plan, in.decoded, k),
                          plan.row_dim,
                          plan.column_dim};
  for (std::int64_t top = 0; top < height; top += cells.height) {
    const std::int64_t bottom = std::min<std::int64_t>(height, top + cells.height);
    for (std::int64_t left = 0; left < width; left += cells.width) {
      const std::int64_t right = std::min<std::int64_t>(width, left + cells.width);
      const Cell cell = reader.read(top, bottom, left, right);
      const bool hidden = cell.count == 0 || 2 * cell.count < (bottom - top) * (right - left);
      const auto points = static_cast<double>(cell.count);
      out.original.push_back(static_cast<float>(hidden ? kNaN : cell.original / points));
      out.decoded.push_back(static_cast<float>(hidden ? kNaN : cell.decoded / points));
      out.error.push_back(static_cast<float>(hidden ? kNaN : cell.error));
    }
  }
  return out;
}

}  // namespace tamis::cli::report
