// rANS: models and streams, with one context or many, few lanes or all, and bytes that were cut or
// changed.
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "codec/rans.hpp"
#include "support/expect_error.hpp"
#include "tamis/error.hpp"

namespace tamis::codec {
namespace {

using Bytes = std::vector<std::byte>;

template <typename I>
struct Codes {
  std::vector<I> codes;
  std::vector<std::uint8_t> contexts;
  std::int64_t count() const { return static_cast<std::int64_t>(codes.size()); }
};

// The width of a code follows from its context, plus an occasional stray.
template <typename I>
Codes<I> make_codes(std::int64_t count, int contexts, unsigned seed) {
  std::mt19937_64 random(seed);
  Codes<I> c;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto context = static_cast<std::uint8_t>(random() % static_cast<unsigned>(contexts));
    const int width = random() % 200 == 0 ? 64 : context % 16;
    const std::uint64_t value = width == 0 ? 0 : random() >> (64 - width);
    c.codes.push_back(unzigzag(static_cast<std::make_unsigned_t<I>>(value)));
    c.contexts.push_back(context);
  }
  return c;
}

template <typename I>
RansModel model_of(const Codes<I>& c) {
  auto counts = std::make_unique<RansCounts>();
  for (auto& row : *counts) row.fill(0);
  count_tokens(c.codes.data(), c.contexts.data(), c.count(), *counts);
  return RansModel::build(*counts);
}

// Through its bytes, as a decoder sees it.
RansModel reread(const RansModel& model) {
  Bytes bytes;
  model.write(bytes);
  RansModel back = RansModel::read(bytes);
  back.prepare_decoding();
  return back;
}

template <typename I>
Bytes encoded(const RansModel& model, const Codes<I>& c) {
  Bytes bytes;
  encode_rans(model, c.codes.data(), c.contexts.data(), c.count(), bytes);
  return bytes;
}

// In pieces of uneven length, which must not matter.
template <typename I>
std::vector<I> decoded(const RansModel& model, std::span<const std::byte> bytes,
                       const std::vector<std::uint8_t>& contexts) {
  RansReader reader(model, bytes);
  std::vector<I> codes(contexts.size());
  std::size_t piece = 1;
  for (std::size_t at = 0; at < codes.size(); at += piece) {
    piece = std::min(codes.size() - at, piece % 97 * 3 + 1);
    reader.read(codes.data() + at, static_cast<std::int64_t>(piece), contexts.data() + at);
  }
  reader.expect_end();
  return codes;
}

template <typename I>
void expect_round_trip(const Codes<I>& c) {
  const RansModel model = model_of(c);
  const RansModel back = reread(model);
  const Bytes bytes = encoded(model, c);
  ASSERT_EQ(decoded<I>(back, bytes, c.contexts), c.codes);
}

TEST(Rans, RoundTripsOverCountsAndContexts) {
  unsigned seed = 0;
  for (const std::int64_t count : {0, 1, 2, 63, 64, 65, 511, 512, 513, 3000, 70000}) {
    for (const int contexts : {1, 2, 17, kRansContexts}) {
      SCOPED_TRACE(std::to_string(count) + " codes, " + std::to_string(contexts) + " contexts");
      expect_round_trip(make_codes<std::int32_t>(count, contexts, ++seed));
      expect_round_trip(make_codes<std::int64_t>(count, contexts, ++seed));
    }
  }
}

TEST(Rans, ExtremeCodes) {
  Codes<std::int64_t> wide;
  Codes<std::int32_t> narrow;
  for (int i = 0; i < 300; ++i) {
    wide.codes.push_back(i % 3 == 0 ? INT64_MIN : i % 3 == 1 ? INT64_MAX : i - 150);
    narrow.codes.push_back(i % 3 == 0 ? INT32_MIN : i % 3 == 1 ? INT32_MAX : i - 150);
    wide.contexts.push_back(static_cast<std::uint8_t>(i % kRansContexts));
    narrow.contexts.push_back(static_cast<std::uint8_t>(i % kRansContexts));
  }
  expect_round_trip(wide);
  expect_round_trip(narrow);
}

TEST(Rans, TokensPartitionTheCodes) {
  for (int width = 0; width < 63; ++width) {
    for (const std::int64_t near : {-1, 0, 1}) {
      const std::int64_t code = (std::int64_t{1} << width) + near;
      const RansToken t = rans_token(code);
      ASSERT_LT(t.token, kRansTokens);
      ASSERT_EQ(t.raw >> t.raw_bits, 0U);
      if (t.token < kDirectTokens) {
        ASSERT_EQ(t.raw_bits, 0);
        ASSERT_EQ(zigzag(code), static_cast<std::uint64_t>(t.token));
      } else {
        const std::uint64_t lead = 2 + static_cast<std::uint64_t>(t.token - kDirectTokens) % 2;
        ASSERT_EQ(zigzag(code), lead << t.raw_bits | t.raw);
      }
    }
  }
}

TEST(Rans, SkewedAndUniformModels) {
  // One token almost certain, one seen once in a million: both must stay codable.
  Codes<std::int32_t> c;
  c.codes.assign(100000, 0);
  c.contexts.assign(100000, 0);
  c.codes[99999] = 1 << 30;
  expect_round_trip(c);
  const RansModel model = model_of(c);
  EXPECT_EQ(model.symbol(0, 0).frequency, kRansTotal - 1);
  // Every token equally often.
  auto counts = std::make_unique<RansCounts>();
  for (auto& row : *counts) row.fill(7);
  const RansModel flat = RansModel::build(*counts);
  std::uint32_t sum = 0;
  for (int t = 0; t < kRansTokens; ++t) {
    ASSERT_GE(flat.symbol(0, t).frequency, 1U);
    ASSERT_EQ(flat.symbol(0, t).start, sum);
    sum += flat.symbol(0, t).frequency;
  }
  EXPECT_EQ(sum, kRansTotal);
  // No token at all.
  for (auto& row : *counts) row.fill(0);
  reread(RansModel::build(*counts));
}

TEST(Rans, CostsLittleMoreThanTheEntropy) {
  std::mt19937_64 random(3);
  Codes<std::int32_t> c;
  for (int i = 0; i < 200000; ++i) {  // geometric with p = 1/2: entropy 2 bits
    c.codes.push_back(static_cast<std::int32_t>(std::countr_zero(random() | 1U << 30)));
    c.contexts.push_back(5);
  }
  Bytes bytes = encoded(model_of(c), c);
  EXPECT_LT(static_cast<double>(bytes.size()) * 8, 200000 * 2.02);
}

TEST(Rans, CutAndChangedStreams) {
  for (const std::int64_t count : {5, 300, 4000}) {
    const Codes<std::int32_t> c = make_codes<std::int32_t>(count, 20, 7);
    const RansModel model = reread(model_of(c));
    const Bytes bytes = encoded(model, c);
    for (std::size_t size = 1; size < bytes.size(); size += 1 + bytes.size() / 400) {
      const Bytes cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
      EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "", decoded<std::int32_t>(model, cut, c.contexts));
    }
    int noticed = 0;
    int tried = 0;
    for (std::size_t i = 0; i < bytes.size(); i += 1 + bytes.size() / 150) {
      for (int bit = 0; bit < 8; ++bit) {
        Bytes changed = bytes;
        changed[i] ^= static_cast<std::byte>(1U << bit);
        ++tried;
        try {
          // A state that ends elsewhere than it began gives damage away.
          decoded<std::int32_t>(model, changed, c.contexts);
        } catch (const Error& e) {
          EXPECT_EQ(e.code(), ErrorCode::kCorrupt);
          ++noticed;
        }
      }
    }
    EXPECT_GT(noticed, tried / 2) << count;  // flips of raw bits cannot be noticed
  }
}

