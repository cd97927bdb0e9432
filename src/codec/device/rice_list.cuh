// Sparse Rice segments, the encoder's part: the few codes that are not zero become a list in shared
// memory, whose entries the lanes then take in turn. What is a bit an entry is gathered by ballots.
#pragma once

#include "codec/device/bit_sink.cuh"
#include "codec/device/code_pieces.cuh"
#include "codec/device/rice_layout.cuh"

namespace tamis::device {

/// A segment of n codes is a list only up to n / 3 of them.
inline constexpr int kMostListed = kSegmentCodes / 3;
inline constexpr int kGapBits = 9;  // of an entry: gap, sign, size

/// Shared memory of a wave.
struct RiceList {
  u16 positions[kMostListed + 1];
  u16 entries[kMostListed + 1];
};

TAMIS_DEVICE u32 entry_gap(u32 entry) { return entry & ((1u << kGapBits) - 1); }
TAMIS_DEVICE u32 entry_sign(u32 entry) { return (entry >> kGapBits) & 1; }
TAMIS_DEVICE u32 entry_size(u32 entry) { return entry >> (kGapBits + 1); }

/// Bytes of a piece that are not zero: bit i for byte i.
TAMIS_DEVICE u32 nonzero_bytes(const u32 (&bytes)[kPieceWords]) {
  const u32 low = dot_bytes(bytes_from<1>(bytes[1]), 0x80402010u,
                            dot_bytes(bytes_from<1>(bytes[0]), 0x08040201u, 0));
  const u32 high = dot_bytes(bytes_from<1>(bytes[3]), 0x80402010u,
                             dot_bytes(bytes_from<1>(bytes[2]), 0x08040201u, 0));
  return (low + (high << 8)) >> 7;  // the bytes were 0 or 128
}

/// Lists the `count` codes of a segment of n that are not zero, from 1 to n / 3. `mask` says which
/// of the lane's piece they are and `found` how many, `bytes` has their u. Returns the bits that
/// the list takes, without the segment's head; `low_bits` gets the low bits of gaps that make it
/// cheapest.
template <int kCodeBits>
TAMIS_DEVICE u32 make_list(u32 mask, u32 found, const u8* bytes, int count, int n, RiceList& list,
                           int& low_bits) {
  u32 to = wave_inclusive_sum(found) - found;
  const int piece = kPieceCodes * lane_id();
  for (; mask != 0; mask &= mask - 1) {
    list.positions[to++] = static_cast<u16>(piece + lowest_one(mask));
  }
  sync_wave();
  // The logarithm of the mean gap, which is at least 2.
  int guess = bit_width(static_cast<u32>(n - count)) - bit_width(static_cast<u32>(count));
  if ((count << guess) > n - count) --guess;
  const int most = min_of(guess, kSparseHeads - 1);
  const int least = guess - 1;
  // All gaps together are below 2^9, and the sizes' bits at most 170 * (24 + 1 + 64) < 2^14.
  u32 sums = 0;
#pragma unroll 1
  for (int i = lane_id(); i < count; i += kWave) {
    const u32 position = list.positions[i];
    const u32 before = i == 0 ? ~0u : list.positions[i - 1];
    const u32 gap = position - 1 - before;
    const u32 u = bytes[position];
    const u32 size = min_of(((u + 1) >> 1) - 1, u32{kEscape});
    list.entries[i] = static_cast<u16>(gap | ((u & 1) << kGapBits) | (size << (kGapBits + 1)));
    sums += (gap >> least) | ((gap >> most) << 9) |
            ((size + 1 + (size == kEscape ? u32{kCodeBits} : 1)) << 18);
  }
  sums = wave_sum(sums);
  const u32 listed = static_cast<u32>(count);
  const u32 with_least = (sums & 511) + listed * static_cast<u32>(1 + least);
  const u32 with_most = ((sums >> 9) & 511) + listed * static_cast<u32>(1 + most);
  low_bits = with_most < with_least ? most : least;
  return kCountBits + (sums >> 18) + min_of(with_most, with_least);
}

/// Writes a group of `count` numbers in unary, none above kMost: number r * kWave + lane is the
/// lane's number[r], 0 behind the last one; the last row has some.
template <u32 kMost, int kRows, typename Bits>
TAMIS_DEVICE void put_unary(const u32 (&number)[kRows], int count, Bits& out) {
  LaneMask alive[kRows];
  bool more = false;
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    alive[r] = wave_ballot(number[r] > 0);
    out.put_lanes(alive[r], static_cast<u32>(r + 1 < kRows ? kWave : count - r * kWave));
    more = more || alive[r] != 0;
  }
  // From here on each lane gathers its own ones of as many levels as a mask holds.
  LaneMask ones = 0;
  u32 filled = 0;
#pragma unroll 1
  for (u32 level = 1; more; ++level) {
    if (kMost < kSegmentCodes && level == kMost) break;  // larger ones end otherwise
    more = false;
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const u32 bits = static_cast<u32>(count_ones(alive[r]));
      if (filled + bits > kWave) {
        out.put_lanes(wave_or(ones), filled);
        ones = 0;
        filled = 0;
      }
      const bool greater = number[r] > level;
      const u32 place = filled + static_cast<u32>(count_ones(alive[r] & lanes_before()));
      if (greater) ones |= LaneMask{1} << place;
      filled += bits;
      alive[r] = wave_ballot(greater);
      more = more || alive[r] != 0;
    }
  }
  if (filled > 0) out.put_lanes(wave_or(ones), filled);
}

