// Fuzzes the decoder of fields behind the checksums: an input is a loose container (see
// tests/support/loose_container.hpp), which is sealed and then inspected, decoded, and decoded in
// part. A part must equal the whole where both decode.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "support/loose_container.hpp"
#include "tamis/error.hpp"
#include "tamis/reduce.hpp"

namespace {

using tamis::Extents;
using tamis::Tensor;
using tamis::reduce::Box;
using tamis::reduce::DecompressOptions;
using tamis::reduce::Info;

constexpr std::int64_t kMaxBytes = 1 << 18;

void require(bool condition) {
  if (!condition) std::abort();
}

std::optional<Tensor> try_decode(std::span<const std::byte> container,
                                 const DecompressOptions& options) {
  try {
    return tamis::reduce::decompress(container, options);
  } catch (const tamis::Error&) {
    return std::nullopt;  // refusing is right; crashing, hanging or throwing anything else is not
  }
}

// The values of `part` are those of `full` at the multiples of `step` inside of the box.
void require_part(const Tensor& part, const Tensor& full, const Box& box, std::int64_t step) {
  const auto size = static_cast<std::size_t>(tamis::dtype_bytes(full.dtype()));
  const auto* from = static_cast<const std::byte*>(full.data());
  const auto* to = static_cast<const std::byte*>(part.data());
  std::int64_t next = 0;
  for (std::int64_t i = 0; i < full.element_count(); ++i) {
    std::int64_t rest = i;
    bool inside = true;
    for (int d = full.shape().rank() - 1; d >= 0; --d) {
      const std::int64_t x = rest % full.shape()[d];
      rest /= full.shape()[d];
      inside &= x >= box.origin[d] && x - box.origin[d] < box.extent[d] && x % step == 0;
    }
    if (!inside) continue;
    require(next < part.element_count());
    const auto at = static_cast<std::size_t>(next++) * size;
    require(std::memcmp(to + at, from + static_cast<std::size_t>(i) * size, size) == 0);
  }
  require(next == part.element_count());
}

Box middle(const Extents& shape) {
  Box box{shape, shape};
  for (int d = 0; d < shape.rank(); ++d) {
    box.origin[d] = shape[d] / 3;
    box.extent[d] = (shape[d] - box.origin[d] + 1) / 2;
  }
  return box;
}

void decode_parts(std::span<const std::byte> container, const Info& info, const Tensor& full) {
  DecompressOptions options;
  options.threads = 1;
  options.box = middle(info.shape);
  if (const auto part = try_decode(container, options)) {
    require_part(*part, full, *options.box, 1);
  }
  options.box.reset();
  options.level = info.level_count / 2;
  if (const auto part = try_decode(container, options)) {
    const Box all{Extents::filled(info.shape.rank(), 0), info.shape};
    require_part(*part, full, all, std::int64_t{1} << options.level);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::byte> container;
  Info info;
  try {
    const auto loose = tamis::testing::deserialise(std::as_bytes(std::span(data, size)));
    container = tamis::testing::seal(loose);
    info = tamis::reduce::inspect(container);
  } catch (const tamis::Error&) {
    return 0;
  }
  DecompressOptions options;
  options.threads = 1;
  options.max_output_bytes = kMaxBytes;
  const auto full = try_decode(container, options);
  if (full) decode_parts(container, info, *full);
  return 0;
}
