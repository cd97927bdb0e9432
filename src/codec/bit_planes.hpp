// Groups of 64 unsigned codes as planes of bits: plane b holds bit b of each code, code i at bit i.
// Transposed in vectors where the processor has them.
#pragma once

#include <cstdint>

namespace tamis::codec {

inline constexpr int kPlaneGroup = 64;

/// Writes planes 0 .. count-1 of 64 codes.
void planes_from_codes(const std::uint32_t* codes, int count, std::uint64_t* planes);
void planes_from_codes(const std::uint64_t* codes, int count, std::uint64_t* planes);

/// The inverse; bits from `count` on are zero.
void codes_from_planes(const std::uint64_t* planes, int count, std::uint32_t* codes);
void codes_from_planes(const std::uint64_t* planes, int count, std::uint64_t* codes);

}  // namespace tamis::codec
