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
#include "reduce/void_fill.hpp"
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

/// One piece of a row in each of several blocks of the same size.
struct RowRun {
  std::span<const NodeBlock> blocks;
  std::int64_t offset = 0;  // of its first node from a block's, in linear indices
  std::int64_t stride = 1;
  int count = 0;

  /// Linear index of the first node in block b.
  std::int64_t first(std::size_t b) const { return blocks[b].first + offset; }
};

/// Most nodes of a run, and the distance of its rows in memory, with room for vectors behind each.
inline constexpr int kRunNodes = 64;
inline constexpr int kRunPitch = kRunNodes + kRowSlack;

/// The rows of a run in memory.
template <typename I>
class RunBuffer {
 public:
  RunBuffer() : data_(static_cast<std::size_t>(kMaxLanes * kRunPitch)) {
    for (int l = 0; l < kMaxLanes; ++l) rows_[l] = data_.data() + l * kRunPitch;
  }
  I* data() { return data_.data(); }
  I* const* rows() const { return rows_; }

 private:
  std::vector<I> data_;
  I* rows_[kMaxLanes];
};

/// fn(run, natural index) for all nodes of equal blocks, piece by piece.
template <typename Fn>
void each_run(std::span<const NodeBlock> blocks, const Fn& fn) {
  const NodeBlock& block = blocks[0];
  for (int z = 0; z < block.count[0]; ++z) {
    for (int y = 0; y < block.count[1]; ++y) {
      const std::int64_t row =
          block.natural + z * block.natural_stride[0] + y * block.natural_stride[1];
      for (int x = 0; x < block.count[2]; x += kRunNodes) {
        const std::int64_t offset = z * block.stride[0] + y * block.stride[1] + x * block.stride[2];
        fn(RowRun{blocks, offset, block.stride[2], std::min(kRunNodes, block.count[2] - x)},
           row + x);
      }
    }
  }
}

/// Copies a block of a natural array into one lane of a batch's.
template <typename T>
void put_lane(const NodeBlock& block, const std::vector<T>& from, int lanes, int lane, T* to) {
  block.each_row([&](std::int64_t, std::int64_t natural) {
    for (int i = 0; i < block.count[2]; ++i, ++natural) {
      to[natural * lanes + lane] = from[static_cast<std::size_t>(natural)];
    }
  });
}

/// Nodes of a field, called from several threads at a time for different ones. `out` and `values`
/// of blocks are natural arrays; those of runs have a row of kRunPitch elements for each block.
template <typename I>
class LatticeRows {
 public:
  virtual ~LatticeRows() = default;
  /// Lattice values to encode.
  virtual void read(const NodeBlock& block, I* out) const = 0;
  virtual void read_run(const RowRun& run, I* out) const = 0;
  /// Which nodes have codes (1) and which are masked (0); returns false when all have and `out` was
  /// left alone.
  virtual bool read_valid(const NodeBlock& block, std::uint8_t* out) const = 0;
  /// What the decoder will see.
  virtual void accept_run(const RowRun& run, const I* values) = 0;
};

/// Hands the blocks in the lanes of a batch to `rows`.
template <typename I>
void hand_out(std::span<const NodeBlock> blocks, const CellBatch<I>& batch, RunBuffer<I>& buffer,
              LatticeRows<I>& rows) {
  each_run(blocks, [&](const RowRun& run, std::int64_t natural) {
    lanes_to_rows<I>(batch.values() + natural * batch.lanes(), static_cast<int>(blocks.size()),
                     run.count, buffer.rows());
    rows.accept_run(run, buffer.data());
  });
}

/// Natural arrays of one cell, and what fills its voids.
template <typename I>
struct CellScratch {
  CellScratch(int max_rank, int tile);

  std::vector<I> input;             // lattice values
  std::vector<I> values;            // boundary
  std::vector<std::uint8_t> valid;  // 1 where a code exists
  VoidFiller filler;
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
void fill_voids(const CellShape& shape, CellScratch<I>& scratch);

/// Open points of a cell that have codes: all, or those of the coarse levels.
std::int64_t count_valid(const CellShape& shape, const std::vector<std::uint8_t>& valid,
                         bool coarse_only);

}  // namespace tamis::reduce
