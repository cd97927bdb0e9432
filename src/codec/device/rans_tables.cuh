// Frequencies of clusters, what the encoder needs of them, and the bytes that tell them to the
// decoder, as RansModel::write() makes them. A wave each deals with the clusters; rows of
// frequencies lie in shared memory.
#pragma once

#include "codec/device/rans_tokens.cuh"

namespace tamis::device {

/// What building a model gives besides bytes and symbols.
struct RansModelInfo {
  u32 table_bytes;
  int clusters;
  int limit;  // symbols a cluster: tokens that occur are below
};

/// What the encoder needs of a token: (2^32 - 1) / frequency, and frequency | start << 16.
struct alignas(8) RansSymbol {
  u32 reciprocal;
  u32 span;
};

// The encoder's side of a model: for each context the index (u16) of its cluster's first symbol,
// then the symbols, cluster by cluster.
inline constexpr int kRansRowWords = kRansContexts / 2;
template <typename I>
inline constexpr int kRansSymbolWords = kRansRowWords + 2 * kRansContexts* kRansTokens<I>;

TAMIS_DEVICE RansSymbol* rans_symbols_of(u32* words) {
  return reinterpret_cast<RansSymbol*>(words + kRansRowWords);
}
/// Words of such a model.
TAMIS_DEVICE int rans_symbol_words(const RansModelInfo& info) {
  return kRansRowWords + 2 * info.clusters * info.limit;
}

/// Turns the counts of a row into frequencies that sum to kRansTotal, at least one for each token
/// that occurs. A wave calls it.
TAMIS_DEVICE void normalise_rans(u32* row, int tokens) {
  u64 total = 0;
  for (int t = lane_id(); t < tokens; t += kWave) total += row[t];
  total = wave_sum(total);
  u32 sum = 0;
  u64 largest = 0;  // above a number that makes the first of equal ones the largest
  for (int t = lane_id(); t < tokens; t += kWave) {
    const u64 count = row[t];
    if (count == 0) continue;
    const u32 share = static_cast<u32>((count * kRansTotal + total / 2) / total);
    row[t] = max_of(share, 1u);
    sum += max_of(share, 1u);
    largest = max_of(largest, count << 8 | static_cast<u64>(255 - t));
  }
  int left = static_cast<int>(kRansTotal) - static_cast<int>(wave_sum(sum));
  // Rounding errors go to the most frequent tokens, which feel them least.
  for (;;) {
    if (left == 0) break;
    const int token = 255 - static_cast<int>(wave_max(largest) & 255);
    sync_wave();
    const int frequency = static_cast<int>(row[token]);
    const int change = max_of(left, 1 - frequency);
    sync_wave();
    if (lane_id() == 0) row[token] = static_cast<u32>(frequency + change);
    sync_wave();
    left -= change;
    largest = 0;
    for (int t = lane_id(); t < tokens; t += kWave) {
      largest = max_of(largest, u64{row[t]} << 8 | static_cast<u64>(255 - t));
    }
  }
  sync_wave();
}

/// The encoder's symbols of a row of frequencies. A wave calls it.
TAMIS_DEVICE void put_rans_symbols(const u32* row, int tokens, RansSymbol* symbols) {
  u32 before = 0;
  for (int first = 0; first < tokens; first += kWave) {
    const int t = first + lane_id();
    const u32 frequency = t < tokens ? row[t] : 0;
    const u32 through = before + wave_inclusive_sum(frequency);
    if (t < tokens) {
      symbols[t] = {frequency > 0 ? ~u32{0} / frequency : 0, frequency | (through - frequency)
                                                                             << 16};
    }
    before = shuffle(through, kWave - 1);
  }
}

/// Writes the tables' bytes: measure() each row, a barrier, put_clusters() and put_row(), a
/// barrier, copy_out().
struct RansTableWriter {
  static constexpr int kMostHeadBits = 6 + kRansContexts * 7;
  static constexpr int kMostTokenBits = 16;
  template <typename I>
  static constexpr int kMostBits = kMostHeadBits +
                                   kRansContexts*(8 + kMostTokenBits * kRansTokens<I>);

  /// In shared memory.
  template <typename I>
  struct Staging {
    static constexpr int kWords = (kMostBits<I> + 31) / 32;
    u32 words[kWords];
    u32 bits[kRansContexts];  // of the clusters' parts
    u32 tokens[kRansContexts];
  };

  /// By the block.
  template <typename I>
  static TAMIS_DEVICE void clear(Staging<I>& s) {
    for (u32 i = threadIdx.x; i < Staging<I>::kWords; i += blockDim.x) s.words[i] = 0;
  }

