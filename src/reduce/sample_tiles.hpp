// Which tiles of a field plans are judged by: a few, scattered over windows of whole rows, whole
// tiles or the first quarter of them. The same on every backend.
#pragma once

#include <cstdint>
#include <vector>

#include "reduce/grid.hpp"
#include "tamis/reduce.hpp"

namespace tamis::reduce {

/// Preferred axis `last`, the others before it from the fastest to the slowest.
GridPlan plan_with_last(std::uint32_t active_mask, int last);

struct SampleTile {
  std::size_t window;
  Grid::Tile tile;  // of the window, taken as a field of its own
};

/// Sample tiles of the windows, cut along some axes; the order of the axes changes no node.
struct SampleTiles {
  std::vector<Grid> grids;  // of each window
  std::vector<SampleTile> tiles;
  double anchors = 0;  // share of the nodes
};

/// Rows of the slowest axis that samples are taken from: up to three windows, so that a streaming
/// source can deliver them.
std::vector<Grid::Range> sample_rows(const Extents& folded);

class SamplePlan {
 public:
  /// For a field of `count` nodes, of which only the windows can be had.
  SamplePlan(std::vector<Extents> windows, std::int64_t count, Mode mode);

  const std::vector<Extents>& windows() const { return windows_; }
  /// Tiles are cut to a quarter along the slowest axis.
  bool sliced() const { return !whole_; }
  SampleTiles tiles(std::uint32_t active_mask) const;

 private:
  std::vector<Extents> windows_;
  bool whole_;
  std::int64_t wanted_;
};

/// Most nodes of a slice along the slowest axis, its far boundary included.
constexpr int slice_nodes(int tile) { return tile / 4 + 1; }

}  // namespace tamis::reduce
