// One block of a mask as range-coded bytes. A payload is one byte naming the axis whose neighbour
// takes part in the contexts (0: none), then the range coder's bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "codec/mask_geometry.hpp"

namespace tamis::codec {

/// Chooses the axis by comparing the block with its neighbours, and where that is not clear by
/// coding it both ways. All of `blocks` must be there; bits behind the last point must be zero.
std::vector<std::byte> encode_mask_block(const MaskGeometry& geometry, MaskBlockPointers blocks,
                                         std::int64_t block);

/// The axis a payload names. Throws Error(kCorrupt) when it is not one of the geometry.
int mask_block_axis(const MaskGeometry& geometry, std::span<const std::byte> payload);

/// Fills `words` (block_words of them, the bits behind the last point zero). Of `blocks`, those
/// that for_each_reference_block names must be there. Throws Error(kCorrupt).
void decode_mask_block(const MaskGeometry& geometry, MaskBlockPointers blocks, std::int64_t block,
                       std::span<const std::byte> payload, std::uint64_t* words);

/// How far a source's buffer reaches beyond what contexts read, at both ends.
inline constexpr std::int64_t kMaskMargin = 64;
/// Sources up to this distance live in the block's own history, others in a buffer each.
inline constexpr std::int64_t kMaskNearDistance = 2 * kMaskBlockPoints;

/// Bits of history before the block that the contexts need when `axis` is chosen: a whole number
/// of words.
std::int64_t mask_history_bits(const MaskGeometry& geometry, int axis) noexcept;

/// Calls fn(block) for blocks that must be decoded before this one; some more than once.
template <typename Fn>
void for_each_reference_block(const MaskGeometry& geometry, std::int64_t block, int axis,
                              const Fn& fn) {
  if (!geometry.has_reference(block, axis)) return;
  const std::int64_t start = block * kMaskBlockPoints;
  const std::int64_t stride = geometry.strides[axis];
  const auto visit = [&](std::int64_t begin, std::int64_t count) {
    for_each_slab_run(begin, count, stride, [&](std::int64_t point, std::int64_t, std::int64_t) {
      fn(point / kMaskBlockPoints);
    });
  };
  const std::int64_t history = mask_history_bits(geometry, axis);
  visit(start - std::min(history, stride), std::min(history, stride));
  for (const std::int64_t distance : {geometry.row_stride(), 2 * geometry.row_stride(), stride}) {
    if (distance <= kMaskNearDistance) continue;
    visit(start - distance - kMaskMargin, geometry.block_points(block) + 3 * kMaskMargin);
  }
}

}  // namespace tamis::codec
