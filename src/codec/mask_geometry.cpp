// Strides of a mask's axes, and copying of bits at any alignment.
#include "codec/mask_geometry.hpp"

#include <string>

#include "tamis/error.hpp"

namespace tamis::codec {

MaskGeometry::MaskGeometry(std::span<const std::int64_t> shape) {
  constexpr std::int64_t kMaxPoints = std::int64_t{1} << 60;
  if (shape.empty() || shape.size() > static_cast<std::size_t>(kMaxRank)) {
    throw Error(ErrorCode::kInvalidArgument,
                "mask of rank " + std::to_string(shape.size()) + ", expected 1 to 16");
  }
  for (const std::int64_t extent : shape) {
    if (extent < 0) {
      throw Error(ErrorCode::kInvalidArgument,
                  "mask extent " + std::to_string(extent) + ", expected 0 or more");
    }
  }
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return;
  std::int64_t product = 1;
  for (auto extent = shape.rbegin(); extent != shape.rend(); ++extent) {
    if (*extent == 1) continue;
    if (product > 1) strides[++axis_count] = product;
    if (*extent > kMaxPoints / product) {
      throw Error(ErrorCode::kInvalidArgument, "mask of more than 2^60 points");
    }
    product *= *extent;
  }
  point_count = product;
  block_count = (point_count + kMaskBlockPoints - 1) / kMaskBlockPoints;
}

void copy_bits(const std::uint64_t* from, std::int64_t from_bit, std::uint64_t* to,
               std::int64_t to_bit, std::int64_t count) noexcept {
  while (count > 0) {
    const int to_shift = static_cast<int>(to_bit & 63);
    const int from_shift = static_cast<int>(from_bit & 63);
    const auto step = std::min<std::int64_t>(count, 64 - std::max(to_shift, from_shift));
    const std::uint64_t keep = ~std::uint64_t{0} >> (64 - step);
    const std::uint64_t piece = from[from_bit >> 6] >> from_shift & keep;
    to[to_bit >> 6] = (to[to_bit >> 6] & ~(keep << to_shift)) | piece << to_shift;
    from_bit += step;
    to_bit += step;
    count -= step;
  }
}

}  // namespace tamis::codec
