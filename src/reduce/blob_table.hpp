// Where the blobs of a grid lie in file order: blob 0 of every chunk, blob 1 of every chunk, and so
// on, with the last two (coarse and fine points of the interiors) side by side.
#pragma once

#include <cstdint>

#include "reduce/grid.hpp"

namespace tamis::reduce {

class BlobTable {
 public:
  explicit BlobTable(const Grid& grid)
      : chunks_(static_cast<std::int64_t>(grid.chunks().size())), streams_(grid.stream_count()) {}

  std::int64_t count() const { return chunks_ * (streams_ + 1); }
  std::int64_t slot(std::int64_t chunk, int blob) const { return chunk * (streams_ + 1) + blob; }

  /// fn(slot) in file order.
  template <typename Fn>
  void each(const Fn& fn) const {
    for (int blob = 0; blob < streams_; ++blob) {
      for (std::int64_t c = 0; c < chunks_; ++c) {
        fn(slot(c, blob));
        if (blob == streams_ - 1) fn(slot(c, streams_));
      }
    }
  }

 private:
  std::int64_t chunks_;
  int streams_;
};

}  // namespace tamis::reduce
