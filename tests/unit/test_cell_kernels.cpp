// The vector kernels of cells against a plain reference, for every instruction set: codes, contexts
// and reconstructions bit for bit, over all node counts, predictors, masks and steps, with
// different cells in the lanes and nothing written behind their codes.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "codec/rans.hpp"
#include "support/cell_reference.hpp"
#include "support/each_target.hpp"

namespace tamis::reduce {
namespace {

using testing::CellReference;

/// What one lane holds.
template <typename I>
struct LaneData {
  std::vector<I> input;
  std::vector<I> boundary;  // junk where the cell is open
  std::vector<std::uint8_t> valid;
};

template <typename I>
struct Scene {
  CellShape shape;
  CellRule rule;
  bool masked = false;
  std::vector<LaneData<I>> lanes;
};

std::string title(const CellShape& s, const CellRule& r, bool masked) {
  std::string text =
      "rank " + std::to_string(s.rank) + " tile " + std::to_string(s.tile) + " nodes";
  for (int k = 0; k < s.rank; ++k) text += " " + std::to_string(s.nodes[k]);
  text += std::string(", ") + predictor_name(r.predictor) + " step " + std::to_string(r.step) +
          " order";
  for (const int k : r.axis_order) text += " " + std::to_string(k);
  return text + (masked ? " masked" : "");
}

// Values rough or smooth, within what the number maps give, or any bits for step 1.
template <typename I>
std::vector<I> lattice_values(std::size_t count, int kind, bool any_bits, std::mt19937_64& random) {
  std::vector<I> values(count);
  const auto limit = sizeof(I) == 4 ? std::uint64_t{1} << 28 : std::uint64_t{1} << 51;
  for (std::size_t i = 0; i < count; ++i) {
    const auto smooth = static_cast<std::int64_t>(i * i % 1000);
    switch (kind % 4) {
      case 0:
        values[i] = static_cast<I>(smooth + static_cast<std::int64_t>(random() % 8));
        break;
      case 1:
        values[i] = static_cast<I>(static_cast<std::int64_t>(random() % 4000) - 2000);
        break;
      case 2:
        values[i] = static_cast<I>(static_cast<std::int64_t>(random() % (2 * limit - 1)) -
                                   static_cast<std::int64_t>(limit - 1));
        break;
      default:
        values[i] = any_bits ? static_cast<I>(random())
                             : static_cast<I>(random() % 2 ? limit - 1 : 1 - limit);
        if (any_bits && random() % 5 == 0) values[i] = std::numeric_limits<I>::min();
    }
  }
  return values;
}

template <typename I>
Scene<I> make_scene(const CellShape& shape, std::mt19937_64& random) {
  Scene<I> s;
  s.shape = shape;
  s.rule.predictor = static_cast<Predictor>(random() % kPredictorCount);
  constexpr std::int64_t kSteps[] = {1, 1, 3, 17, 255};
  s.rule.step = kSteps[random() % 5];
  if (sizeof(I) == 8 && random() % 4 == 0) s.rule.step = (std::int64_t{1} << 40) + 1;
  std::vector<std::uint8_t> order;
  for (int k = 0; k < shape.rank; ++k) order.push_back(static_cast<std::uint8_t>(k));
  std::shuffle(order.begin(), order.end(), random);
  // Axes that the cell lacks come first, as Grid::cell_rule() has it.
  int next = 0;
  for (int k = shape.rank; k < kMaxCellRank; ++k)
    s.rule.axis_order[next++] = static_cast<std::uint8_t>(k);
  for (const std::uint8_t k : order) s.rule.axis_order[next++] = k;
  std::size_t count = 1;
  for (int k = 0; k < shape.rank; ++k) count *= static_cast<std::size_t>(shape.tile + 1);
  s.masked = random() % 3 == 0;
  s.lanes.resize(1 + random() % static_cast<unsigned>(cell_lanes<I>()));
  for (LaneData<I>& lane : s.lanes) {
    const auto kind = static_cast<int>(random() & 3);
    lane.input = lattice_values<I>(count, kind, s.rule.step == 1, random);
    lane.boundary = lattice_values<I>(count, kind, s.rule.step == 1, random);
    lane.valid.resize(count, 1);
    if (!s.masked) continue;
    const std::uint64_t share = 1 + random() % 8;
    for (auto& v : lane.valid) v = random() % 8 < share ? 1 : 0;
  }
  return s;
}

template <typename I>
using References = std::vector<CellReference<I>>;

template <typename I>
References<I> references_of(const Scene<I>& s) {
  References<I> references;
  for (const LaneData<I>& lane : s.lanes) {
    references.emplace_back(s.shape, s.rule, lane.boundary,
                            s.masked ? lane.valid : std::vector<std::uint8_t>());
    references.back().encode(lane.input);
  }
  return references;
}

// fn(natural index) for the open points, which is all that the kernels promise to set.
template <typename Fn>
void each_open(const CellShape& shape, int step, const Fn& fn) {
  const int side = shape.tile + 1;
  int begin[3] = {0, 0, 0};
  int end[3] = {1, 1, 1};
  for (int i = 0; i < shape.rank; ++i) {
    begin[2 - i] = step;
    end[2 - i] = shape.open(shape.rank - 1 - i) + 1;
  }
  for (int z = begin[0]; z < end[0]; z += step) {
    for (int y = begin[1]; y < end[1]; y += step) {
      for (int x = begin[2]; x < end[2]; x += step) {
        fn(static_cast<std::size_t>((z * side + y) * side + x));
      }
    }
  }
}

template <typename I>
class KernelRun {
 public:
  explicit KernelRun(const Scene<I>& scene)
      : scene_(scene), batch_(scene.shape.rank, scene.shape.tile) {
    options_.masked = scene.masked;
    for (std::size_t l = 0; l < scene.lanes.size(); ++l) {
      put(scene.lanes[l].boundary, l, batch_.values());
      put(scene.lanes[l].valid, l, batch_.valid());
    }
  }

