// An open cell of the tile complex: an edge, face or interior whose boundary is already
// reconstructed. Cells of one shape are coded side by side, one in each vector lane, so that no
// step of the hierarchy is too short for the vectors and every tile of the format takes one path.
#pragma once

#include <cstdint>
#include <span>

#include "codec/rans.hpp"
#include "core/array.hpp"
#include "reduce/lattice_math.hpp"

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

/// Most cells that a batch takes.
inline constexpr int kMaxLanes = 16;
/// Elements behind a row that vector loads and stores may touch.
inline constexpr int kRowSlack = 16;

/// A cell of `rank` free axes, fastest last. Local coordinates run from 0 to `tile`; `nodes` of
/// them exist along each axis (tile + 1 when the far boundary exists). The open points lie between
/// the boundaries, or behind the near one where there is no far one.
struct CellShape {
  int rank = 0;
  int tile = 0;                  // a power of two
  int nodes[kMaxCellRank] = {};  // 1 .. tile + 1
  /// Axis 0 ends in a far boundary although it is shorter than a tile: a slice for trials.
  bool slice = false;
  bool has_far(int axis) const { return nodes[axis] == tile + 1 || (slice && axis == 0); }
  int open(int axis) const { return nodes[axis] - (has_far(axis) ? 2 : 1); }
  /// Nodes of plane, line and row, 1 for axes that the cell does not have.
  void aligned_nodes(int out[3]) const {
    for (int i = 0; i < 3; ++i) out[i] = i < 3 - rank ? 1 : nodes[i - (3 - rank)];
  }
  std::int64_t open_count() const;
  /// Open points with at least one odd coordinate; the others are the coarse ones.
  std::int64_t fine_count() const;
};

/// Nodes of a natural array: (tile + 1)^rank.
constexpr std::int64_t natural_nodes(int rank, int tile) {
  std::int64_t count = 1;
  for (int k = 0; k < rank; ++k) count *= tile + 1;
  return count;
}

/// Lanes of this machine's vectors, at most kMaxLanes.
template <typename I>
int cell_lanes();

/// Cells of one shape and rule that are coded side by side, each in a lane of its own. Element
/// (node, lane) of a natural array of (tile + 1)^rank nodes in C order is at node * lanes() + lane.
/// Lanes without a cell hold anything.
template <typename I>
class CellBatch {
 public:
  CellBatch(int max_rank, int tile);

  int lanes() const { return lanes_; }

  /// In: the boundary, and for encoding the lattice values of the open points. Out: the
  /// reconstruction.
  I* values() const { return values_.data(); }
  /// 1 where a code exists; read only when masked.
  std::uint8_t* valid() const { return valid_.data(); }

  // Private to the kernels.
  I* scaled() const { return scaled_.data(); }          // natural
  I* marks() const { return marks_.data(); }            // natural
  I* row_codes() const { return row_codes_.data(); }    // of a run of points
  I* row_values() const { return row_values_.data(); }  // same
  std::uint8_t* row_contexts() const { return row_contexts_.data(); }

 private:
  int lanes_;
  Array<I> values_;
  Array<std::uint8_t> valid_;
  Array<I> scaled_;
  Array<I> marks_;
  Array<I> row_codes_;
  Array<I> row_values_;
  Array<std::uint8_t> row_contexts_;
};

/// Contexts: activity class, plus 16 for each level from the finest up to the fourth.
inline constexpr int kContextCount = 4 * kActivityClasses;
static_assert(kContextCount == codec::kRansContexts);

/// Where the codes of a lane's cell go. The coarse points of an interpolated cell precede the fine
/// ones; a Lorenzo cell puts all of its codes in the fine part. Not one element behind a part's end
/// is written.
template <typename I>
struct CodeSink {
  I* coarse = nullptr;
  I* fine = nullptr;
  std::uint8_t* coarse_context = nullptr;
  std::uint8_t* fine_context = nullptr;
};

/// Where they come from: a buffer that was decoded before (with kRowSlack readable elements behind
/// it), or an entropy decoder that needs the context of each code.
template <typename I>
struct CodeSource {
  const I* decoded = nullptr;
  codec::RansReader* reader = nullptr;  // used when `decoded` is null
};
template <typename I>
struct CellSource {
  CodeSource<I> coarse;
  CodeSource<I> fine;
};

struct CodingOptions {
  bool masked = false;       // `valid` is set; points with 0 get no code and take what is predicted
  bool contexts = false;     // wanted by the encoder
  bool coarse_only = false;  // of the decoder: leave the fine points, and Lorenzo cells, alone
};

/// Predicts and quantises the open points of one cell a lane, as many as there are sinks, whose
/// pointers are moved behind the last code.
template <typename I>
void encode_cells(const CellBatch<I>& batch, const CellShape& shape, const CellRule& rule,
                  const CodingOptions& options, std::span<CodeSink<I>> sinks);

/// The inverse; moves the pointers of the sources likewise. All coarse sources are of one kind, and
/// so are all fine ones.
template <typename I>
void decode_cells(const CellBatch<I>& batch, const CellShape& shape, const CellRule& rule,
                  const CodingOptions& options, std::span<CellSource<I>> sources);

/// lanes_out[i * lanes + l] = rows[l][i] for i < count and l < used; may read three elements behind
/// a row.
template <typename I>
void rows_to_lanes(const I* const* rows, int used, int count, I* lanes_out);
/// The inverse. Each row has room for three elements more, which may be overwritten.
template <typename I>
void lanes_to_rows(const I* lanes, int used, int count, I* const* rows);

}  // namespace tamis::reduce
