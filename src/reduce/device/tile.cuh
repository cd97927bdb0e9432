// Index arithmetic of tiles, cells and planes. Here axes of a tile are numbered from the fastest:
// 0 is x, the last active axis.
#pragma once

#include "gpu/device/basics.cuh"
#include "reduce/device/grid_args.hpp"

namespace tamis::device {

/// Active axes, and the side of a tile, of this compilation.
inline constexpr int kAxes = TAMIS_AXES;
inline constexpr int kSide = kAxes == 1 ? 4096 : kAxes == 2 ? 64 : 16;
inline constexpr int kLevels = kAxes == 1 ? 12 : kAxes == 2 ? 6 : 4;  // log2 of the side
inline constexpr int kFullMask = (1 << kAxes) - 1;

struct Tile {
  i64 index;
  i64 origin;         // linear index of its first node
  i64 batch;          // linear index among the batch axes
  i64 at[kAxes];      // coordinates in the tile grid
  int nodes[kAxes];   // along each axis, far boundary included
  i64 stride[kAxes];  // of nodes
};

TAMIS_DEVICE TileEntry make_entry(const GridArgs& grid, i64 index) {
  TileEntry entry = {};
  i64 batch = 0;
  u32 rest = static_cast<u32>(index);  // hosts refuse grids of 2^31 tiles and more
#pragma unroll
  for (int d = kMostAxes - 1; d >= 0; --d) {
    if (d >= grid.rank) continue;
    const u32 count = static_cast<u32>(grid.tiles[d]);
    const u32 quotient = d == 0 ? 0 : rest / count;
    const i64 at = rest - quotient * count;
    rest = quotient;
    bool active = false;
#pragma unroll
    for (int k = 0; k < kAxes; ++k) {
      if (grid.active[k] != d) continue;
      active = true;
      const int axis = kAxes - 1 - k;
      const i64 begin = at * kSide;
      entry.at[axis] = static_cast<int>(at);
      entry.nodes[axis] = static_cast<short>(min_of<i64>(kSide + 1, grid.extents[d] - begin));
      entry.origin += begin * grid.strides[d];
    }
    if (active) continue;
    entry.origin += at * grid.strides[d];
    batch += at * grid.batch_stride[d];
  }
  entry.batch = static_cast<int>(batch);  // fewer than tiles
  return entry;
}

TAMIS_DEVICE Tile tile_at(const GridArgs& grid, i64 index) {
  const TileEntry entry = grid.entries[index];
  Tile tile;
  tile.index = index;
  tile.origin = entry.origin;
  tile.batch = entry.batch;
#pragma unroll
  for (int axis = 0; axis < kAxes; ++axis) {
    tile.at[axis] = entry.at[axis];
    tile.nodes[axis] = entry.nodes[axis];
    tile.stride[axis] = grid.strides[grid.active[kAxes - 1 - axis]];
  }
  return tile;
}

/// Nodes between the boundaries along an axis.
TAMIS_DEVICE int open_nodes(int nodes) { return nodes == kSide + 1 ? kSide - 1 : nodes - 1; }
/// Those that the tile owns: the near boundary and the open ones.
TAMIS_DEVICE int owned_nodes(int nodes) { return min_of(nodes, kSide); }

/// Open points of the cell whose free axes are the bits of `mask` (bit 0 = slowest axis, as in
/// the format).
TAMIS_DEVICE int open_count(const Tile& tile, int mask) {
  int count = 1;
#pragma unroll
  for (int axis = 0; axis < kAxes; ++axis) {
    if ((mask >> (kAxes - 1 - axis) & 1) != 0) count *= open_nodes(tile.nodes[axis]);
  }
  return count;
}
/// Those whose coordinates along the free axes are all even.
TAMIS_DEVICE int coarse_count(const Tile& tile, int mask) {
  int count = 1;
#pragma unroll
  for (int axis = 0; axis < kAxes; ++axis) {
    if ((mask >> (kAxes - 1 - axis) & 1) != 0) count *= open_nodes(tile.nodes[axis]) / 2;
  }
  return count;
}

/// Element of a node among all planes: the node `offset` (from the tile's origin; that along the
/// plane's own axis is 0 or kSide) in the plane of active axis `axis`, 0 = x.
TAMIS_DEVICE i64 plane_element(const GridArgs& grid, const Tile& tile, int axis,
                               const int offset[kAxes]) {
  const int k = kAxes - 1 - axis;
  i64 element = grid.plane_at[k] + tile.batch * grid.plane_batch[k] +
                (tile.at[axis] + (offset[axis] != 0 ? 1 : 0)) * grid.plane_tile[k];
#pragma unroll
  for (int other = 0; other < kAxes; ++other) {
    if (other == axis) continue;
    element += (tile.at[other] * kSide + offset[other]) * grid.plane_stride[k][kAxes - 1 - other];
  }
  return element;
}

}  // namespace tamis::device
