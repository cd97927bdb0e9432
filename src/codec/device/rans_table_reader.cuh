// Reads the bytes of tables and lays them out for decoding. A cluster's part is small, so that
// those of a blob fit a corner of shared memory or of the first cache: for every 16 slots the first
// token that they hold, with all that decoding it takes, and for every token the next one, where a
// slot is not its own.
#pragma once

#include "codec/device/rans_tokens.cuh"

namespace tamis::device {

// Laid out: for each context the first word (u16) of its cluster's part; the parts. An entry is
// token << 24 | start << 12 | frequency - 1. A part has the entry that holds the first slot of each
// bucket, and for each token listed the entry of the first one from there on that occurs.
inline constexpr int kBucketSlotBits = 4;
inline constexpr int kRansBuckets = 1 << (kRansBits - kBucketSlotBits);
inline constexpr int kRansPartWords = kRansBuckets + kMostRansTokens;
inline constexpr int kRansPartsAt = kRansContexts / 2;

/// Clusters that tables tell of, from their first byte; their bytes need not be good.
TAMIS_DEVICE int rans_clusters(const u8* bytes, i64 size) {
  return size > 0 ? (bytes[0] & 63) + 1 : 1;
}
/// Words that the tables take at most once laid out, at least 4-byte aligned.
TAMIS_DEVICE int rans_decoder_words(int clusters) {
  return kRansPartsAt + clusters * kRansPartWords;
}
inline constexpr int kMostRansDecoderWords = kRansPartsAt + kRansContexts * kRansPartWords;

/// Reads tables, all lanes of a wave alike.
class RansTableReader {
 public:
  /// Any alignment; reads nothing but the aligned words that hold the bytes.
  TAMIS_DEVICE RansTableReader(const u8* bytes, i64 size) : bits_left_(8 * size) {
    if (size <= 0) return;
    const u64 address = reinterpret_cast<u64>(bytes);
    const int skipped = static_cast<int>(address % 4);
    next_ = reinterpret_cast<const u32*>(bytes - skipped);
    words_left_ = (skipped + size + 3) / 4;
    refill();
    window_ >>= 8 * skipped;
    filled_ -= 8 * skipped;
  }

  /// Lays the tables out in `words`, which has room for rans_decoder_words() of them; false when
  /// the bytes are corrupt. The lanes of a wave call it; sync_wave() is behind its last write.
  TAMIS_DEVICE bool read(u32* words) {
    const int clusters = static_cast<int>(get(6)) + 1;
    const int index_bits = bit_width(static_cast<u32>(clusters - 1));
    int cluster = 0;
    u16* rows = reinterpret_cast<u16*>(words);
    for (int context = 0; context < kRansContexts; ++context) {
      if (get(1) == 0) cluster = static_cast<int>(get(index_bits));
      if (bits_left_ < 0 || cluster >= clusters) return false;
      if (lane_id() == context % kWave) rows[context] = static_cast<u16>(cluster);
    }
    sync_wave();
    int own[kRansContexts / kWave];
#pragma unroll
    for (int k = 0; k < kRansContexts / kWave; ++k) own[k] = rows[k * kWave + lane_id()];
    words_ = kRansPartsAt;
    for (cluster = 0; cluster < clusters; ++cluster) {
      u32* part = words + words_;
      const int tokens = static_cast<int>(get(8));
      if (tokens == 0 || tokens > kMostRansTokens) return false;
      if (!read_frequencies(part + kRansBuckets, tokens)) return false;
      lay_out(part, tokens);
#pragma unroll
      for (int k = 0; k < kRansContexts / kWave; ++k) {
        if (own[k] == cluster) rows[k * kWave + lane_id()] = static_cast<u16>(words_);
      }
      words_ += kRansBuckets + tokens;
    }
    sync_wave();
    const bool ends = bits_left_ >= 0 && bits_left_ < 8 &&
                      (window_ & low_bits_64(static_cast<int>(bits_left_))) == 0;
    return ends;
  }

  /// After read(): the words that it has laid out.
  TAMIS_DEVICE int words() const { return words_; }

