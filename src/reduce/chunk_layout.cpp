// Offsets and groups of a chunk's cells.
#include "reduce/chunk_layout.hpp"

#include <algorithm>

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

void ChunkLayout::sort(bool in_turn) {
  constexpr int kNodeBits = 13;  // up to 4097
  order_.clear();
  for (const CellJob& job : jobs_) {
    std::uint64_t key = in_turn ? static_cast<std::uint64_t>(job.turn) : 0;
    key = key << 3 | static_cast<std::uint64_t>(job.mask);
    key = key << 3 | static_cast<std::uint64_t>(job.predictor);
    key = key << 2 | static_cast<std::uint64_t>(job.masked) << 1 |
          static_cast<std::uint64_t>(job.wanted);
    for (const int nodes : job.shape.nodes) {
      key = key << kNodeBits | static_cast<std::uint64_t>(nodes);
    }
    order_.push_back({key, &job});
  }
  const auto before = [](const Sorted& a, const Sorted& b) { return a.key < b.key; };
  if (!std::is_sorted(order_.begin(), order_.end(), before)) {
    std::stable_sort(order_.begin(), order_.end(), before);
  }
}

}  // namespace tamis::reduce
