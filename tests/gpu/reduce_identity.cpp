// Containers made on the device must be the host's, byte for byte, and decode to the same bits.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>

#include "reduce_checks.hpp"
#include "support/made_fields.hpp"
#include "tamis/error.hpp"

namespace tamis::gpu_test {

namespace {

using testing::Kind;

constexpr std::uint64_t kMix = 0x9e3779b97f4a7c15;

std::string describe(DType dtype, const Extents& shape, const std::string& what,
                     const reduce::CompressOptions& options) {
  return std::string(dtype_name(dtype)) + " " + shape.to_string() + " " + what + ", " +
         reduce::bound_kind_name(options.bound.kind) + " " + std::to_string(options.bound.value) +
         ", " + reduce::mode_name(options.mode);
}

// Where two containers begin to differ, by section.
std::string first_difference(std::span<const std::byte> a, std::span<const std::byte> b,
                             const std::vector<std::string>& sections) {
  std::size_t i = 0;
  while (i < a.size() && i < b.size() && a[i] == b[i]) ++i;
  std::string text = "byte " + std::to_string(i) + " of " + std::to_string(a.size()) +
                     " (host) and " + std::to_string(b.size()) + " (device); host sections";
  for (const std::string& s : sections) text += " " + s;
  return text;
}

// Sums of random functions, each of all coordinates but one, with some noise: Lorenzo prediction
// along all axes leaves the noise alone.
template <typename T>
std::vector<T> make_sums(const Extents& shape, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<T> field(static_cast<std::size_t>(shape.element_count()));
  for (std::size_t i = 0; i < field.size(); ++i) {
    int sum = 0;
    for (int left_out = 0; left_out < shape.rank(); ++left_out) {
      auto rest = static_cast<std::int64_t>(i);
      std::uint64_t hash = seed + static_cast<unsigned>(left_out);
      for (int d = shape.rank() - 1; d >= 0; --d) {
        if (d != left_out) hash = (hash ^ static_cast<std::uint64_t>(rest % shape[d])) * kMix;
        hash ^= hash >> 29;
        rest /= shape[d];
      }
      sum += static_cast<int>(hash % 1000);
    }
    const std::uint64_t rare = i / 700 % 3 == 0 ? 3 : 40;
    const std::uint64_t r = random();
    if (r % rare == 0) sum += static_cast<int>(r >> 40 & 15) - 7;
    field[i] = static_cast<T>(sum);
  }
  return field;
}

}  // namespace

void IdentityCheck::run(const ConstTensorView& field, const std::string& what,
                        const reduce::CompressOptions& options) {
  const std::string name = describe(field.dtype, field.shape, what, options);
  const std::int64_t raw = field.shape.element_count() * dtype_bytes(field.dtype);
  const reduce::CompressResult expected = reduce::compress(field, options);
  const Buffer values(raw, stream_);
  copy_bytes(values.data(), field.data, raw, stream_);
  const std::int64_t room = reduce::most_compressed_bytes(field.dtype, field.shape);
  const Buffer packed(room, stream_);
  fill_bytes(packed.data(), 0xab, room, stream_);
  const reduce::Info info =
      compressor_.compress({field.dtype, field.shape, values.data()}, options, packed.data(), room);
  std::vector<std::byte> bytes(static_cast<std::size_t>(info.compressed_bytes));
  copy_bytes(bytes.data(), packed.data(), info.compressed_bytes, stream_);
  stream_.synchronize();
  ++count_;
  const reduce::DeviceReport& report = compressor_.report();
  if (report.encoded_on_host) ++on_host_;
  most_waits_ = std::max(most_waits_, report.encoded_on_host ? 0 : report.waits);
  if (bytes != expected.bytes) {
    throw std::runtime_error(name + ": " +
                             first_difference(expected.bytes, bytes, expected.info.sections));
  }
  const Tensor decoded = reduce::decompress(expected.bytes);
  const Buffer out(raw, stream_);
  fill_bytes(out.data(), 0xcd, raw, stream_);
  (void)decompressor_.decompress(packed.data(), info.compressed_bytes, out.data(), raw);
  std::vector<std::byte> back(static_cast<std::size_t>(raw));
  copy_bytes(back.data(), out.data(), raw, stream_);
  stream_.synchronize();
  if (raw != 0 && std::memcmp(back.data(), decoded.data(), back.size()) != 0) {
    std::size_t i = 0;
    const auto* host = static_cast<const std::byte*>(decoded.data());
    while (back[i] == host[i]) ++i;
    throw std::runtime_error(name + ": decoded values differ from byte " + std::to_string(i) +
                             " on");
  }
}

void IdentityCheck::run_sums(unsigned seed) {
  const auto check = [&](auto zero, const Extents& shape) {
    using T = decltype(zero);
    const std::vector<T> field = make_sums<T>(shape, seed);
    for (const reduce::Mode mode :
         {reduce::Mode::kDefault, reduce::Mode::kFast, reduce::Mode::kRatio}) {
      for (const double bound : {0.4, 4e-9}) {
        reduce::CompressOptions options;
        options.bound = reduce::Bound::absolute(bound);
        options.mode = mode;
        options.threads = 1;
        run(make_view(field.data(), shape), "sums", options);
      }
    }
  };
  check(float{}, {35, 34, 37});
  check(double{}, {20, 33, 49});
  check(double{}, {150, 140});
  check(float{}, {9000});
}

void IdentityCheck::run_made(std::int64_t limit, int rounds, unsigned seed) {
  std::mt19937_64 random(seed);
  const auto check = [&](auto zero, Kind kind, const Extents& shape) {
    using T = decltype(zero);
    const std::vector<T> field = testing::make_field<T>(kind, shape, seed);
    const ConstTensorView view = make_view(field.data(), shape);
    for (const reduce::Bound bound :
         {reduce::Bound::relative(1e-3), reduce::Bound::absolute(0.05),
          reduce::Bound::pointwise_relative(1e-2), reduce::Bound::lossless()}) {
      for (const reduce::Mode mode :
           {reduce::Mode::kDefault, reduce::Mode::kFast, reduce::Mode::kRatio}) {
        reduce::CompressOptions options;
        options.bound = bound;
        options.mode = mode;
        options.threads = 1;
        run(view, testing::kind_name(kind), options);
      }
    }
  };
  for (int round = 0; round < rounds; ++round) {
    for (const Kind kind : testing::kAllKinds) {
      const int rank = 1 + static_cast<int>(random() % 5);
      const Extents shape = testing::awkward_shape(rank, limit, random);
      check(float{}, kind, shape);
      check(double{}, kind, testing::awkward_shape(rank, limit, random));
    }
  }
}

}  // namespace tamis::gpu_test
