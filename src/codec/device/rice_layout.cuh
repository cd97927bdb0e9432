// Numbers of the Rice format (docs/format_codes.md, 3) for kernels, and how much room a stream
// needs.
#pragma once

#include "codec/device/code_pieces.cuh"

namespace tamis::device {

/// Heads of segments; from 1 to kSparseHeads sparse with head - 1 low bits.
inline constexpr int kZeroHead = 0;
inline constexpr int kSparseHeads = 8;
inline constexpr int kDenseHead = 9;
inline constexpr int kHeadBits = 4;
/// Behind a sparse segment's head, for the number of its entries.
inline constexpr int kCountBits = 9;
/// Head of a group whose parameter follows in kWideBits; parameters from kWideHead - 1 on need it.
inline constexpr int kWideHead = 15;
inline constexpr int kWideBits = 6;
/// From this quotient on a code is written in full.
inline constexpr int kEscape = 24;
/// Planes of quotients up to kEscape.
inline constexpr int kQuotientPlanes = 5;
/// Parameters up to this one leave room for the low bits beside the quotient in a byte.
inline constexpr int kMostFolded = 3;

/// Words that hold the longest segment an encoder writes.
///
/// Let a group have N codes u of w bits, and let k be the parameter guessed from their mean M,
/// which is below 2^(k+1). The quotients u >> k then sum to less than 2 N, so fewer than N / 12 of
/// them reach 24. The group costs, with each quotient capped at 24,
///     N (k + 1) + sum of quotients + (w - 1) for each escape  <  N (k + 3 + (w - 1) / 12).
/// Escapes exist for k <= w - 5 only (24 takes five bits): at most w - 2 + (w - 1) / 12 bits a
/// code. Without escapes the quotients are below 2^(w - k), so their sum is at most
/// N min(2, 2^(w - k) - 1), and k + 1 plus that is at most w + 1. So a code takes at most 33 bits
/// for w = 32 and 62 + 63 / 12 < 67.25 for w = 64. The encoder deviates from the guess, or writes
/// a sparse segment, only where that is shorter. Add 10 bits a group and 4 a segment.
template <typename I>
inline constexpr u32 kMostSegmentWords = CodeTraits<I>::kBits == 32
                                             ? (4 + 10 * 8 + 512 * 33 + 31) / 32
                                             : (4 + 10 * 8 + 512 / 4 * 269 + 31) / 32;

/// Words of memory that encoding `count` codes may write to.
template <typename I>
TAMIS_DEVICE u32 rice_room_words(u32 count) {
  return ceil_div<u32>(count, kSegmentCodes) * kMostSegmentWords<I> + 1;
}

}  // namespace tamis::device
