// One bit per point of a field, in C order.
#pragma once

#include <algorithm>
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

  /// True when any bit of [first, first + count) is set.
  bool any(std::int64_t first, std::int64_t count) const {
    for (std::int64_t i = first; i < first + count;) {
      const std::int64_t word_end = (i | 63) + 1;
      const std::int64_t end = std::min(word_end, first + count);
      const std::uint64_t bits = words_[static_cast<std::size_t>(i >> 6)] >> (i & 63);
      const std::int64_t n = end - i;
      if ((n < 64 ? bits & ((std::uint64_t{1} << n) - 1) : bits) != 0) return true;
      i = end;
    }
    return false;
  }

 private:
  std::int64_t count_;
  std::vector<std::uint64_t> words_;
};

}  // namespace tamis::reduce