  void expect_encoding(const References<I>& expected, bool with_contexts) {
    std::vector<CodeBuffer> buffers;
    std::vector<CodeSink<I>> sinks;
    for (std::size_t l = 0; l < expected.size(); ++l) {
      put_open(scene_.lanes[l].input, l);
      buffers.emplace_back(expected[l]);
    }
    for (CodeBuffer& b : buffers) {
      sinks.push_back(
          {b.coarse.data(), b.fine.data(), b.coarse_contexts.data(), b.fine_contexts.data()});
    }
    options_.contexts = with_contexts;
    encode_cells<I>(batch_, scene_.shape, scene_.rule, options_, sinks);
    for (std::size_t l = 0; l < expected.size(); ++l) {
      const CodeBuffer& b = buffers[l];
      ASSERT_EQ(b.coarse, CodeBuffer::padded(expected[l].coarse));
      ASSERT_EQ(b.fine, CodeBuffer::padded(expected[l].fine));
      ASSERT_EQ(sinks[l].coarse, b.coarse.data() + expected[l].coarse.size());
      ASSERT_EQ(sinks[l].fine, b.fine.data() + expected[l].fine.size());
      expect_values(expected, l);
      if (!with_contexts) continue;
      ASSERT_EQ(b.coarse_contexts, CodeBuffer::padded(expected[l].coarse_contexts));
      ASSERT_EQ(b.fine_contexts, CodeBuffer::padded(expected[l].fine_contexts));
    }
  }

