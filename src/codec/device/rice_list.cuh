// Sparse Rice segments, the encoder's part: the few codes that are not zero become a list in shared
// memory, whose entries the lanes then take in turn.
#pragma once

#include "codec/device/byte_planes.cuh"
#include "codec/device/rice_layout.cuh"

namespace tamis::device {

/// A segment of n codes is a list only up to n / 3 of them.
inline constexpr int kMostListed = kSegmentCodes / 3;
inline constexpr int kPositionBits = 9;  // of an entry: position, sign, size
/// Rounds in which a wave takes a group of 64 entries.
inline constexpr int kListRows = kGroupCodes / kWave;
static_assert(kListRows >= 1, "a wave has at most a group's lanes");

/// An entry of a byte that holds u, or anything above 49 of the same parity in its stead.
TAMIS_DEVICE u32 list_entry(u32 position, u32 u) {
  const u32 size = min_of(((u + 1) >> 1) - 1, u32{kEscape});
  return position | ((u & 1) << kPositionBits) | (size << (kPositionBits + 1));
}
TAMIS_DEVICE u32 entry_position(u32 entry) { return entry & (kSegmentCodes - 1); }
TAMIS_DEVICE u32 entry_sign(u32 entry) { return (entry >> kPositionBits) & 1; }
TAMIS_DEVICE u32 entry_size(u32 entry) { return entry >> (kPositionBits + 1); }

/// Ones of `bytes` that are not zero: bit i for byte i of the piece.
TAMIS_DEVICE u32 nonzero_bytes(const u32 (&bytes)[kPieceWords]) {
  u32 mask = 0;
#pragma unroll
  for (int k = 0; k < kPieceWords; ++k) {
    // The product's top four bits are bits 0, 8, 16 and 24 of the factor.
    mask |= (((bytes_from<1>(bytes[k]) >> 7) * 0x10204080u) >> 28) << (4 * k);
  }
  return mask;
}

/// Lists the bytes of the wave's segment that are not zero; `found` is their number in this lane.
TAMIS_DEVICE void list_nonzeros(const u32 (&bytes)[kPieceWords], u32 found, u16* list) {
  u32 at = wave_exclusive_sum(found);
  const u32 first = static_cast<u32>(kPieceCodes * lane_id());
  for (u32 rest = nonzero_bytes(bytes); rest != 0; rest &= rest - 1) {
    const int i = lowest_one(rest);
    const u32 low = (i & 4) == 0 ? bytes[0] : bytes[1];
    const u32 high = (i & 4) == 0 ? bytes[2] : bytes[3];
    const u32 word = (i & 8) == 0 ? low : high;
    list[at++] =
        static_cast<u16>(list_entry(first + static_cast<u32>(i), (word >> (8 * (i & 3))) & 0xff));
  }
  sync_wave();
}

/// The gap before entry i.
TAMIS_DEVICE u32 list_gap(const u16* list, int i) {
  const u32 next = i == 0 ? 0 : entry_position(list[i - 1]) + 1;
  return entry_position(list[i]) - next;
}

/// Bits of a segment of n codes as this list of `count`, at most kMostListed, without the
/// segment's head; `low_bits` gets the low bits of gaps that make it cheapest.
template <int kCodeBits>
TAMIS_DEVICE u32 list_bits(const u16* list, int count, int n, int& low_bits) {
  const u32 mean_gap = static_cast<u32>((n - count) / count);
  const int guess = max_of(highest_one(mean_gap), 0);
  const int most = min_of(guess, kSparseHeads - 1);
  const int least = max_of(guess - 1, 0);
  // All gaps together are below 2^9, and the sizes' bits at most 170 * (24 + 1 + 64) < 2^14.
  u32 sums = 0;
  for (int i = lane_id(); i < count; i += kWave) {
    const u32 size = entry_size(list[i]);
    const u32 gap = list_gap(list, i);
    sums += (gap >> least) | ((gap >> most) << 9) |
            ((size + 1 + (size == kEscape ? u32{kCodeBits} : 1)) << 18);
  }
  sums = wave_sum(sums);
  const u32 listed = static_cast<u32>(count);
  const u32 with_least = (sums & 511) + listed * static_cast<u32>(1 + least);
  const u32 with_most = ((sums >> 9) & 511) + listed * static_cast<u32>(1 + most);
  low_bits = with_most < with_least ? most : least;
  return 9 + (sums >> 18) + min_of(with_most, with_least);
}

/// Writes a group of up to 64 numbers in unary, none above `most`: number r * kWave + lane is the
/// lane's number[r], 0 behind the last one. Returns the position behind it.
TAMIS_DEVICE u32 put_unary(u32* words, u32 at, const u32 (&number)[kListRows], int count,
                           u32 most) {
  LaneMask alive[kListRows];
#pragma unroll
  for (int r = 0; r < kListRows; ++r) alive[r] = wave_ballot(r * kWave + lane_id() < count);
  for (u32 level = 0; level < most; ++level) {
    bool more = false;
#pragma unroll
    for (int r = 0; r < kListRows; ++r) {
      const LaneMask greater = wave_ballot(number[r] > level);
      if (number[r] > level) {
        const u32 bit = at + static_cast<u32>(count_ones(alive[r] & lanes_before()));
        atomicOr(words + (bit >> 5), 1u << (bit & 31));
      }
      at += static_cast<u32>(count_ones(alive[r]));
      alive[r] = greater;
      more = more || greater != 0;
    }
    if (!more) return at;
  }
  return at;
}

/// Writes a sparse segment with its head. `segment` is read again for codes that are written in
/// full.
template <typename I>
TAMIS_DEVICE void put_list(const u16* list, int count, int low_bits, const I* segment, u32* words,
                           u32 at) {
  if (lane_id() == 0) {
    or_bits(words, at, static_cast<u32>(low_bits + 1) | (static_cast<u32>(count - 1) << kHeadBits));
  }
  at += kHeadBits + 9;
  const u32 low = static_cast<u32>(low_bits);
  for (int i = lane_id(); i < count; i += kWave) {
    or_bits(words, at + static_cast<u32>(i) * low, list_gap(list, i) & low_bits_32(low_bits));
  }
  at += static_cast<u32>(count) * low;
  u32 number[kListRows];
  for (int first = 0; first < count; first += kGroupCodes) {
#pragma unroll
    for (int r = 0; r < kListRows; ++r) {
      const int i = first + r * kWave + lane_id();
      number[r] = i < count ? list_gap(list, i) >> low_bits : 0;
    }
    at = put_unary(words, at, number, min_of(count - first, kGroupCodes), kSegmentCodes);
  }
  for (int i = lane_id(); i < count; i += kWave) {
    or_bits(words, at + static_cast<u32>(i), entry_sign(list[i]));
  }
  at += static_cast<u32>(count);
  bool escapes = false;
  for (int first = 0; first < count; first += kGroupCodes) {
#pragma unroll
    for (int r = 0; r < kListRows; ++r) {
      const int i = first + r * kWave + lane_id();
      number[r] = i < count ? entry_size(list[i]) : 0;
      escapes = escapes || number[r] == kEscape;
    }
    at = put_unary(words, at, number, min_of(count - first, kGroupCodes), kEscape);
  }
  if (!wave_any(escapes)) return;
  for (int first = 0; first < count; first += kWave) {
    const int i = first + lane_id();
    const bool full = i < count && entry_size(list[i]) == kEscape;
    const LaneMask lanes = wave_ballot(full);
    if (full) {
      const u32 before = static_cast<u32>(count_ones(lanes & lanes_before()));
      or_code(words, at + before * CodeTraits<I>::kBits, zigzag(segment[entry_position(list[i])]));
    }
    at += static_cast<u32>(count_ones(lanes)) * CodeTraits<I>::kBits;
  }
}

}  // namespace tamis::device
