// Sizes of cells and of their scratch space.
#include "reduce/cell.hpp"

namespace tamis::reduce {

const char* predictor_name(Predictor predictor) noexcept {
  switch (predictor) {
    case Predictor::kLinear:
      return "linear";
    case Predictor::kLinearAveraged:
      return "linear-averaged";
    case Predictor::kCubic:
      return "cubic";
    case Predictor::kCubicAveraged:
      return "cubic-averaged";
    case Predictor::kLorenzo:
      return "lorenzo";
  }
  return "unknown";
}

std::int64_t CellShape::open_count() const {
  std::int64_t count = 1;
  for (int k = 0; k < rank; ++k) count *= open(k) > 0 ? open(k) : 0;
  return count;
}

std::int64_t CellShape::fine_count() const {
  std::int64_t coarse = 1;
  for (int k = 0; k < rank; ++k) coarse *= open(k) > 0 ? open(k) / 2 : 0;
  return open_count() - coarse;
}

// A run has at most as many points as a row, and four more are read behind it.
template <typename I>
CellBatch<I>::CellBatch(int max_rank, int tile)
    : lanes_(cell_lanes<I>()),
      values_(natural_nodes(max_rank, tile) * lanes_),
      valid_(natural_nodes(max_rank, tile) * lanes_),
      scaled_(natural_nodes(max_rank, tile) * lanes_),
      marks_(natural_nodes(max_rank, tile) * lanes_),
      row_codes_(std::int64_t{tile + kRowSlack} * lanes_),
      row_values_(std::int64_t{tile + kRowSlack} * lanes_),
      row_contexts_(std::int64_t{tile + kRowSlack} * lanes_) {}

template class CellBatch<std::int32_t>;
template class CellBatch<std::int64_t>;

}  // namespace tamis::reduce
