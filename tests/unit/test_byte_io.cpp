// ByteReader and ByteWriter: round trips, and every way to run off the end.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <vector>

#include "core/byte_io.hpp"
#include "support/expect_error.hpp"

namespace tamis {
namespace {

std::vector<std::byte> bytes_of(std::initializer_list<int> values) {
  std::vector<std::byte> bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

TEST(ByteIo, FixedWidthRoundTrip) {
  std::vector<std::byte> out;
  ByteWriter writer(out);
  writer.u8(0xab);
  writer.u16(0x1234);
  writer.u32(0xdeadbeef);
  writer.u64(0x0123456789abcdef);
  writer.f64(-0.0);
  EXPECT_EQ(writer.size(), 23u);
  ByteReader reader(out);
  EXPECT_EQ(reader.u8(), 0xab);
  EXPECT_EQ(reader.u16(), 0x1234);
  EXPECT_EQ(reader.u32(), 0xdeadbeef);
  EXPECT_EQ(reader.u64(), 0x0123456789abcdefu);
  EXPECT_TRUE(std::signbit(reader.f64()));
  EXPECT_NO_THROW(reader.expect_end());
}

TEST(ByteIo, LittleEndianOnDisk) {
  std::vector<std::byte> out;
  ByteWriter(out).u32(0x01020304);
  EXPECT_EQ(out, bytes_of({4, 3, 2, 1}));
}

TEST(ByteIo, ShortReadNamesOffsetNeededAvailable) {
  const auto bytes = bytes_of({1, 2, 3, 4, 5});
  ByteReader reader(bytes, "codes");
  reader.u16();
  EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "codes: 8 bytes needed at offset 2, 3 available",
                     reader.u64());
  EXPECT_EQ(reader.remaining(), 3u);  // a refused read consumes nothing
  EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "4 bytes needed", reader.bytes(4));
  EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "18446744073709551615 bytes needed",
                     reader.bytes(std::numeric_limits<std::uint64_t>::max()));
  EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "3 unexpected bytes after offset 2", reader.expect_end());
  EXPECT_EQ(reader.bytes(3).size(), 3u);
  EXPECT_EQ(reader.bytes(0).size(), 0u);
  EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "1 bytes needed at offset 5, 0 available", reader.u8());
}

TEST(ByteIo, VarintRoundTripAtEveryLength) {
  std::vector<std::uint64_t> values = {0, 1, 127, 128, std::numeric_limits<std::uint64_t>::max()};
  for (int bit = 0; bit < 64; ++bit) {
    values.push_back(std::uint64_t{1} << bit);
    values.push_back((std::uint64_t{1} << bit) - 1);
  }
  for (const std::uint64_t value : values) {
    std::vector<std::byte> out;
    ByteWriter(out).varint(value);
    EXPECT_LE(out.size(), 10u);
    ByteReader reader(out);
    EXPECT_EQ(reader.varint(), value);
    EXPECT_NO_THROW(reader.expect_end());
    out.pop_back();
    ByteReader truncated(out);
    EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "1 bytes needed", truncated.varint());
  }
}

TEST(ByteIo, VarintRefusesSecondSpellings) {
  const auto padded = bytes_of({0x80, 0x00});
  EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "over-long", ByteReader(padded).varint());
  const std::vector<std::byte> endless(20, std::byte{0xff});
  EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "over-long", ByteReader(endless).varint());
  std::vector<std::byte> too_big(9, std::byte{0x80});
  too_big.push_back(std::byte{2});
  EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "over-long", ByteReader(too_big).varint());
}

TEST(ByteIo, EmptyInput) {
  ByteReader reader({});
  EXPECT_NO_THROW(reader.expect_end());
  EXPECT_EQ(reader.bytes(0).size(), 0u);
  EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "needed at offset 0", reader.varint());
}

}  // namespace
}  // namespace tamis