/// A group of a list in unary: `part(entry)` of entries `first` to `first + group - 1`.
template <u32 kMost, typename Bits, typename Part>
TAMIS_DEVICE void put_parts(const RiceList& list, int first, int group, Part part, Bits& out) {
  constexpr int kRows = kGroupCodes / kWave;
  static_assert(kRows >= 1, "a wave has at most a group's lanes");
  const auto number = [&](int i) { return i < group ? part(list.entries[first + i]) : 0; };
  if (kRows > 1 && group <= kWave) {
    const u32 row[1] = {number(lane_id())};
    put_unary<kMost>(row, group, out);
    return;
  }
  u32 rows[kRows];
#pragma unroll
  for (int r = 0; r < kRows; ++r) rows[r] = number(r * kWave + lane_id());
  put_unary<kMost>(rows, group, out);
}

/// Writes a list but for the gaps' low bits, whose place is left, and the codes in full at its end;
/// whether there are any.
template <typename Bits>
TAMIS_DEVICE bool put_list_bits(const RiceList& list, int count, int low_bits, Bits& out) {
  out.put(static_cast<u32>(low_bits + 1) | (static_cast<u32>(count - 1) << kHeadBits),
          kHeadBits + kCountBits);
  out.at += static_cast<u32>(count * low_bits);
#pragma unroll 1
  for (int first = 0; first < count; first += kGroupCodes) {
    put_parts<kSegmentCodes>(
        list, first, min_of(count - first, kGroupCodes),
        [&](u32 entry) { return entry_gap(entry) >> low_bits; }, out);
  }
#pragma unroll 1
  for (int first = 0; first < count; first += kWave) {
    const int i = first + lane_id();
    out.put_lanes(wave_ballot(i < count && entry_sign(list.entries[i]) != 0),
                  static_cast<u32>(min_of(count - first, kWave)));
  }
  bool full = false;
#pragma unroll 1
  for (int first = 0; first < count; first += kGroupCodes) {
    put_parts<kEscape>(
        list, first, min_of(count - first, kGroupCodes),
        [&](u32 entry) {
          full = full || entry_size(entry) == kEscape;
          return entry_size(entry);
        },
        out);
  }
  return wave_any(full);
}

/// Writes a sparse segment of `bits` with its head to the start of `words`, where a word behind the
/// last one becomes 0. `segment` is read again for codes that are written in full.
template <typename I>
TAMIS_DEVICE void put_list(const RiceList& list, int count, int low_bits, u32 bits,
                           const I* segment, u32* words) {
  const BitSink sink(words);
  sync_wave();  // the entries of other lanes; the words may still be read
  u32 at = 0;   // where the codes in full begin
  bool full = false;
  if (bits <= WaveBits::kRoom - 32) {
    WaveBits out;
    full = put_list_bits(list, count, low_bits, out);
    words[lane_id()] = out.word;
    sync_wave();
    at = sink.begin() + out.at;
  } else {
    clear_words(words, bits);
    FirstLaneBits out{sink, sink.begin()};
    full = put_list_bits(list, count, low_bits, out);
    at = out.at;
  }
  if (low_bits > 0) {
#pragma unroll 1
    for (int first = 0; first < count; first += kWave) {
      const int i = first + lane_id();
      // Four entries together take at most 28 bits.
      u32 low = i < count ? list.entries[i] & ((1u << low_bits) - 1) : 0;
      low |= shuffle_down(low, 1) << low_bits;
      low |= shuffle_down(low, 2) << (2 * low_bits);
      if (lane_id() % 4 == 0) {
        sink.put(sink.begin() + kHeadBits + kCountBits + static_cast<u32>(i * low_bits), low);
      }
    }
  }
  if (!full) return;
#pragma unroll 1
  for (int first = 0; first < count; first += kWave) {
    const int i = first + lane_id();
    const bool mine = i < count && entry_size(list.entries[i]) == kEscape;
    const LaneMask lanes = wave_ballot(mine);
    if (mine) {
      const u32 before = static_cast<u32>(count_ones(lanes & lanes_before()));
      sink.put_code(at + before * CodeTraits<I>::kBits, zigzag(segment[list.positions[i]]));
    }
    at += static_cast<u32>(count_ones(lanes)) * CodeTraits<I>::kBits;
  }
}

}  // namespace tamis::device
