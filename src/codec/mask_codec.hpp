// Lossless coding of a validity mask: one bit a point of an N-d field, 1 = masked. Coherent
// regions, coastlines, and masks that stay much the same along an axis (time, level) are what it is
// made for; noise is stored as it is. The byte format is docs/format_mask.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tamis::codec {

/// `bits` holds one bit a point in C order, lowest bit of each 64-bit word first; bits behind the
/// last point are ignored. `shape` has 1 to 16 extents, slowest first, zero included. The bytes do
/// not depend on `threads` (0 = automatic). Throws Error(kInvalidArgument) when `bits` is short.
std::vector<std::byte> encode_mask(std::span<const std::uint64_t> bits,
                                   std::span<const std::int64_t> shape, int threads);

/// Fills the first ceil(n / 64) words of `bits`, those behind the last point with zero bits.
/// Throws Error(kCorrupt) unless `bytes` are a mask stream of that shape, and
/// Error(kInvalidArgument) when `bits` is short. Work and memory are bounded by the shape, whatever
/// the bytes.
void decode_mask(std::span<const std::byte> bytes, std::span<const std::int64_t> shape,
                 std::span<std::uint64_t> bits, int threads);

/// decode_mask() for the points [first, first + count) alone, written from bit 0 of `bits` on.
/// Costs the blocks of 2^20 points that hold them, and those of the first slab that these look at.
void decode_mask_range(std::span<const std::byte> bytes, std::span<const std::int64_t> shape,
                       std::int64_t first, std::int64_t count, std::span<std::uint64_t> bits,
                       int threads);

}  // namespace tamis::codec
