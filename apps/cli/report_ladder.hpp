// Measurements behind the report's curves: the field compressed in each mode at a ladder of bounds
// relative to its range, or to each value where this file's bound is: the two have other curves.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "report.hpp"

namespace tamis::cli::report {

inline constexpr std::array<double, 6> kLadder = {1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6};
inline constexpr std::array<reduce::Mode, 3> kLadderModes = {
    reduce::Mode::kRatio, reduce::Mode::kDefault, reduce::Mode::kFast};

/// Larger fields are cropped to about this many points: the curves are 18 runs.
inline constexpr std::int64_t kLadderPoints = 4000000;

struct Rung {
  reduce::Mode mode = reduce::Mode::kDefault;
  double bound = 0.0;  // relative to the range or, in a pointwise ladder, to each value
  std::int64_t compressed_bytes = 0;
  double ratio = 0.0;
  double bits_per_value = 0.0;
  double psnr = 0.0;
  double bound_used = 0.0;  // largest error / bound; 0 when the field is constant
  double compress_seconds = 0.0;
  double decompress_seconds = 0.0;
};

struct Ladder {
  std::vector<Rung> rungs;  // by mode, then from the loosest bound to the tightest
  Extents shape;            // of what was compressed
  std::int64_t raw_bytes = 0;
  bool cropped = false;
  bool pointwise = false;
};

/// The middle of `field` with at most `max_points` points; the whole of it when it is small enough.
ConstTensorView centred_crop(const ConstTensorView& field, std::int64_t max_points);

/// Runs that fail are left out.
Ladder climb_ladder(const ReportInput& in);

}  // namespace tamis::cli::report
