// Device encoders and decoders of the Rice and fixed-width codes against those of the CPU: the same
// bytes, the same prices, and for hostile streams the same verdict. Needs a device; the simulated
// one (tests/simulator) will do. The build says where the sources are.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <random>
#include <sstream>

#include "codec/device/stream_fault.hpp"
#include "codec/fixed_width.hpp"
#include "codec/rice.hpp"
#include "gpu/kernel.hpp"
#include "tamis/device.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

using Bytes = std::vector<std::byte>;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr u32 kGuard = 0xdeadbeef;

const gpu::KernelSource& source() {
  static const auto* files = [] {
    auto* texts = new std::vector<std::pair<std::string, std::string>>;
    for (const char* name :
         {"code_streams.cu", "bit_sink.cuh", "bit_walk.cuh", "byte_planes.cuh", "code_pieces.cuh",
          "fixed_decode.cuh", "fixed_encode.cuh", "rice_decode.cuh", "rice_dense.cuh",
          "rice_dense_decode.cuh", "rice_encode.cuh", "rice_layout.cuh", "rice_list.cuh",
          "rice_list_decode.cuh", "rice_plan.cuh", "stream_fault.hpp", "wave_team.cuh"}) {
      const std::string path = std::string("codec/device/") + name;
      std::ifstream file(std::string(TAMIS_SOURCE_DIR) + "/" + path);
      std::ostringstream text;
      text << file.rdbuf();
      texts->emplace_back(path, text.str());
    }
    return texts;
  }();
  static const gpu::KernelSource kernel = [] {
    std::vector<gpu::SourceFile> headers;
    for (const auto& [name, text] : *files) headers.push_back({name, text});
    return gpu::KernelSource(headers.front(), std::span(headers).subspan(1));
  }();
  return kernel;
}

const Device* device() {
  static const Device* found = [] {
    return list_devices().empty() ? nullptr : new Device(Device::first());
  }();
  return found;
}

template <typename T>
class Memory {
 public:
  Memory(const std::vector<T>& values, const Stream& stream)
      : stream_(stream), count_(values.size()), buffer_(bytes(values.size()), stream) {
    if (count_ > 0) copy_bytes(buffer_.data(), values.data(), bytes(count_), stream);
  }
  T* data() const { return buffer_.as<T>(); }
  std::vector<T> download() const {
    std::vector<T> values(count_);
    if (count_ > 0) copy_bytes(values.data(), buffer_.data(), bytes(count_), stream_);
    stream_.synchronize();
    return values;
  }

 private:
  static std::int64_t bytes(std::size_t count) {
    return static_cast<std::int64_t>(count * sizeof(T));
  }
  Stream stream_;
  std::size_t count_;
  Buffer buffer_;
};

struct Code {
  const char* name;
  template <typename I>
  Bytes encode(const std::vector<I>& codes) const {
    Bytes out;
    const auto count = static_cast<std::int64_t>(codes.size());
    is_rice() ? codec::encode_rice(codes.data(), count, out)
              : codec::encode_fixed_width(codes.data(), count, out);
    return out;
  }
  template <typename I>
  u64 bits(const std::vector<I>& codes) const {
    const auto count = static_cast<std::int64_t>(codes.size());
    return is_rice() ? codec::rice_bits(codes.data(), count)
                     : codec::fixed_width_bits(codes.data(), count);
  }
  /// Whether it is accepted.
  template <typename I>
  bool decode(const Bytes& bytes, std::vector<I>& codes) const {
    std::vector<I> room(codes.size() + 64);
    const auto count = static_cast<std::int64_t>(codes.size());
    try {
      is_rice() ? codec::decode_rice(std::span(bytes), count, room.data())
                : codec::decode_fixed_width(std::span(bytes), count, room.data());
    } catch (const Error&) {
      return false;
    }
    std::copy_n(room.begin(), codes.size(), codes.begin());
    return true;
  }
  bool is_rice() const { return name[0] == 'r'; }
};

template <typename I>
class Streams {
 public:
  Streams(const Code& code, int waves)
      : code_(code),
        waves_(waves),
        stream_(*device()),
        config_({{"TAMIS_LATTICE", sizeof(I)}, {"TAMIS_WAVES", waves}}) {}

