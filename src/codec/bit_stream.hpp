// Bits packed least significant first into little-endian bytes. The reader checks its end once per
// refill, and a stream that ends early is corrupt.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "tamis/error.hpp"

namespace tamis::codec {

class BitWriter {
 public:
  explicit BitWriter(std::vector<std::byte>& out) : out_(out) {}

  /// The low `count` (0 .. 57) bits of `value`; the bits above must be zero.
  void put(std::uint64_t value, int count) {
    pending_ |= value << filled_;
    filled_ += count;
    if (filled_ >= 8) drain();
  }

  /// As put() for 0 .. 64 bits.
  void put_wide(std::uint64_t value, int count) {
    if (count > 32) {
      put(value & 0xffffffffU, 32);
      put(value >> 32, count - 32);
    } else {
      put(value, count);
    }
  }

  /// `zeros` zero bits and a one.
  void put_unary(std::uint64_t zeros) {
    while (zeros > 48) {
      put(0, 48);
      zeros -= 48;
    }
    put(std::uint64_t{1} << zeros, static_cast<int>(zeros) + 1);
  }

  /// Fills the last byte with zeros. The writer can go on at the byte boundary.
  void flush() {
    if (filled_ > 0) {
      out_.push_back(static_cast<std::byte>(pending_));
      pending_ = 0;
      filled_ = 0;
    }
  }

 private:
  void drain() {
    const int bytes = filled_ / 8;
    const std::size_t at = out_.size();
    out_.resize(at + static_cast<std::size_t>(bytes));
    std::memcpy(out_.data() + at, &pending_, static_cast<std::size_t>(bytes));
    pending_ = bytes == 8 ? 0 : pending_ >> (8 * bytes);
    filled_ -= 8 * bytes;
  }

  std::vector<std::byte>& out_;
  std::uint64_t pending_ = 0;
  int filled_ = 0;  // below 8 between calls
};

class BitReader {
 public:
  explicit BitReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  /// 0 .. 56 bits.
  std::uint64_t get(int count) {
    ensure(count);
    const std::uint64_t value = pending_ & ((std::uint64_t{1} << count) - 1);
    skip(count);
    return value;
  }

  /// 0 .. 64 bits.
  std::uint64_t get_wide(int count) {
    if (count <= 32) return get(count);
    const std::uint64_t low = get(32);
    return low | get(count - 32) << 32;
  }

  /// Zeros before the next one bit, which is consumed. Throws when there are more than `limit`.
  std::uint64_t get_unary(std::uint64_t limit) {
    std::uint64_t zeros = 0;
    for (;;) {
      if (filled_ == 0) ensure(1);
      if (pending_ != 0) {
        const int run = std::countr_zero(pending_);
        skip(run + 1);
        zeros += static_cast<std::uint64_t>(run);
        if (zeros > limit) throw_corrupt("a run is longer than its limit");
        return zeros;
      }
      zeros += static_cast<std::uint64_t>(filled_);
      filled_ = 0;
      if (zeros > limit) throw_corrupt("a run is longer than its limit");
    }
  }

  /// Throws unless fewer than 8 bits are left and they are zero.
  void expect_end() {
    if (next_ != bytes_.size() || filled_ >= 8 || pending_ != 0) {
      throw_corrupt("bits are left over at the end");
    }
  }

 private:
  void ensure(int count) {
    if (filled_ >= count) return;
    if (bytes_.size() - next_ >= 8) {
      std::uint64_t word;
      std::memcpy(&word, bytes_.data() + next_, 8);
      const int taken = (63 - filled_) / 8;  // whole bytes that fit beside what is pending
      if (taken < 8) word &= (std::uint64_t{1} << (8 * taken)) - 1;
      pending_ |= word << filled_;
      next_ += static_cast<std::size_t>(taken);
      filled_ += 8 * taken;
      return;
    }
    while (filled_ <= 55 && next_ < bytes_.size()) {
      pending_ |= static_cast<std::uint64_t>(bytes_[next_++]) << filled_;
      filled_ += 8;
    }
    if (filled_ < count) throw_corrupt("it ends in the middle of a code");
  }

  void skip(int count) {
    pending_ = count >= 64 ? 0 : pending_ >> count;
    filled_ -= count;
  }

  [[noreturn]] static void throw_corrupt(const char* what) {
    throw Error(ErrorCode::kCorrupt, std::string("bit stream: ") + what);
  }

  std::span<const std::byte> bytes_;
  std::size_t next_ = 0;
  std::uint64_t pending_ = 0;
  int filled_ = 0;
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
