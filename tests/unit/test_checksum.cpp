// XXH3: pinned values (they are in files for ever) and equality of the two ways to compute it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/checksum.hpp"

namespace tamis {
namespace {

std::vector<std::byte> pattern(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 131 + 7);
  return bytes;
}

TEST(Checksum, PinnedValues) {
  EXPECT_EQ(xxh3_64({}), 0x2d06800538d394c2u);  // the published value for no input
  EXPECT_EQ(xxh3_64(pattern(1000)), xxh3_64(pattern(1000)));
  EXPECT_NE(xxh3_64(pattern(1000)), xxh3_64(pattern(1001)));
}

TEST(Checksum, Hash128) {
  EXPECT_EQ(xxh3_128({}), (Hash128{0x6001c324468d497fu, 0x99aa06d3014798d8u}));  // published
  EXPECT_EQ(xxh3_128(pattern(1000)), xxh3_128(pattern(1000)));
  EXPECT_FALSE(xxh3_128(pattern(1000)) == xxh3_128(pattern(1001)));
}

TEST(Checksum, StreamEqualsOneShotHoweverSplit) {
  const auto bytes = pattern(5000);
  for (const std::size_t step : {1u, 7u, 64u, 255u, 256u, 257u, 4999u, 5000u}) {
    Xxh3Stream stream;
    for (std::size_t at = 0; at < bytes.size(); at += step) {
      stream.update(std::span(bytes).subspan(at, std::min(step, bytes.size() - at)));
      stream.update({});
    }
    EXPECT_EQ(stream.digest(), xxh3_64(bytes)) << step;
  }
}

TEST(Checksum, ResetStartsOver) {
  Xxh3Stream stream;
  stream.update(pattern(100));
  stream.reset();
  EXPECT_EQ(stream.digest(), xxh3_64({}));
}

}  // namespace
}  // namespace tamis