 private:
  TAMIS_DEVICE void refill() {
    if (words_left_ > 0) window_ |= u64{*next_++} << filled_;
    --words_left_;
    filled_ += 32;
  }

  // Up to 16 bits; zeros behind the end.
  TAMIS_DEVICE u32 get(int count) {
    if (filled_ < count) refill();
    const u32 value = static_cast<u32>(window_) & ((1u << count) - 1);
    skip(count);
    return value;
  }
  TAMIS_DEVICE void skip(int count) {
    window_ >>= count;
    filled_ -= count;
    bits_left_ -= count;
  }

  TAMIS_DEVICE bool read_frequencies(u32* frequencies, int tokens) {
    u32 sum = 0;
    for (int t = 0; t < tokens; ++t) {
      if (filled_ < 18) refill();
      const int width = static_cast<int>(window_ & 15);
      const int rest = max_of(width - 1, 0);
      const u32 lead = width == 0 ? 0 : 1u << rest;
      const u32 frequency = lead | (static_cast<u32>(window_ >> 4) & ((1u << rest) - 1));
      skip(4 + rest);
      sum += frequency;
      if (lane_id() == t % kWave) frequencies[t] = frequency;
    }
    sync_wave();
    return bits_left_ >= 0 && sum == kRansTotal;
  }

  // Replaces the frequencies of a part by its entries.
  static TAMIS_DEVICE void lay_out(u32* part, int tokens) {
    constexpr int kParts = (kMostRansTokens + kWave - 1) / kWave;
    constexpr u32 kNone = ~u32{0};
    constexpr u32 kBucketSlots = 1u << kBucketSlotBits;
    u32 entries[kParts];
    for (int b = lane_id(); b < kRansBuckets; b += kWave) part[b] = 0;
    sync_wave();
    u32 before = 0;
#pragma unroll
    for (int k = 0; k < kParts; ++k) {
      const int t = k * kWave + lane_id();
      const u32 frequency = t < tokens ? part[kRansBuckets + t] : 0;
      const u32 through = before + wave_inclusive_sum(frequency);
      const u32 start = through - frequency;
      before = shuffle(through, kWave - 1);
      entries[k] = kNone;
      if (frequency == 0) continue;
      entries[k] = static_cast<u32>(t) << 24 | start << 12 | (frequency - 1);
      const u32 bucket = ceil_div(start, kBucketSlots);
      if (bucket * kBucketSlots < through) part[bucket] = entries[k];
    }
    sync_wave();
    fill_buckets(part);
    u32 after = kNone;
#pragma unroll
    for (int k = kParts - 1; k >= 0; --k) {
      u32 entry = entries[k];
#pragma unroll
      for (int step = 1; step < kWave; step *= 2) entry = min_of(entry, shuffle_down(entry, step));
      entry = min_of(entry, after);
      after = shuffle(entry, 0);
      const int t = k * kWave + lane_id();
      if (t < tokens) part[kRansBuckets + t] = entry;
    }
    sync_wave();
  }

  // Buckets within a token get the entry of the bucket before; entries grow with the token.
  static TAMIS_DEVICE void fill_buckets(u32* part) {
    constexpr int kEach = kRansBuckets / kWave;
    u32* mine = part + kEach * lane_id();
    u32 entries[kEach];
    u32 largest = 0;
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      largest = max_of(largest, mine[i]);
      entries[i] = largest;
    }
#pragma unroll
    for (int step = 1; step < kWave; step *= 2) {
      largest = max_of(largest, shuffle_up(largest, step));
    }
    const u32 earlier = shuffle_up(largest, 1);
    const u32 before = lane_id() == 0 ? 0 : earlier;
#pragma unroll
    for (int i = 0; i < kEach; ++i) mine[i] = max_of(entries[i], before);
  }

  const u32* next_ = nullptr;
  i64 words_left_ = 0;
  i64 bits_left_;
  u64 window_ = 0;
  int filled_ = 0;
  int words_ = 0;
};

}  // namespace tamis::device
