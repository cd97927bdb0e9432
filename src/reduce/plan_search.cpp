// Sample encodings. A sample tile is encoded as one closed cell whose boundary is taken as exact,
// and its codes are priced by the entropy stage that will code them.
#include "reduce/plan_search.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "core/threads.hpp"

namespace tamis::reduce {

namespace {

constexpr std::int64_t kSampleTiles = 24;  // over all windows
constexpr std::int64_t kFirstSampleTiles = 9;
constexpr double kAnchorBits = 16;
constexpr std::size_t kFinalists = 4;
constexpr std::size_t kMaxCandidates = 3;

struct Candidate {
  double bits;
  GridPlan plan;
  RankedPredictor ranked;
};

// The rule of a full cell.
CellRule full_rule(const GridPlan& plan, Predictor predictor, std::int64_t step) {
  const int axes = std::popcount(plan.active_mask);
  return Grid(Extents::filled(std::bit_width(plan.active_mask), 1), plan)
      .cell_rule(predictor, step, (1 << axes) - 1);
}

GridPlan make_plan(std::uint32_t mask) {
  GridPlan plan;
  plan.active_mask = mask;
  return plan;
}

// Sample tiles of the windows, cut by a plan.
template <typename I>
struct SampleTiles {
  int rank = 0;
  int tile = 0;
  double anchors = 0;  // share of the nodes
  std::vector<ClosedTile<I>> tiles;
};

template <typename I>
SampleTiles<I> load_samples(const std::vector<SampleWindow<I>>& windows, const GridPlan& plan,
                            std::int64_t sample_tiles) {
  SampleTiles<I> out;
  VoidFiller filler;
  std::int64_t tiles = 0;
  std::int64_t nodes = 0;
  for (const SampleWindow<I>& window : windows) {
    const Grid grid(window.extents, plan);
    tiles += grid.tile_count();
    nodes += grid.node_count();
    out.rank = grid.active_count();
    out.tile = grid.tile();
    const std::int64_t wanted = sample_tiles / static_cast<std::int64_t>(windows.size());
    const std::int64_t samples = std::min(wanted, grid.tile_count());
    for (std::int64_t s = 0; s < samples; ++s) {
      const Grid::Tile tile = grid.tile_at((2 * s + 1) * grid.tile_count() / (2 * samples));
      out.tiles.emplace_back().load(grid, tile, *window.rows, filler);
    }
  }
  out.anchors = static_cast<double>(tiles) / static_cast<double>(nodes);
  return out;
}

// Encodes the sample tiles; `pricer` learns from them. Returns bits a value.
template <typename I>
double estimate_bits(const SampleTiles<I>& samples, const CellRule& rule, CodePricer& pricer) {
  TileTrial<I> trial(samples.rank, samples.tile);
  trial.encode(samples.tiles, rule, pricer.wants_contexts(),
               [&](std::size_t, const TrialCodes<I>& codes) { codes.teach(pricer); });
  if (pricer.learned_codes() == 0) return kAnchorBits;
  // Anchors are coded apart, at a price that only matters where tiles are thin.
  return pricer.learned_bits() / static_cast<double>(pricer.learned_codes()) *
             (1 - samples.anchors) +
         kAnchorBits * samples.anchors;
}

// Leaves the predictors that would save a share of `threshold` when each tile takes its best.
template <typename I>
void prune_ranking(const SampleTiles<I>& samples, std::int64_t step, double threshold,
                   PlanChoice& choice) {
  auto& ranking = choice.ranking;
  ranking.resize(std::min(ranking.size(), kMaxCandidates));
  std::vector<std::vector<double>> prices(ranking.size());
  TileTrial<I> trial(samples.rank, samples.tile);
  for (std::size_t r = 0; r < ranking.size(); ++r) {
    const CodePricer& pricer = *ranking[r].pricer;
    prices[r].resize(samples.tiles.size());
    trial.encode(
        samples.tiles, full_rule(choice.plan, ranking[r].predictor, step), pricer.wants_contexts(),
        [&](std::size_t i, const TrialCodes<I>& codes) { prices[r][i] = codes.price(pricer); });
  }
  std::vector<double> best = prices[0];
  std::vector<RankedPredictor> kept{ranking[0]};
  for (std::size_t r = 1; r < ranking.size(); ++r) {
    double before = 0;
    double after = 0;
    for (std::size_t i = 0; i < best.size(); ++i) {
      before += best[i];
      after += std::min(best[i], prices[r][i]);
    }
    if (before - after <= threshold * before) continue;
    kept.push_back(ranking[r]);
    for (std::size_t i = 0; i < best.size(); ++i) best[i] = std::min(best[i], prices[r][i]);
  }
  ranking = std::move(kept);
}

}  // namespace

template <typename I>
PlanChoice search_plan(const std::vector<SampleWindow<I>>& windows, std::int64_t step, Mode mode,
                       int threads) {
  const Extents& extents = windows.front().extents;
  const int rank = extents.rank();
  PlanChoice choice;
  // 1. Which axes, judged by the two most different predictors.
  std::vector<Candidate> candidates;
  for (std::uint32_t mask = 1; mask < 1U << rank; ++mask) {
    if (std::popcount(mask) > kMaxCellRank) continue;
    bool flat = false;
    for (int d = 0; d < rank; ++d) flat |= (mask >> d & 1U) != 0 && extents[d] < 2;
    if (flat) continue;
    for (const Predictor p : {Predictor::kLinearAveraged, Predictor::kLorenzo}) {
      candidates.push_back({0, make_plan(mask), {p, nullptr}});
    }
  }
  if (candidates.empty()) {  // nothing longer than one node
    choice.plan = make_plan(1);
    choice.ranking.push_back({Predictor::kLinear, std::make_shared<CodePricer>(mode)});
    return choice;
  }
  // Tiles are loaded once for each set of axes: their order changes no node.
  std::vector<std::pair<std::uint32_t, SampleTiles<I>>> sets;
  const auto samples_of = [&](std::uint32_t mask) -> const SampleTiles<I>& {
    return std::find_if(sets.begin(), sets.end(), [&](const auto& s) { return s.first == mask; })
        ->second;
  };
  const auto price_all = [&](std::int64_t sample_tiles) {
    std::vector<std::uint32_t> masks;
    for (const Candidate& c : candidates) masks.push_back(c.plan.active_mask);
    std::sort(masks.begin(), masks.end());
    masks.erase(std::unique(masks.begin(), masks.end()), masks.end());
    sets.assign(masks.size(), {});
    parallel_for(static_cast<std::int64_t>(masks.size()), threads, [&](std::int64_t i, int) {
      const std::uint32_t mask = masks[static_cast<std::size_t>(i)];
      sets[static_cast<std::size_t>(i)] = {mask,
                                           load_samples(windows, make_plan(mask), sample_tiles)};
    });
    parallel_for(static_cast<std::int64_t>(candidates.size()), threads, [&](std::int64_t i, int) {
      Candidate& c = candidates[static_cast<std::size_t>(i)];
      c.ranked.pricer = std::make_shared<CodePricer>(mode);
      c.bits = estimate_bits(samples_of(c.plan.active_mask),
                             full_rule(c.plan, c.ranked.predictor, step), *c.ranked.pricer);
    });
  };
  const auto cheaper = [](const Candidate& x, const Candidate& y) { return x.bits < y.bits; };
  price_all(kFirstSampleTiles);
  std::stable_sort(candidates.begin(), candidates.end(), cheaper);
  candidates.resize(std::min(candidates.size(), kFinalists));
  price_all(kSampleTiles);
  choice.plan = std::min_element(candidates.begin(), candidates.end(), cheaper)->plan;
  // 2. Which axis last, and 3. which predictor.
  const int axes = std::popcount(choice.plan.active_mask);
  candidates.clear();
  for (int last = 0; last < axes; ++last) {
    GridPlan plan = choice.plan;
    int next = 0;
    for (int k = axes - 1; k >= 0; --k) {
      if (k != last) plan.order[static_cast<std::size_t>(next++)] = static_cast<std::uint8_t>(k);
    }
    plan.order[static_cast<std::size_t>(next)] = static_cast<std::uint8_t>(last);
    for (int p = 0; p < kPredictorCount; ++p) {
      const auto predictor = static_cast<Predictor>(p);
      const bool averaged =
          predictor == Predictor::kLinearAveraged || predictor == Predictor::kCubicAveraged;
      // One axis has nothing to average; the order of two does not matter to an average, nor does
      // any order to Lorenzo.
      if (averaged && axes == 1) continue;
      if (last > 0 && ((averaged && axes == 2) || predictor == Predictor::kLorenzo)) continue;
      candidates.push_back({0, plan, {predictor, nullptr}});
    }
  }
  price_all(kSampleTiles);
  std::stable_sort(candidates.begin(), candidates.end(), cheaper);
  for (const Candidate& c : candidates) c.ranked.pricer->freeze();
  choice.plan = candidates.front().plan;
  choice.bits_per_value = candidates.front().bits;
  for (const Candidate& c : candidates) {
    const bool known =
        std::any_of(choice.ranking.begin(), choice.ranking.end(),
                    [&](const RankedPredictor& r) { return r.predictor == c.ranked.predictor; });
    if (!known) choice.ranking.push_back(c.ranked);
  }
  if (mode == Mode::kFast) {
    choice.ranking.resize(1);
  } else {
    prune_ranking(samples_of(choice.plan.active_mask), step, mode == Mode::kRatio ? 0.002 : 0.01,
                  choice);
  }
  return choice;
}

template <typename I>
PredictorChooser<I>::PredictorChooser(const Grid& grid, std::int64_t step,
                                      std::vector<RankedPredictor> candidates)
    : grid_(grid),
      step_(step),
      candidates_(std::move(candidates)),
      trial_(grid.active_count(), grid.tile()),
      tiles_(kMaxLanes) {}

template <typename I>
void PredictorChooser<I>::choose(std::int64_t first, const LatticeRows<I>& rows,
                                 std::span<Predictor> out) {
  double best[kMaxLanes];
  for (std::size_t begin = 0; begin < out.size(); begin += kMaxLanes) {
    const std::size_t count = std::min<std::size_t>(kMaxLanes, out.size() - begin);
    for (std::size_t i = 0; i < count; ++i) {
      Grid::Tile tile = grid_.tile_at(first + static_cast<std::int64_t>(begin + i));
      // Where speed counts a slice of the tile decides.
      if (!candidates_.front().pricer->wants_contexts()) {
        tile.nodes[0] = std::min(tile.nodes[0], grid_.tile() / 4 + 1);
      }
      tiles_[i].load(grid_, tile, rows, filler_);
      best[i] = -1;
      out[begin + i] = candidates_.front().predictor;
    }
    for (const RankedPredictor& candidate : candidates_) {
      const CodePricer& pricer = *candidate.pricer;
      trial_.encode(std::span<const ClosedTile<I>>(tiles_.data(), count),
                    grid_.cell_rule(candidate.predictor, step_, grid_.full_mask()),
                    pricer.wants_contexts(), [&](std::size_t i, const TrialCodes<I>& codes) {
                      const double bits = codes.price(pricer);
                      if (best[i] >= 0 && bits >= best[i]) return;
                      best[i] = bits;
                      out[begin + i] = candidate.predictor;
                    });
    }
  }
}

template PlanChoice search_plan(const std::vector<SampleWindow<std::int32_t>>&, std::int64_t, Mode,
                                int);
template PlanChoice search_plan(const std::vector<SampleWindow<std::int64_t>>&, std::int64_t, Mode,
                                int);
template class PredictorChooser<std::int32_t>;
template class PredictorChooser<std::int64_t>;

}  // namespace tamis::reduce
