// Containers that were changed and sealed again with right checksums: the device must refuse what
// the host refuses, and decode the rest to the same bits.
#include <cstring>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>

#include "reduce_checks.hpp"
#include "support/loose_container.hpp"
#include "support/made_fields.hpp"
#include "tamis/error.hpp"

namespace tamis::gpu_test {

namespace {

using testing::Bytes;
using testing::Kind;
using testing::LooseContainer;

// The decoded values; none where the bytes are refused.
std::optional<Bytes> decode_on_host(const Bytes& container) {
  try {
    reduce::DecompressOptions options;
    options.threads = 1;
    options.max_output_bytes = 1 << 22;
    const Tensor tensor = reduce::decompress(container, options);
    Bytes values(static_cast<std::size_t>(tensor.size_bytes()));
    if (!values.empty()) std::memcpy(values.data(), tensor.data(), values.size());
    return values;
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::optional<Bytes> decode_on_device(const Bytes& container, std::int64_t raw,
                                      reduce::DeviceDecompressor& decompressor,
                                      const Stream& stream) {
  const auto size = static_cast<std::int64_t>(container.size());
  const Buffer packed(size, stream);
  copy_bytes(packed.data(), container.data(), size, stream);
  const Buffer out(raw, stream);
  try {
    (void)decompressor.decompress(packed.data(), size, out.data(), raw);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kDevice) throw;
    return std::nullopt;
  }
  Bytes values(static_cast<std::size_t>(raw));
  copy_bytes(values.data(), out.data(), raw, stream);
  stream.synchronize();
  return values;
}

template <typename Random>
std::string change(LooseContainer& loose, Random& random) {
  Bytes& data = *loose.find("data");
  const auto any = [&](std::size_t count) { return static_cast<std::size_t>(random() % count); };
  const std::size_t at = any(data.size());
  const std::string where = " at " + std::to_string(at);
  switch (random() % 5) {
    case 0: {
      const auto bit = static_cast<unsigned>(any(8));
      data[at] ^= static_cast<std::byte>(1U << bit);
      return "bit " + std::to_string(bit) + where;
    }
    case 1:
      data[at] = static_cast<std::byte>(random());
      return "byte" + where;
    case 2: {  // a coder, or a small size
      data[at] = static_cast<std::byte>(any(5));
      return "small byte" + where;
    }
    case 3:
      for (std::size_t i = at; i < data.size() && i < at + 16; ++i) {
        data[i] = static_cast<std::byte>(random());
      }
      return "16 bytes" + where;
    default:
      std::swap(data[at], data[any(data.size())]);
      return "exchange" + where;
  }
}

}  // namespace

void HostileCheck::compare(const Bytes& container, std::int64_t raw, const std::string& what) {
  const std::optional<Bytes> host = decode_on_host(container);
  const std::optional<Bytes> device = decode_on_device(container, raw, decompressor_, stream_);
  ++count_;
  if (host) ++accepted_;
  if (host == device) return;
  throw std::runtime_error(what + ": the host " + (host ? "accepts" : "refuses") +
                           " it, the device " + (device ? "accepts" : "refuses") + " it" +
                           (host && device ? ", but values differ" : ""));
}

void HostileCheck::run(int changes, unsigned seed) {
  std::mt19937_64 random(seed);
  const auto check = [&](auto zero, Kind kind, const Extents& shape, reduce::Mode mode,
                         reduce::Bound bound) {
    using T = decltype(zero);
    const std::vector<T> field = testing::make_field<T>(kind, shape, seed);
    reduce::CompressOptions options;
    options.mode = mode;
    options.bound = bound;
    options.threads = 1;
    const Bytes container = reduce::compress(make_view(field.data(), shape), options).bytes;
    const std::int64_t raw = shape.element_count() * static_cast<std::int64_t>(sizeof(T));
    const std::string name = std::string(reduce::mode_name(mode)) + " " + shape.to_string();
    compare(container, raw, name);
    const LooseContainer original = testing::take_apart(container);
    for (const int other : {1, 2, 3}) {  // coders do not depend on what the header says
      LooseContainer loose = original;
      loose.meta["mode"] = other;
      compare(testing::seal(loose), raw, name + " as mode " + std::to_string(other));
    }
    for (int i = 0; i < changes; ++i) {
      LooseContainer loose = original;
      if (loose.find("data") == nullptr || loose.find("data")->empty()) break;
      std::string what = name;
      for (int more = static_cast<int>(random() % 2); more >= 0; --more) {
        what += ", " + change(loose, random);
      }
      compare(testing::seal(loose), raw, what);
    }
  };
  for (const reduce::Mode mode :
       {reduce::Mode::kRatio, reduce::Mode::kDefault, reduce::Mode::kFast}) {
    const reduce::Bound coarse = reduce::Bound::relative(1e-3);
    check(float{}, Kind::kSmooth, {40, 33}, mode, coarse);
    check(float{}, Kind::kSteps, {20, 18, 17}, mode, coarse);
    check(float{}, Kind::kSmooth, {18, 33, 18}, mode, reduce::Bound::relative(1e-2));
    check(double{}, Kind::kSmooth, {5000}, mode, reduce::Bound::absolute(1e-13));
    check(double{}, Kind::kMixed, {70, 66}, mode, reduce::Bound::pointwise_relative(0.1));
    check(double{}, Kind::kNoise, {17, 40}, mode, coarse);
  }
}

}  // namespace tamis::gpu_test
