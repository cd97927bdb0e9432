// Sample encodings. A sample tile is encoded as one closed cell whose boundary is taken as exact,
// and its codes are priced by their entropy per level, in integers so that all devices agree.
#include "reduce/plan_search.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

#include "codec/rans.hpp"

namespace tamis::reduce {

namespace {

constexpr std::int64_t kSampleTiles = 8;  // a window
constexpr double kAnchorBits = 16;

// Loads a tile with its boundary: values = input there.
template <typename I>
bool load_closed(const Grid& grid, const Grid::Tile& tile, const LatticeRows<I>& rows,
                 CellWorkspace<I>& work) {
  const int rank = grid.active_count();
  const std::int64_t side = grid.tile() + 1;
  int nodes[kMaxCellRank] = {1, 1, 1};
  std::int64_t stride[kMaxCellRank] = {};
  for (int i = 0; i < rank; ++i) {
    nodes[2 - i] = tile.nodes[rank - 1 - i];
    stride[2 - i] = grid.axis_stride(rank - 1 - i);
  }
  bool masked = false;
  for (int z = 0; z < nodes[0]; ++z) {
    for (int y = 0; y < nodes[1]; ++y) {
      const std::int64_t linear = tile.origin + z * stride[0] + y * stride[1];
      const std::int64_t natural = (z * side + y) * side;
      rows.read(linear, stride[2], nodes[2], work.input.data() + natural);
      std::uint8_t* valid = work.valid.data() + natural;
      if (rows.read_valid(linear, stride[2], nodes[2], valid)) {
        masked = true;
      } else {
        std::fill_n(valid, nodes[2], std::uint8_t{1});
      }
    }
  }
  work.values = work.input;
  return masked;
}

struct TokenPrices {
  std::array<std::array<std::uint32_t, codec::kRansTokens>, 2> counts{};
  std::uint64_t raw_bits = 0;
  std::int64_t codes = 0;

  template <typename I>
  void add(int level_class, const I* from, const I* to) {
    codes += to - from;
    for (; from != to; ++from) {
      const codec::RansToken t = codec::rans_token(*from);
      ++counts[static_cast<std::size_t>(level_class)][static_cast<std::size_t>(t.token)];
      raw_bits += static_cast<std::uint64_t>(t.raw_bits);
    }
  }

