// Loading of closed tiles, and their passage through the kernels.
#include "reduce/tile_trial.hpp"

#include "reduce/sample_tiles.hpp"

namespace tamis::reduce {

template <typename I>
void ClosedTile<I>::load(const Grid& grid, Grid::Tile tile, bool slice, const LatticeRows<I>& rows,
                         VoidFiller& filler) {
  const std::int64_t size = natural_nodes(grid.active_count(), grid.tile()) + kRowSlack;
  if (values.size() < size) {
    values = Array<I>(size);
    valid.resize(static_cast<std::size_t>(size));
  }
  const int most = slice_nodes(grid.tile());
  slice = slice && tile.nodes[0] > most;
  if (slice) tile.nodes[0] = most;
  shape = grid.cell_shape(tile, grid.full_mask());
  shape.slice = slice;
  const NodeBlock block = closed_block(grid, tile);
  rows.read(block, values.data());
  masked = rows.read_valid(block, valid.data());
  if (!masked) return;
  int nodes[3];
  shape.aligned_nodes(nodes);
  filler.fill(values.data(), valid.data(), nodes, grid.tile() + 1);
}

template <typename I>
TileTrial<I>::TileTrial(int max_rank, int tile)
    : batch_(max_rank, tile),
      room_(natural_nodes(max_rank, tile)),
      codes_(2 * room_ * batch_.lanes()),
      contexts_(codes_.size()) {}

template <typename I>
void TileTrial<I>::run(std::span<const ClosedTile<I>> tiles, std::span<const std::size_t> group,
                       const CellRule& rule, bool contexts) {
  const ClosedTile<I>& any = tiles[group.front()];
  const auto lanes = static_cast<std::size_t>(batch_.lanes());
  const I* rows[kMaxLanes];
  for (std::size_t l = 0; l < group.size(); ++l) {
    const ClosedTile<I>& tile = tiles[group[l]];
    rows[l] = tile.values.data();
    const auto at = static_cast<std::int64_t>(l) * 2 * room_;
    sinks_[l] = {codes_.data() + at, codes_.data() + at + room_, contexts_.data() + at,
                 contexts_.data() + at + room_};
    if (!any.masked) continue;
    valid_ = tile.valid;
    give_coarse_codes(tile.shape, rule.predictor, valid_);
    for (std::size_t i = 0; i < static_cast<std::size_t>(room_); ++i) {
      batch_.valid()[i * lanes + l] = valid_[i];
    }
  }
  const int used = static_cast<int>(group.size());
  // The slowest axis may be cut short.
  const std::int64_t planes = any.shape.nodes[0];
  const std::int64_t size = room_ / (any.shape.tile + 1) * planes;
  rows_to_lanes<I>(rows, used, static_cast<int>(size), batch_.values());
  CodingOptions options;
  options.masked = any.masked;
  options.contexts = contexts;
  encode_cells<I>(batch_, any.shape, rule, options, std::span(sinks_, group.size()));
}

template <typename I>
TrialCodes<I> TileTrial<I>::codes(std::size_t lane) const {
  const auto at = static_cast<std::int64_t>(lane) * 2 * room_;
  const I* begin = codes_.data() + at;
  const std::uint8_t* contexts = contexts_.data() + at;
  return {begin,
          begin + room_,
          contexts,
          contexts + room_,
          sinks_[lane].coarse - begin,
          sinks_[lane].fine - (begin + room_)};
}

template struct ClosedTile<std::int32_t>;
template struct ClosedTile<std::int64_t>;
template class TileTrial<std::int32_t>;
template class TileTrial<std::int64_t>;

}  // namespace tamis::reduce
