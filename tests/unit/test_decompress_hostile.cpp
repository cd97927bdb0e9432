// Containers that were cut, changed, or written by someone who means harm: an Error or the right
// data, never anything else, and no more memory or time than the bytes deserve.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "support/expect_error.hpp"
#include "support/field_oracle.hpp"
#include "support/loose_container.hpp"
#include "support/made_fields.hpp"
#include "tamis/reduce.hpp"

namespace tamis::reduce {
namespace {

using testing::Bytes;
using testing::Kind;
using testing::LooseContainer;

struct Victim {
  const char* name;
  Bytes bytes;
  Bytes values;
};

Bytes values_of(std::span<const std::byte> container, const DecompressOptions& options) {
  const Tensor tensor = decompress(container, options);
  Bytes bytes(static_cast<std::size_t>(tensor.size_bytes()));
  if (!bytes.empty()) std::memcpy(bytes.data(), tensor.data(), bytes.size());
  return bytes;
}

DecompressOptions single() {
  DecompressOptions options;
  options.threads = 1;
  return options;
}

template <typename T>
Victim make_victim(const char* name, const Extents& shape, Kind kind, Mode mode,
                   const Bound& bound) {
  const std::vector<T> field = testing::make_field<T>(kind, shape, 1);
  CompressOptions options;
  options.bound = bound;
  options.mode = mode;
  options.threads = 1;
  Victim v{name, compress(make_view(field.data(), shape), options).bytes, {}};
  v.values = values_of(v.bytes, single());
  return v;
}

// A few hundred bytes each; between them every section, coder, number map and rank.
const std::vector<Victim>& victims() {
  static const std::vector<Victim> kVictims = {
      make_victim<float>("rice", {18, 20}, Kind::kSmooth, Mode::kDefault, Bound::absolute(1e-2)),
      make_victim<float>("rans", {40, 33}, Kind::kSmooth, Mode::kRatio, Bound::absolute(0.05)),
      make_victim<double>("fixed", {6, 7, 9}, Kind::kSmooth, Mode::kFast, Bound::relative(1e-2)),
      make_victim<float>("fill", {17, 18}, Kind::kFill, Mode::kDefault, Bound::absolute(1e-2)),
      make_victim<float>("patches", {300}, Kind::kSpecials, Mode::kDefault, Bound::absolute(0.1)),
      make_victim<double>("logarithm", {5, 60}, Kind::kMixed, Mode::kDefault,
                          Bound::pointwise_relative(0.2)),
      make_victim<double>("steps", {20, 30}, Kind::kSteps, Mode::kDefault, Bound::lossless()),
      make_victim<float>("ordered", {120}, Kind::kNoise, Mode::kDefault, Bound::lossless()),
      make_victim<double>("raw", {40}, Kind::kRandomBits, Mode::kDefault, Bound::lossless()),
      make_victim<float>("empty", {0, 3}, Kind::kSmooth, Mode::kDefault, Bound::lossless()),
  };
  return kVictims;
}

// Error, or the data of the victim.
void expect_refused_or_right(std::span<const std::byte> bytes, const Victim& victim,
                             const std::string& what) {
  try {
    EXPECT_TRUE(values_of(bytes, single()) == victim.values) << victim.name << ": " << what;
  } catch (const Error&) {
    return;
  }
  // An undamaged value from damaged bytes would mean that some bytes are not covered.
  ADD_FAILURE() << victim.name << ": " << what << " went unnoticed";
}

TEST(HostileBytes, VictimsUseEverySection) {
  std::vector<std::string> seen;
  for (const Victim& v : victims()) {
    const ContainerReader reader(v.bytes);
    for (const SectionInfo& s : reader.sections()) seen.push_back(s.name);
  }
  for (const char* name :
       {"anchors", "data", "index", "patches", "mask", "zeros", "signs", "raw"}) {
    EXPECT_NE(std::find(seen.begin(), seen.end(), name), seen.end()) << name;
  }
}

TEST(HostileBytes, EveryTruncationIsRefused) {
  for (const Victim& v : victims()) {
    for (std::size_t size = 0; size < v.bytes.size(); ++size) {
      // A copy, so that the sanitizer sees reads beyond the end.
      const Bytes cut(v.bytes.begin(), v.bytes.begin() + static_cast<std::ptrdiff_t>(size));
      expect_refused_or_right(cut, v, "cut to " + std::to_string(size));
    }
  }
}

TEST(HostileBytes, EveryBitFlipIsRefused) {
  for (const Victim& v : victims()) {
    Bytes bytes = v.bytes;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      for (int bit = 0; bit < 8; ++bit) {
        bytes[i] ^= static_cast<std::byte>(1U << bit);
        expect_refused_or_right(bytes, v,
                                "bit " + std::to_string(bit) + " of byte " + std::to_string(i));
        bytes[i] ^= static_cast<std::byte>(1U << bit);
      }
    }
  }
}

TEST(HostileBytes, AppendedBytesAreRefused) {
  for (const Victim& v : victims()) {
    Bytes bytes = v.bytes;
    bytes.push_back(std::byte{0});
    EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "", decompress(bytes));
    bytes = v.bytes;
    bytes.insert(bytes.begin(), std::byte{0});
    EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "", decompress(bytes));
  }
}

