// The device side of rANS, run on the host lane by lane, against the CPU's: the same models, tables
// and streams to the last bit, and the same judgement of bytes that were cut or changed.
#include "simulator/device_memory.hpp"

#include "codec/device/rans_decode.cuh"
#include "codec/device/rans_encode.cuh"
#include "codec/device/rans_model.cuh"
#include "codec/device/rans_price.cuh"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "codec/rans.hpp"
#include "reduce/code_price.hpp"
#include "simulator/block_executor.hpp"
#include "tamis/error.hpp"

namespace tamis::device {
namespace {

using Bytes = std::vector<std::byte>;

constexpr int kThreads = 256;

void run_block(unsigned threads, const std::function<void()>& lane) {
  static unsigned char no_shared[1];
  const simt::ModuleLink link{
      &simt::g_lane, &simt::g_services, simt::kWaveSize, no_shared, no_shared, no_shared, 0};
  simt::run_block(link, threads, lane);
}

// `long` and `long long` are different types of one width.
template <typename I>
struct HostCode;
template <>
struct HostCode<i32> {
  using Type = std::int32_t;
};
template <>
struct HostCode<i64> {
  using Type = std::int64_t;
};
template <typename I>
using HostCodeOf = typename HostCode<I>::Type;

template <typename I>
struct Codes {
  std::vector<HostCodeOf<I>> codes;
  std::vector<std::uint8_t> contexts;

  i32 count() const { return static_cast<i32>(codes.size()); }
  const I* device_codes() const { return reinterpret_cast<const I*>(codes.data()); }
  void add(std::uint64_t zigzagged, unsigned context) {
    using U = std::make_unsigned_t<HostCodeOf<I>>;
    codes.push_back(codec::unzigzag(static_cast<U>(zigzagged)));
    contexts.push_back(static_cast<std::uint8_t>(context));
  }
};

enum Kind { kSkewed, kFlat, kHuge, kSingle, kUneven, kSparse, kZeros, kManyTables, kKinds };

template <typename I>
Codes<I> make_codes(Kind kind, i32 count, unsigned seed) {
  std::mt19937_64 random(seed * kKinds + kind);
  Codes<I> c;
  for (i32 i = 0; i < count; ++i) {
    const std::uint64_t r = random();
    const std::uint64_t s = random();
    const auto context = static_cast<unsigned>(r % 64);
    switch (kind) {
      case kSkewed:  // geometric, with a stray now and then
        c.add(s % 300 == 0 ? s >> 40 : static_cast<std::uint64_t>(std::countr_zero(s | 1u << 30)),
              context / 4);
        break;
      case kFlat:
        c.add(s % 40, context);
        break;
      case kHuge:
        c.add(s >> (s % 8), context % 3);
        break;
      case kSingle:
        c.add(7, context);
        break;
      case kUneven:  // few contexts often, some never
        c.add(s >> (63 - std::min(context, 40u)), std::min({context, (context * 5) % 64, 50u}));
        break;
      case kSparse:
        c.add(s % 500 == 0 ? s >> 55 : 0, context % 30 + 30);
        break;
      case kZeros:
        c.add(0, context % 5);
        break;
      default:  // a distribution for every context, which no other will share
        c.add((context * 7 % 61) + (s % 8 == 0 ? s >> 32 & 1023 : 0), context);
        break;
    }
  }
  return c;
}

template <typename I>
std::unique_ptr<codec::RansCounts> counts_of(const Codes<I>& c) {
  auto counts = std::make_unique<codec::RansCounts>();
  for (auto& row : *counts) row.fill(0);
  codec::count_tokens(c.codes.data(), c.contexts.data(), c.count(), *counts);
  return counts;
}

template <typename I>
struct DeviceModel {
  std::vector<u8> bytes;
  std::vector<u64> symbol_words;
  RansModelInfo info{};

