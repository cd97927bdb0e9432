// The three entropy stages and what they stand on: round trips over awkward codes and counts, for
// every instruction set, and streams that were cut or changed.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "codec/bit_planes.hpp"
#include "codec/bit_stream.hpp"
#include "codec/fixed_width.hpp"
#include "codec/rans.hpp"
#include "codec/rice.hpp"
#include "support/each_target.hpp"
#include "support/expect_error.hpp"
#include "tamis/error.hpp"

namespace tamis::codec {
namespace {

using Bytes = std::vector<std::byte>;
constexpr std::int64_t kCounts[] = {0, 1, 2, 7, 63, 64, 65, 511, 512, 513, 1000, 5000};
constexpr int kKinds = 8;

template <typename I>
std::vector<I> make_codes(int kind, std::int64_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed + static_cast<unsigned>(kind));
  std::vector<I> codes(static_cast<std::size_t>(count));
  for (I& c : codes) {
    const std::uint64_t r = random();
    switch (kind) {
      case 0:
        c = 0;
        break;
      case 1:  // constant
        c = static_cast<I>(-3);
        break;
      case 2:  // few small ones
        c = r % 40 == 0 ? static_cast<I>(static_cast<int>(r >> 32) % 3) : I{0};
        break;
      case 3:  // skewed
        c = static_cast<I>(static_cast<std::int64_t>(std::countr_zero(r | 1U << 20)) *
                           (r >> 63 ? 1 : -1));
        break;
      case 4:  // wide
        c = static_cast<I>(static_cast<std::int64_t>(r >> 40) - (1 << 23));
        break;
      case 5:  // any bits
        c = static_cast<I>(r);
        break;
      case 6:  // extremes among zeros
        c = r % 50 ? I{0}
                   : (r >> 32 & 1 ? std::numeric_limits<I>::min() : std::numeric_limits<I>::max());
        break;
      default:  // all widths
        c = static_cast<I>(static_cast<std::int64_t>(random()) >> (r % 64));
    }
  }
  return codes;
}

template <typename I>
struct Coder {
  const char* name;
  std::function<void(const I*, std::int64_t, Bytes&)> encode;
  std::function<void(std::span<const std::byte>, std::int64_t, I*)> decode;
  std::function<std::uint64_t(const I*, std::int64_t)> bits;
};

template <typename I>
std::vector<Coder<I>> coders() {
  return {{"rice", encode_rice<I>, decode_rice<I>, rice_bits<I>},
          {"fixed width", encode_fixed_width<I>, decode_fixed_width<I>, fixed_width_bits<I>}};
}

// In room as the interfaces ask for, on the heap so that the sanitizer guards its end.
template <typename I>
std::vector<I> decoded(const Coder<I>& coder, std::span<const std::byte> bytes,
                       std::int64_t count) {
  std::vector<I> codes(static_cast<std::size_t>((count + 63) / 64 * 64), I{77});
  coder.decode(bytes, count, codes.data());
  codes.resize(static_cast<std::size_t>(count));
  return codes;
}

template <typename I>
void expect_round_trips() {
  for (const Coder<I>& coder : coders<I>()) {
    for (int kind = 0; kind < kKinds; ++kind) {
      for (const std::int64_t count : kCounts) {
        SCOPED_TRACE(std::string(coder.name) + ", kind " + std::to_string(kind) + ", " +
                     std::to_string(count) + " codes");
        const std::vector<I> codes = make_codes<I>(kind, count, 1);
        Bytes bytes(3, std::byte{0x5a});
        coder.encode(codes.data(), count, bytes);
        const std::uint64_t bits = coder.bits(codes.data(), count);
        // Codes that are all zero cost nothing at all, which the price of a part need not know.
        if (bytes.size() > 3) {
          EXPECT_EQ((bits + 7) / 8, bytes.size() - 3);
        }
        EXPECT_EQ(bytes[2], std::byte{0x5a});
        bytes.erase(bytes.begin(), bytes.begin() + 3);
        if (kind == 0 || count == 0) {
          EXPECT_TRUE(bytes.empty());
        }
        ASSERT_EQ(decoded(coder, bytes, count), codes);
      }
    }
  }
}

TEST(CodeStreams, RoundTripsOf32Bits) { testing::each_target(expect_round_trips<std::int32_t>); }
TEST(CodeStreams, RoundTripsOf64Bits) { testing::each_target(expect_round_trips<std::int64_t>); }

TEST(CodeStreams, LongRuns) {
  for (const Coder<std::int32_t>& coder : coders<std::int32_t>()) {
    for (int kind = 1; kind < kKinds; ++kind) {
      const std::vector<std::int32_t> codes = make_codes<std::int32_t>(kind, 300007, 2);
      Bytes bytes;
      coder.encode(codes.data(), 300007, bytes);
      EXPECT_TRUE(decoded(coder, bytes, 300007) == codes) << coder.name << kind;
    }
  }
}

// A change is either noticed or gives some codes; reads beyond the end are the sanitizer's to find.
template <typename I>
void expect_harmless(const Coder<I>& coder, const Bytes& bytes, std::int64_t count) {
  try {
    decoded(coder, bytes, count);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kCorrupt);
  }
}

