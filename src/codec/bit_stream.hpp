// Bits packed least significant first into little-endian bytes. The reader checks its end once per
// refill, and a stream that ends early is corrupt.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "tamis/error.hpp"

namespace tamis::codec {

// The hot ones are always inlined, so that they use the bit instructions of their caller's target.

class BitWriter {
 public:
  /// Appends to `out`, which holds spare bytes until flush().
  explicit BitWriter(std::vector<std::byte>& out) : out_(out), next_(out.size()) {}

  /// The low `count` (0 .. 56) bits of `value`; the bits above must be zero.
  [[gnu::always_inline]] void put(std::uint64_t value, int count) {
    if (next_ + 8 > out_.size()) out_.resize(next_ + next_ / 2 + 256);
    pending_ |= value << filled_;
    filled_ += count;
    std::memcpy(out_.data() + next_, &pending_, 8);
    next_ += static_cast<std::size_t>(filled_ >> 3);
    pending_ >>= filled_ & ~7;
    filled_ &= 7;
  }

  /// As put() for 0 .. 64 bits.
  [[gnu::always_inline]] void put_wide(std::uint64_t value, int count) {
    if (count <= 56) {
      put(value, count);
      return;
    }
    const int before = filled_;
    put(value & 0xffffffffffffffU >> before, 56 - before);  // up to a whole byte
    put(value >> (56 - before), count - (56 - before));
  }

  /// Fills the last byte with zeros and drops the spare bytes. The writer can go on from there.
  void flush() {
    if (filled_ > 0) put(0, 8 - filled_);
    out_.resize(next_);
  }

 private:
  std::vector<std::byte>& out_;
  std::size_t next_;
  std::uint64_t pending_ = 0;
  int filled_ = 0;  // below 8 between calls
};

class BitReader {
 public:
  static constexpr int kPeekBits = 57;

  explicit BitReader(std::span<const std::byte> bytes)
      : bytes_(bytes), end_(8 * static_cast<std::uint64_t>(bytes.size())) {}

  /// The next 57 bits (and perhaps more); zeros behind the end.
  [[gnu::always_inline]] std::uint64_t peek() const {
    const std::size_t at = static_cast<std::size_t>(position_ >> 3);
    std::uint64_t word = 0;
    if (at + 8 <= bytes_.size()) {
      std::memcpy(&word, bytes_.data() + at, 8);
    } else if (at < bytes_.size()) {
      std::memcpy(&word, bytes_.data() + at, bytes_.size() - at);
    }
    return word >> (position_ & 7);
  }

  [[gnu::always_inline]] void skip(int count) {
    position_ += static_cast<std::uint64_t>(count);
    if (position_ > end_) throw_corrupt("it ends in the middle of a code");
  }

  /// 0 .. 56 bits.
  [[gnu::always_inline]] std::uint64_t get(int count) {
    const std::uint64_t value = peek() & ((std::uint64_t{1} << count) - 1);
    skip(count);
    return value;
  }

  /// 0 .. 64 bits.
  [[gnu::always_inline]] std::uint64_t get_wide(int count) {
    if (count <= 56) return get(count);
    const std::uint64_t low = get(32);
    return low | get(count - 32) << 32;
  }

  /// Throws unless fewer than 8 bits are left and they are zero.
  void expect_end() const {
    if (end_ - position_ >= 8 || peek() != 0) throw_corrupt("bits are left over at the end");
  }

 private:
  [[noreturn]] static void throw_corrupt(const char* what) {
    throw Error(ErrorCode::kCorrupt, std::string("bit stream: ") + what);
  }

  std::span<const std::byte> bytes_;
  std::uint64_t end_;
  std::uint64_t position_ = 0;
};

/// Signed to unsigned with small magnitudes first: 0 -1 1 -2 2 ...
template <typename I>
constexpr std::make_unsigned_t<I> zigzag(I value) {
  using U = std::make_unsigned_t<I>;
  return (static_cast<U>(value) << 1) ^ static_cast<U>(value >> (sizeof(I) * 8 - 1));
}
template <typename U>
constexpr std::make_signed_t<U> unzigzag(U value) {
  return static_cast<std::make_signed_t<U>>((value >> 1) ^ (U{0} - (value & 1)));
}

}  // namespace tamis::codec
