// Sample encodings. A sample tile is encoded as one closed cell whose boundary is taken as exact,
// and its codes are priced by the entropy stage that will code them.
#include "reduce/plan_search.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>

#include "core/threads.hpp"

namespace tamis::reduce {

namespace {

constexpr double kAnchorBits = 16;
constexpr std::size_t kMaxCandidates = 3;
// Whole tiles where time does not count; slices otherwise, more of them the larger the field.
constexpr std::int64_t kThoroughTiles = 48;
constexpr std::int64_t kLeastTiles = 32;
constexpr std::int64_t kSmallField = 128;  // in tiles
constexpr std::int64_t kLeastSlices = 32;
constexpr std::int64_t kMostSlices = 96;
constexpr std::int64_t kTilesPerSlice = 16;

GridPlan with_last(std::uint32_t mask, int last) {
  GridPlan plan;
  plan.active_mask = mask;
  int next = 0;
  for (int k = std::popcount(mask) - 1; k >= 0; --k) {
    if (k != last) plan.order[static_cast<std::size_t>(next++)] = static_cast<std::uint8_t>(k);
  }
  plan.order[static_cast<std::size_t>(next)] = static_cast<std::uint8_t>(last);
  return plan;
}

// The rule of a full cell.
CellRule full_rule(const GridPlan& plan, Predictor predictor, std::int64_t step) {
  const int axes = std::popcount(plan.active_mask);
  return Grid(Extents::filled(std::bit_width(plan.active_mask), 1), plan)
      .cell_rule(predictor, step, (1 << axes) - 1);
}

// The s-th of `wanted` tiles among `count`: even steps, and in each a place that steps by the
// golden ratio. Even places alone may all lie in one column of the tile grid.
std::int64_t scattered(std::int64_t s, std::int64_t wanted, std::int64_t count) {
  const std::int64_t begin = s * count / wanted;
  const std::int64_t end = (s + 1) * count / wanted;
  const std::uint32_t turn = static_cast<std::uint32_t>(s + 1) * 2654435769U;  // 2^32 / 1.618...
  return begin + static_cast<std::int64_t>(
                     std::uint64_t{turn} * static_cast<std::uint64_t>(end - begin) >> 32);
}

// Sample tiles of the windows, cut along some axes; their order changes no node.
template <typename I>
struct SampleTiles {
  int rank = 0;
  int tile = 0;
  double anchors = 0;  // share of the nodes
  std::vector<ClosedTile<I>> tiles;
};

struct Candidate {
  GridPlan plan;
  Predictor predictor;
  double bits = 0;  // a value
  std::shared_ptr<CodePricer> pricer;
  std::vector<double> tile_bits;  // where no table has to be learned first
};

bool cheaper(const Candidate& x, const Candidate& y) { return x.bits < y.bits; }

template <typename I>
class PlanSearch {
 public:
  PlanSearch(const std::vector<SampleWindow<I>>& windows, std::int64_t count, std::int64_t step,
             Mode mode, int threads)
      : windows_(windows),
        step_(step),
        mode_(mode),
        threads_(threads),
        thorough_(mode == Mode::kRatio) {
    constexpr std::int64_t kTileNodes = 4096;
    const std::int64_t tiles = count / kTileNodes;
    whole_ = thorough_ || tiles < kSmallField;
    wanted_ = thorough_ ? kThoroughTiles
              : whole_  ? kLeastTiles
                        : std::clamp(tiles / kTilesPerSlice, kLeastSlices, kMostSlices);
  }

  PlanChoice run() {
    PlanChoice choice;
    const std::uint32_t mask = choose_axes();
    if (mask == 0) {  // nothing longer than one node
      choice.plan = with_last(1, 0);
      choice.ranking.push_back({Predictor::kLinear, std::make_shared<CodePricer>(mode_)});
      return choice;
    }
    std::vector<Candidate> candidates = rank_predictors(mask);
    choice.plan = candidates.front().plan;
    choice.bits_per_value = candidates.front().bits;
    candidates.resize(mode_ == Mode::kFast ? 1 : std::min(candidates.size(), kMaxCandidates));
    for (Candidate& c : candidates) c.pricer->freeze();
    prune(mask, choice.plan, candidates);
    for (Candidate& c : candidates) choice.ranking.push_back({c.predictor, c.pricer});
    return choice;
  }