  const u32* symbols() const { return reinterpret_cast<const u32*>(symbol_words.data()); }
};

// A histogram of all streams, then the model.
template <typename I, int kBuildThreads = kThreads>
DeviceModel<I> build(const std::vector<const Codes<I>*>& streams) {
  using Builder = RansBuilder<I, kBuildThreads>;
  auto scratch = std::make_unique<typename Builder::Scratch>();
  DeviceModel<I> model;
  model.bytes.resize(kRansTableBytes<I> + 1);
  model.symbol_words.resize((kRansSymbolWords<I> + 1) / 2);
  run_block(kBuildThreads, [&] {
    scratch->histogram.clear();
    __syncthreads();
    for (const Codes<I>* c : streams) {
      scratch->histogram.count(c->device_codes(), c->contexts.data(), c->count());
    }
    __syncthreads();
    scratch->histogram.fold(scratch->rows, Builder::kStride);
    __syncthreads();
    const RansModelInfo info = Builder::build(*scratch, model.bytes.data() + 1,
                                              reinterpret_cast<u32*>(model.symbol_words.data()));
    if (threadIdx.x == kBuildThreads - 1) model.info = info;
  });
  model.bytes.erase(model.bytes.begin());
  model.bytes.resize(model.info.table_bytes);
  return model;
}

std::vector<u8> plain(const Bytes& bytes) {
  std::vector<u8> result;
  for (const std::byte b : bytes) result.push_back(static_cast<u8>(b));
  return result;
}

std::vector<u8> table_bytes(const codec::RansModel& model) {
  Bytes bytes;
  model.write(bytes);
  return plain(bytes);
}

template <typename I>
std::vector<u8> host_stream(const codec::RansModel& model, const Codes<I>& c) {
  Bytes bytes;
  codec::encode_rans(model, c.codes.data(), c.contexts.data(), c.count(), bytes);
  return plain(bytes);
}

template <typename I>
std::vector<u8> device_stream(const DeviceModel<I>& model, const Codes<I>& c) {
  const auto room = static_cast<std::size_t>(rans_room<I>(c.count()));
  std::vector<u8> area(room + 8, 0xa5);
  u32 size = 0;
  u32 size_alone = 0;
  run_block(kWave, [&] {
    RansEncoder<I> encoder(model.symbols(), c.device_codes(), c.contexts.data(), c.count());
    const u32 written = encoder.encode(area.data() + 4 + room);
    const u32 counted = encoder.size();
    if (lane_id() == kWave - 1) {
      size = written;
      size_alone = counted;
    }
  });
  EXPECT_EQ(size, size_alone);
  EXPECT_LE(size, room);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(area[i] + area[4 + room + i], 2 * 0xa5);
  const auto end = area.begin() + static_cast<std::ptrdiff_t>(4 + room);
  return {end - static_cast<std::ptrdiff_t>(size), end};
}

// A copy of bytes `offset` bytes behind an aligned address, with other bytes around.
struct Placed {
  std::vector<u64> words;
  u8* at;
  Placed(const std::vector<u8>& bytes, std::size_t offset) : words(bytes.size() / 8 + 4, ~u64{0}) {
    at = reinterpret_cast<u8*>(words.data()) + offset;
    std::copy(bytes.begin(), bytes.end(), at);
  }
};

bool read_tables(const std::vector<u8>& bytes, std::size_t offset, std::vector<u32>& words) {
  const Placed placed(bytes, offset);
  const auto size = static_cast<i64>(bytes.size());
  words.assign(static_cast<std::size_t>(rans_decoder_words(rans_clusters(placed.at, size))), 0);
  bool good = false;
  run_block(kWave, [&] {
    RansTableReader reader(placed.at, size);
    const bool result = reader.read(words.data());
    if (lane_id() == kWave / 2) good = result;
  });
  return good;
}

// In pieces of uneven length, which must not matter. Whether the bytes were good.
template <typename I>
bool device_decode(const std::vector<u32>& tables, const std::vector<u8>& bytes, std::size_t offset,
                   const std::vector<std::uint8_t>& contexts, unsigned seed,
                   std::vector<HostCodeOf<I>>& codes) {
  const Placed placed(bytes, offset);
  const int count = static_cast<int>(contexts.size());
  codes.assign(contexts.size(), -1);
  bool fault = false;
  run_block(kWave, [&] {
    RansStream<I> stream(tables.data(), placed.at, static_cast<i64>(bytes.size()));
    std::mt19937 random(seed);
    for (int at = 0; at < count;) {
      const auto r = static_cast<unsigned>(random());
      const int most = r % 3 == 0 ? kWave : static_cast<int>(r >> 8) % (kWave + 1);
      const int piece = std::min(most, count - at);
      const bool active = lane_id() < piece;
      const auto i = static_cast<std::size_t>(at + lane_id());
      const I code = stream.next(active, active ? contexts[i] : 0u);
      if (active) {
        codes[i] = static_cast<HostCodeOf<I>>(code);
      } else {
        EXPECT_EQ(code, 0);
      }
      at += piece;
    }
    const bool bad = stream.finish();
    if (lane_id() == 1) fault = bad;
  });
  return !fault;
}

template <typename I>
bool host_decode(const codec::RansModel& model, const std::vector<u8>& bytes,
                 const std::vector<std::uint8_t>& contexts, std::vector<HostCodeOf<I>>& codes) {
  codes.resize(contexts.size());
  try {
    codec::RansReader reader(model, std::as_bytes(std::span(bytes)));
    reader.read(codes.data(), static_cast<std::int64_t>(codes.size()), contexts.data());
    reader.expect_end();
    return true;
  } catch (const Error&) {
    return false;
  }
}

template <typename I>
void expect_same(const Codes<I>& c, unsigned seed) {
  const codec::RansModel host = codec::RansModel::build(*counts_of(c));
  const DeviceModel<I> model = build<I>({&c});
  const std::vector<u8> tables = table_bytes(host);
  ASSERT_EQ(model.bytes, tables);
  const std::vector<u8> stream = host_stream(host, c);
  ASSERT_EQ(device_stream(model, c), stream);
  std::vector<u32> words;
  ASSERT_TRUE(read_tables(tables, seed % 8, words));
  std::vector<HostCodeOf<I>> codes;
  ASSERT_TRUE(device_decode<I>(words, stream, seed % 8, c.contexts, seed, codes));
  ASSERT_EQ(codes, c.codes);
}

TEST(DeviceRans, LogarithmsAreTheHosts) {
  std::vector<u16> table(kLogTableSize);
  run_block(kThreads, [&] { make_log_table(table.data()); });
  std::mt19937_64 random(1);
  for (u32 v = 1; v < 40000; ++v) ASSERT_EQ(log2_fixed(v, table.data()), codec::log2_fixed(v)) << v;
  for (int i = 0; i < 40000; ++i) {
    const u32 v = static_cast<u32>(random()) >> (i % 32) | 1;
    ASSERT_EQ(log2_fixed(v, table.data()), codec::log2_fixed(v)) << v;
  }
}

TEST(DeviceRans, LogarithmsNeverFall) {  // costs are not negative
  for (u64 v = 4096; v < 8192; ++v) ASSERT_LE(codec::log2_fixed(v), codec::log2_fixed(v + 1));
}

TEST(DeviceRans, SameBytesAndRoundTrips) {
  unsigned seed = 0;
  for (int kind = 0; kind < kKinds; ++kind) {
    for (const i32 count : {1, 2, 63, 65, 130, 700, 1025, 3000, 9000}) {
      SCOPED_TRACE("kind " + std::to_string(kind) + ", " + std::to_string(count) + " codes");
      ++seed;
      expect_same(make_codes<i32>(static_cast<Kind>(kind), count, seed), seed);
      expect_same(make_codes<i64>(static_cast<Kind>(kind), count, seed + 1), seed + 1);
    }
  }
}

TEST(DeviceRans, LongStreams) {
  for (const Kind kind : {kSkewed, kUneven, kSparse, kManyTables}) {
    SCOPED_TRACE("kind " + std::to_string(kind));
    expect_same(make_codes<i32>(kind, 25000, 5), 3);
    expect_same(make_codes<i64>(kind, 25111, 6), 4);
  }
}

TEST(DeviceRans, ManyModels) {
  std::mt19937_64 random(9);
  for (int round = 0; round < 60; ++round) {
    Codes<i32> c;
    const unsigned tables = 1 + static_cast<unsigned>(random() % 64);
    const unsigned contexts = 1 + static_cast<unsigned>(random() % 64);
    const unsigned first = static_cast<unsigned>(random() % (65 - contexts));
    const int count = 1 << (random() % 14);
    for (int i = 0; i < count; ++i) {
      const auto context = first + static_cast<unsigned>(random() % contexts);
      const unsigned shape = context * 2654435761u % tables;
      c.add(random() >> (63 - shape % 8), context);
    }
    SCOPED_TRACE(round);
    const DeviceModel<i32> model = build<i32>({&c});
    const codec::RansModel host = codec::RansModel::build(*counts_of(c));
    ASSERT_EQ(model.bytes, table_bytes(host));
    const DeviceModel<i32> other = build<i32, 512>({&c});
    ASSERT_EQ(other.bytes, model.bytes);
    ASSERT_EQ(other.info.clusters, model.info.clusters);
    ASSERT_EQ(device_stream(model, c), host_stream(host, c));
  }
}

// Two of these share a table at exactly the cost of one each; which two depends on the order.
TEST(DeviceRans, EqualGains) {
  for (const std::vector<unsigned>& contexts : {std::vector<unsigned>{0, 20},
                                                {3, 20, 40},
                                                {1, 17, 33, 63},
                                                {5, 6, 7},
                                                {0, 1, 16, 17, 50}}) {
    for (const unsigned often : {8u, 9u}) {
      Codes<i32> c;
      for (std::size_t k = 0; k < contexts.size(); ++k) {
        for (unsigned i = 0; i < often; ++i) {
          c.add(0, contexts[k]);
          c.add(k + 1, contexts[k]);
        }
      }
      ASSERT_EQ(build<i32>({&c}).bytes, table_bytes(codec::RansModel::build(*counts_of(c))));
    }
  }
}

TEST(DeviceRans, NoCodesAtAll) {
  const Codes<i32> none;
  EXPECT_EQ(build<i32>({&none}).bytes, table_bytes(codec::RansModel::build(*counts_of(none))));
  EXPECT_TRUE(device_stream(build<i32>({&none}), none).empty());
}

TEST(DeviceRans, PricesAreTheHosts) {
  for (const Kind kind : {kSkewed, kHuge, kUneven, kManyTables}) {
    const Codes<i64> sample = make_codes<i64>(kind, 5000, 1);
    const Codes<i64> other = make_codes<i64>(kSkewed, 700, 2);
    reduce::CodePricer pricer(reduce::Mode::kRatio);
    pricer.learn(sample.codes.data(), sample.contexts.data(), sample.count());
    pricer.freeze();
    constexpr int kTokens = kRansTokens<i64>;
    std::vector<u32> rows(kRansContexts * kTokens);
    std::vector<u16> logs(kLogTableSize);
    auto histogram = std::make_unique<RansHistogram<i64>>();
    BlockScan<kThreads, u64>::Scratch scratch;
    double learned = 0;
    u64 bits = 0;
    run_block(kThreads, [&] {
      histogram->clear();
      make_log_table(logs.data());
      __syncthreads();
      histogram->count(sample.device_codes(), sample.contexts.data(), sample.count());
      __syncthreads();
      histogram->fold(rows.data(), kTokens);
      __syncthreads();
      const RansPrice all =
          learned_price<kThreads>(rows.data(), kTokens, kTokens, logs.data(), scratch);
      __syncthreads();
      for (int c = wave_id(); c < kRansContexts; c += kThreads / kWave) {
        freeze_row(rows.data() + c * kTokens, kTokens, logs.data());
      }
      __syncthreads();
      u64 own = 0;
      for (i32 i = static_cast<i32>(threadIdx.x); i < other.count(); i += kThreads) {
        own += price_of_code(other.device_codes()[i], other.contexts[static_cast<std::size_t>(i)],
                             rows.data(), kTokens);
      }
      own = BlockScan<kThreads, u64>::sum(own, scratch);
      if (threadIdx.x == 5) {
        learned = all.bits();
        bits = own;
      }
    });
    EXPECT_EQ(learned, pricer.learned_bits());
    EXPECT_EQ(static_cast<double>(bits) / 65536,
              pricer.price(other.codes.data(), other.contexts.data(), other.count()));
  }
}

// Whether the host accepts tables, prepared for decoding then.
bool host_tables(const std::vector<u8>& bytes, codec::RansModel& model) {
  try {
    model = codec::RansModel::read(std::as_bytes(std::span(bytes)));
    model.prepare_decoding();
    return true;
  } catch (const Error&) {
    return false;
  }
}

template <typename I>
void expect_same_judgement(const codec::RansModel& host, const std::vector<u32>& words,
                           const std::vector<u8>& bytes, const Codes<I>& c, std::size_t offset) {
  std::vector<HostCodeOf<I>> expected;
  std::vector<HostCodeOf<I>> codes;
  const bool good = host_decode<I>(host, bytes, c.contexts, expected);
  ASSERT_EQ(device_decode<I>(words, bytes, offset, c.contexts, 3, codes), good);
  if (good) {
    ASSERT_EQ(codes, expected);
  }
}

TEST(DeviceRans, CutAndChangedStreams) {
  for (const Kind kind : {kSkewed, kHuge, kUneven}) {
    for (const i32 count : {5, 300, 3000}) {
      SCOPED_TRACE("kind " + std::to_string(kind) + ", " + std::to_string(count) + " codes");
      const Codes<i64> c = make_codes<i64>(kind, count, 7);
      const DeviceModel<i64> model = build<i64>({&c});
      codec::RansModel host;
      ASSERT_TRUE(host_tables(model.bytes, host));
      std::vector<u32> words;
      ASSERT_TRUE(read_tables(model.bytes, 0, words));
      const std::vector<u8> stream = device_stream(model, c);
      for (std::size_t size = 0; size <= stream.size(); size += 1 + stream.size() / 60) {
        const std::vector<u8> cut(stream.begin(),
                                  stream.begin() + static_cast<std::ptrdiff_t>(size));
        expect_same_judgement(host, words, cut, c, size % 8);
      }
      for (const u8 more : {u8{0}, u8{1}}) {
        std::vector<u8> longer = stream;
        longer.insert(longer.end(), 1u + more, more);
        expect_same_judgement(host, words, longer, c, 1);
      }
      for (std::size_t i = 0; i < stream.size(); i += 1 + stream.size() / 40) {
        for (int bit = 0; bit < 8; bit += 2) {
          std::vector<u8> changed = stream;
          changed[i] = static_cast<u8>(changed[i] ^ (1 << bit));
          expect_same_judgement(host, words, changed, c, i % 8);
        }
      }
    }
  }
}

TEST(DeviceRans, CodesTooWideForTheirType) {
  const Codes<i64> wide = make_codes<i64>(kHuge, 400, 5);
  const DeviceModel<i64> model = build<i64>({&wide});
  codec::RansModel host;
  ASSERT_TRUE(host_tables(model.bytes, host));
  std::vector<u32> words;
  ASSERT_TRUE(read_tables(model.bytes, 3, words));
  Codes<i32> narrow;
  narrow.contexts = wide.contexts;
  expect_same_judgement(host, words, device_stream(model, wide), narrow, 2);
}

TEST(DeviceRans, CutAndChangedTables) {
  for (const Kind kind : {kSkewed, kManyTables, kHuge}) {
    const Codes<i32> c = make_codes<i32>(kind, 2000, 7);
    const DeviceModel<i32> model = build<i32>({&c});
    const std::vector<u8> stream = device_stream(model, c);
    codec::RansModel host;
    std::vector<u32> words;
    for (std::size_t size = 0; size <= model.bytes.size(); ++size) {
      const std::vector<u8> cut(model.bytes.begin(),
                                model.bytes.begin() + static_cast<std::ptrdiff_t>(size));
      ASSERT_EQ(read_tables(cut, size % 8, words), host_tables(cut, host)) << size;
    }
    std::vector<u8> longer = model.bytes;
    longer.push_back(0);
    EXPECT_EQ(read_tables(longer, 0, words), host_tables(longer, host));
    int accepted = 0;
    for (std::size_t i = 0; i < model.bytes.size(); i += 1 + model.bytes.size() / 150) {
      for (int bit = 0; bit < 8; ++bit) {
        std::vector<u8> changed = model.bytes;
        changed[i] = static_cast<u8>(changed[i] ^ (1 << bit));
        const bool good = host_tables(changed, host);
        ASSERT_EQ(read_tables(changed, i % 8, words), good) << i << " " << bit;
        if (!good) continue;
        ++accepted;
        expect_same_judgement(host, words, stream, c, 0);
      }
    }
    EXPECT_GT(accepted, 0);
  }
}

}  // namespace
}  // namespace tamis::device
