// Blocks of nodes of a tile, and what is masked in them.
#include <algorithm>

#include "reduce/grid_codec.hpp"

namespace tamis::reduce {

namespace {

// Axes of a cell, right aligned: index 2 is the fastest.
struct CellAxes {
  int axis[3] = {-1, -1, -1};
  CellAxes(const Grid& grid, int mask) {
    int next = 2;
    for (int k = grid.active_count() - 1; k >= 0; --k) {
      if (mask >> k & 1) axis[next--] = k;
    }
  }
};

NodeBlock whole_block(const Grid& grid, const Grid::Tile& tile, int extra) {
  const CellAxes axes(grid, grid.full_mask());
  const std::int64_t side = grid.tile() + 1;
  NodeBlock block;
  block.first = tile.origin;
  block.natural_stride[0] = side * side;
  block.natural_stride[1] = side;
  for (int i = 0; i < 3; ++i) {
    if (axes.axis[i] < 0) continue;
    block.count[i] = std::min(tile.nodes[axes.axis[i]], grid.tile() + extra);
    block.stride[i] = grid.axis_stride(axes.axis[i]);
  }
  return block;
}

}  // namespace

NodeBlock open_block(const Grid& grid, const Grid::Tile& tile, int mask) {
  const CellAxes axes(grid, mask);
  const std::int64_t side = grid.tile() + 1;
  const std::int64_t natural[3] = {side * side, side, 1};
  NodeBlock block;
  block.first = tile.origin;
  block.natural_stride[0] = natural[0];
  block.natural_stride[1] = natural[1];
  for (int i = 0; i < 3; ++i) {
    if (axes.axis[i] < 0) continue;
    block.count[i] = std::min(tile.nodes[axes.axis[i]], grid.tile()) - 1;
    block.stride[i] = grid.axis_stride(axes.axis[i]);
    block.first += block.stride[i];
    block.natural += natural[i];
  }
  if (block.count[0] == 0 || block.count[1] == 0 || block.count[2] == 0) {
    std::fill_n(block.count, 3, 0);
  }
  return block;
}

NodeBlock owned_block(const Grid& grid, const Grid::Tile& tile) {
  return whole_block(grid, tile, 0);
}

NodeBlock closed_block(const Grid& grid, const Grid::Tile& tile) {
  return whole_block(grid, tile, 1);
}

namespace {

// fn(z, y, row index in the natural arrays) for the rows of a cell, boundary included.
template <typename Fn>
void each_cell_row(const CellShape& shape, const Fn& fn) {
  int nodes[3];
  shape.aligned_nodes(nodes);
  const std::int64_t side = shape.tile + 1;
  for (int z = 0; z < nodes[0]; ++z) {
    for (int y = 0; y < nodes[1]; ++y) fn(z, y, (z * side + y) * side);
  }
}

}  // namespace

void give_coarse_codes(const CellShape& shape, Predictor predictor,
                       std::vector<std::uint8_t>& valid) {
  if (predictor == Predictor::kLorenzo) return;
  int nodes[3];
  shape.aligned_nodes(nodes);
  each_cell_row(shape, [&](int z, int y, std::int64_t row) {
    if (z % kCodedVoidStride != 0 || y % kCodedVoidStride != 0) return;
    for (int x = 0; x < nodes[2]; x += kCodedVoidStride)
      valid[static_cast<std::size_t>(row + x)] = 1;
  });
}

template <typename I>
CellScratch<I>::CellScratch(int max_rank, int tile) {
  const auto size = static_cast<std::size_t>(natural_nodes(max_rank, tile) + kRowSlack);
  input.resize(size);
  values.resize(size);
  valid.resize(size);
}

template <typename I>
void fill_voids(const CellShape& shape, CellScratch<I>& work) {
  int nodes[3];
  shape.aligned_nodes(nodes);
  // The boundary is known; `valid` has said so far only what open points are.
  const bool has_plane = shape.rank > 2;
  const bool has_line = shape.rank > 1;
  each_cell_row(shape, [&](int z, int y, std::int64_t row) {
    const auto on_face = [&](int index, int axis) {  // axis of the right-aligned three
      return index == 0 || (index == shape.tile && shape.has_far(axis - (3 - shape.rank)));
    };
    const bool face = (has_plane && on_face(z, 0)) || (has_line && on_face(y, 1));
    const I* from = work.values.data() + row;
    I* to = work.input.data() + row;
    std::uint8_t* known = work.valid.data() + row;
    if (face) {
      std::copy_n(from, nodes[2], to);
      std::fill_n(known, nodes[2], std::uint8_t{1});
      return;
    }
    to[0] = from[0];
    known[0] = 1;
    if (nodes[2] == shape.tile + 1) {
      to[shape.tile] = from[shape.tile];
      known[shape.tile] = 1;
    }
  });
  work.filler.fill(work.input.data(), work.valid.data(), nodes, shape.tile + 1);
}

std::int64_t count_valid(const CellShape& shape, const std::vector<std::uint8_t>& valid,
                         bool coarse_only) {
  const std::int64_t side = shape.tile + 1;
  const int step = coarse_only ? 2 : 1;
  int end[3] = {1, 1, 1};
  int begin[3] = {0, 0, 0};
  for (int i = 0; i < shape.rank; ++i) {
    end[2 - i] = shape.open(shape.rank - 1 - i) + 1;
    begin[2 - i] = step;
  }
  std::int64_t count = 0;
  for (int z = begin[0]; z < end[0]; z += step) {
    for (int y = begin[1]; y < end[1]; y += step) {
      const std::uint8_t* row = valid.data() + (z * side + y) * side;
      for (int x = begin[2]; x < end[2]; x += step) count += row[x];
    }
  }
  return count;
}

template struct CellScratch<std::int32_t>;
template struct CellScratch<std::int64_t>;
template void fill_voids(const CellShape&, CellScratch<std::int32_t>&);
template void fill_voids(const CellShape&, CellScratch<std::int64_t>&);

}  // namespace tamis::reduce
