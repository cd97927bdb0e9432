// One bit per point of a field, in C order.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace tamis::reduce {

class BitMap {
 public:
  explicit BitMap(std::int64_t count = 0)
      : count_(count), words_(static_cast<std::size_t>((count + 63) / 64)) {}

  std::int64_t count() const { return count_; }
  bool get(std::int64_t i) const {
    return words_[static_cast<std::size_t>(i >> 6)] >> (i & 63) & 1U;
  }
  void set(std::int64_t i) {
    words_[static_cast<std::size_t>(i >> 6)] |= std::uint64_t{1} << (i & 63);
  }
  std::vector<std::uint64_t>& words() { return words_; }
  const std::vector<std::uint64_t>& words() const { return words_; }

  std::int64_t population() const {
    std::int64_t n = 0;
    for (const std::uint64_t w : words_) n += std::popcount(w);
    return n;
  }
  void merge(const BitMap& other) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
  }

  /// out[i] = 1 where the bit is clear; returns false, leaving `out` alone, when all are.
  bool read_clear(std::int64_t first, std::int64_t stride, int count, std::uint8_t* out) const {
    bool any = false;
    if (stride == 1) {
      const std::int64_t last_word = (first + count - 1) >> 6;
      for (std::int64_t w = first >> 6; w <= last_word && !any; ++w) {
        any = words_[static_cast<std::size_t>(w)] != 0;
      }
    } else {
      for (int i = 0; i < count && !any; ++i) any = get(first + i * stride);
    }
    if (!any) return false;
    bool set_here = false;
    for (int i = 0; i < count; ++i) {
      const bool bit = get(first + i * stride);
      out[i] = bit ? 0 : 1;
      set_here |= bit;
    }
    return set_here;
  }

 private:
  std::int64_t count_;
  std::vector<std::uint64_t> words_;
};

}  // namespace tamis::reduce
