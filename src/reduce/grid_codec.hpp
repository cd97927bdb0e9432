// Encoding and decoding of one grid, given its anchors. The grid reads lattice values from, and
// hands reconstructed ones to, an interface of rows; what the integers mean is not its business.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "reduce/grid.hpp"
#include "tamis/reduce.hpp"

namespace tamis::reduce {

/// A box of nodes in the field and its place in the natural arrays of a workspace; axes plane, line
/// and row, the last of them the fastest.
struct NodeBlock {
  std::int64_t first = 0;       // linear index in the field
  std::int64_t stride[3] = {};  // in the field
  int count[3] = {1, 1, 1};
  std::int64_t natural = 0;             // index in the natural arrays
  std::int64_t natural_stride[2] = {};  // of plane and line; rows are contiguous

  /// fn(linear index, natural index) for each row.
  template <typename Fn>
  void each_row(const Fn& fn) const {
    for (int z = 0; z < count[0]; ++z) {
      for (int y = 0; y < count[1]; ++y) {
        fn(first + z * stride[0] + y * stride[1],
           natural + z * natural_stride[0] + y * natural_stride[1]);
      }
    }
  }
};

/// Open points of a cell.
NodeBlock open_block(const Grid& grid, const Grid::Tile& tile, int mask);
/// All nodes that a tile owns, its low faces included.
NodeBlock owned_block(const Grid& grid, const Grid::Tile& tile);
/// The same with its far faces.
NodeBlock closed_block(const Grid& grid, const Grid::Tile& tile);

/// Blocks of nodes, called from several threads at a time for different blocks. `out` and `values`
/// are natural arrays.
template <typename I>
class LatticeRows {
 public:
  virtual ~LatticeRows() = default;
  /// Lattice values to encode.
  virtual void read(const NodeBlock& block, I* out) const = 0;
  /// Which nodes have codes (1) and which are masked (0); returns false when all have and `out` was
  /// left alone.
  virtual bool read_valid(const NodeBlock& block, std::uint8_t* out) const = 0;
  /// The block will be needed soon.
  virtual void prefetch(const NodeBlock&) const {}
  /// What the decoder will see.
  virtual void accept(const NodeBlock& block, const I* values) = 0;
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

/// fn(part) for consecutive parts of a range of chunks: all at once, or, when progress is to be
/// told, in some tens of parts that keep all threads busy.
template <typename Fn>
void each_part(Grid::Range chunks, int threads, bool tell_progress, const Fn& fn) {
  constexpr std::int64_t kParts = 40;
  const std::int64_t step =
      tell_progress ? std::max<std::int64_t>(8 * threads, (chunks.size() + kParts - 1) / kParts)
                    : std::max<std::int64_t>(1, chunks.size());
  for (std::int64_t at = chunks.begin; at < chunks.end; at += step) {
    fn(Grid::Range{at, std::min(chunks.end, at + step)});
  }
}

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

/// Points whose coordinates are all multiples of this carry codes even where they are masked,
/// unless the tile is a Lorenzo one: a smooth continuation of the valid points is cheap there, and
/// it is what the points beside a mask are predicted from.
inline constexpr int kCodedVoidStride = 4;
void give_coarse_codes(const CellShape& shape, Predictor predictor,
                       std::vector<std::uint8_t>& valid);

/// Replaces masked values of `input` by a smooth continuation of the valid ones and the boundary,
/// whose `valid` it sets.
template <typename I>
void fill_voids(const CellShape& shape, CellWorkspace<I>& work);

/// Open points of a cell that have codes: all, or those of the coarse levels.
template <typename I>
std::int64_t count_valid(const CellShape& shape, const CellWorkspace<I>& work, bool coarse_only);

}  // namespace tamis::reduce