// Decodes whatever comes of it: whole, in part and coarsely. Only Error may be thrown.
void decode_all_ways(const Bytes& bytes) {
  DecompressOptions options = single();
  options.max_output_bytes = 1 << 20;
  Info info;
  try {
    info = inspect(bytes);
    decompress(bytes, options);
  } catch (const Error&) {
  }
  const int rank = info.shape.rank();
  if (rank == 0 || info.raw_bytes > 1 << 20) return;
  for (int way = 0; way < 2; ++way) {
    DecompressOptions part = options;
    if (way == 1) part.box = Box{Extents::filled(rank, 0), Extents::filled(rank, 1)};
    part.level = way == 0 ? 1 : 0;
    try {
      decompress(bytes, part);
    } catch (const Error&) {
    }
  }
}

// Changes inside of sections, sealed with right checksums again.
TEST(HostileBytes, ChangedSectionsDoNoHarm) {
  std::mt19937_64 random(4);
  for (const Victim& v : victims()) {
    const LooseContainer loose = testing::take_apart(v.bytes);
    EXPECT_EQ(testing::seal(loose), v.bytes) << v.name;
    if (loose.sections.empty()) continue;
    for (int round = 0; round < 1500; ++round) {
      LooseContainer changed = loose;
      Bytes& bytes = changed.sections[random() % changed.sections.size()].second;
      if (bytes.empty()) continue;
      for (std::uint64_t edits = random() % 3 + 1; edits > 0 && !bytes.empty(); --edits) {
        const std::size_t at = random() % bytes.size();
        if (random() % 8 == 0) {
          bytes.resize(at);
        } else if (random() % 8 == 0) {
          bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), std::byte(random()));
        } else {
          bytes[at] ^= static_cast<std::byte>(1U << random() % 8);
        }
      }
      decode_all_ways(testing::seal(changed));
    }
  }
}

TEST(HostileBytes, MissingSectionsAreRefused) {
  for (const Victim& v : victims()) {
    const LooseContainer loose = testing::take_apart(v.bytes);
    for (std::size_t i = 0; i < loose.sections.size(); ++i) {
      LooseContainer changed = loose;
      const std::string name = changed.sections[i].first;
      changed.sections.erase(changed.sections.begin() + static_cast<std::ptrdiff_t>(i));
      const Bytes bytes = testing::seal(changed);
      decode_all_ways(bytes);
      if (name == "anchors" || name == "data" || name == "index" || name == "raw") {
        EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, name, decompress(bytes));
      }
    }
  }
}

