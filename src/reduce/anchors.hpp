// The coarser grids of a field, from the last few nodes up to the anchors of the finest grid. They
// are a small fraction of the data, always Rice coded, and kept in one section.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "reduce/grid.hpp"

namespace tamis::reduce {

/// Encodes the anchors of `finest` (one a tile, in tile order). Returns the bytes and replaces
/// `anchors` by what the decoder will see.
template <typename I>
std::vector<std::byte> encode_anchors(const Grid& finest, std::int64_t step,
                                      std::vector<I>& anchors);

/// The beginning of these bytes: the coarsest nodes, each predicted by the one before it. Replaces
/// them likewise: by their nearest multiples of the step.
template <typename I>
void encode_anchor_base(std::vector<I>& nodes, std::int64_t step, std::vector<std::byte>& out);

/// The inverse. Throws Error(kCorrupt).
template <typename I>
std::vector<I> decode_anchors(const Grid& finest, std::int64_t step,
                              std::span<const std::byte> bytes);

}  // namespace tamis::reduce