  void expect_decoding(const References<I>& expected, bool coarse_only) {
    std::vector<CodeBuffer> buffers;
    std::vector<CellSource<I>> sources;
    for (const CellReference<I>& e : expected) {
      buffers.emplace_back(e);
      buffers.back().coarse = CodeBuffer::padded(e.coarse);
      buffers.back().fine = CodeBuffer::padded(e.fine);
    }
    for (CodeBuffer& b : buffers) {
      sources.push_back({{b.coarse.data(), nullptr}, {b.fine.data(), nullptr}});
    }
    options_.coarse_only = coarse_only;
    decode_cells<I>(batch_, scene_.shape, scene_.rule, options_, sources);
    const bool lorenzo = scene_.rule.predictor == Predictor::kLorenzo;
    if (coarse_only && lorenzo) return;
    for (std::size_t l = 0; l < expected.size(); ++l) {
      expect_values(expected, l, coarse_only ? 2 : 1);
      ASSERT_EQ(sources[l].coarse.decoded, buffers[l].coarse.data() + expected[l].coarse.size());
      if (coarse_only) continue;
      ASSERT_EQ(sources[l].fine.decoded, buffers[l].fine.data() + expected[l].fine.size());
    }
  }

  // Codes come from an entropy decoder, which needs the contexts in time.
  void expect_entropy_decoding(const References<I>& expected) {
    auto counts = std::make_unique<codec::RansCounts>();
    for (auto& row : *counts) row.fill(0);
    const auto size = [](const auto& v) { return static_cast<std::int64_t>(v.size()); };
    for (const CellReference<I>& e : expected) {
      codec::count_tokens(e.coarse.data(), e.coarse_contexts.data(), size(e.coarse), *counts);
      codec::count_tokens(e.fine.data(), e.fine_contexts.data(), size(e.fine), *counts);
    }
    codec::RansModel model = codec::RansModel::build(*counts);
    model.prepare_decoding();
    std::vector<std::vector<std::byte>> bytes(2 * expected.size());
    std::vector<codec::RansReader> readers;
    for (std::size_t l = 0; l < expected.size(); ++l) {
      const CellReference<I>& e = expected[l];
      codec::encode_rans(model, e.coarse.data(), e.coarse_contexts.data(), size(e.coarse),
                         bytes[2 * l]);
      codec::encode_rans(model, e.fine.data(), e.fine_contexts.data(), size(e.fine),
                         bytes[2 * l + 1]);
      readers.emplace_back(model, bytes[2 * l]);
      readers.emplace_back(model, bytes[2 * l + 1]);
    }
    std::vector<CellSource<I>> sources(expected.size());
    for (std::size_t l = 0; l < expected.size(); ++l) {
      sources[l].coarse.reader = &readers[2 * l];
      sources[l].fine.reader = &readers[2 * l + 1];
    }
    decode_cells<I>(batch_, scene_.shape, scene_.rule, options_, sources);
    for (std::size_t l = 0; l < expected.size(); ++l) expect_values(expected, l);
    for (const codec::RansReader& reader : readers) reader.expect_end();
  }

 private:
  // Room for the codes of a lane and a pattern behind them, which has to stay.
  struct CodeBuffer {
    explicit CodeBuffer(const CellReference<I>& e)
        : coarse(e.coarse.size() + kRowSlack, I{77}),
          fine(e.fine.size() + kRowSlack, I{77}),
          coarse_contexts(e.coarse.size() + kRowSlack, 77),
          fine_contexts(e.fine.size() + kRowSlack, 77) {}
    template <typename T>
    static std::vector<T> padded(std::vector<T> v) {
      v.resize(v.size() + kRowSlack, T{77});
      return v;
    }
    std::vector<I> coarse;
    std::vector<I> fine;
    std::vector<std::uint8_t> coarse_contexts;
    std::vector<std::uint8_t> fine_contexts;
  };