 private:
  const SampleTiles<I>& samples(std::uint32_t mask) const { return samples_.at(mask); }

  SampleTiles<I> load(std::uint32_t mask) const {
    SampleTiles<I> out;
    VoidFiller filler;
    std::int64_t tiles = 0;
    std::int64_t nodes = 0;
    for (const SampleWindow<I>& window : windows_) {
      const Grid grid(window.extents, with_last(mask, 0));
      tiles += grid.tile_count();
      nodes += grid.node_count();
      out.rank = grid.active_count();
      out.tile = grid.tile();
      const std::int64_t share = wanted_ / static_cast<std::int64_t>(windows_.size());
      const std::int64_t count = std::min(share, grid.tile_count());
      for (std::int64_t s = 0; s < count; ++s) {
        const Grid::Tile tile = grid.tile_at(scattered(s, count, grid.tile_count()));
        out.tiles.emplace_back().load(grid, tile, !whole_, *window.rows, filler);
      }
    }
    out.anchors = static_cast<double>(tiles) / static_cast<double>(nodes);
    return out;
  }

  // Encodes the sample tiles each way; pricers learn from them.
  void price(std::vector<Candidate>& candidates) {
    std::vector<std::uint32_t> missing;
    for (const Candidate& c : candidates) {
      if (samples_.try_emplace(c.plan.active_mask).second) missing.push_back(c.plan.active_mask);
    }
    parallel_for(static_cast<std::int64_t>(missing.size()), threads_, [&](std::int64_t i, int) {
      const std::uint32_t mask = missing[static_cast<std::size_t>(i)];
      samples_.at(mask) = load(mask);
    });
    parallel_for(static_cast<std::int64_t>(candidates.size()), threads_,
                 [&](std::int64_t i, int) { price(candidates[static_cast<std::size_t>(i)]); });
  }

  void price(Candidate& c) const {
    const SampleTiles<I>& from = samples(c.plan.active_mask);
    c.pricer = std::make_shared<CodePricer>(mode_);
    c.tile_bits.assign(from.tiles.size(), 0);
    TileTrial<I> trial(from.rank, from.tile);
    trial.encode(from.tiles, full_rule(c.plan, c.predictor, step_), c.pricer->wants_contexts(),
                 [&](std::size_t i, const TrialCodes<I>& codes) {
                   c.tile_bits[i] = codes.teach(*c.pricer);
                 });
    c.bits = kAnchorBits;
    if (c.pricer->learned_codes() == 0) return;
    // Anchors are coded apart, at a price that only matters where tiles are thin.
    const double codes = static_cast<double>(c.pricer->learned_codes());
    c.bits = c.pricer->learned_bits() / codes * (1 - from.anchors) + kAnchorBits * from.anchors;
  }

  // From the most axes that tiles can have down, as long as one less is cheaper; judged by the
  // three most different predictors.
  std::uint32_t choose_axes() {
    const Extents& extents = windows_.front().extents;
    std::uint32_t all = 0;
    for (int d = 0; d < extents.rank(); ++d) all |= extents[d] > 1 ? 1U << d : 0;
    if (all == 0) return 0;
    std::optional<Candidate> best;
    for (int axes = std::min(std::popcount(all), kMaxCellRank); axes > 0; --axes) {
      const std::uint32_t within = best ? best->plan.active_mask : all;
      std::vector<Candidate> candidates;
      for (std::uint32_t mask = 1; mask <= within; ++mask) {
        if ((mask & ~within) != 0 || std::popcount(mask) != axes) continue;
        for (const Predictor p :
             {Predictor::kLinearAveraged, Predictor::kCubicAveraged, Predictor::kLorenzo}) {
          candidates.push_back({with_last(mask, axes - 1), p, 0, nullptr, {}});
        }
      }
      price(candidates);
      const auto found = std::min_element(candidates.begin(), candidates.end(), cheaper);
      if (best && !cheaper(*found, *best)) break;
      best = *found;
    }
    return best->plan.active_mask;
  }

