// The search for a plan, greedy in the axes; and the choice of a predictor for each tile.
#include "reduce/plan_search.hpp"

#include <algorithm>
#include <bit>
#include <optional>

namespace tamis::reduce {

namespace {

constexpr double kAnchorBits = 16;
constexpr std::size_t kMaxCandidates = 3;

// A trial and its price for a value of the field.
struct Candidate {
  Trial trial;
  double bits = 0;
};

bool cheaper(const Candidate& x, const Candidate& y) { return x.bits < y.bits; }

class PlanSearch {
 public:
  PlanSearch(TrialPricer& pricer, Mode mode)
      : pricer_(pricer), mode_(mode), thorough_(mode == Mode::kRatio) {}

  PlanChoice run() {
    PlanChoice choice;
    const std::uint32_t mask = choose_axes();
    if (mask == 0) {  // nothing longer than one node
      choice.plan = plan_with_last(1, 0);
      choice.ranking.push_back({Predictor::kLinear, std::make_shared<CodePricer>(mode_)});
      return choice;
    }
    std::vector<Candidate> candidates = rank_predictors(mask);
    choice.plan = candidates.front().trial.plan;
    choice.bits_per_value = candidates.front().bits;
    candidates.resize(mode_ == Mode::kFast ? 1 : std::min(candidates.size(), kMaxCandidates));
    for (Candidate& c : candidates) c.trial.pricer->freeze();
    prune(choice.plan, candidates);
    for (Candidate& c : candidates) choice.ranking.push_back({c.trial.predictor, c.trial.pricer});
    return choice;
  }

 private:
  static Candidate way(const GridPlan& plan, Predictor predictor) {
    Candidate c;
    c.trial.plan = plan;
    c.trial.predictor = predictor;
    return c;
  }

  void price(std::vector<Candidate>& candidates) {
    std::vector<Trial> trials;
    for (Candidate& c : candidates) trials.push_back(std::move(c.trial));
    pricer_.price(trials);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      Candidate& c = candidates[i];
      c.trial = std::move(trials[i]);
      c.bits = kAnchorBits;
      if (c.trial.codes == 0) continue;
      // Anchors are coded apart, at a price that only matters where tiles are thin.
      const double anchors = pricer_.anchor_share(c.trial.plan.active_mask);
      c.bits =
          c.trial.bits / static_cast<double>(c.trial.codes) * (1 - anchors) + kAnchorBits * anchors;
    }
  }

  // From the most axes that tiles can have down, as long as one less is cheaper; judged by the
  // three most different predictors.
  std::uint32_t choose_axes() {
    const Extents& extents = pricer_.samples().windows().front();
    std::uint32_t all = 0;
    for (int d = 0; d < extents.rank(); ++d) all |= extents[d] > 1 ? 1U << d : 0;
    if (all == 0) return 0;
    std::optional<Candidate> best;
    for (int axes = std::min(std::popcount(all), kMaxCellRank); axes > 0; --axes) {
      const std::uint32_t within = best ? best->trial.plan.active_mask : all;
      std::vector<Candidate> candidates;
      for (std::uint32_t mask = 1; mask <= within; ++mask) {
        if ((mask & ~within) != 0 || std::popcount(mask) != axes) continue;
        for (const Predictor p :
             {Predictor::kLinearAveraged, Predictor::kCubicAveraged, Predictor::kLorenzo}) {
          candidates.push_back(way(plan_with_last(mask, axes - 1), p));
        }
      }
      price(candidates);
      const auto found = std::min_element(candidates.begin(), candidates.end(), cheaper);
      if (best && !cheaper(*found, *best)) break;
      best = *found;
    }
    return best->trial.plan.active_mask;
  }

  // All predictors in one order of the axes, then the best of them in the other orders; the
  // cheapest first.
  std::vector<Candidate> rank_predictors(std::uint32_t mask) {
    const int axes = std::popcount(mask);
    std::vector<Candidate> ranking;
    for (int p = 0; p < kPredictorCount; ++p) {
      const auto predictor = static_cast<Predictor>(p);
      if (axes == 1 && averages(predictor)) continue;  // there is nothing to average
      ranking.push_back(way(plan_with_last(mask, axes - 1), predictor));
    }
    price(ranking);
    std::stable_sort(ranking.begin(), ranking.end(), cheaper);
    const Predictor best = ranking.front().trial.predictor;
    // Averages of two axes, and Lorenzo, know no order.
    if (best == Predictor::kLorenzo || (averages(best) && axes == 2)) return ranking;
    std::vector<Candidate> orders;
    for (int last = 0; last + 1 < axes; ++last) {
      orders.push_back(way(plan_with_last(mask, last), best));
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
  void prune(const GridPlan& plan, std::vector<Candidate>& candidates) {
    if (candidates.size() < 2) return;
    const double threshold = thorough_ ? 0.002 : 0.01;
    if (thorough_) {
      std::vector<Trial*> trials;
      for (Candidate& c : candidates) {
        c.trial.plan = plan;
        trials.push_back(&c.trial);
      }
      pricer_.price_frozen(trials);
    }
    std::vector<double> best = candidates.front().trial.tile_bits;
    std::vector<Candidate> kept{candidates.front()};
    for (std::size_t r = 1; r < candidates.size(); ++r) {
      const std::vector<double>& bits = candidates[r].trial.tile_bits;
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

  TrialPricer& pricer_;
  Mode mode_;
  bool thorough_;
};

}  // namespace

PlanChoice search_plan(TrialPricer& pricer, Mode mode) { return PlanSearch(pricer, mode).run(); }

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

template class PredictorChooser<std::int32_t>;
template class PredictorChooser<std::int64_t>;

}  // namespace tamis::reduce
