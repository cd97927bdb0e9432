// How a mask's linear index space is cut into blocks, and what a block may look back at: strides of
// the field's axes, and the points before the block's start as its contexts see them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "tamis/tensor.hpp"

namespace tamis::codec {

inline constexpr std::int64_t kMaskBlockPoints = std::int64_t{1} << 20;
inline constexpr std::int64_t kMaskBlockWords = kMaskBlockPoints / 64;

/// Extents of 1 are left out of the axes: they add no structure. Axis a (1 to axis_count) has as
/// stride the product of the last a remaining extents: 1 = a row up, 2 = a plane up, and so on.
struct MaskGeometry {
  std::int64_t point_count = 0;
  std::int64_t block_count = 0;
  int axis_count = 0;
  std::array<std::int64_t, kMaxRank + 1> strides = {};  // by axis; strides[0] = 0, "none"

  /// Throws Error(kInvalidArgument) for a rank outside of 1 to kMaxRank, a negative extent, or more
  /// than 2^60 points.
  explicit MaskGeometry(std::span<const std::int64_t> shape);

  std::int64_t row_stride() const noexcept { return axis_count > 0 ? strides[1] : 0; }
  std::int64_t block_points(std::int64_t block) const noexcept {
    return std::min(kMaskBlockPoints, point_count - block * kMaskBlockPoints);
  }
  std::int64_t block_words(std::int64_t block) const noexcept {
    return (block_points(block) + 63) / 64;
  }
  /// Blocks that hold the first slab along an axis, i.e. the points [0, stride).
  std::int64_t slab_blocks(int axis) const noexcept {
    return (strides[axis] + kMaskBlockPoints - 1) / kMaskBlockPoints;
  }
  /// A block behind the first slab may look at it: point j before the block's start then reads as
  /// point j mod stride. So all blocks [slab_blocks(axis), block_count) depend on finished ones
  /// only and can be coded in parallel.
  bool has_reference(std::int64_t block, int axis) const noexcept {
    return axis > 0 && block >= slab_blocks(axis);
  }
};

/// Words of each block, by block number; null for blocks that are not there. All blocks but the
/// last are full.
using MaskBlockPointers = std::span<const std::uint64_t* const>;

/// 64 bits starting at bit `position`; reads the word after the one that holds that bit, too.
inline std::uint64_t bit_window(const std::uint64_t* words, std::int64_t position) noexcept {
  const std::uint64_t* word = words + (position >> 6);
  const unsigned shift = static_cast<unsigned>(position & 63);
  return word[0] >> shift | (word[1] << 1) << (63 - shift);
}

/// Copies `count` bits between word arrays; the destination's other bits stay. Reads no word that
/// holds none of the source's bits.
void copy_bits(const std::uint64_t* from, std::int64_t from_bit, std::uint64_t* to,
               std::int64_t to_bit, std::int64_t count) noexcept;

/// Calls fn(first, count, offset) for the runs of existing points, none across a block boundary,
/// that the bits [begin, begin + count) read as when reduced modulo `stride`; `offset` counts from
/// `begin`, which may be negative.
template <typename Fn>
void for_each_slab_run(std::int64_t begin, std::int64_t count, std::int64_t stride, const Fn& fn) {
  std::int64_t point = begin % stride;
  if (point < 0) point += stride;
  for (std::int64_t offset = 0; offset < count;) {
    const std::int64_t block_end = (point / kMaskBlockPoints + 1) * kMaskBlockPoints;
    const std::int64_t run = std::min({count - offset, stride - point, block_end - point});
    fn(point, run, offset);
    offset += run;
    point += run;
    if (point == stride) point = 0;
  }
}

}  // namespace tamis::codec
