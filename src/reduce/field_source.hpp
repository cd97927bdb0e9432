// A field to encode, in memory or read row by row: pieces for scans, windows for the encoder.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "reduce/field_scan.hpp"
#include "reduce/grid.hpp"
#include "reduce/header.hpp"
#include "tamis/reduce.hpp"

namespace tamis::reduce {

template <typename T>
class FieldSource {
 public:
  /// The whole field lies at `data`.
  FieldSource(const T* data, const Extents& shape)
      : folded_(fold_extents(shape)), whole_(data), count_(shape.element_count()) {}
  /// Rows of shape[0] come from `read`.
  FieldSource(const ReadRows& read, const Extents& shape)
      : folded_(fold_extents(shape)), read_(read), count_(shape.element_count()) {
    user_rows_ = shape[0];
    user_row_ = user_rows_ > 0 ? count_ / user_rows_ : 0;
  }

  bool in_memory() const { return whole_ != nullptr; }
  const Extents& folded() const { return folded_; }
  std::int64_t count() const { return count_; }

  /// Makes rows [begin, end) of the folded slowest axis available.
  void load(Grid::Range rows) {
    if (in_memory() || count_ == 0) return;
    const std::int64_t row = count_ / folded_[0];
    load_elements(rows.begin * row, rows.end * row);
  }
  const T* data() const { return in_memory() ? whole_ : buffer_.data(); }
  std::int64_t begin() const { return in_memory() ? 0 : begin_; }

  EachPiece<T> pieces() {
    return [this](const std::function<bool(std::int64_t, std::int64_t, const T*)>& fn) {
      if (count_ == 0) return;
      if (in_memory()) {
        fn(0, count_, whole_);
        return;
      }
      const std::int64_t step = std::max<std::int64_t>(1, kPieceElements / user_row_);
      for (std::int64_t r = 0; r < user_rows_; r += step) {
        const std::int64_t end = std::min(user_rows_, r + step);
        load_elements(r * user_row_, end * user_row_);
        if (!fn(begin_, end_ - begin_, buffer_.data())) return;
      }
    };
  }

 private:
  static constexpr std::int64_t kPieceElements = std::int64_t{1} << 20;

  void load_elements(std::int64_t begin, std::int64_t end) {
    const std::int64_t first = begin / user_row_;
    const std::int64_t last = (end + user_row_ - 1) / user_row_;
    if (first * user_row_ == begin_ && last * user_row_ == end_) return;
    begin_ = first * user_row_;
    end_ = last * user_row_;
    if (static_cast<std::int64_t>(buffer_.size()) < end_ - begin_) {
      buffer_.resize(static_cast<std::size_t>(end_ - begin_));
    }
    read_(first, last - first, buffer_.data());
  }

  Extents folded_;
  const T* whole_ = nullptr;
  ReadRows read_;
  std::int64_t count_ = 0;
  std::int64_t user_rows_ = 0;
  std::int64_t user_row_ = 0;
  std::vector<T> buffer_;
  std::int64_t begin_ = 0;
  std::int64_t end_ = 0;
};

}  // namespace tamis::reduce
