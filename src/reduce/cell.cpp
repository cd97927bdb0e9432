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

namespace {

std::int64_t power(std::int64_t base, int exponent) {
  std::int64_t result = 1;
  for (int k = 0; k < exponent; ++k) result *= base;
  return result;
}

// Rows of a level hold one pad on the left and two on the right of the even points, then the odd.
std::int64_t level_elements(int max_rank, int tile) {
  std::int64_t total = 0;
  for (int stride = 1; stride < tile; stride *= 2) {
    const std::int64_t nodes = tile / stride + 1;
    total += power(nodes, max_rank - 1) * (nodes + 3);
  }
  return total;
}

}  // namespace

template <typename I>
CellWorkspace<I>::CellWorkspace(int max_rank, int tile)
    : input(power(tile + 1, max_rank) + kRowSlack),
      values(power(tile + 1, max_rank) + kRowSlack),
      valid(power(tile + 1, max_rank) + kRowSlack),
      scaled(power(tile + 1, max_rank) + kRowSlack),
      levels(level_elements(max_rank, tile) + 2 * kRowSlack),
      rows(kScratchRows * (tile + 2 * kRowSlack)),
      contexts(tile + 2 * kRowSlack) {}

template class CellWorkspace<std::int32_t>;
template class CellWorkspace<std::int64_t>;

}  // namespace tamis::reduce
