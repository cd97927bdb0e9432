// The parts of byte_io.hpp that are not worth inlining: LEB128 and the error messages.
#include "core/byte_io.hpp"

#include <string>

#include "tamis/error.hpp"

namespace tamis {

std::uint64_t ByteReader::varint() {
  const std::size_t start = offset_;
  std::uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    const std::uint64_t byte = u8();
    const std::uint64_t payload = byte & 0x7f;
    // The tenth byte has room for one bit only.
    if (shift == 63 && byte > 1) break;
    value |= payload << shift;
    if (byte < 0x80) {
      if (byte == 0 && shift > 0) break;
      return value;
    }
  }
  throw Error(ErrorCode::kCorrupt, std::string(what_) +
                                       ": over-long variable-length integer at offset " +
                                       std::to_string(start));
}

void ByteReader::expect_end() const {
  if (remaining() != 0) {
    throw Error(ErrorCode::kCorrupt, std::string(what_) + ": " + std::to_string(remaining()) +
                                         " unexpected bytes after offset " +
                                         std::to_string(offset_));
  }
}

void ByteReader::throw_short(std::uint64_t needed) const {
  throw Error(ErrorCode::kCorrupt, std::string(what_) + ": " + std::to_string(needed) +
                                       " bytes needed at offset " + std::to_string(offset_) + ", " +
                                       std::to_string(remaining()) + " available");
}

void ByteWriter::varint(std::uint64_t value) {
  while (value >= 0x80) {
    u8(static_cast<std::uint8_t>(value | 0x80));
    value >>= 7;
  }
  u8(static_cast<std::uint8_t>(value));
}

}  // namespace tamis
