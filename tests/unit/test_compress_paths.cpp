// The ways in and out must agree: threads, streams, strided views, boxes and previews give the same
// bytes or the same values as the plain call.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "support/field_oracle.hpp"
#include "support/made_fields.hpp"
#include "tamis/reduce.hpp"

namespace tamis::reduce {
namespace {

using testing::Kind;
using Bytes = std::vector<std::byte>;

CompressOptions options_for(const Bound& bound, Mode mode, int threads = 1) {
  CompressOptions options;
  options.bound = bound;
  options.mode = mode;
  options.threads = threads;
  return options;
}

// A field for each path of the codec: number maps, masks, patches, raw, several tiles and chunks.
struct Sample {
  Extents shape;
  Kind kind;
  Bound bound;
  Mode mode;
};

std::vector<Sample> samples() {
  return {
      {{70, 200}, Kind::kSmooth, Bound::absolute(1e-3), Mode::kDefault},
      {{20, 37, 50}, Kind::kSpecials, Bound::relative(1e-4), Mode::kRatio},
      {{20, 37, 50}, Kind::kFill, Bound::absolute(1e-4), Mode::kRatio},
      {{300, 130}, Kind::kFill, Bound::absolute(1e-2), Mode::kFast},
      {{20000}, Kind::kSteps, Bound::lossless(), Mode::kDefault},
      {{9000}, Kind::kMixed, Bound::pointwise_relative(1e-3), Mode::kRatio},
      {{5, 6, 7, 8, 9}, Kind::kNoise, Bound::relative(1e-2), Mode::kRatio},
      {{2, 3, 2, 9, 5, 17, 2}, Kind::kSmooth, Bound::absolute(1e-2), Mode::kDefault},
      {{40, 50}, Kind::kRandomBits, Bound::lossless(), Mode::kDefault},
      {{33, 1, 65, 1}, Kind::kTenths, Bound::lossless(), Mode::kFast},
      {{3, 200, 70}, Kind::kOffset, Bound::psnr(60), Mode::kDefault},
      {{1, 40, 130}, Kind::kIntegers, Bound::pointwise_relative(0.2), Mode::kFast},
  };
}

std::string title(const Sample& s) {
  return s.shape.to_string() + " " + testing::kind_name(s.kind) + " " + mode_name(s.mode) + " " +
         bound_kind_name(s.bound.kind);
}

// fn<T>(sample, field, view) for every sample in both types.
template <typename Fn>
void each_sample(const Fn& fn) {
  unsigned seed = 0;
  for (const Sample& s : samples()) {
    SCOPED_TRACE(title(s));
    ++seed;
    const std::vector<float> narrow = testing::make_field<float>(s.kind, s.shape, seed);
    fn(s, narrow, make_view(narrow.data(), s.shape));
    const std::vector<double> wide = testing::make_field<double>(s.kind, s.shape, seed);
    fn(s, wide, make_view(wide.data(), s.shape));
  }
}

Bytes bytes_of(const Tensor& tensor) {
  Bytes bytes(static_cast<std::size_t>(tensor.size_bytes()));
  if (!bytes.empty()) std::memcpy(bytes.data(), tensor.data(), bytes.size());
  return bytes;
}

TEST(CompressPaths, BytesDoNotDependOnThreads) {
  each_sample([](const Sample& s, const auto&, const ConstTensorView& view) {
    const Bytes one = compress(view, options_for(s.bound, s.mode, 1)).bytes;
    for (const int threads : {2, 3, 7}) {
      EXPECT_EQ(compress(view, options_for(s.bound, s.mode, threads)).bytes, one) << threads;
    }
    DecompressOptions how;
    how.threads = 1;
    const Bytes decoded = bytes_of(decompress(one, how));
    for (const int threads : {2, 7}) {
      how.threads = threads;
      EXPECT_EQ(bytes_of(decompress(one, how)), decoded) << threads;
    }
  });
}

// Checks what the interface promises of the reader: in each pass rows rise, none is out of range.
template <typename T>
Bytes stream(const std::vector<T>& field, const Extents& shape, const CompressOptions& options) {
  const std::int64_t row = shape[0] > 0 ? shape.element_count() / shape[0] : 0;
  Bytes out;
  const ReadRows read = [&](std::int64_t first, std::int64_t count, void* to) {
    ASSERT_GE(first, 0);
    ASSERT_GT(count, 0);
    ASSERT_LE(first + count, shape[0]);
    std::memcpy(to, field.data() + first * row, static_cast<std::size_t>(count * row) * sizeof(T));
  };
  const WriteBytes write = [&](std::span<const std::byte> bytes) {
    out.insert(out.end(), bytes.begin(), bytes.end());
  };
  const DType dtype = sizeof(T) == 4 ? DType::kF32 : DType::kF64;
  const Info info = compress_stream(dtype, shape, read, write, options);
  EXPECT_EQ(info.compressed_bytes, static_cast<std::int64_t>(out.size()));
  return out;
}

TEST(CompressPaths, StreamGivesTheSameBytes) {
  each_sample([](const Sample& s, const auto& field, const ConstTensorView& view) {
    const CompressOptions options = options_for(s.bound, s.mode, 2);
    EXPECT_TRUE(stream(field, s.shape, options) == compress(view, options).bytes);
  });
}

// Tall enough for several layers of tiles and for sample windows that leave gaps between them.
TEST(CompressPaths, StreamOfSeveralLayersGivesTheSameBytes) {
  for (const Extents& shape : {Extents{9000, 70}, Extents{1500, 17, 20}, Extents{600000}}) {
    const std::vector<float> field = testing::make_field<float>(Kind::kSmooth, shape, 3);
    const CompressOptions options = options_for(Bound::absolute(1e-2), Mode::kDefault, 2);
    EXPECT_TRUE(stream(field, shape, options) ==
                compress(make_view(field.data(), shape), options).bytes)
        << shape.to_string();
  }
}

// What the samples of the encoder see is smooth, the rest cannot be coded. A stream cannot be taken
// back, so the container must be whole all the same.
template <typename T>
void expect_whole_stream(const std::vector<T>& field, const Extents& shape, const Bound& bound) {
  const Bytes streamed = stream(field, shape, options_for(bound, Mode::kDefault));
  const Tensor decoded = decompress(streamed);
  const std::span<const T> values(static_cast<const T*>(decoded.data()), field.size());
  EXPECT_EQ(testing::broken_promise(std::span<const T>(field), values, bound,
                                    inspect(streamed).fill_value),
            "");
}

// Signs change within blocks that the scan takes whole, so that it cannot exclude zeros; how it
// cuts the field must not show in the bytes.
TEST(CompressPaths, NoSectionOfZerosWithoutZeros) {
  const Extents shape = {30000};
  std::vector<float> field(30000);
  for (std::size_t i = 0; i < field.size(); ++i) {
    const float v = 2 + std::sin(0.01F * static_cast<float>(i));
    field[i] = i / 1000 % 2 == 0 ? v : -v;
  }
  const CompressOptions options = options_for(Bound::pointwise_relative(1e-3), Mode::kDefault);
  const auto has_zeros = [](const Info& info) {
    return std::any_of(info.sections.begin(), info.sections.end(),
                       [](const std::string& s) { return s.starts_with("zeros:"); });
  };
  const CompressResult without = compress(make_view(field.data(), shape), options);
  EXPECT_EQ(without.info.number_map, "logarithm");
  EXPECT_FALSE(has_zeros(without.info));
  EXPECT_EQ(stream(field, shape, options), without.bytes);
  field[12345] = -0.0F;
  EXPECT_TRUE(has_zeros(compress(make_view(field.data(), shape), options).info));
}

TEST(CompressPaths, StreamSurvivesMisleadingSamples) {
  const Extents shape{4000, 64};
  std::mt19937_64 random(1);
  std::vector<float> infinite(4000 * 64, 1.0F);
  std::vector<float> wild(4000 * 64, 1.0F);
  std::vector<float> tiny(4000 * 64, 1.0F);  // too small for the logarithm's even steps
  for (std::size_t row = 0; row < 4000; ++row) {
    // The windows: 514 rows each, beginning near 1/6, 3/6 and 5/6 of what is left.
    const bool sampled =
        (row > 500 && row < 1200) || (row > 1650 && row < 2300) || (row > 2800 && row < 3450);
    for (std::size_t x = 0; x < 64 && !sampled; ++x) {
      if (random() % 2) infinite[row * 64 + x] = std::numeric_limits<float>::infinity();
      tiny[row * 64 + x] = testing::from_raw_bits<float>(random() % 64 + 1);
      wild[row * 64 + x] = testing::from_raw_bits<float>(random());
    }
  }
  expect_whole_stream(infinite, shape, Bound::absolute(1e-3));
  expect_whole_stream(wild, shape, Bound::absolute(1e-3));
  expect_whole_stream(wild, shape, Bound::lossless());
  expect_whole_stream(wild, shape, Bound::pointwise_relative(1e-2));
  expect_whole_stream(tiny, shape, Bound::pointwise_relative(1e-2));
}

template <typename T>
std::vector<T> gathered(const ConstTensorView& view) {
  std::vector<T> out;
  const std::int64_t count = view.shape.element_count();
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t rest = i;
    std::int64_t offset = 0;
    for (int d = view.shape.rank() - 1; d >= 0; --d) {
      offset += rest % view.shape[d] * view.strides[d];
      rest /= view.shape[d];
    }
    out.push_back(static_cast<const T*>(view.data)[offset]);
  }
  return out;
}

TEST(CompressPaths, StridedViewsAreReadAsTheyAre) {
  const Extents shape{20, 30, 12};
  const std::vector<double> field = testing::make_field<double>(Kind::kSpecials, shape, 2);
  ConstTensorView transposed{field.data(), DType::kF64, {12, 20, 30}, {1, 360, 12}};
  ConstTensorView reversed{field.data() + 7199, DType::kF64, shape, {-360, -12, -1}};
  ConstTensorView sliced{field.data() + 5, DType::kF64, {10, 30, 2}, {720, 12, 3}};
  ConstTensorView broadcast{field.data() + 3, DType::kF64, {9, 30, 4}, {0, 12, 0}};
  for (const ConstTensorView& view : {transposed, reversed, sliced, broadcast}) {
    const std::vector<double> dense = gathered<double>(view);
    const CompressOptions options = options_for(Bound::absolute(1e-3), Mode::kDefault);
    const Bytes bytes = compress(view, options).bytes;
    EXPECT_EQ(bytes, compress(make_view(dense.data(), view.shape), options).bytes);
    // And back into a view of the same layout, save the broadcast one.
    if (view.strides[0] == 0) continue;
    std::vector<double> target(field.size(), 7.0);
    const std::ptrdiff_t at = static_cast<const double*>(view.data) - field.data();
    decompress_into(bytes, {target.data() + at, view.dtype, view.shape, view.strides});
    const ConstTensorView back{target.data() + at, view.dtype, view.shape, view.strides};
    const std::vector<double> got = gathered<double>(back);
    const Tensor plain = decompress(bytes);
    EXPECT_EQ(std::memcmp(got.data(), plain.data(), got.size() * 8), 0);
  }
}

// The expected values of a box and level, picked from the full decoding.
Bytes picked(const Tensor& full, const Box& box, std::int64_t step) {
  const Extents& shape = full.shape();
  const auto size = static_cast<std::size_t>(dtype_bytes(full.dtype()));
  Bytes out;
  for (std::int64_t i = 0; i < full.element_count(); ++i) {
    std::int64_t rest = i;
    bool inside = true;
    for (int d = shape.rank() - 1; d >= 0; --d) {
      const std::int64_t x = rest % shape[d];
      rest /= shape[d];
      inside &= x >= box.origin[d] && x < box.origin[d] + box.extent[d] && x % step == 0;
    }
    if (!inside) continue;
    const auto* from =
        static_cast<const std::byte*>(full.data()) + static_cast<std::size_t>(i) * size;
    out.insert(out.end(), from, from + size);
  }
  return out;
}

Box random_box(const Extents& shape, std::mt19937_64& random) {
  Box box{shape, shape};
  for (int d = 0; d < shape.rank(); ++d) {
    box.origin[d] = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(shape[d] + 1));
    const auto left = static_cast<std::uint64_t>(shape[d] - box.origin[d]);
    box.extent[d] = static_cast<std::int64_t>(random() % (left + 1));
    if (random() % 3 == 0) box.extent[d] = std::min<std::int64_t>(box.extent[d], 2);
  }
  return box;
}

