// The `default` code: adaptive Golomb-Rice in segments of 512 codes. A segment is all zeros, a list
// of non-zeros with Rice-coded gaps, or eight groups of 64, each with a parameter of its own. There
// are no tables, and within a group everything but the unary part lies in bit planes.
// Sources: Golomb 1966; Rice and Plaunt 1971.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tamis::codec {

inline constexpr int kRiceSegment = 512;
/// From this quotient on a code is written in full.
inline constexpr int kRiceEscape = 24;

/// Appends the stream of `count` codes; nothing when all are zero.
template <typename I>
void encode_rice(const I* codes, std::int64_t count, std::vector<std::byte>& out);

/// Bits that encode_rice() would append, before rounding up to bytes.
template <typename I>
std::uint64_t rice_bits(const I* codes, std::int64_t count);

/// Fills `codes`. Throws Error(kCorrupt) unless the bytes are exactly one stream of that many
/// codes; no bytes are all zeros.
template <typename I>
void decode_rice(std::span<const std::byte> bytes, std::int64_t count, I* codes);

}  // namespace tamis::codec
