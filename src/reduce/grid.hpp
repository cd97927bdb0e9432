// How a field is cut up: tiles of the active axes, the cells of a tile, and the units of the stream
// (bundle = 8 tiles that share one entropy stream, chunk = up to 128 tiles that share tables and a
// checksum, layer = whole tile rows of the slowest axis that a streaming encoder holds at a time).
// One node per tile is an anchor; the anchors form the next coarser grid.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/array.hpp"
#include "reduce/cell.hpp"
#include "tamis/tensor.hpp"

namespace tamis::reduce {

inline constexpr int kBundleTiles = 8;
inline constexpr int kChunkTiles = 128;
inline constexpr int kLayerTiles = 64;
inline constexpr int kMaxStreams = kMaxCellRank + 1;

/// Side of a tile for 1, 2 and 3 active axes: 4096 nodes in each case.
int default_tile(int active_axes);

/// What the header stores about the cut of the finest grid.
struct GridPlan {
  std::uint32_t active_mask = 0;                             // bit d = axis d is predicted along
  std::array<std::uint8_t, kMaxCellRank> order = {0, 1, 2};  // of the active axes, last = preferred
  bool operator==(const GridPlan&) const = default;
};

class Grid {
 public:
  /// Axes that are not active are batch axes: tiles are one node thick there.
  Grid(const Extents& extents, const GridPlan& plan);

  const Extents& extents() const { return extents_; }
  const Extents& tile_grid() const { return tile_grid_; }
  const GridPlan& plan() const { return plan_; }
  int tile() const { return tile_; }
  int active_count() const { return active_count_; }
  int active_axis(int k) const { return active_[k]; }
  std::int64_t tile_count() const { return tile_count_; }
  std::int64_t node_count() const { return node_count_; }
  /// Linear stride of an active axis.
  std::int64_t axis_stride(int k) const { return strides_[active_[k]]; }

  /// Streams of a chunk: one for each cell rank below the full one, then the coarse and the fine
  /// points of interiors.
  int stream_count() const { return active_count_ + 1; }

  struct Tile {
    std::int64_t index = 0;
    std::int64_t origin = 0;                    // linear index of its anchor
    int nodes[kMaxCellRank] = {};               // along the active axes, far boundary included
    std::int64_t neighbour[kMaxCellRank] = {};  // index step to the next tile, 0 when there is none
  };
  Tile tile_at(std::int64_t index) const;
  /// Coordinates of a tile in the tile grid.
  Extents tile_coordinates(std::int64_t index) const;

  /// The cell of a tile whose free active axes are the bits of `mask` (bit k = active axis k).
  CellShape cell_shape(const Tile& tile, int mask) const;
  CellRule cell_rule(Predictor predictor, std::int64_t step, int mask) const;
  int full_mask() const { return (1 << active_count_) - 1; }

  /// Tiles whose cells bound a cell of this tile: itself and its upper neighbours.
  template <typename Fn>
  void each_upper_neighbour(const Tile& tile, const Fn& fn) const {
    for (int far = 0; far <= full_mask(); ++far) {
      std::int64_t index = tile.index;
      bool exists = true;
      for (int k = 0; k < active_count_; ++k) {
        if ((far >> k & 1) == 0) continue;
        exists = exists && tile.neighbour[k] != 0;
        index += tile.neighbour[k];
      }
      if (exists) fn(index);
    }
  }

  struct Range {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::int64_t size() const { return end - begin; }
  };
  /// Chunks of tiles in raster order; they never straddle layers.
  const std::vector<Range>& chunks() const { return chunks_; }
  /// What chunks().size() would be, without building a grid of untrusted extents.
  static std::int64_t count_chunks(const Extents& extents, const GridPlan& plan);
  static std::int64_t bundles_in(const Range& chunk) {
    return (chunk.size() + kBundleTiles - 1) / kBundleTiles;
  }
  struct Layer {
    Range rows;    // of the slowest axis, in nodes
    Range chunks;  // indices
  };
  const std::vector<Layer>& layers() const { return layers_; }

 private:
  void cut_chunks();

  Extents extents_;
  GridPlan plan_;
  Extents strides_;
  Extents tile_grid_;
  Extents tile_strides_;
  int tile_ = 1;
  int active_count_ = 0;
  int active_[kMaxCellRank] = {};
  std::int64_t tile_count_ = 0;
  std::int64_t node_count_ = 0;
  std::vector<Range> chunks_;
  std::vector<Layer> layers_;
};

/// Values of all cells below the full rank, per tile: anchor, edges, faces; each cell a dense array
/// of (tile - 1)^rank, less where the field is thinner than a tile. The boundary of every cell is
/// read from here.
template <typename I>
class Skeleton {
 public:
  explicit Skeleton(const Grid& grid);

  I* cell(std::int64_t tile, int mask) { return values_.data() + tile * per_tile_ + offset_[mask]; }
  const I* cell(std::int64_t tile, int mask) const {
    return values_.data() + tile * per_tile_ + offset_[mask];
  }

  /// Writes the boundaries of cells of one shape into natural arrays of (tile side + 1)^rank nodes,
  /// cell l at [node * lanes + l].
  void read_boundary(std::span<const Grid::Tile> tiles, int mask, I* values, int lanes) const;
  /// Stores their open points (not of full cells).
  void store(std::span<const Grid::Tile> tiles, int mask, const I* values, int lanes);

  std::int64_t size_bytes() const { return values_.size() * static_cast<std::int64_t>(sizeof(I)); }

 private:
  /// Most open points along an active axis.
  int span(int k) const;

  const Grid* grid_;
  std::int64_t per_tile_ = 0;
  std::array<std::int64_t, 8> offset_{};
  Array<I> values_;
};

/// The grids from the field to the coarsest: each one's nodes are the anchors of the one before.
/// Ends when the active axes have one node each.
std::vector<Grid> coarser_grids(const Grid& finest);

}  // namespace tamis::reduce
