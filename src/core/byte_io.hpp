// Little-endian reading and writing of byte strings. The reader checks every access against its
// span, so decoders of untrusted bytes need no bounds logic of their own.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace tamis {

static_assert(std::endian::native == std::endian::little,
              "byte_io copies integers as they lie in memory; a big-endian host needs byte swaps");

class ByteReader {
 public:
  /// `what` names the bytes in error messages and must outlive the reader.
  explicit ByteReader(std::span<const std::byte> bytes, const char* what = "input")
      : bytes_(bytes), what_(what) {}

  std::uint8_t u8() { return fixed<std::uint8_t>(); }
  std::uint16_t u16() { return fixed<std::uint16_t>(); }
  std::uint32_t u32() { return fixed<std::uint32_t>(); }
  std::uint64_t u64() { return fixed<std::uint64_t>(); }
  double f64() { return fixed<double>(); }

  /// Unsigned LEB128. Over-long encodings and values above 2^64 - 1 are corrupt, so that each value
  /// has one encoding.
  std::uint64_t varint();

  /// The next `count` bytes, not copied.
  std::span<const std::byte> bytes(std::uint64_t count) {
    require(count);
    const auto result = bytes_.subspan(offset_, count);
    offset_ += count;
    return result;
  }

  std::size_t remaining() const noexcept { return bytes_.size() - offset_; }
  std::size_t offset() const noexcept { return offset_; }
  /// Throws Error(kCorrupt) when bytes are left over.
  void expect_end() const;

 private:
  template <typename T>
  T fixed() {
    require(sizeof(T));
    T value;
    std::memcpy(&value, bytes_.data() + offset_, sizeof(T));
    offset_ += sizeof(T);
    return value;
  }
  void require(std::uint64_t count) const {
    if (count > remaining()) throw_short(count);
  }
  [[noreturn]] void throw_short(std::uint64_t needed) const;

  std::span<const std::byte> bytes_;
  std::size_t offset_ = 0;
  const char* what_;
};

/// Appends to a vector that the caller owns.
class ByteWriter {
 public:
  explicit ByteWriter(std::vector<std::byte>& out) : out_(out) {}

  void u8(std::uint8_t value) { fixed(value); }
  void u16(std::uint16_t value) { fixed(value); }
  void u32(std::uint32_t value) { fixed(value); }
  void u64(std::uint64_t value) { fixed(value); }
  void f64(double value) { fixed(value); }
  void varint(std::uint64_t value);
  void bytes(std::span<const std::byte> data) { out_.insert(out_.end(), data.begin(), data.end()); }
  std::size_t size() const noexcept { return out_.size(); }

 private:
  template <typename T>
  void fixed(T value) {
    bytes(std::as_bytes(std::span<const T, 1>(&value, 1)));
  }

  std::vector<std::byte>& out_;
};

}  // namespace tamis
