// Index arithmetic of tiles, cells and chunks, and the store of boundary values.
#include "reduce/grid.hpp"

#include <algorithm>
#include <bit>

namespace tamis::reduce {

int default_tile(int active_axes) { return active_axes <= 1 ? 4096 : active_axes == 2 ? 64 : 16; }

namespace {

std::int64_t rows_of_layer(std::int64_t tiles_per_row) {
  return std::max<std::int64_t>(1, (kLayerTiles + tiles_per_row - 1) / tiles_per_row);
}

}  // namespace

Grid::Grid(const Extents& extents, const GridPlan& plan) : extents_(extents), plan_(plan) {
  strides_ = extents.contiguous_strides();
  for (int d = 0; d < extents.rank(); ++d) {
    if (plan.active_mask >> d & 1U) active_[active_count_++] = d;
  }
  tile_ = default_tile(active_count_);
  tile_grid_ = extents;
  for (int k = 0; k < active_count_; ++k) {
    auto& n = tile_grid_[active_[k]];
    n = (n + tile_ - 1) / tile_;
  }
  tile_strides_ = tile_grid_.contiguous_strides();
  tile_count_ = tile_grid_.element_count();
  node_count_ = extents.element_count();
  cut_chunks();
}

std::int64_t Grid::count_chunks(const Extents& extents, const GridPlan& plan) {
  const int tile = default_tile(std::popcount(plan.active_mask));
  Extents tiles = extents;
  for (int d = 0; d < extents.rank(); ++d) {
    if (plan.active_mask >> d & 1U) tiles[d] = (tiles[d] + tile - 1) / tile;
  }
  const std::int64_t count = tiles.element_count();
  if (count == 0) return 0;
  const std::int64_t per_row = count / tiles[0];
  const std::int64_t layer_rows = rows_of_layer(per_row);
  const auto parts = [&](std::int64_t rows) {
    return (rows * per_row + kChunkTiles - 1) / kChunkTiles;
  };
  return tiles[0] / layer_rows * parts(layer_rows) + parts(tiles[0] % layer_rows);
}

void Grid::cut_chunks() {
  if (tile_count_ == 0) return;
  const std::int64_t rows = tile_grid_[0];
  const std::int64_t per_row = tile_count_ / rows;
  const std::int64_t layer_rows = rows_of_layer(per_row);
  const std::int64_t thickness = (plan_.active_mask & 1U) != 0 ? tile_ : 1;
  for (std::int64_t row = 0; row < rows; row += layer_rows) {
    const std::int64_t end = std::min(rows, row + layer_rows);
    const std::int64_t first = row * per_row;
    const std::int64_t tiles = (end - row) * per_row;
    const std::int64_t parts = (tiles + kChunkTiles - 1) / kChunkTiles;
    Layer layer;
    layer.rows = {row * thickness, std::min(extents_[0], end * thickness)};
    layer.chunks.begin = static_cast<std::int64_t>(chunks_.size());
    for (std::int64_t i = 0; i < parts; ++i) {
      chunks_.push_back({first + tiles * i / parts, first + tiles * (i + 1) / parts});
    }
    layer.chunks.end = static_cast<std::int64_t>(chunks_.size());
    layers_.push_back(layer);
  }
}

Extents Grid::tile_coordinates(std::int64_t index) const {
  Extents at = tile_grid_;
  for (int d = 0; d < tile_grid_.rank(); ++d) {
    at[d] = index / tile_strides_[d];
    index %= tile_strides_[d];
  }
  return at;
}

Grid::Tile Grid::tile_at(std::int64_t index) const {
  Tile tile;
  tile.index = index;
  const Extents at = tile_coordinates(index);
  int k = 0;
  for (int d = 0; d < extents_.rank(); ++d) {
    if (k < active_count_ && active_[k] == d) {
      const std::int64_t begin = at[d] * tile_;
      tile.origin += begin * strides_[d];
      tile.nodes[k] = static_cast<int>(std::min<std::int64_t>(tile_ + 1, extents_[d] - begin));
      tile.neighbour[k] = tile.nodes[k] == tile_ + 1 ? tile_strides_[d] : 0;
      ++k;
    } else {
      tile.origin += at[d] * strides_[d];
    }
  }
  return tile;
}

CellShape Grid::cell_shape(const Tile& tile, int mask) const {
  CellShape shape;
  shape.tile = tile_;
  for (int k = 0; k < active_count_; ++k) {
    if (mask >> k & 1) shape.nodes[shape.rank++] = tile.nodes[k];
  }
  return shape;
}

CellRule Grid::cell_rule(Predictor predictor, std::int64_t step, int mask) const {
  CellRule rule;
  rule.predictor = predictor;
  rule.step = step;
  int next = 0;
  for (int i = 0; i < active_count_; ++i) {
    const int k = plan_.order[static_cast<std::size_t>(i)];
    if ((mask >> k & 1) == 0) continue;
    // Position of active axis k among the free ones.
    rule.axis_order[next++] =
        static_cast<std::uint8_t>(std::popcount(static_cast<unsigned>(mask & ((1 << k) - 1))));
  }
  // Axes that the cell does not have come first, where they are skipped.
  std::rotate(rule.axis_order, rule.axis_order + next, rule.axis_order + kMaxCellRank);
  for (int i = 0; i < kMaxCellRank - next; ++i) {
    rule.axis_order[i] = static_cast<std::uint8_t>(next + i);
  }
  return rule;
}

std::vector<Grid> coarser_grids(const Grid& finest) {
  std::vector<Grid> grids;
  const Grid* last = &finest;
  while (!(last->tile_grid() == last->extents())) {
    grids.emplace_back(last->tile_grid(), finest.plan());
    last = &grids.back();
  }
  return grids;
}

template <typename I>
Skeleton<I>::Skeleton(const Grid& grid) : grid_(&grid) {
  for (int mask = 0; mask < grid.full_mask(); ++mask) {
    offset_[static_cast<std::size_t>(mask)] = per_tile_;
    std::int64_t size = 1;
    for (int k = 0; k < grid.active_count(); ++k) {
      if (mask >> k & 1) size *= span(k);
    }
    per_tile_ += size;
  }
  values_ = Array<I>(per_tile_ * grid.tile_count());
}

template <typename I>
int Skeleton<I>::span(int k) const {
  const std::int64_t nodes = grid_->extents()[grid_->active_axis(k)];
  return static_cast<int>(std::min<std::int64_t>(nodes, grid_->tile())) - 1;
}

template <typename I>
void Skeleton<I>::read_boundary(std::span<const Grid::Tile> tiles, int mask, I* values,
                                int lanes) const {
  const int side = grid_->tile();
  std::int64_t natural[kMaxCellRank] = {};
  std::int64_t stride = lanes;
  for (int k = grid_->active_count() - 1; k >= 0; --k) {
    if ((mask >> k & 1) == 0) continue;
    natural[k] = stride;
    stride *= side + 1;
  }
  const Grid::Tile& any = tiles.front();
  // Free axes of the bounding cell are a proper subset of ours; the others sit at 0 or at the far
  // side, which the upper neighbour owns.
  for (int free = (mask - 1) & mask;; free = (free - 1) & mask) {
    const int fixed = mask & ~free;
    int axes[2] = {-1, -1};  // outer, inner
    for (int k = 0; k < grid_->active_count(); ++k) {
      if ((free >> k & 1) == 0) continue;
      axes[0] = axes[1];
      axes[1] = k;
    }
    const auto open = [&](int k) { return k < 0 ? 1 : std::min(any.nodes[k], side) - 1; };
    const int outer = open(axes[0]);
    const int inner = open(axes[1]);
    const int pitch = axes[1] >= 0 ? span(axes[1]) : 0;
    const std::int64_t steps[2] = {axes[0] >= 0 ? natural[axes[0]] : 0,
                                   axes[1] >= 0 ? natural[axes[1]] : 0};
    for (int far = fixed;; far = (far - 1) & fixed) {
      std::int64_t beyond[kMaxLanes] = {};
      std::int64_t at = 0;
      bool exists = true;
      for (int k = 0; k < grid_->active_count(); ++k) {
        if (far >> k & 1) {
          exists = exists && any.neighbour[k] != 0;
          for (std::size_t l = 0; l < tiles.size(); ++l) beyond[l] += tiles[l].neighbour[k];
          at += side * natural[k];
        } else if (free >> k & 1) {
          at += natural[k];
        }
      }
      if (exists) {
        const I* from[kMaxLanes];
        for (std::size_t l = 0; l < tiles.size(); ++l) {
          from[l] = cell(tiles[l].index + beyond[l], free);
        }
        for (int i = 0; i < outer; ++i) {
          I* to = values + at + i * steps[0];
          for (int j = 0; j < inner; ++j, to += steps[1]) {
            const std::int64_t element = std::int64_t{i} * pitch + j;
            for (std::size_t l = 0; l < tiles.size(); ++l) to[l] = from[l][element];
          }
        }
      }
      if (far == 0) break;
    }
    if (free == 0) break;
  }
}

template <typename I>
void Skeleton<I>::store(std::span<const Grid::Tile> tiles, int mask, const I* values, int lanes) {
  const CellShape shape = grid_->cell_shape(tiles.front(), mask);
  const std::int64_t side = grid_->tile() + 1;
  I* to[kMaxLanes];
  for (std::size_t l = 0; l < tiles.size(); ++l) to[l] = cell(tiles[l].index, mask);
  const int outer = shape.rank == 2 ? shape.open(0) : 1;
  const int inner = shape.open(shape.rank - 1);
  const int pitch = span(std::bit_width(static_cast<unsigned>(mask)) - 1);
  for (int i = 0; i < outer; ++i) {
    const I* from = values + ((shape.rank == 2 ? (i + 1) * side : 0) + 1) * lanes;
    for (int j = 0; j < inner; ++j, from += lanes) {
      const std::int64_t element = std::int64_t{i} * pitch + j;
      for (std::size_t l = 0; l < tiles.size(); ++l) to[l][element] = from[l];
    }
  }
}

template class Skeleton<std::int32_t>;
template class Skeleton<std::int64_t>;

}  // namespace tamis::reduce
