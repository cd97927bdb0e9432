// Sample tiles are loaded once for each set of axes and then encoded in every way that is asked
// for.
#include "reduce/trial_pricer.hpp"

#include <bit>

#include "core/threads.hpp"

namespace tamis::reduce {

namespace {

// The rule of a full cell.
CellRule full_rule(const GridPlan& plan, Predictor predictor, std::int64_t step) {
  const int axes = std::popcount(plan.active_mask);
  return Grid(Extents::filled(std::bit_width(plan.active_mask), 1), plan)
      .cell_rule(predictor, step, (1 << axes) - 1);
}

template <typename I>
std::vector<Extents> extents_of(const std::vector<SampleWindow<I>>& windows) {
  std::vector<Extents> extents;
  for (const SampleWindow<I>& w : windows) extents.push_back(w.extents);
  return extents;
}

}  // namespace

template <typename I>
HostTrialPricer<I>::HostTrialPricer(const std::vector<SampleWindow<I>>& windows, std::int64_t count,
                                    std::int64_t step, Mode mode, int threads)
    : windows_(windows),
      samples_(extents_of(windows), count, mode),
      step_(step),
      mode_(mode),
      threads_(threads) {}

template <typename I>
typename HostTrialPricer<I>::Loaded HostTrialPricer<I>::load(std::uint32_t active_mask) const {
  Loaded out;
  VoidFiller filler;
  const SampleTiles samples = samples_.tiles(active_mask);
  out.rank = samples.grids.front().active_count();
  out.tile = samples.grids.front().tile();
  out.anchors = samples.anchors;
  for (const SampleTile& s : samples.tiles) {
    out.tiles.emplace_back().load(samples.grids[s.window], s.tile, samples_.sliced(),
                                  *windows_[s.window].rows, filler);
  }
  return out;
}

template <typename I>
const typename HostTrialPricer<I>::Loaded& HostTrialPricer<I>::loaded(std::uint32_t active_mask) {
  const auto [at, missing] = loaded_.try_emplace(active_mask);
  if (missing) at->second = load(active_mask);
  return at->second;
}

template <typename I>
void HostTrialPricer<I>::price(std::vector<Trial>& trials) {
  std::vector<std::uint32_t> missing;
  for (const Trial& t : trials) {
    if (loaded_.try_emplace(t.plan.active_mask).second) missing.push_back(t.plan.active_mask);
  }
  parallel_for(static_cast<std::int64_t>(missing.size()), threads_, [&](std::int64_t i, int) {
    const std::uint32_t mask = missing[static_cast<std::size_t>(i)];
    loaded_.at(mask) = load(mask);
  });
  parallel_for(static_cast<std::int64_t>(trials.size()), threads_, [&](std::int64_t i, int) {
    Trial& trial = trials[static_cast<std::size_t>(i)];
    price(loaded_.at(trial.plan.active_mask), trial);
  });
}

template <typename I>
void HostTrialPricer<I>::price(const Loaded& from, Trial& t) const {
  t.pricer = std::make_shared<CodePricer>(mode_);
  t.tile_bits.assign(from.tiles.size(), 0);
  TileTrial<I> trial(from.rank, from.tile);
  trial.encode(
      from.tiles, full_rule(t.plan, t.predictor, step_), t.pricer->wants_contexts(),
      [&](std::size_t i, const TrialCodes<I>& codes) { t.tile_bits[i] = codes.teach(*t.pricer); });
  t.codes = t.pricer->learned_codes();
  t.bits = t.pricer->learned_bits();
}

template <typename I>
void HostTrialPricer<I>::price_frozen(std::span<Trial* const> trials) {
  for (Trial* t : trials) {
    const Loaded& from = loaded(t->plan.active_mask);
    t->tile_bits.assign(from.tiles.size(), 0);
    TileTrial<I> trial(from.rank, from.tile);
    trial.encode(from.tiles, full_rule(t->plan, t->predictor, step_), true,
                 [&](std::size_t i, const TrialCodes<I>& codes) {
                   t->tile_bits[i] = codes.price(*t->pricer);
                 });
  }
}

template class HostTrialPricer<std::int32_t>;
template class HostTrialPricer<std::int64_t>;

}  // namespace tamis::reduce
