// Blocks of nodes of a tile, and counts of valid ones.
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

template <typename I>
std::int64_t count_valid(const CellShape& shape, const CellWorkspace<I>& work, bool coarse_only) {
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
      const std::uint8_t* row = work.valid.data() + (z * side + y) * side;
      for (int x = begin[2]; x < end[2]; x += step) count += row[x];
    }
  }
  return count;
}

template std::int64_t count_valid(const CellShape&, const CellWorkspace<std::int32_t>&, bool);
template std::int64_t count_valid(const CellShape&, const CellWorkspace<std::int64_t>&, bool);

}  // namespace tamis::reduce