  void check_encoding(const std::vector<std::vector<I>>& streams) const {
    std::size_t most = 0;
    for (const auto& codes : streams) most = std::max(most, codes.size());
    const u64 capacity = (most + 511) / 512 * 512;
    const u64 room = capacity / 512 * (sizeof(I) == 4 ? 531 : 1079) + 1;
    const std::size_t count = streams.size();
    std::vector<I> all(capacity * count, static_cast<I>(0x5a5a5a5a));
    std::vector<u32> counts;
    for (std::size_t s = 0; s < count; ++s) {
      std::copy(streams[s].begin(), streams[s].end(),
                all.begin() + static_cast<std::ptrdiff_t>(s * capacity));
      counts.push_back(static_cast<u32>(streams[s].size()));
    }
    const Memory<I> codes(all, stream_);
    const Memory<u32> counts_in(counts, stream_);
    const Memory<u32> out(std::vector<u32>(room * count), stream_);
    const Memory<u32> sizes(std::vector<u32>(count), stream_);
    const Memory<u64> bits(std::vector<u64>(count), stream_);
    kernel("encode").launch(stream_, shape(count), codes.data(), capacity, counts_in.data(),
                            out.data(), room, sizes.data(), static_cast<u32>(count));
    kernel("price").launch(stream_, shape(count), codes.data(), capacity, counts_in.data(),
                           bits.data(), static_cast<u32>(count));
    const auto out_words = out.download();
    const auto out_sizes = sizes.download();
    const auto out_bits = bits.download();
    for (std::size_t s = 0; s < count; ++s) {
      const Bytes expected = code_.encode(streams[s]);
      ASSERT_EQ(out_sizes[s], expected.size()) << code_.name << " stream " << s;
      const auto* made = reinterpret_cast<const std::byte*>(out_words.data() + s * room);
      const auto differing = std::mismatch(expected.begin(), expected.end(), made);
      ASSERT_TRUE(differing.first == expected.end())
          << code_.name << " stream " << s << ", byte " << differing.first - expected.begin()
          << " of " << expected.size();
      EXPECT_EQ(out_bits[s], code_.bits(streams[s])) << code_.name << " stream " << s;
    }
  }

  /// Each stream is bytes, and how many codes it is said to hold.
  void check_decoding(const std::vector<std::pair<Bytes, u32>>& streams) const {
    const std::size_t count = streams.size();
    std::vector<u64> offsets;
    std::vector<u32> sizes, counts;
    std::vector<unsigned char> packed;
    u64 capacity = 1;
    for (const auto& [bytes, codes] : streams) {
      offsets.push_back(packed.size());
      for (const std::byte b : bytes) packed.push_back(static_cast<unsigned char>(b));
      sizes.push_back(static_cast<u32>(bytes.size()));
      counts.push_back(codes);
      capacity = std::max<u64>(capacity, codes);
    }
    while (packed.size() % 4 != 0) packed.push_back(0xff);
    capacity += 5;  // not a multiple of 16 bytes for all: both ways to store are used
    std::vector<I> filled(capacity * count);
    std::memset(filled.data(), 0xa7, filled.size() * sizeof(I));
    const Memory<unsigned char> bytes_in(packed, stream_);
    const Memory<u64> offsets_in(offsets, stream_);
    const Memory<u32> sizes_in(sizes, stream_), counts_in(counts, stream_);
    const Memory<I> codes(filled, stream_);
    const Memory<u32> faults(std::vector<u32>(count, kGuard), stream_);
    const auto per_block = static_cast<std::size_t>(code_.is_rice() ? waves_ : 1);
    kernel("decode").launch(stream_, shape((count + per_block - 1) / per_block), bytes_in.data(),
                            offsets_in.data(), sizes_in.data(), codes.data(), capacity,
                            counts_in.data(), faults.data(), static_cast<u32>(count));
    const auto out_codes = codes.download();
    const auto out_faults = faults.download();
    for (std::size_t s = 0; s < count; ++s) {
      std::vector<I> expected(counts[s]);
      const bool good = code_.decode(streams[s].first, expected);
      ASSERT_EQ(out_faults[s] == codec::kStreamFine, good)
          << code_.name << " stream " << s << ", fault " << out_faults[s];
      const auto* made = out_codes.data() + s * capacity;
      if (good) {
        const auto differing = std::mismatch(expected.begin(), expected.end(), made);
        ASSERT_TRUE(differing.first == expected.end())
            << code_.name << " stream " << s << ", code " << differing.first - expected.begin();
      }
      for (u64 i = counts[s]; i < capacity; ++i) ASSERT_EQ(made[i], filled[0]);
    }
  }