  /// By a wave.
  template <typename I>
  static TAMIS_DEVICE void measure(Staging<I>& s, const u32* row, int limit, int cluster) {
    u32 bits = 0;
    int tokens = 0;
    for (int t = lane_id(); t < limit; t += kWave) {
      if (row[t] != 0) tokens = t + 1;
    }
    tokens = wave_max(tokens);
    for (int t = lane_id(); t < tokens; t += kWave) bits += token_bits(row[t]);
    bits = wave_sum(bits);
    if (lane_id() != 0) return;
    s.bits[cluster] = 8 + bits;
    s.tokens[cluster] = static_cast<u32>(tokens);
  }

  /// By the block, of which the first wave works.
  template <typename I>
  static TAMIS_DEVICE void put_clusters(Staging<I>& s, const u8* cluster_of, int clusters) {
    if (wave_id() != 0) return;
    if (lane_id() == 0) put(s, 0, static_cast<u32>(clusters - 1), 6);
    const u32 index_bits = static_cast<u32>(bit_width(static_cast<u32>(clusters - 1)));
    u32 at = 6;
    for (int first = 0; first < kRansContexts; first += kWave) {
      const int context = first + lane_id();
      const bool same = like_before(cluster_of, context);
      const u32 bits = same ? 1 : 1 + index_bits;
      const u32 through = wave_inclusive_sum(bits);
      put(s, at + through - bits, same ? 1 : u32{cluster_of[context]} << 1, bits);
      at += shuffle(through, kWave - 1);
    }
  }

  /// By a wave.
  template <typename I>
  static TAMIS_DEVICE void put_row(Staging<I>& s, const u32* row, const u8* cluster_of,
                                   int clusters, int cluster) {
    u32 at = part_begin(s, cluster_of, clusters, cluster);
    const int tokens = static_cast<int>(s.tokens[cluster]);
    if (lane_id() == 0) put(s, at, s.tokens[cluster], 8);
    at += 8;
    for (int first = 0; first < tokens; first += kWave) {
      const int t = first + lane_id();
      const u32 frequency = t < tokens ? row[t] : 0;
      const u32 bits = t < tokens ? token_bits(frequency) : 0;
      const u32 through = wave_inclusive_sum(bits);
      const u32 width = static_cast<u32>(bit_width(frequency));
      const u32 rest = width > 1 ? frequency ^ 1u << (width - 1) : 0;
      if (bits != 0) put(s, at + through - bits, width | rest << 4, bits);
      at += shuffle(through, kWave - 1);
    }
  }

  /// By the block; returns the number of bytes.
  template <typename I>
  static TAMIS_DEVICE u32 copy_out(const Staging<I>& s, const u8* cluster_of, int clusters,
                                   u8* out) {
    const u32 bytes = (part_begin(s, cluster_of, clusters, clusters) + 7) / 8;
    for (u32 i = threadIdx.x; i < bytes; i += blockDim.x) {
      out[i] = static_cast<u8>(s.words[i / 4] >> (8 * (i % 4)));
    }
    return bytes;
  }

 private:
  static TAMIS_DEVICE u32 token_bits(u32 frequency) {
    return frequency > 1 ? 3 + static_cast<u32>(bit_width(frequency)) : 4;
  }
  static TAMIS_DEVICE bool like_before(const u8* cluster_of, int context) {
    return cluster_of[context] == (context > 0 ? cluster_of[context - 1] : 0);
  }

  // By a wave: where the part of a cluster begins.
  template <typename I>
  static TAMIS_DEVICE u32 part_begin(const Staging<I>& s, const u8* cluster_of, int clusters,
                                     int cluster) {
    const u32 index_bits = static_cast<u32>(bit_width(static_cast<u32>(clusters - 1)));
    u32 bits = 0;
    for (int c = lane_id(); c < kRansContexts; c += kWave) {
      bits += like_before(cluster_of, c) ? 1 : 1 + index_bits;
      bits += c < cluster ? s.bits[c] : 0;
    }
    return 6 + wave_sum(bits);
  }

  // At most 25 bits, which may cross into the next word.
  template <typename I>
  static TAMIS_DEVICE void put(Staging<I>& s, u32 at, u32 value, u32 bits) {
    const u32 shift = at % 32;
    atomicOr(&s.words[at / 32], value << shift);
    if (shift + bits > 32) atomicOr(&s.words[at / 32 + 1], value >> (32 - shift));
  }
};

template <typename I>
inline constexpr int kRansTableBytes = (RansTableWriter::kMostBits<I> + 7) / 8;

}  // namespace tamis::device
