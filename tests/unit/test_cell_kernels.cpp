// The vector kernels of cells against a plain reference, for every instruction set: codes, contexts
// and reconstructions bit for bit, over all node counts, predictors, masks and steps.
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

template <typename I>
struct Scene {
  CellShape shape;
  CellRule rule;
  std::vector<I> input;
  std::vector<I> boundary;  // junk where the cell is open
  std::vector<std::uint8_t> valid;
  bool masked = false;
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
  const auto kind = static_cast<int>(random());
  s.input = lattice_values<I>(count, kind & 3, s.rule.step == 1, random);
  s.boundary = lattice_values<I>(count, kind & 3, s.rule.step == 1, random);
  s.masked = random() % 3 == 0;
  s.valid.resize(count, 1);
  if (s.masked) {
    const std::uint64_t share = 1 + random() % 8;
    for (auto& v : s.valid) v = random() % 8 < share ? 1 : 0;
  }
  return s;
}

template <typename I>
CellReference<I> reference_of(const Scene<I>& s) {
  CellReference<I> reference(s.shape, s.rule, s.boundary,
                             s.masked ? s.valid : std::vector<std::uint8_t>());
  reference.encode(s.input);
  return reference;
}

template <typename T>
void put(const std::vector<T>& from, std::vector<T>& to) {
  std::copy(from.begin(), from.end(), to.begin());
}

// Values of the open points, which is all that the kernels promise to set.
template <typename I>
std::vector<I> open_values(const CellShape& shape, const std::vector<I>& values, int step = 1) {
  std::vector<I> out;
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
        out.push_back(values[static_cast<std::size_t>((z * side + y) * side + x)]);
      }
    }
  }
  return out;
}

template <typename I>
class KernelRun {
 public:
  explicit KernelRun(const Scene<I>& scene)
      : scene_(scene), work_(scene.shape.rank, scene.shape.tile) {
    const auto room = static_cast<std::size_t>(scene.shape.open_count() + kRowSlack);
    for (auto& c : codes_) c.resize(room);
    for (auto& c : contexts_) c.resize(room);
  }

  void expect_encoding(const CellReference<I>& expected, bool with_contexts) {
    load();
    put(scene_.input, work_.input);
    CodeSink<I> sink;
    sink.coarse = codes_[0].data();
    sink.fine = codes_[1].data();
    if (with_contexts) {
      sink.coarse_context = contexts_[0].data();
      sink.fine_context = contexts_[1].data();
    }
    encode_cell(work_, scene_.shape, scene_.rule, scene_.masked, sink);
    codes_[0].resize(static_cast<std::size_t>(sink.coarse - codes_[0].data()));
    codes_[1].resize(static_cast<std::size_t>(sink.fine - codes_[1].data()));
    ASSERT_EQ(codes_[0], expected.coarse);
    ASSERT_EQ(codes_[1], expected.fine);
    ASSERT_EQ(open_values(scene_.shape, work_.values), open_values(scene_.shape, expected.values));
    if (with_contexts) {
      contexts_[0].resize(codes_[0].size());
      contexts_[1].resize(codes_[1].size());
      ASSERT_EQ(contexts_[0], expected.coarse_contexts);
      ASSERT_EQ(contexts_[1], expected.fine_contexts);
    }
  }

  void expect_decoding(const CellReference<I>& expected, bool coarse_only) {
    load();
    std::vector<I> coarse = padded(expected.coarse);
    std::vector<I> fine = padded(expected.fine);
    CodeSource<I> from_coarse{coarse.data(), nullptr};
    CodeSource<I> from_fine{fine.data(), nullptr};
    decode_cell(work_, scene_.shape, scene_.rule, scene_.masked, coarse_only, from_coarse,
                from_fine);
    if (coarse_only) {
      if (scene_.rule.predictor == Predictor::kLorenzo) return;
      ASSERT_EQ(open_values(scene_.shape, work_.values, 2),
                open_values(scene_.shape, expected.values, 2));
      ASSERT_EQ(from_coarse.decoded, coarse.data() + expected.coarse.size());
      return;
    }
    ASSERT_EQ(open_values(scene_.shape, work_.values), open_values(scene_.shape, expected.values));
    ASSERT_EQ(from_coarse.decoded, coarse.data() + expected.coarse.size());
    ASSERT_EQ(from_fine.decoded, fine.data() + expected.fine.size());
  }

  // Codes come from an entropy decoder, which needs the contexts in time.
  void expect_entropy_decoding(const CellReference<I>& expected) {
    auto counts = std::make_unique<codec::RansCounts>();
    for (auto& row : *counts) row.fill(0);
    const auto n_coarse = static_cast<std::int64_t>(expected.coarse.size());
    const auto n_fine = static_cast<std::int64_t>(expected.fine.size());
    codec::count_tokens(expected.coarse.data(), expected.coarse_contexts.data(), n_coarse, *counts);
    codec::count_tokens(expected.fine.data(), expected.fine_contexts.data(), n_fine, *counts);
    codec::RansModel model = codec::RansModel::build(*counts);
    model.prepare_decoding();
    std::vector<std::byte> coarse;
    std::vector<std::byte> fine;
    codec::encode_rans(model, expected.coarse.data(), expected.coarse_contexts.data(), n_coarse,
                       coarse);
    codec::encode_rans(model, expected.fine.data(), expected.fine_contexts.data(), n_fine, fine);
    codec::RansReader coarse_reader(model, coarse);
    codec::RansReader fine_reader(model, fine);
    load();
    CodeSource<I> from_coarse{nullptr, &coarse_reader};
    CodeSource<I> from_fine{nullptr, &fine_reader};
    decode_cell(work_, scene_.shape, scene_.rule, scene_.masked, false, from_coarse, from_fine);
    ASSERT_EQ(open_values(scene_.shape, work_.values), open_values(scene_.shape, expected.values));
    coarse_reader.expect_end();
    fine_reader.expect_end();
  }

 private:
  void load() {
    put(scene_.boundary, work_.values);
    put(scene_.valid, work_.valid);
  }
  static std::vector<I> padded(std::vector<I> codes) {
    codes.resize(codes.size() + kRowSlack);
    return codes;
  }

  const Scene<I>& scene_;
  CellWorkspace<I> work_;
  std::vector<I> codes_[2];
  std::vector<std::uint8_t> contexts_[2];
};

template <typename I>
void expect_agreement(const CellShape& shape, std::mt19937_64& random) {
  const Scene<I> scene = make_scene<I>(shape, random);
  SCOPED_TRACE(title(shape, scene.rule, scene.masked));
  const CellReference<I> expected = reference_of(scene);
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
