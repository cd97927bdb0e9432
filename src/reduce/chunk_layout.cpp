// Offsets and groups of a chunk's cells.
#include "reduce/chunk_layout.hpp"

#include <algorithm>
#include <tuple>

namespace tamis::reduce {

void ChunkLayout::start(std::int64_t bundles, bool interior) {
  interior_ = interior;
  jobs_.clear();
  for (int s = 0; s < 2; ++s) {
    ends_[s].assign(static_cast<std::size_t>(bundles), 0);
    at_[s] = 0;
  }
  turn_ = 0;
  bundle_ = 0;
}

void ChunkLayout::add(CellJob job, std::vector<std::uint8_t>& valid) {
  const bool lorenzo = job.predictor == Predictor::kLorenzo;
  if (job.masked) {
    give_coarse_codes(job.shape, job.predictor, valid);
    job.coarse = lorenzo ? 0 : count_valid(job.shape, valid, true);
    job.fine = count_valid(job.shape, valid, false) - job.coarse;
  } else {
    job.coarse = lorenzo ? 0 : job.shape.open_count() - job.shape.fine_count();
    job.fine = job.shape.open_count() - job.coarse;
  }
  if (job.bundle != bundle_) turn_ = 0;
  bundle_ = job.bundle;
  job.turn = turn_++;
  const int fine_stream = interior_ ? 1 : 0;
  job.coarse_at = at_[0];
  at_[0] += job.coarse;
  job.fine_at = at_[fine_stream];
  at_[fine_stream] += job.fine;
  jobs_.push_back(job);
}

void ChunkLayout::end_tile(int bundle) {
  for (int s = 0; s < 2; ++s) ends_[s][static_cast<std::size_t>(bundle)] = at_[s];
}

Grid::Range ChunkLayout::bundle(int stream, int index) const {
  const auto i = static_cast<std::size_t>(index);
  return {index == 0 ? 0 : ends_[stream][i - 1], ends_[stream][i]};
}

bool ChunkLayout::before(const CellJob& a, const CellJob& b, bool in_turn) {
  const auto key = [in_turn](const CellJob& j) {
    return std::tuple(in_turn ? j.turn : 0, j.mask, j.predictor, j.masked, j.wanted,
                      j.shape.nodes[0], j.shape.nodes[1], j.shape.nodes[2]);
  };
  return key(a) < key(b);
}

void ChunkLayout::sort(bool in_turn) {
  order_.clear();
  for (const CellJob& job : jobs_) order_.push_back(&job);
  std::stable_sort(order_.begin(), order_.end(), [in_turn](const CellJob* a, const CellJob* b) {
    return before(*a, *b, in_turn);
  });
}

}  // namespace tamis::reduce