template <typename I>
void expect_hardened() {
  for (const Coder<I>& coder : coders<I>()) {
    for (int kind = 1; kind < kKinds; ++kind) {
      for (const std::int64_t count : {1, 65, 200, 513}) {
        SCOPED_TRACE(std::string(coder.name) + " kind " + std::to_string(kind));
        const std::vector<I> codes = make_codes<I>(kind, count, 3);
        Bytes bytes;
        coder.encode(codes.data(), count, bytes);
        if (bytes.empty()) continue;
        for (std::size_t size = 1; size < bytes.size(); size += 1 + bytes.size() / 300) {
          const Bytes cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
          EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "", decoded(coder, cut, count));
        }
        Bytes longer = bytes;
        longer.push_back(std::byte{0});
        EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "", decoded(coder, longer, count));
        for (std::size_t i = 0; i < bytes.size(); i += 1 + bytes.size() / 200) {
          for (int bit = 0; bit < 8; ++bit) {
            Bytes changed = bytes;
            changed[i] ^= static_cast<std::byte>(1U << bit);
            expect_harmless(coder, changed, count);
          }
        }
        // Another number of codes than were written.
        expect_harmless(coder, bytes, count + 1);
        expect_harmless(coder, bytes, count * 3);
        EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "", decoded(coder, bytes, 0));
      }
    }
  }
}

TEST(CodeStreams, CutAndChangedStreamsOf32Bits) { expect_hardened<std::int32_t>(); }
TEST(CodeStreams, CutAndChangedStreamsOf64Bits) { expect_hardened<std::int64_t>(); }

TEST(CodeStreams, RandomBytesDoNoHarm) {
  std::mt19937_64 random(8);
  for (int round = 0; round < 4000; ++round) {
    Bytes bytes(random() % 120);
    for (auto& b : bytes) b = static_cast<std::byte>(random() >> (random() % 8));
    const std::int64_t count = static_cast<std::int64_t>(random() % 700);
    for (const auto& coder : coders<std::int32_t>()) expect_harmless(coder, bytes, count);
    for (const auto& coder : coders<std::int64_t>()) expect_harmless(coder, bytes, count);
  }
}

TEST(BitStream, EveryWidthAtEveryOffset) {
  std::mt19937_64 random(1);
  Bytes bytes;
  std::vector<std::pair<std::uint64_t, int>> put;
  BitWriter writer(bytes);
  for (int round = 0; round < 3000; ++round) {
    const int count = static_cast<int>(random() % 65);
    const std::uint64_t value = count == 0 ? 0 : random() >> (64 - count);
    put.emplace_back(value, count);
    writer.put_wide(value, count);
  }
  writer.flush();
  BitReader reader(bytes);
  for (const auto& [value, count] : put) {
    ASSERT_EQ(reader.get_wide(count), value) << count;
  }
  reader.expect_end();
}

TEST(BitStream, Ends) {
  const Bytes bytes{std::byte{0x00}, std::byte{0x80}};
  EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "ends", BitReader(bytes).get(17));
  EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "ends", BitReader({}).get(1));
  BitReader reader(bytes);
  EXPECT_EQ(reader.get(9), 0U);
  EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "left over", reader.expect_end());
  EXPECT_EQ(reader.get(7), 64U);
  reader.expect_end();
}

