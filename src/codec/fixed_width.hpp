// The `fast` code: groups of 64 as bit planes of the group's largest width, byte aligned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tamis::codec {

/// Appends the stream of `count` codes; nothing when all are zero.
template <typename I>
void encode_fixed_width(const I* codes, std::int64_t count, std::vector<std::byte>& out);

/// Bits that encode_fixed_width() would append.
template <typename I>
std::uint64_t fixed_width_bits(const I* codes, std::int64_t count);

/// Fills `codes`, which needs room for `count` rounded up to 64. Throws Error(kCorrupt) unless the
/// bytes are exactly one stream of that many codes; no bytes are all zeros.
template <typename I>
void decode_fixed_width(std::span<const std::byte> bytes, std::int64_t count, I* codes);

}  // namespace tamis::codec
