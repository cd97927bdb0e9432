// What sample encodings cost, on the host: each sample tile is encoded as one closed cell whose
// boundary is taken as exact, and its codes are priced by the entropy stage that will code them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "reduce/code_price.hpp"
#include "reduce/sample_tiles.hpp"
#include "reduce/tile_trial.hpp"

namespace tamis::reduce {

/// A way to cut and predict, and what the sample tiles cost in it.
struct Trial {
  GridPlan plan;
  Predictor predictor = Predictor::kLinear;
  // Results.
  std::int64_t codes = 0;
  double bits = 0;                     // of all codes together
  std::shared_ptr<CodePricer> pricer;  // that learned from the sample
  std::vector<double> tile_bits;       // where no table has to be learned first
};

class TrialPricer {
 public:
  virtual ~TrialPricer() = default;
  virtual const SamplePlan& samples() const = 0;
  /// Share of anchors among the nodes.
  virtual double anchor_share(std::uint32_t active_mask) = 0;
  virtual void price(std::vector<Trial>& trials) = 0;
  /// Sets bits of each tile by what the trials' pricers, who need tables, learned; they must be
  /// frozen.
  virtual void price_frozen(std::span<Trial* const> trials) = 0;
};

/// A part of the field for the search: whole rows of the slowest axis, as a field of its own.
template <typename I>
struct SampleWindow {
  Extents extents;
  const LatticeRows<I>* rows;
};

template <typename I>
class HostTrialPricer final : public TrialPricer {
 public:
  HostTrialPricer(const std::vector<SampleWindow<I>>& windows, std::int64_t count,
                  std::int64_t step, Mode mode, int threads);

  const SamplePlan& samples() const override { return samples_; }
  double anchor_share(std::uint32_t active_mask) override { return loaded(active_mask).anchors; }
  void price(std::vector<Trial>& trials) override;
  void price_frozen(std::span<Trial* const> trials) override;

 private:
  struct Loaded {
    int rank = 0;
    int tile = 0;
    double anchors = 0;
    std::vector<ClosedTile<I>> tiles;
  };
  const Loaded& loaded(std::uint32_t active_mask);
  Loaded load(std::uint32_t active_mask) const;
  void price(const Loaded& from, Trial& trial) const;

  const std::vector<SampleWindow<I>>& windows_;
  SamplePlan samples_;
  std::int64_t step_;
  Mode mode_;
  int threads_;
  std::map<std::uint32_t, Loaded> loaded_;  // by axes
};

}  // namespace tamis::reduce
