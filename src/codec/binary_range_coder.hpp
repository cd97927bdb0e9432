// Binary range coder: decisions with 16-bit probabilities to bytes and back. The interval
// subdivision is that of Martin (1979); a carry is added to bytes already written, as Pasco (1976)
// and Rissanen described, which the encoder can afford because it keeps its output in memory. The
// 40-bit interval loses less than 2^-16 of itself per decision, so near-certain decisions stay
// near-free.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tamis::codec {

/// The interval never gets narrower than kMinRange between decisions.
inline constexpr std::uint64_t kFullRange = std::uint64_t{1} << 40;
inline constexpr std::uint64_t kMinRange = std::uint64_t{1} << 32;

class BinaryEncoder {
 public:
  /// Appends to `out`, which the caller owns.
  explicit BinaryEncoder(std::vector<std::byte>& out) : out_(out), start_(out.size()) {}

  /// `p_one` is the probability of a one in units of 2^-16, 1 to 65535. Returns `bit`, so that a
  /// model can be written once for both directions.
  bool code(bool bit, std::uint32_t p_one) {
    const std::uint64_t bound = (range_ >> 16) * p_one;
    if (bit) {
      range_ = bound;
    } else {
      low_ += bound;
      range_ -= bound;
    }
    while (range_ < kMinRange) {
      write_top_byte();
      range_ <<= 8;
    }
    return bit;
  }

  /// Ends the stream with at most one byte; the decoder reads zeros beyond the end.
  void finish() {
    // Some multiple of 2^32 lies in the interval, for the interval is at least that wide.
    low_ += kMinRange - 1;
    write_top_byte();
    if (out_.back() == std::byte{0}) out_.pop_back();
  }

  std::size_t size() const noexcept { return out_.size() - start_; }

 private:
  void write_top_byte() {
    if ((low_ & kFullRange) != 0) add_carry();
    out_.push_back(static_cast<std::byte>(low_ >> 32));
    low_ = (low_ & (kMinRange - 1)) << 8;
  }
  // Stops at the latest at the first byte of this stream: the interval never leaves [0, 1).
  void add_carry() {
    std::size_t position = out_.size();
    while (out_[--position] == std::byte{0xff}) out_[position] = std::byte{0};
    out_[position] = static_cast<std::byte>(std::to_integer<unsigned>(out_[position]) + 1);
  }

  std::vector<std::byte>& out_;
  std::size_t start_;
  std::uint64_t low_ = 0;  // 40 bits and the carry
  std::uint64_t range_ = kFullRange;
};

class BinaryDecoder {
 public:
  explicit BinaryDecoder(std::span<const std::byte> bytes) : bytes_(bytes) {
    for (int i = 0; i < 5; ++i) value_ = value_ << 8 | next_byte();
  }

  /// Any bytes decode to some decisions: `value_` stays below `range_` whatever they are.
  bool code(bool /*bit*/, std::uint32_t p_one) {
    const std::uint64_t bound = (range_ >> 16) * p_one;
    const bool bit = value_ < bound;
    if (bit) {
      range_ = bound;
    } else {
      value_ -= bound;
      range_ -= bound;
    }
    while (range_ < kMinRange) {
      value_ = value_ << 8 | next_byte();
      range_ <<= 8;
    }
    return bit;
  }

  /// True when as many bytes were used as an encoder would have written.
  bool finished() const noexcept {
    const std::size_t written = position_ - 5;
    return bytes_.size() == written || bytes_.size() == written + 1;
  }

 private:
  std::uint64_t next_byte() {
    const std::size_t position = position_++;
    return position < bytes_.size() ? std::to_integer<std::uint64_t>(bytes_[position]) : 0;
  }

  std::span<const std::byte> bytes_;
  std::size_t position_ = 0;
  std::uint64_t value_ = 0;  // how far the coded number lies above the interval's lower end
  std::uint64_t range_ = kFullRange;
};

}  // namespace tamis::codec