// The examples of the format's description, bit for bit, and a stream of every kind of segment on
// every instruction set.
TEST(Rice, MatchesTheDescription) {
  const std::vector<std::int32_t> codes{0, 0, 0, -3, 0, 5};
  const auto bytes = [](std::initializer_list<int> list) {
    Bytes out;
    for (const int b : list) out.push_back(static_cast<std::byte>(b));
    return out;
  };
  testing::each_target([&] {
    Bytes written;
    encode_rice(codes.data(), 6, written);
    EXPECT_EQ(written, bytes({0x29, 0x08, 0xba, 0x03}));
    std::vector<std::int32_t> back(6);
    decode_rice(bytes({0x12, 0xe0, 0xf4, 0x06}), 6, back.data());  // the same as a sparse segment
    EXPECT_EQ(back, codes);
  });
}

TEST(Rice, StreamsAreTheSameOnEveryTarget) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 60; ++round) {
    std::vector<std::int32_t> codes(1 + random() % 1500);
    const std::uint64_t spread = std::uint64_t{1} << random() % 33;
    const std::uint64_t every = 1 + random() % 40;
    for (auto& c : codes) {
      c = random() % every == 0 ? static_cast<std::int32_t>(random() % spread) : 0;
      if (random() % 2 == 0) c = static_cast<std::int32_t>(0U - static_cast<std::uint32_t>(c));
    }
    const auto count = static_cast<std::int64_t>(codes.size());
    Bytes first;
    testing::each_target([&] {
      Bytes written;
      encode_rice(codes.data(), count, written);
      if (first.empty()) first = written;
      ASSERT_EQ(written, first);
      ASSERT_EQ(written.empty() ? 0 : (rice_bits(codes.data(), count) + 7) / 8, written.size());
      std::vector<std::int32_t> back(codes.size());
      decode_rice(written, count, back.data());
      ASSERT_EQ(back, codes);
    });
  }
}

TEST(BitPlanes, AgreeWithSingleBits) {
  testing::each_target([] {
    std::mt19937_64 random(1);
    for (int count = 0; count <= 64; ++count) {
      std::uint64_t codes[kPlaneGroup];
      std::uint32_t narrow[kPlaneGroup];
      for (int i = 0; i < kPlaneGroup; ++i) {
        codes[i] = random();
        narrow[i] = static_cast<std::uint32_t>(codes[i]);
      }
      std::uint64_t planes[64];
      planes_from_codes(codes, count, planes);
      for (int b = 0; b < count; ++b) {
        for (int i = 0; i < kPlaneGroup; ++i) ASSERT_EQ(planes[b] >> i & 1, codes[i] >> b & 1);
      }
      const std::uint64_t keep = count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
      std::uint64_t back[kPlaneGroup];
      codes_from_planes(planes, count, back);
      for (int i = 0; i < kPlaneGroup; ++i) ASSERT_EQ(back[i], codes[i] & keep);
      if (count > 32) continue;
      std::uint64_t half[64];
      planes_from_codes(narrow, count, half);
      for (int b = 0; b < count; ++b) ASSERT_EQ(half[b], planes[b]);
      std::uint32_t narrow_back[kPlaneGroup];
      codes_from_planes(half, count, narrow_back);
      for (int i = 0; i < kPlaneGroup; ++i) ASSERT_EQ(narrow_back[i], narrow[i] & keep);
    }
  });
}

TEST(Zigzag, CoversTheRange) {
  for (const std::int64_t v :
       {INT64_MIN, INT64_MAX, std::int64_t{0}, std::int64_t{-1}, std::int64_t{1}}) {
    EXPECT_EQ(unzigzag(zigzag(v)), v);
  }
  EXPECT_EQ(zigzag(std::int32_t{-1}), 1U);
  EXPECT_EQ(zigzag(std::int32_t{1}), 2U);
  EXPECT_EQ(zigzag(INT32_MIN), UINT32_MAX);
}

}  // namespace
}  // namespace tamis::codec