// A file that leaves out the checksum of a section does not get that section past its check; the
// blobs in `data` have theirs in the index, and older files have one over all of `data` as well.
TEST(HostileBytes, OnlyDataMayLackAChecksum) {
  for (const Victim& v : victims()) {
    const LooseContainer loose = testing::take_apart(v.bytes);
    for (const auto& [name, unused] : loose.sections) {
      LooseContainer changed = loose;
      changed.in_parts = name;
      const Bytes bytes = testing::seal(changed);
      if (name == "data") {
        EXPECT_TRUE(values_of(bytes, single()) == v.values) << v.name;
      } else {
        decode_all_ways(bytes);
        EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "'" + name + "' has no checksum",
                           decompress(bytes));
      }
    }
    LooseContainer older = loose;
    older.in_parts.clear();
    const Bytes bytes = testing::seal(older);
    EXPECT_TRUE(values_of(bytes, single()) == v.values) << v.name;
    EXPECT_NO_THROW(ContainerReader(bytes).verify_all()) << v.name;
  }
}

// Meta data changed one by one to values that are out of place.
TEST(HostileBytes, ChangedMetaDataDoNoHarm) {
  using nlohmann::json;
  const std::vector<json> values = {-1,
                                    0,
                                    1,
                                    2,
                                    3,
                                    17,
                                    255,
                                    256,
                                    INT64_MAX,
                                    INT64_MIN,
                                    UINT64_MAX,
                                    0.5,
                                    1e308,
                                    -1e-320,
                                    NAN,
                                    INFINITY,
                                    true,
                                    "field",
                                    nullptr,
                                    json::array(),
                                    json::array({0, 0}),
                                    json::array({1 << 30, 1 << 30}),
                                    json::array({2, 1, 0}),
                                    json::array({1}),
                                    json::object()};
  for (const Victim& v : victims()) {
    const LooseContainer loose = testing::take_apart(v.bytes);
    for (const auto& item : loose.meta.items()) {
      for (const json& value : values) {
        LooseContainer changed = loose;
        changed.meta[item.key()] = value;
        decode_all_ways(testing::seal(changed));
      }
      LooseContainer less = loose;
      less.meta.erase(item.key());
      decode_all_ways(testing::seal(less));
    }
  }
}

std::int64_t peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

// Small containers that promise up to 2^60 points must be refused before memory is spent on them.
TEST(HostileBytes, HugePromisesAreRefusedQuickly) {
  using nlohmann::json;
  constexpr std::int64_t kOne = 1;
  const std::vector<std::vector<std::int64_t>> shapes = {{kOne << 50},
                                                         {kOne << 60},
                                                         {kOne << 36},
                                                         {kOne << 30, 64},
                                                         {2, kOne << 40},
                                                         {kOne << 40, 2},
                                                         {kOne << 20, kOne << 20, 1 << 10},
                                                         {2, 2, 2, kOne << 33},
                                                         {kOne << 34, 2, 2, 2}};
  const std::int64_t before = peak_megabytes();
  const auto start = std::chrono::steady_clock::now();
  int refused = 0;
  int tried = 0;
  for (const Victim& v : victims()) {
    const LooseContainer loose = testing::take_apart(v.bytes);
    if (loose.sections.empty()) continue;
    for (const auto& shape : shapes) {
      const int rank = static_cast<int>(shape.size());
      for (int axes = 1; axes < 1 << rank; ++axes) {
        LooseContainer changed = loose;
        changed.meta["shape"] = shape;
        if (changed.meta.contains("axes")) {
          changed.meta["axes"] = axes;
          std::vector<int> order;
          for (int k = 0; k < std::popcount(static_cast<unsigned>(axes)); ++k) order.push_back(k);
          changed.meta["order"] = order;
        }
        const Bytes bytes = testing::seal(changed);
        for (const std::int64_t limit : {0, 1 << 24}) {
          DecompressOptions options = single();
          options.max_output_bytes = limit;
          ++tried;
          try {
            decompress(bytes, options);
          } catch (const Error&) {
            ++refused;
          }
          options.box = Box{Extents::filled(rank, 1), Extents::filled(rank, 1)};
          ++tried;
          try {
            decompress(bytes, options);
          } catch (const Error&) {
            ++refused;
          }
        }
      }
    }
  }
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  EXPECT_EQ(refused, tried);
  EXPECT_LT(seconds, 20.0) << tried << " containers";
  EXPECT_LT(peak_megabytes() - before, 300) << tried << " containers";
}

}  // namespace
}  // namespace tamis::reduce
