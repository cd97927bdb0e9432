// Encoding and decoding of one grid, given its anchors. The grid reads lattice values from, and
// hands reconstructed ones to, an interface of rows; what the integers mean is not its business.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "reduce/grid.hpp"
#include "tamis/reduce.hpp"

namespace tamis::reduce {

/// Rows of nodes: `count` of them from linear index `first`, `stride` apart. Called from several
/// threads at a time for different rows.
template <typename I>
class LatticeRows {
 public:
  virtual ~LatticeRows() = default;
  /// Lattice values to encode.
  virtual void read(std::int64_t first, std::int64_t stride, int count, I* out) const = 0;
  /// Which nodes have codes (1) and which are masked (0); returns false when all have and `out` was
  /// left alone.
  virtual bool read_valid(std::int64_t first, std::int64_t stride, int count,
                          std::uint8_t* out) const = 0;
  /// What the decoder will see.
  virtual void accept(std::int64_t first, std::int64_t stride, int count, const I* values) = 0;
};

/// Rows of the slowest axis that are needed next; called before the rows are read.
using LoadRows = std::function<void(Grid::Range rows)>;

struct GridEncoding {
  std::int64_t step = 1;
  Mode mode = Mode::kDefault;
  int threads = 0;
  LoadRows load;  // empty when all rows are there already
  std::function<void(double)> progress;
};

/// Encodes all cells. `predictors` has one entry a tile, `anchors` their reconstructed values.
/// Blob 0 of a chunk holds its predictors, blob 1 + s its stream s; `emit` gets them in file order:
/// blob 0 of every chunk, then blob 1 of every chunk, and so on, the last two side by side.
template <typename I>
void encode_grid(
    const Grid& grid, const GridEncoding& how, std::span<const Predictor> predictors,
    std::span<const I> anchors, LatticeRows<I>& rows,
    const std::function<void(std::int64_t chunk, int blob, std::vector<std::byte>)>& emit);

struct GridDecoding {
  std::int64_t step = 1;
  int threads = 0;
  /// Bytes of a blob, verified; called at most once for each.
  std::function<std::span<const std::byte>(std::int64_t chunk, int blob)> blob;
  /// Tiles wanted; empty = all.
  std::vector<bool> wanted;
  /// Skip the finest points of interpolated tiles.
  bool coarse_only = false;
  std::function<void(double)> progress;
};

/// Decodes the wanted tiles (and what they depend on) and hands their rows to `rows`.
template <typename I>
void decode_grid(const Grid& grid, const GridDecoding& how, std::span<const I> anchors,
                 LatticeRows<I>& rows);

/// Scratch shared by the encoder and the decoder.
template <typename I>
bool load_valid(const Grid& grid, const Grid::Tile& tile, int mask, const LatticeRows<I>& rows,
                CellWorkspace<I>& work);
template <typename I>
void emit_tile(const Grid& grid, const Grid::Tile& tile, const CellWorkspace<I>& work,
               LatticeRows<I>& rows);

/// Points of a cell that have codes, by `valid`: all, or those of the coarse levels.
template <typename I>
std::int64_t count_valid(const CellShape& shape, const CellWorkspace<I>& work, bool coarse_only);

/// Rows of the open points of a cell: fn(linear index, index in the natural arrays, count).
template <typename Fn>
void each_open_row(const Grid& grid, const Grid::Tile& tile, int mask, const Fn& fn) {
  const CellShape shape = grid.cell_shape(tile, mask);
  if (shape.open_count() == 0) return;
  int axes[kMaxCellRank] = {};
  int next = 0;
  for (int k = 0; k < grid.active_count(); ++k) {
    if (mask >> k & 1) axes[next++] = k;
  }
  const std::int64_t side = shape.tile + 1;
  const int planes = shape.rank > 2 ? shape.open(0) : 1;
  const int lines = shape.rank > 1 ? shape.open(shape.rank - 2) : 1;
  const int inner = shape.open(shape.rank - 1);
  const std::int64_t inner_stride = grid.axis_stride(axes[shape.rank - 1]);
  for (int z = 1; z <= planes; ++z) {
    for (int y = 1; y <= lines; ++y) {
      std::int64_t linear = tile.origin + inner_stride;
      std::int64_t natural = 1;
      if (shape.rank > 1) {
        linear += y * grid.axis_stride(axes[shape.rank - 2]);
        natural += y * side;
      }
      if (shape.rank > 2) {
        linear += z * grid.axis_stride(axes[0]);
        natural += z * side * side;
      }
      fn(linear, natural, inner);
    }
  }
}

}  // namespace tamis::reduce
