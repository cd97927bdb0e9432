// Finds how to cut and predict a field by encoding a few sample tiles each way: which axes to
// predict along, in which order, and with which predictor.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "reduce/code_price.hpp"
#include "reduce/grid_codec.hpp"
#include "reduce/tile_trial.hpp"
#include "reduce/trial_pricer.hpp"

namespace tamis::reduce {

struct RankedPredictor {
  Predictor predictor;
  std::shared_ptr<CodePricer> pricer;  // frozen on the sample
};

struct PlanChoice {
  GridPlan plan;
  std::vector<RankedPredictor> ranking;  // worth trying on each tile; the best for all first
  double bits_per_value = 0;             // estimate for the best
};

/// Deterministic; costs some tens of sample encodings.
PlanChoice search_plan(TrialPricer& pricer, Mode mode);

/// Picks the cheapest predictor for single tiles; one for each worker.
template <typename I>
class PredictorChooser {
 public:
  PredictorChooser(const Grid& grid, std::int64_t step, std::vector<RankedPredictor> candidates);
  /// Of the tiles first, first + 1, ...
  void choose(std::int64_t first, const LatticeRows<I>& rows, std::span<Predictor> out);

 private:
  const Grid& grid_;
  std::int64_t step_;
  std::vector<RankedPredictor> candidates_;
  TileTrial<I> trial_;
  std::vector<ClosedTile<I>> tiles_;
  VoidFiller filler_;
};

}  // namespace tamis::reduce