TEST(Rans, CodesTooWideForTheirType) {
  const Codes<std::int64_t> c = make_codes<std::int64_t>(400, 3, 5);
  const RansModel model = reread(model_of(c));
  const Bytes bytes = encoded(model, c);
  EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "bits", decoded<std::int32_t>(model, bytes, c.contexts));
}

TEST(Rans, CutAndChangedModels) {
  const Codes<std::int32_t> c = make_codes<std::int32_t>(5000, kRansContexts, 7);
  const RansModel model = model_of(c);
  Bytes bytes;
  model.write(bytes);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const Bytes cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "", RansModel::read(cut));
  }
  const Bytes stream = encoded(model, c);
  for (std::size_t i = 0; i < bytes.size(); i += 1 + bytes.size() / 40) {
    for (int bit = 0; bit < 8; ++bit) {
      Bytes changed = bytes;
      changed[i] ^= static_cast<std::byte>(1U << bit);
      try {
        RansModel other = RansModel::read(changed);
        other.prepare_decoding();
        decoded<std::int32_t>(other, stream, c.contexts);
      } catch (const Error& e) {
        EXPECT_EQ(e.code(), ErrorCode::kCorrupt);
      }
    }
  }
}

TEST(Rans, LogarithmOfPowersIsExact) {
  for (int e = 0; e < 64; ++e) EXPECT_EQ(log2_fixed(std::uint64_t{1} << e), std::uint64_t(e) << 16);
  EXPECT_EQ(log2_fixed(3), 103872U);  // floor(65536 log2 3)
  for (std::uint64_t v = 1; v < 5000; ++v) ASSERT_LE(log2_fixed(v), log2_fixed(v + 1));
}

}  // namespace
}  // namespace tamis::codec