 private:
  gpu::Kernel kernel(const std::string& task) const {
    return gpu::get_kernel(*device(), source(), config_,
                           std::string(code_.name) + "_" + task + "_streams");
  }
  gpu::LaunchShape shape(std::size_t blocks) const {
    return {{static_cast<std::int64_t>(blocks)},
            {std::int64_t{waves_} * device()->info().wave_size}};
  }

  Code code_;
  int waves_;
  Stream stream_;
  gpu::KernelConfig config_;
};

using Engine = std::mt19937_64;

template <typename I>
I geometric(Engine& engine, double mean) {
  const double x = std::exponential_distribution<double>(1 / (mean + 1e-9))(engine);
  const double most = static_cast<double>(std::numeric_limits<I>::max()) / 2;
  const auto magnitude = static_cast<I>(std::min(x, most));
  return engine() % 2 == 0 ? magnitude : static_cast<I>(-magnitude);
}

enum class Kind {
  kZero,
  kOneNonZero,
  kSparse,
  kDenser,
  kSmall,
  kMiddle,
  kLarge,
  kOutliers,
  kHuge,
  kExtremes,
  kPatches,
  kCount
};

template <typename I>
std::vector<I> make_codes(Kind kind, std::size_t count, Engine& engine) {
  std::vector<I> codes(count);
  const auto any = [&] { return static_cast<I>(engine()); };
  const double mean = std::vector{0.3, 0.7, 1.5, 3.0, 6.0}[engine() % 5];
  switch (kind) {
    case Kind::kZero:
    case Kind::kCount:
      break;
    case Kind::kOneNonZero:
      if (count > 0) codes[engine() % count] = engine() % 2 == 0 ? I{1} : any();
      break;
    case Kind::kSparse:
      for (I& c : codes) c = engine() % 40 == 0 ? geometric<I>(engine, mean) : I{0};
      break;
    case Kind::kDenser:
      for (I& c : codes) c = engine() % 4 == 0 ? static_cast<I>(engine() % 3) - 1 : I{0};
      break;
    case Kind::kSmall:
      for (I& c : codes) c = geometric<I>(engine, mean);
      break;
    case Kind::kMiddle:
      for (I& c : codes) c = geometric<I>(engine, mean * 40);
      break;
    case Kind::kLarge:
      for (I& c : codes) c = geometric<I>(engine, mean * (sizeof(I) == 4 ? 1e6 : 1e13));
      break;
    case Kind::kOutliers:
      for (I& c : codes) {
        c = engine() % 50 == 0 ? static_cast<I>(any() >> (engine() % (8 * sizeof(I) - 2)))
                               : geometric<I>(engine, mean);
      }
      break;
    case Kind::kHuge:
      for (I& c : codes) c = any();
      break;
    case Kind::kExtremes:
      for (I& c : codes) {
        const I choices[] = {
            std::numeric_limits<I>::min(), std::numeric_limits<I>::max(), 0, 0, 1, -1, 12, -12};
        c = choices[engine() % 8];
      }
      break;
    case Kind::kPatches:
      for (std::size_t at = 0; at < count;) {
        const auto inner = static_cast<Kind>(engine() % 10);
        const std::size_t size = std::min<std::size_t>(count - at, 1 + engine() % 400);
        const std::vector<I> patch = make_codes<I>(inner, size, engine);
        std::copy(patch.begin(), patch.end(), codes.begin() + static_cast<std::ptrdiff_t>(at));
        at += size;
      }
      break;
  }
  return codes;
}

template <typename I>
std::vector<std::vector<I>> all_streams(Engine& engine, bool with_long) {
  std::vector<std::vector<I>> streams;
  for (int kind = 0; kind < static_cast<int>(Kind::kCount); ++kind) {
    for (const std::size_t count : {0, 1, 63, 64, 65, 343, 511, 512, 513, 1024, 3032}) {
      streams.push_back(make_codes<I>(static_cast<Kind>(kind), count, engine));
    }
    if (with_long && kind % 4 == 0) {
      streams.push_back(make_codes<I>(static_cast<Kind>(kind), 24256, engine));
    }
  }
  if (with_long) streams.push_back(make_codes<I>(Kind::kSmall, 24256, engine));
  return streams;
}

