// Finds how to cut and predict a field by encoding a few sample tiles each way: which axes to
// predict along, in which order, and with which predictor.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "reduce/grid_codec.hpp"

namespace tamis::reduce {

/// A part of the field for the search: whole rows of the slowest axis, as a field of its own.
template <typename I>
struct SampleWindow {
  Extents extents;
  const LatticeRows<I>* rows;
};

struct PlanChoice {
  GridPlan plan;
  std::vector<Predictor> ranking;  // best first, for the whole field
  double bits_per_value = 0;       // estimate for the best
};

/// Estimated bits a value of coding the windows' sample tiles with this plan and predictor.
template <typename I>
double estimate_bits(const std::vector<SampleWindow<I>>& windows, const GridPlan& plan,
                     Predictor predictor, std::int64_t step);

/// `rank` axes, each longer than 1. Deterministic; costs about forty sample encodings.
template <typename I>
PlanChoice search_plan(const std::vector<SampleWindow<I>>& windows, std::int64_t step);

/// Best predictor of `candidates` for one tile.
template <typename I>
Predictor choose_predictor(const Grid& grid, std::int64_t tile, const LatticeRows<I>& rows,
                           std::int64_t step, const std::vector<Predictor>& candidates,
                           CellWorkspace<I>& work, std::vector<I>& codes);

}  // namespace tamis::reduce