  // All predictors in one order of the axes, then the best of them in the other orders; the
  // cheapest first.
  std::vector<Candidate> rank_predictors(std::uint32_t mask) {
    const int axes = std::popcount(mask);
    std::vector<Candidate> ranking;
    for (int p = 0; p < kPredictorCount; ++p) {
      const auto predictor = static_cast<Predictor>(p);
      if (axes == 1 && averages(predictor)) continue;  // there is nothing to average
      ranking.push_back({with_last(mask, axes - 1), predictor, 0, nullptr, {}});
    }
    price(ranking);
    std::stable_sort(ranking.begin(), ranking.end(), cheaper);
    const Predictor best = ranking.front().predictor;
    // Averages of two axes, and Lorenzo, know no order.
    if (best == Predictor::kLorenzo || (averages(best) && axes == 2)) return ranking;
    std::vector<Candidate> orders;
    for (int last = 0; last + 1 < axes; ++last) {
      orders.push_back({with_last(mask, last), best, 0, nullptr, {}});
    }
    price(orders);
    for (const Candidate& c : orders) {
      if (cheaper(c, ranking.front())) ranking.front() = c;
    }
    return ranking;
  }

  static bool averages(Predictor p) {
    return p == Predictor::kLinearAveraged || p == Predictor::kCubicAveraged;
  }

  // Leaves the predictors that would save their share when each tile takes its best.
  void prune(std::uint32_t mask, const GridPlan& plan, std::vector<Candidate>& candidates) {
    if (candidates.size() < 2) return;
    const double threshold = thorough_ ? 0.002 : 0.01;
    if (thorough_) {
      const SampleTiles<I>& from = samples(mask);
      TileTrial<I> trial(from.rank, from.tile);
      for (Candidate& c : candidates) {
        trial.encode(from.tiles, full_rule(plan, c.predictor, step_), true,
                     [&](std::size_t i, const TrialCodes<I>& codes) {
                       c.tile_bits[i] = codes.price(*c.pricer);
                     });
      }
    }
    std::vector<double> best = candidates.front().tile_bits;
    std::vector<Candidate> kept{candidates.front()};
    for (std::size_t r = 1; r < candidates.size(); ++r) {
      const std::vector<double>& bits = candidates[r].tile_bits;
      double before = 0;
      double after = 0;
      for (std::size_t i = 0; i < best.size(); ++i) {
        before += best[i];
        after += std::min(best[i], bits[i]);
      }
      if (before - after <= threshold * before) continue;
      kept.push_back(candidates[r]);
      for (std::size_t i = 0; i < best.size(); ++i) best[i] = std::min(best[i], bits[i]);
    }
    candidates = std::move(kept);
  }

  const std::vector<SampleWindow<I>>& windows_;
  std::int64_t step_;
  Mode mode_;
  int threads_;
  bool thorough_;
  bool whole_;
  std::int64_t wanted_;
  std::map<std::uint32_t, SampleTiles<I>> samples_;  // by axes
};

}  // namespace

template <typename I>
PlanChoice search_plan(const std::vector<SampleWindow<I>>& windows, std::int64_t count,
                       std::int64_t step, Mode mode, int threads) {
  return PlanSearch<I>(windows, count, step, mode, threads).run();
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
      const Grid::Tile tile = grid_.tile_at(first + static_cast<std::int64_t>(begin + i));
      const bool thorough = candidates_.front().pricer->wants_contexts();
      tiles_[i].load(grid_, tile, !thorough, rows, filler_);
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

template PlanChoice search_plan(const std::vector<SampleWindow<std::int32_t>>&, std::int64_t,
                                std::int64_t, Mode, int);
template PlanChoice search_plan(const std::vector<SampleWindow<std::int64_t>>&, std::int64_t,
                                std::int64_t, Mode, int);
template class PredictorChooser<std::int32_t>;
template class PredictorChooser<std::int64_t>;

}  // namespace tamis::reduce
