// What the report shows of a field: which 2-D slices (or which line), and their points brought down
// to the size of a picture.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report.hpp"

namespace tamis::cli::report {

/// One element as a double; `offset` in elements from the view's origin.
double value_at(const ConstTensorView& view, std::int64_t offset);

/// Takes no part in ranges and bounds: equal to the fill value, NaN or infinite.
bool is_masked(double value, const reduce::Info& info);

/// In what the error of a point is measured: the bound where there is one.
struct ErrorUnit {
  double absolute = 0.0;  // error = 1 unit at this difference ...
  double relative = 0.0;  // ... or, when positive, at this share of |original|
  bool is_bound = false;  // false: no bound to speak of, the unit is the largest error

  /// decoded - original in units; 0 when equal, infinite when the unit is 0 and they differ.
  double measure(double original, double decoded) const;
};

ErrorUnit error_unit(const ReportInput& in);

/// Which part of the field is drawn.
struct SlicePlan {
  bool is_line = false;
  int row_dim = -1;     // pictures only
  int column_dim = -1;  // the line's dimension when is_line
  int slide_dim = -1;   // dimension of the slider, -1 without one
  Extents at;           // index along each other dimension
  std::vector<std::int64_t>
      slide;                    // indices along slide_dim, ascending; one entry without a slider
  std::size_t first_shown = 0;  // place in `slide` that is shown at first
};

/// The last two dimensions that are more than a short list of components; a line when there are not
/// two. `max_slices` bounds the slider. The shape must not be empty.
SlicePlan plan_slices(const Extents& shape, int max_slices);

/// "[2, 12, :, :]" for the k-th slice.
std::string slice_label(const SlicePlan& plan, std::size_t k);

/// Offset in elements of the first point of the k-th slice.
std::int64_t slice_offset(const SlicePlan& plan, const ConstTensorView& view, std::size_t k);

/// A slice at picture size; NaN where most points of a cell are masked.
struct SlicePixels {
  int width = 0;
  int height = 0;
  int cell_width = 1;  // points of the field per pixel
  int cell_height = 1;
  std::vector<float> original;  // (height, width), mean of the cell, 0 .. 1 over [low, high]
  std::vector<float> decoded;
  std::vector<float> error;  // in units: the largest of the cell by magnitude, sign kept
};

/// Smallest whole cells that bring a slice within `max_side` and `max_pixels`.
struct CellSize {
  int width = 1;
  int height = 1;
};
CellSize choose_cells(std::int64_t width, std::int64_t height, int max_side, int max_pixels);

/// Values the colour scale spans.
struct ValueRange {
  double low = 0.0;
  double high = 0.0;
  bool clipped_low = false;  // some shown values lie outside
  bool clipped_high = false;
};

/// Range of the planned slices: their extremes, or 0.5 to 99.5 % when a few outliers would leave
/// the rest in one colour.
ValueRange shown_range(const ReportInput& in, const SlicePlan& plan);

SlicePixels sample_slice(const ReportInput& in, const SlicePlan& plan, std::size_t k,
                         const ValueRange& range, const CellSize& cells);

}  // namespace tamis::cli::report