// Damaged copies of a stream, and other numbers of codes than it holds.
template <typename I>
void add_hostile(std::vector<std::pair<Bytes, u32>>& streams, const Code& code,
                 const std::vector<I>& codes, Engine& engine) {
  const Bytes good = code.encode(codes);
  const auto count = static_cast<u32>(codes.size());
  for (int k = 0; k < 12; ++k) {
    Bytes bad = good;
    u32 said = count;
    switch (k % 6) {
      case 0:
        if (!bad.empty()) bad[engine() % bad.size()] ^= std::byte{1} << (engine() % 8);
        break;
      case 1:
        bad.resize(bad.size() - std::min<std::size_t>(bad.size(), 1 + engine() % 5));
        break;
      case 2:
        for (std::size_t n = 0; n < 4 && !bad.empty(); ++n) {
          bad[engine() % bad.size()] = static_cast<std::byte>(engine());
        }
        break;
      case 3:
        bad.push_back(static_cast<std::byte>(engine() % 2));
        break;
      case 4:
        said = static_cast<u32>(std::max<std::int64_t>(
            0, static_cast<std::int64_t>(count) + static_cast<std::int64_t>(engine() % 130) - 65));
        break;
      default:
        if (bad.size() > 8) {
          std::fill_n(bad.begin() + static_cast<std::ptrdiff_t>(engine() % (bad.size() - 8)), 8,
                      static_cast<std::byte>(engine() % 2 == 0 ? 0xff : 0));
        }
    }
    streams.emplace_back(std::move(bad), said);
  }
}

// Bytes that are no stream, made so that heads of all kinds occur.
void add_garbage(std::vector<std::pair<Bytes, u32>>& streams, Engine& engine) {
  for (int k = 0; k < 150; ++k) {
    Bytes bytes(engine() % 700);
    const unsigned density = static_cast<unsigned>(engine() % 4);
    for (std::byte& b : bytes) {
      auto value = static_cast<unsigned>(engine());
      if (density == 1) value &= static_cast<unsigned>(engine());
      if (density == 2) value |= static_cast<unsigned>(engine());
      if (density == 3) value = ~0u;
      b = static_cast<std::byte>(value);
    }
    if (!bytes.empty()) {
      bytes[0] = (bytes[0] & std::byte{0xf0}) | static_cast<std::byte>(engine() % 10);
    }
    streams.emplace_back(std::move(bytes), static_cast<u32>(engine() % 1100));
  }
}

template <typename I>
void check_all(const Code& code, int waves, u64 seed) {
  if (device() == nullptr) GTEST_SKIP() << "no device";
  Engine engine(seed);
  const Streams<I> kernels(code, waves);
  const auto streams = all_streams<I>(engine, waves > 1);
  kernels.check_encoding(streams);
  std::vector<std::pair<Bytes, u32>> good;
  for (const auto& codes : streams) {
    good.emplace_back(code.encode(codes), static_cast<u32>(codes.size()));
  }
  kernels.check_decoding(good);
  std::vector<std::pair<Bytes, u32>> hostile;
  for (const auto& codes : streams) {
    if (codes.size() < 4000) add_hostile(hostile, code, codes, engine);
  }
  add_garbage(hostile, engine);
  kernels.check_decoding(hostile);
  // One buffer each, so that what is read behind it is seen by a memory checker.
  for (std::size_t s = 0; s < hostile.size(); s += 23) kernels.check_decoding({hostile[s]});
}

constexpr Code kRice{"rice"};
constexpr Code kFixed{"fixed"};

TEST(DeviceCodes, RiceOf32Bits) { check_all<std::int32_t>(kRice, 8, 1); }
TEST(DeviceCodes, RiceOf64Bits) { check_all<std::int64_t>(kRice, 8, 2); }
TEST(DeviceCodes, RiceOf32BitsByOneWave) { check_all<std::int32_t>(kRice, 1, 3); }
TEST(DeviceCodes, RiceOf64BitsByOneWave) { check_all<std::int64_t>(kRice, 1, 4); }
TEST(DeviceCodes, FixedWidthOf32Bits) { check_all<std::int32_t>(kFixed, 8, 5); }
TEST(DeviceCodes, FixedWidthOf64Bits) { check_all<std::int64_t>(kFixed, 4, 6); }
TEST(DeviceCodes, FixedWidthOf32BitsByOneWave) { check_all<std::int32_t>(kFixed, 1, 7); }
TEST(DeviceCodes, FixedWidthOf64BitsByOneWave) { check_all<std::int64_t>(kFixed, 1, 8); }

}  // namespace
}  // namespace tamis
