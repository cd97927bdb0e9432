// Sample encodings. A sample tile is encoded as one closed cell whose boundary is taken as exact,
// and its codes are priced by the entropy stage that will code them.
#include "reduce/plan_search.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "core/threads.hpp"

namespace tamis::reduce {

// Codes of one tile: coarse ones from 0 on, fine ones from `fine_begin` on.
template <typename I>
struct TileCodes {
  std::vector<I> codes;
  std::vector<std::uint8_t> contexts;
  std::int64_t coarse = 0;
  std::int64_t fine_begin = 0;
  std::int64_t fine = 0;
};

namespace {

constexpr std::int64_t kSampleTiles = 24;  // over all windows
constexpr std::int64_t kFirstSampleTiles = 9;
constexpr double kAnchorBits = 16;
constexpr std::size_t kFinalists = 4;
constexpr std::size_t kMaxCandidates = 3;

// Loads a tile with its boundary: values = input there.
template <typename I>
bool load_closed(const Grid& grid, const Grid::Tile& tile, const LatticeRows<I>& rows,
                 CellWorkspace<I>& work) {
  const NodeBlock block = closed_block(grid, tile);
  rows.read(block, work.input.data());
  const bool masked = rows.read_valid(block, work.valid.data());
  if (masked) {
    const CellShape shape = grid.cell_shape(tile, grid.full_mask());
    int nodes[3];
    shape.aligned_nodes(nodes);
    work.filler.fill(work.input.data(), work.valid.data(), nodes, grid.tile() + 1);
  }
  work.values = work.input;
  return masked;
}

template <typename I>
void encode_tile(const Grid& grid, const Grid::Tile& tile, Predictor predictor, std::int64_t step,
                 bool masked, bool with_contexts, CellWorkspace<I>& work, TileCodes<I>& out) {
  const int mask = grid.full_mask();
  const CellShape shape = grid.cell_shape(tile, mask);
  out.coarse = out.fine = 0;
  if (shape.open_count() == 0) return;
  std::vector<std::uint8_t> valid;
  if (masked) {
    valid = work.valid;
    give_coarse_codes(shape, predictor, work.valid);
  }
  out.fine_begin = shape.open_count() + kRowSlack;
  const auto room = static_cast<std::size_t>(2 * out.fine_begin);
  if (out.codes.size() < room) {
    out.codes.resize(room);
    out.contexts.resize(room);
  }
  CodeSink<I> sink;
  sink.coarse = out.codes.data();
  sink.fine = out.codes.data() + out.fine_begin;
  if (with_contexts) {
    sink.coarse_context = out.contexts.data();
    sink.fine_context = out.contexts.data() + out.fine_begin;
  }
  encode_cell(work, shape, grid.cell_rule(predictor, step, mask), masked, sink);
  out.coarse = sink.coarse - out.codes.data();
  out.fine = sink.fine - out.codes.data() - out.fine_begin;
  if (masked) work.valid = std::move(valid);  // the next predictor may give other points codes
}

struct Candidate {
  double bits;
  GridPlan plan;
  RankedPredictor ranked;
};

GridPlan make_plan(std::uint32_t mask) {
  GridPlan plan;
  plan.active_mask = mask;
  return plan;
}

// fn(grid, tile, masked, work) for each sample tile, loaded with its boundary. Returns the share of
// anchors among the windows' nodes.
template <typename I, typename Fn>
double each_sample(const std::vector<SampleWindow<I>>& windows, const GridPlan& plan,
                   std::int64_t sample_tiles, const Fn& fn) {
  std::int64_t tiles = 0;
  std::int64_t nodes = 0;
  for (const SampleWindow<I>& window : windows) {
    const Grid grid(window.extents, plan);
    tiles += grid.tile_count();
    nodes += grid.node_count();
    CellWorkspace<I> work(grid.active_count(), grid.tile());
    const std::int64_t wanted = sample_tiles / static_cast<std::int64_t>(windows.size());
    const std::int64_t samples = std::min(wanted, grid.tile_count());
    for (std::int64_t s = 0; s < samples; ++s) {
      const Grid::Tile tile = grid.tile_at((2 * s + 1) * grid.tile_count() / (2 * samples));
      fn(grid, tile, load_closed(grid, tile, *window.rows, work), work);
    }
  }
  return static_cast<double>(tiles) / static_cast<double>(nodes);
}

// Encodes the sample tiles; `pricer` learns from them. Returns bits a value.
template <typename I>
double estimate_bits(const std::vector<SampleWindow<I>>& windows, const GridPlan& plan,
                     std::int64_t sample_tiles, Predictor predictor, std::int64_t step,
                     CodePricer& pricer) {
  TileCodes<I> codes;
  const double anchors = each_sample(
      windows, plan, sample_tiles,
      [&](const Grid& grid, const Grid::Tile& tile, bool masked, CellWorkspace<I>& work) {
        encode_tile(grid, tile, predictor, step, masked, pricer.wants_contexts(), work, codes);
        pricer.learn(codes.codes.data(), codes.contexts.data(), codes.coarse);
        pricer.learn(codes.codes.data() + codes.fine_begin,
                     codes.contexts.data() + codes.fine_begin, codes.fine);
      });
  if (pricer.learned_codes() == 0) return kAnchorBits;
  // Anchors are coded apart, at a price that only matters where tiles are thin.
  return pricer.learned_bits() / static_cast<double>(pricer.learned_codes()) * (1 - anchors) +
         kAnchorBits * anchors;
}

// Price of the codes of one tile.
template <typename I>
double price_tile(const TileCodes<I>& c, const CodePricer& pricer) {
  return pricer.price(c.codes.data(), c.contexts.data(), c.coarse) +
         pricer.price(c.codes.data() + c.fine_begin, c.contexts.data() + c.fine_begin, c.fine);
}

// Leaves the predictors that would save a share of `threshold` when each tile takes its best.
template <typename I>
void prune_ranking(const std::vector<SampleWindow<I>>& windows, std::int64_t step, double threshold,
                   PlanChoice& choice) {
  auto& ranking = choice.ranking;
  ranking.resize(std::min(ranking.size(), kMaxCandidates));
  std::vector<std::vector<double>> prices(ranking.size());
  TileCodes<I> codes;
  each_sample(windows, choice.plan, kSampleTiles,
              [&](const Grid& grid, const Grid::Tile& tile, bool masked, CellWorkspace<I>& work) {
                for (std::size_t r = 0; r < ranking.size(); ++r) {
                  if (r > 0) work.values = work.input;
                  const CodePricer& pricer = *ranking[r].pricer;
                  encode_tile(grid, tile, ranking[r].predictor, step, masked,
                              pricer.wants_contexts(), work, codes);
                  prices[r].push_back(price_tile(codes, pricer));
                }
              });
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
  const auto price_all = [&](std::int64_t sample_tiles) {
    parallel_for(static_cast<std::int64_t>(candidates.size()), threads, [&](std::int64_t i, int) {
      Candidate& c = candidates[static_cast<std::size_t>(i)];
      c.ranked.pricer = std::make_shared<CodePricer>(mode);
      c.bits =
          estimate_bits(windows, c.plan, sample_tiles, c.ranked.predictor, step, *c.ranked.pricer);
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
    prune_ranking(windows, step, mode == Mode::kRatio ? 0.002 : 0.01, choice);
  }
  return choice;
}

template <typename I>
PredictorChooser<I>::PredictorChooser(const Grid& grid, std::int64_t step,
                                      std::vector<RankedPredictor> candidates)
    : grid_(grid),
      step_(step),
      candidates_(std::move(candidates)),
      work_(grid.active_count(), grid.tile()),
      codes_(std::make_unique<TileCodes<I>>()) {}

template <typename I>
PredictorChooser<I>::~PredictorChooser() = default;

template <typename I>
Predictor PredictorChooser<I>::choose(std::int64_t index, const LatticeRows<I>& rows) {
  Grid::Tile tile = grid_.tile_at(index);
  // Where speed counts a slice of the tile decides.
  if (!candidates_.front().pricer->wants_contexts()) {
    tile.nodes[0] = std::min(tile.nodes[0], grid_.tile() / 4 + 1);
  }
  const bool masked = load_closed(grid_, tile, rows, work_);
  Predictor best = candidates_.front().predictor;
  double best_bits = -1;
  for (const RankedPredictor& candidate : candidates_) {
    if (best_bits >= 0) work_.values = work_.input;
    const CodePricer& pricer = *candidate.pricer;
    encode_tile(grid_, tile, candidate.predictor, step_, masked, pricer.wants_contexts(), work_,
                *codes_);
    const double bits = price_tile(*codes_, pricer);
    if (best_bits < 0 || bits < best_bits) {
      best_bits = bits;
      best = candidate.predictor;
    }
  }
  return best;
}

template PlanChoice search_plan(const std::vector<SampleWindow<std::int32_t>>&, std::int64_t, Mode,
                                int);
template PlanChoice search_plan(const std::vector<SampleWindow<std::int64_t>>&, std::int64_t, Mode,
                                int);
template class PredictorChooser<std::int32_t>;
template class PredictorChooser<std::int64_t>;

}  // namespace tamis::reduce
