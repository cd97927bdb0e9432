// The mask codec: round trips over awkward shapes, partial reads, thread independence, hostile
// bytes, sizes that must not grow, and bytes that must not change.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "codec/mask_codec.hpp"
#include "core/checksum.hpp"
#include "support/expect_error.hpp"

namespace tamis::codec {
namespace {

using Words = std::vector<std::uint64_t>;
using Shape = std::vector<std::int64_t>;
using Bytes = std::vector<std::byte>;

std::int64_t count_points(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

bool get(const Words& words, std::int64_t i) { return (words[i / 64] >> (i % 64) & 1) != 0; }

template <typename Fn>
Words make_mask(std::int64_t points, const Fn& is_masked) {
  Words words(static_cast<std::size_t>((points + 63) / 64));
  for (std::int64_t i = 0; i < points; ++i) {
    if (is_masked(i)) words[i / 64] |= std::uint64_t{1} << (i % 64);
  }
  return words;
}

// In 1000.
Words speckle(std::int64_t points, unsigned density) {
  std::mt19937 random(7);
  return make_mask(points, [&](std::int64_t) { return random() % 1000 < density; });
}

// Circles around points of a lattice in the last two dimensions; they grow from plane to plane.
Words circles(const Shape& shape) {
  const std::int64_t width = shape.back();
  const std::int64_t height = shape.size() > 1 ? shape[shape.size() - 2] : 1;
  return make_mask(count_points(shape), [&](std::int64_t i) {
    const std::int64_t x = i % width % 97 - 48;
    const std::int64_t y = i / width % height % 83 - 41;
    return x * x + y * y < 900 + i / (width * height) * 20;
  });
}

Words repeat(const Words& plane, std::int64_t points, int times) {
  return make_mask(points * times, [&](std::int64_t i) { return get(plane, i % points); });
}

Words decode(const Bytes& bytes, const Shape& shape, int threads = 1) {
  Words words(static_cast<std::size_t>((count_points(shape) + 63) / 64), ~std::uint64_t{0});
  decode_mask(bytes, shape, words, threads);
  return words;
}

void expect_range(const Bytes& bytes, const Shape& shape, const Words& mask, std::int64_t first,
                  std::int64_t count) {
  Words part(static_cast<std::size_t>((count + 63) / 64), ~std::uint64_t{0});
  decode_mask_range(bytes, shape, first, count, part, 1);
  EXPECT_EQ(part, make_mask(count, [&](std::int64_t i) { return get(mask, first + i); }))
      << "points " << first << " + " << count;
}

void expect_round_trip(const Words& mask, const Shape& shape) {
  SCOPED_TRACE(::testing::PrintToString(shape));
  const Bytes bytes = encode_mask(mask, shape, 1);
  EXPECT_EQ(decode(bytes, shape), mask);
  const std::int64_t points = count_points(shape);
  if (points == 0) return;
  std::mt19937_64 random(3);
  for (int k = 0; k < 4; ++k) {
    const auto first = static_cast<std::int64_t>(random() % static_cast<unsigned>(points));
    const auto limit = std::min<std::int64_t>(points - first, 5000);
    expect_range(bytes, shape, mask, first, static_cast<std::int64_t>(random() % (limit + 1)));
  }
}

TEST(MaskCodec, EveryRankAndAwkwardExtents) {
  const Shape extents = {1, 2, 3, 63, 64, 65, 127};
  std::vector<Shape> shapes = {{}};
  for (int rank = 1; rank <= 5; ++rank) {
    std::vector<Shape> longer;
    for (const Shape& shape : shapes) {
      for (const std::int64_t extent : extents) {
        Shape next = shape;
        next.push_back(extent);
        if (count_points(next) <= 70'000) longer.push_back(next);
      }
    }
    // From rank 3 on a sample: each tenth or so.
    shapes.clear();
    for (std::size_t k = 0; k < longer.size(); k += rank < 3 ? 1 : 9) shapes.push_back(longer[k]);
    for (const Shape& shape : shapes) {
      expect_round_trip(circles(shape), shape);
      expect_round_trip(speckle(count_points(shape), 30), shape);
    }
  }
}

TEST(MaskCodec, NoPoints) {
  for (const Shape& shape : {Shape{0}, Shape{0, 5}, Shape{7, 0, 3}}) {
    EXPECT_TRUE(encode_mask({}, shape, 1).empty());
    decode_mask({}, shape, {}, 1);
    decode_mask_range({}, shape, 0, 0, {}, 1);
    EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "mask", decode(Bytes(1), shape));
  }
}

TEST(MaskCodec, UniformCostsOneByte) {
  for (const Shape& shape : {Shape{1}, Shape{65}, Shape{3, 1'000'000}}) {
    const std::int64_t points = count_points(shape);
    for (const bool value : {false, true}) {
      const Words mask = make_mask(points, [&](std::int64_t) { return value; });
      EXPECT_EQ(encode_mask(mask, shape, 1).size(), 1u);
      expect_round_trip(mask, shape);
    }
  }
}

TEST(MaskCodec, BitsBehindTheLastPointAreIgnored) {
  const Shape shape = {5, 13};
  Words mask = circles(shape);
  const Bytes bytes = encode_mask(mask, shape, 1);
  mask.back() |= ~std::uint64_t{0} << 1;  // 65 points
  EXPECT_EQ(encode_mask(mask, shape, 1), bytes);
}

// Rows, planes and volumes below, around and above the size of a block, with blocks of every kind.
TEST(MaskCodec, ManyBlocks) {
  for (const Shape& shape :
       {Shape{2'200'000}, Shape{3, 1'100'000}, Shape{3, 2'200'000}, Shape{2, 3, 700, 600},
        Shape{40, 250, 300}, Shape{1'100'000, 2}, Shape{700'000, 1, 3}, Shape{3, 1025, 1030}}) {
    const std::int64_t slab = count_points(shape) / shape[0];
    const Words noise = speckle(count_points(shape), 500);
    std::mt19937 random(5);
    const Words mask = make_mask(count_points(shape), [&](std::int64_t i) {
      if (i % 5'000'000 > 4'500'000) return get(noise, i);
      return (i % slab / 1000 * 2654435761u >> 20 & 255) < 80 || random() % 30'000 == 0;
    });
    expect_round_trip(mask, shape);
    const Bytes bytes = encode_mask(mask, shape, 1);
    EXPECT_EQ(encode_mask(mask, shape, 4), bytes);
    EXPECT_EQ(decode(bytes, shape, 4), mask);
    expect_range(bytes, shape, mask, 1'000'000, 1'100'000);
    expect_range(bytes, shape, mask, count_points(shape) - 70'001, 70'001);
    expect_range(bytes, shape, mask, 0, count_points(shape));
  }
}

TEST(MaskCodec, RepeatedPlanesCostOnePlane) {
  const std::int64_t points = std::int64_t{330} * 360;
  const Words plane = circles({330, 360});
  const std::size_t once = encode_mask(plane, Shape{330, 360}, 1).size();
  EXPECT_LT(encode_mask(repeat(plane, points, 40), Shape{40, 330, 360}, 1).size(), once * 13 / 10);
  // Steps of levels that differ: the axis that repeats is found, whichever it is.
  const Shape levels = {8, 330, 360};
  const std::size_t step = encode_mask(circles(levels), levels, 1).size();
  const Words steps = repeat(circles(levels), 8 * points, 6);
  EXPECT_LT(encode_mask(steps, Shape{6, 8, 330, 360}, 1).size(), step * 13 / 10);
  // A mesh: rows as long as a plane.
  const std::size_t mesh = encode_mask(plane, Shape{points}, 1).size();
  EXPECT_LT(encode_mask(repeat(plane, points, 40), Shape{40, points}, 1).size(), mesh * 13 / 10);
}

TEST(MaskCodec, NoiseExpandsByATrifle) {
  const Shape shape = {1500, 1000};
  const Words noise = speckle(count_points(shape), 500);
  EXPECT_LE(encode_mask(noise, shape, 1).size(), 1'500'000u / 8 + 8);
  // Entropy: 0.0808 bit a point.
  EXPECT_LE(encode_mask(speckle(count_points(shape), 10), shape, 1).size(), 16'400u);
}

// --- hostile bytes -------------------------------------------------------------------------------

// Decodes or throws tamis::Error; anything else is a failure (or a sanitizer's finding).
bool survives(const Bytes& bytes, const Shape& shape) {
  try {
    decode(bytes, shape);
    return true;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kCorrupt);
    return false;
  }
}

TEST(MaskCodec, EveryTruncationIsRefused) {
  const Shape shape = {3, 40, 150};
  const Bytes bytes = encode_mask(circles(shape), shape, 1);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(survives(Bytes(bytes.begin(), bytes.begin() + static_cast<int>(size)), shape));
  }
  Bytes longer = bytes;
  longer.push_back(std::byte{0});
  EXPECT_FALSE(survives(longer, shape));
}

TEST(MaskCodec, EveryBitFlipIsHarmless) {
  for (const Shape& shape : {Shape{3, 40, 150}, Shape{50, 3}, Shape{9'000}}) {
    Bytes bytes = encode_mask(circles(shape), shape, 1);
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
      const std::byte flip{static_cast<unsigned char>(1u << bit % 8)};
      bytes[bit / 8] ^= flip;
      survives(bytes, shape);
      bytes[bit / 8] ^= flip;
    }
  }
}

TEST(MaskCodec, WrongShapesAreHarmless) {
  const Bytes bytes = encode_mask(circles({40, 150}), Shape{40, 150}, 1);
  for (const Shape& shape :
       {Shape{150, 40}, Shape{6000}, Shape{40, 149}, Shape{1}, Shape{64, 64}}) {
    survives(bytes, shape);
  }
  // A block table of 2^40 entries is not to be had from a few bytes.
  Words word(1);
  EXPECT_TAMIS_ERROR(
      ErrorCode::kCorrupt, "cut short",
      decode_mask_range(bytes, Shape{std::int64_t{1} << 60}, 5, 10, std::span(word), 1));
}

TEST(MaskCodec, BadFormsEntriesAndAxes) {
  const Shape shape = {20, 10};  // one block of 25 raw bytes
  const auto expect_corrupt = [&](std::initializer_list<int> values, const std::string& text) {
    Bytes bytes;
    for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
    EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, text, decode(bytes, shape));
  };
  expect_corrupt({3}, "form 3");
  expect_corrupt({0, 0}, "mask");
  expect_corrupt({2}, "cut short");
  expect_corrupt({2, 28}, "too long");
  expect_corrupt({2, 3}, "empty block");
  expect_corrupt({2, 4, 2}, "axis 2");
  expect_corrupt({2, 2, 1, 2, 3}, "mask");
  expect_corrupt({2, 0x80, 0}, "mask");
}

TEST(MaskCodec, ChecksItsArguments) {
  Words words(2);
  const auto expect_invalid = [&](const Shape& shape, const std::string& text) {
    EXPECT_TAMIS_ERROR(ErrorCode::kInvalidArgument, text, encode_mask(words, shape, 1));
    EXPECT_TAMIS_ERROR(ErrorCode::kInvalidArgument, text,
                       decode_mask(Bytes(1), shape, std::span(words), 1));
  };
  expect_invalid({}, "rank 0");
  expect_invalid(Shape(17, 1), "rank 17");
  expect_invalid({4, -1}, "extent -1");
  expect_invalid({std::int64_t{1} << 31, std::int64_t{1} << 31}, "2^60");
  expect_invalid({129}, "expected 3");
  EXPECT_TAMIS_ERROR(ErrorCode::kInvalidArgument, "of 100",
                     decode_mask_range(Bytes(1), Shape{100}, 90, 11, std::span(words), 1));
  EXPECT_TAMIS_ERROR(ErrorCode::kInvalidArgument, "of 100",
                     decode_mask_range(Bytes(1), Shape{100}, -1, 1, std::span(words), 1));
}

// --- golden --------------------------------------------------------------------------------------

// Other bytes are another format: raise the container's version before changing these.
TEST(MaskCodec, BytesStayTheSame) {
  struct Golden {
    Shape shape;
    bool speckled;
    std::size_t size;
    std::uint64_t sum;
  };
  const Golden goldens[] = {
      {{6, 60, 200}, false, 187, 14048718660815462028u},
      {{300, 67}, false, 105, 12500415832781128804u},
      {{9000}, true, 329, 5851350725191292157u},
      {{5, 5, 131}, true, 129, 1802683340158179937u},
      {{30, 250, 300}, false, 4387, 3624767203851233373u},
      {{400, 3}, true, 56, 8231097331673046020u},
  };
  for (const Golden& golden : goldens) {
    SCOPED_TRACE(::testing::PrintToString(golden.shape));
    const Words mask =
        golden.speckled ? speckle(count_points(golden.shape), 50) : circles(golden.shape);
    const Bytes bytes = encode_mask(mask, golden.shape, 2);
    EXPECT_EQ(bytes.size(), golden.size);
    EXPECT_EQ(xxh3_64(bytes), golden.sum);
  }
}

// Masks of real fields: the fill value of a file of little-endian floats.
void expect_size(const char* file, const Shape& shape, float fill, std::size_t limit) {
#ifdef TAMIS_SHARED_DATA
  const auto path = std::filesystem::path(TAMIS_SHARED_DATA) / "fields" / file;
#else
  const std::filesystem::path path;
#endif
  std::vector<float> values(static_cast<std::size_t>(count_points(shape)));
  std::ifstream stream(path, std::ios::binary);
  stream.read(reinterpret_cast<char*>(values.data()),
              static_cast<std::streamsize>(values.size() * sizeof(float)));
  if (!stream) GTEST_SKIP() << "no " << file << " next to the source tree";
  const Words mask =
      make_mask(count_points(shape), [&](std::int64_t i) { return values[i] == fill; });
  expect_round_trip(mask, shape);
  EXPECT_LE(encode_mask(mask, shape, 1).size(), limit);
}

TEST(MaskCodec, OceanMask) { expect_size("nemo_tos.f32", {330, 360}, 1e20f, 900); }

TEST(MaskCodec, SatelliteMask) {
  expect_size("toa_brightness.f32", {160, 256}, -1073741824.0f, 42);
}

}  // namespace
}  // namespace tamis::codec
