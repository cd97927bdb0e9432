// An open cell of the tile complex: an edge, face or interior whose boundary is already
// reconstructed. This header says what a cell looks like and in which order its points are coded;
// cell_kernels.cpp predicts, quantises and reconstructs them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "codec/rans.hpp"
#include "reduce/lattice_math.hpp"
#include "reduce/void_fill.hpp"

namespace tamis::reduce {

inline constexpr int kMaxCellRank = 3;

/// How a tile's cells are predicted; one byte per tile in the stream.
enum class Predictor : std::uint8_t {
  kLinear = 0,          // along the last odd axis
  kLinearAveraged = 1,  // mean over the odd axes
  kCubic = 2,
  kCubicAveraged = 3,
  kLorenzo = 4,
};
inline constexpr int kPredictorCount = 5;
const char* predictor_name(Predictor predictor) noexcept;

/// What all cells of a tile share.
struct CellRule {
  Predictor predictor = Predictor::kCubic;
  std::int64_t step = 1;  // odd; 32-bit cells keep it below 256
  /// Axes from first to last predicted; the last odd axis of a point is the one it is predicted
  /// along (or weighs double in a mean over three).
  std::uint8_t axis_order[kMaxCellRank] = {0, 1, 2};
};

/// Vector loads and stores may touch this many elements behind a row.
inline constexpr int kRowSlack = 16;
inline constexpr int kScratchRows = 10;

/// A cell of `rank` free axes, fastest last. Local coordinates run from 0 to `tile`; `nodes` of
/// them exist along each axis (tile + 1 when the far boundary exists). The open points have all
/// coordinates in [1, min(nodes, tile) - 1].
struct CellShape {
  int rank = 0;
  int tile = 0;                  // a power of two
  int nodes[kMaxCellRank] = {};  // 1 .. tile + 1
  bool has_far(int axis) const { return nodes[axis] == tile + 1; }
  int open(int axis) const { return (nodes[axis] < tile ? nodes[axis] : tile) - 1; }
  /// Nodes of plane, line and row, 1 for axes that the cell does not have.
  void aligned_nodes(int out[3]) const {
    for (int i = 0; i < 3; ++i) out[i] = i < 3 - rank ? 1 : nodes[i - (3 - rank)];
  }
  std::int64_t open_count() const;
  /// Open points with at least one odd coordinate; the others are the coarse ones.
  std::int64_t fine_count() const;
};

/// Scratch of one worker: natural arrays of (tile + 1)^rank values in C order, and the arrays of
/// the levels.
template <typename I>
class CellWorkspace {
 public:
  CellWorkspace(int max_rank, int tile);

  std::vector<I> input;             // lattice values of the open points (encoder)
  std::vector<I> values;            // reconstruction; the caller sets the boundary
  std::vector<std::uint8_t> valid;  // 1 where a code exists; read only when masked
  VoidFiller filler;
  std::vector<I> scaled;  // this and the rest are private to the kernels
  std::vector<I> levels;
  std::vector<I> rows;
  std::vector<std::uint8_t> contexts;
};

/// Where codes go or come from. The coarse points of an interpolated cell precede the fine ones;
/// a Lorenzo cell puts all of its codes in the fine part.
template <typename I>
struct CodeSink {
  I* coarse = nullptr;
  I* fine = nullptr;
  std::uint8_t* coarse_context = nullptr;  // null when contexts are not wanted
  std::uint8_t* fine_context = nullptr;
};

/// Contexts: activity class, plus 16 for each level from the finest up to the fourth.
inline constexpr int kContextCount = 4 * kActivityClasses;
static_assert(kContextCount == codec::kRansContexts);

/// Where the kernels get codes from: a buffer that was decoded before, or an entropy decoder that
/// needs the context of each code.
template <typename I>
struct CodeSource {
  const I* decoded = nullptr;
  codec::RansReader* reader = nullptr;  // used when `decoded` is null
};

/// Predicts and quantises the open points of a cell: fills `values` there, writes codes to the sink
/// and moves its pointers, which need kRowSlack elements of room behind the last code. `masked`
/// says that `valid` is set and that points with 0 get no code (they take the predicted value).
template <typename I>
void encode_cell(CellWorkspace<I>& work, const CellShape& shape, const CellRule& rule, bool masked,
                 CodeSink<I>& sink);

/// The inverse. With `coarse_only` the fine points stay untouched and `fine` is not read; a Lorenzo
/// cell has no coarse points and is then left alone.
template <typename I>
void decode_cell(CellWorkspace<I>& work, const CellShape& shape, const CellRule& rule, bool masked,
                 bool coarse_only, CodeSource<I>& coarse, CodeSource<I>& fine);

}  // namespace tamis::reduce