  double bits() const {
    double total = static_cast<double>(raw_bits);
    for (const auto& row : counts) {
      const std::uint64_t sum = std::accumulate(row.begin(), row.end(), std::uint64_t{0});
      if (sum == 0) continue;
      const std::uint64_t log_sum = codec::log2_fixed(sum);
      for (const std::uint32_t c : row) {
        if (c != 0) total += double(c) * double(log_sum - codec::log2_fixed(c)) / 65536.0;
      }
    }
    return total;
  }
};

// Encodes the loaded tile and prices it.
template <typename I>
void price_tile(const Grid& grid, const Grid::Tile& tile, Predictor predictor, std::int64_t step,
                bool masked, CellWorkspace<I>& work, std::vector<I>& codes, TokenPrices& prices) {
  const int mask = grid.full_mask();
  const CellShape shape = grid.cell_shape(tile, mask);
  const std::int64_t room = shape.open_count();
  if (room == 0) return;
  const auto half = static_cast<std::size_t>(room + kRowSlack);
  if (codes.size() < 2 * half) codes.resize(2 * half);
  CodeSink<I> sink;
  sink.coarse = codes.data();
  sink.fine = codes.data() + half;
  encode_cell(work, shape, grid.cell_rule(predictor, step, mask), masked, sink);
  prices.add(0, codes.data(), static_cast<const I*>(sink.coarse));
  prices.add(1, codes.data() + half, static_cast<const I*>(sink.fine));
}

GridPlan make_plan(std::uint32_t mask) {
  GridPlan plan;
  plan.active_mask = mask;
  return plan;
}

}  // namespace

template <typename I>
double estimate_bits(const std::vector<SampleWindow<I>>& windows, const GridPlan& plan,
                     Predictor predictor, std::int64_t step) {
  TokenPrices prices;
  std::int64_t tiles = 0;
  std::int64_t nodes = 0;
  for (const SampleWindow<I>& window : windows) {
    const Grid grid(window.extents, plan);
    tiles += grid.tile_count();
    nodes += grid.node_count();
    CellWorkspace<I> work(grid.active_count(), grid.tile());
    std::vector<I> codes;
    const std::int64_t samples = std::min(kSampleTiles, grid.tile_count());
    for (std::int64_t s = 0; s < samples; ++s) {
      const std::int64_t index = (2 * s + 1) * grid.tile_count() / (2 * samples);
      const Grid::Tile tile = grid.tile_at(index);
      const bool masked = load_closed(grid, tile, *window.rows, work);
      price_tile(grid, tile, predictor, step, masked, work, codes, prices);
    }
  }
  if (prices.codes == 0) return kAnchorBits;
  // Anchors are coded apart, at a price that only matters where tiles are thin.
  const double anchors = static_cast<double>(tiles) / static_cast<double>(nodes);
  return prices.bits() / static_cast<double>(prices.codes) * (1 - anchors) + kAnchorBits * anchors;
}

template <typename I>
PlanChoice search_plan(const std::vector<SampleWindow<I>>& windows, std::int64_t step) {
  const Extents& extents = windows.front().extents;
  const int rank = extents.rank();
  PlanChoice choice;
  // 1. Which axes, judged by the two most different predictors.
  double best = -1;
  for (std::uint32_t mask = 1; mask < 1U << rank; ++mask) {
    const int axes = std::popcount(mask);
    if (axes > kMaxCellRank) continue;
    bool flat = false;
    for (int d = 0; d < rank; ++d) flat |= (mask >> d & 1U) != 0 && extents[d] < 2;
    if (flat) continue;
    for (const Predictor p : {Predictor::kLinearAveraged, Predictor::kLorenzo}) {
      const double bits = estimate_bits(windows, make_plan(mask), p, step);
      if (best < 0 || bits < best) {
        best = bits;
        choice.plan = make_plan(mask);
      }
    }
  }
  if (best < 0) {  // nothing longer than one node
    choice.plan = make_plan(1);
    choice.ranking = {Predictor::kLinear};
    return choice;
  }
  // 2. Which axis last, and 3. which predictor.
  const int axes = std::popcount(choice.plan.active_mask);
  struct Candidate {
    double bits;
    GridPlan plan;
    Predictor predictor;
  };
  std::vector<Candidate> candidates;
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
      candidates.push_back({estimate_bits(windows, plan, predictor, step), plan, predictor});
    }
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.bits < b.bits; });
  choice.plan = candidates.front().plan;
  choice.bits_per_value = candidates.front().bits;
  for (const Candidate& c : candidates) {
    if (std::find(choice.ranking.begin(), choice.ranking.end(), c.predictor) ==
        choice.ranking.end()) {
      choice.ranking.push_back(c.predictor);
    }
  }
  return choice;
}

template <typename I>
Predictor choose_predictor(const Grid& grid, std::int64_t index, const LatticeRows<I>& rows,
                           std::int64_t step, const std::vector<Predictor>& candidates,
                           CellWorkspace<I>& work, std::vector<I>& codes) {
  const Grid::Tile tile = grid.tile_at(index);
  const bool masked = load_closed(grid, tile, rows, work);
  Predictor best = candidates.front();
  double best_bits = -1;
  for (const Predictor p : candidates) {
    if (best_bits >= 0) work.values = work.input;
    TokenPrices prices;
    price_tile(grid, tile, p, step, masked, work, codes, prices);
    const double bits = prices.bits();
    if (best_bits < 0 || bits < best_bits) {
      best_bits = bits;
      best = p;
    }
  }
  return best;
}

template double estimate_bits(const std::vector<SampleWindow<std::int32_t>>&, const GridPlan&,
                              Predictor, std::int64_t);
template double estimate_bits(const std::vector<SampleWindow<std::int64_t>>&, const GridPlan&,
                              Predictor, std::int64_t);
template PlanChoice search_plan(const std::vector<SampleWindow<std::int32_t>>&, std::int64_t);
template PlanChoice search_plan(const std::vector<SampleWindow<std::int64_t>>&, std::int64_t);
template Predictor choose_predictor(const Grid&, std::int64_t, const LatticeRows<std::int32_t>&,
                                    std::int64_t, const std::vector<Predictor>&,
                                    CellWorkspace<std::int32_t>&, std::vector<std::int32_t>&);
template Predictor choose_predictor(const Grid&, std::int64_t, const LatticeRows<std::int64_t>&,
                                    std::int64_t, const std::vector<Predictor>&,
                                    CellWorkspace<std::int64_t>&, std::vector<std::int64_t>&);

}  // namespace tamis::reduce