  template <typename T>
  void put(const std::vector<T>& from, std::size_t lane, T* to) {
    const auto lanes = static_cast<std::size_t>(batch_.lanes());
    for (std::size_t i = 0; i < from.size(); ++i) to[i * lanes + lane] = from[i];
  }
  // The kernels find the input where they leave the reconstruction.
  void put_open(const std::vector<I>& input, std::size_t lane) {
    const auto lanes = static_cast<std::size_t>(batch_.lanes());
    each_open(scene_.shape, 1,
              [&](std::size_t i) { batch_.values()[i * lanes + lane] = input[i]; });
  }
  void expect_values(const References<I>& expected, std::size_t lane, int step = 1) {
    const auto lanes = static_cast<std::size_t>(batch_.lanes());
    std::vector<I> values;
    each_open(scene_.shape, step,
              [&](std::size_t i) { values.push_back(batch_.values()[i * lanes + lane]); });
    std::vector<I> wanted;
    each_open(scene_.shape, step,
              [&](std::size_t i) { wanted.push_back(expected[lane].values[i]); });
    ASSERT_EQ(values, wanted);
  }

  const Scene<I>& scene_;
  CellBatch<I> batch_;
  CodingOptions options_;
};

template <typename I>
void expect_agreement(const CellShape& shape, std::mt19937_64& random) {
  const Scene<I> scene = make_scene<I>(shape, random);
  SCOPED_TRACE(title(shape, scene.rule, scene.masked));
  const References<I> expected = references_of(scene);
  KernelRun<I>(scene).expect_encoding(expected, false);
  KernelRun<I>(scene).expect_encoding(expected, true);
  KernelRun<I>(scene).expect_decoding(expected, false);
  KernelRun<I>(scene).expect_decoding(expected, true);
  if (random() % 48 == 0) KernelRun<I>(scene).expect_entropy_decoding(expected);
}

// Every combination of node counts of a tile, `rounds` scenes each.
template <typename I>
void run_shapes(int rank, int tile, int rounds, unsigned seed) {
  std::mt19937_64 random(seed);
  CellShape shape;
  shape.rank = rank;
  shape.tile = tile;
  int combinations = 1;
  for (int k = 0; k < rank; ++k) combinations *= tile + 1;
  for (int c = 0; c < combinations; ++c) {
    int rest = c;
    for (int k = 0; k < rank; ++k) {
      shape.nodes[k] = 1 + rest % (tile + 1);
      rest /= tile + 1;
    }
    for (int round = 0; round < rounds; ++round) {
      expect_agreement<I>(shape, random);
      if (::testing::Test::HasFailure()) return;
    }
  }
}

TEST(CellKernels, AgreeWithTheReferenceIn32Bits) {
  testing::each_target([] {
    run_shapes<std::int32_t>(1, 4, 12, 1);
    run_shapes<std::int32_t>(1, 16, 10, 2);
    run_shapes<std::int32_t>(1, 64, 2, 3);
    run_shapes<std::int32_t>(2, 4, 8, 4);
    run_shapes<std::int32_t>(2, 8, 2, 5);
    run_shapes<std::int32_t>(3, 4, 2, 7);
  });
}

TEST(CellKernels, AgreeWithTheReferenceIn64Bits) {
  run_shapes<std::int64_t>(1, 16, 20, 1);
  run_shapes<std::int64_t>(2, 4, 20, 2);
  run_shapes<std::int64_t>(2, 8, 4, 3);
  run_shapes<std::int64_t>(3, 4, 4, 4);
}

// The sizes in use: full tiles, and a few cut ones.
TEST(CellKernels, AgreeWithTheReferenceInTilesOfTheFormat) {
  testing::each_target([] {
    std::mt19937_64 random(11);
    for (const int n : {17, 16, 12, 3}) {
      for (int round = 0; round < 3; ++round) {
        expect_agreement<std::int32_t>({3, 16, {n, 17, 17}}, random);
        expect_agreement<std::int32_t>({3, 16, {17, n, 15}}, random);
        expect_agreement<std::int64_t>({3, 16, {16, 17, n}}, random);
        expect_agreement<std::int32_t>({2, 64, {4 * n - 3, 65}}, random);
        expect_agreement<std::int32_t>({2, 64, {63, 4 * n - 3}}, random);
        expect_agreement<std::int32_t>({1, 4096, {4097 - 17 + n}}, random);
      }
    }
  });
}

}  // namespace
}  // namespace tamis::reduce
