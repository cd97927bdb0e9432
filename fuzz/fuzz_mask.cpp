// Fuzzes the mask decoder. An input is a recipe for the shape and a stream: what decodes must come
// back the same from a partial read, and survive being encoded again.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "codec/mask_codec.hpp"
#include "tamis/error.hpp"

namespace {

// Up to 2^22 points, so that there are blocks that look at earlier ones.
constexpr std::int64_t kMaxPoints = std::int64_t{1} << 22;

void require(bool condition) {
  if (!condition) std::abort();
}

// First byte: the rank; then one byte an extent, the upper bits of which make it long.
std::vector<std::int64_t> read_shape(std::span<const std::uint8_t>& input) {
  std::vector<std::int64_t> shape;
  const auto next = [&input]() -> std::uint8_t {
    if (input.empty()) return 1;
    const std::uint8_t value = input.front();
    input = input.subspan(1);
    return value;
  };
  const int rank = 1 + next() % 5;
  std::int64_t points = 1;
  for (int d = 0; d < rank; ++d) {
    const int code = next();
    const std::int64_t extent =
        code < 64 ? code : (code & 15) + (std::int64_t{1} << (code >> 4) * 3 / 2);
    shape.push_back(std::min(extent, kMaxPoints / std::max<std::int64_t>(points, 1)));
    points *= shape.back();
  }
  return shape;
}

std::int64_t count_points(std::span<const std::int64_t> shape) {
  std::int64_t points = 1;
  for (const std::int64_t extent : shape) points *= extent;
  return points;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::span<const std::uint8_t> input(data, size);
  const std::vector<std::int64_t> shape = read_shape(input);
  const std::int64_t points = count_points(shape);
  const auto bytes = std::as_bytes(input);
  std::vector<std::uint64_t> bits(static_cast<std::size_t>((points + 63) / 64));
  bool valid = true;
  try {
    tamis::codec::decode_mask(bytes, shape, bits, 1);
  } catch (const tamis::Error&) {
    valid = false;  // refusing is right; crashing, hanging or throwing anything else is not
  }

  const std::int64_t first = points * static_cast<std::int64_t>(size % 7) / 7;
  const std::int64_t count = std::min<std::int64_t>(points - first, 1000);
  std::vector<std::uint64_t> part(static_cast<std::size_t>((count + 63) / 64));
  try {
    tamis::codec::decode_mask_range(bytes, shape, first, count, part, 1);
  } catch (const tamis::Error&) {
    require(!valid);
  }
  if (!valid) return 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t p = first + i;
    require((part[i / 64] >> (i % 64) & 1) == (bits[p / 64] >> (p % 64) & 1));
  }
  const std::vector<std::byte> again = tamis::codec::encode_mask(bits, shape, 1);
  std::vector<std::uint64_t> twice(bits.size());
  tamis::codec::decode_mask(again, shape, twice, 1);
  require(twice == bits);
  return 0;
}
