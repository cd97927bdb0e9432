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

  void merge(const BitMap& other) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
  }

  /// Up to 64 bits from `first` on, the lowest first.
  std::uint64_t window(std::int64_t first, int count) const {
    const auto word = static_cast<std::size_t>(first >> 6);
    const int shift = static_cast<int>(first & 63);
    std::uint64_t bits = words_[word] >> shift;
    if (shift != 0 && shift + count > 64) bits |= words_[word + 1] << (64 - shift);
    return count < 64 ? bits & ((std::uint64_t{1} << count) - 1) : bits;
  }

  /// fn(index) for every set bit.
  template <typename Fn>
  void each_set(const Fn& fn) const {
    for (std::size_t w = 0; w < words_.size(); ++w) {
      for (std::uint64_t bits = words_[w]; bits != 0; bits &= bits - 1) {
        fn(static_cast<std::int64_t>(w) * 64 + std::countr_zero(bits));
      }
    }
  }

  /// True when any bit of [first, first + count) is set.
  bool any(std::int64_t first, std::int64_t count) const {
    for (std::int64_t i = first; i < first + count; i += 64) {
      if (window(i, static_cast<int>(std::min<std::int64_t>(64, first + count - i))) != 0)
        return true;
    }
    return false;
  }

 private:
  std::int64_t count_;
  std::vector<std::uint64_t> words_;
};

}  // namespace tamis::reduce