TEST(DecompressPaths, BoxesAndLevelsArePartsOfTheWhole) {
  std::mt19937_64 random(9);
  each_sample([&](const Sample& s, const auto&, const ConstTensorView& view) {
    const Bytes bytes = compress(view, options_for(s.bound, s.mode, 2)).bytes;
    const Info info = inspect(bytes);
    const Tensor full = decompress(bytes);
    for (int round = 0; round < 14; ++round) {
      DecompressOptions part;
      part.threads = 1 + round % 2;
      const Box box = random_box(s.shape, random);
      const bool boxed = round % 7 != 0;
      if (boxed) part.box = box;
      part.level =
          round % 2 ? static_cast<int>(random() % static_cast<unsigned>(info.level_count)) : 0;
      const Tensor tensor = decompress(bytes, part);
      EXPECT_EQ(tensor.shape(), decompressed_shape(info, part));
      const Box all{Extents::filled(s.shape.rank(), 0), s.shape};
      EXPECT_EQ(bytes_of(tensor), picked(full, boxed ? box : all, std::int64_t{1} << part.level))
          << "box at " << box.origin.to_string() << " of " << box.extent.to_string() << ", level "
          << part.level << (boxed ? "" : ", no box");
    }
  });
}

TEST(DecompressPaths, EveryLevelOfAWideField) {
  for (const Extents& shape : {Extents{150, 140}, Extents{40, 41, 37}, Extents{9000}}) {
    for (const Mode mode : {Mode::kDefault, Mode::kRatio, Mode::kFast}) {
      const std::vector<float> field = testing::make_field<float>(Kind::kFill, shape, 6);
      const Bytes bytes =
          compress(make_view(field.data(), shape), options_for(Bound::absolute(0.01), mode)).bytes;
      const Tensor full = decompress(bytes);
      const Info info = inspect(bytes);
      DecompressOptions part;
      for (part.level = 0; part.level < info.level_count; ++part.level) {
        const Box all{Extents::filled(shape.rank(), 0), shape};
        EXPECT_EQ(bytes_of(decompress(bytes, part)),
                  picked(full, all, std::int64_t{1} << part.level));
      }
      part.level = info.level_count - 1;
      EXPECT_EQ(decompress(bytes, part).element_count(), 1);
    }
  }
}

}  // namespace
}  // namespace tamis::reduce
