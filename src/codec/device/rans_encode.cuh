// Encodes a stream by a wave, as codec::encode_rans(). The encoder walks backwards and so do its
// words in memory, down from the area's end: the stream ends up in the order that decoders read,
// without anything having been counted before.
#pragma once

#include "codec/device/rans_tables.cuh"

namespace tamis::device {

/// Bytes that a stream of `count` codes can take: a code puts at most 12 + w - 2 bits into a state,
/// and a word takes more than 15.9 bits out of one (it is given at 2^20 or more, so that
/// (x >> 16) + 1 is at most (1 + 2^-4) x / 2^16).
template <typename I>
TAMIS_DEVICE i64 rans_room(i64 count) {
  constexpr i64 kThirds = kRansCodeBits<I> == 32 ? 8 : 14;  // of words; 42 / 15.9 and 74 / 15.9
  return (1 + 4 * kMaxRansLanes + 2 * (kThirds * count / 3 + 1) + 3) / 4 * 4;
}

template <typename I>
class RansEncoder {
 public:
  /// `model` is what RansBuilder wrote, in shared or global memory.
  TAMIS_DEVICE RansEncoder(const u32* model, const I* codes, const u8* contexts, i32 count)
      : rows_(reinterpret_cast<const u16*>(model)),
        symbols_(reinterpret_cast<const RansSymbol*>(model + kRansRowWords)),
        codes_(codes),
        contexts_(contexts),
        count_(count) {}

  /// Writes the stream so that it ends at `end`, an even address with rans_room() bytes before it;
  /// returns its size, which is 0 when all codes are zero. The lanes of a wave call it.
  TAMIS_DEVICE u32 encode(u8* end) { return run<true>(end); }
  /// The size alone, at nearly the same cost.
  TAMIS_DEVICE u32 size() { return run<false>(nullptr); }

 private:
  using U = RansUnsigned<I>;
  static constexpr int kMostPieces = (kRansCodeBits<I> - 2 + kRansRawPiece - 1) / kRansRawPiece;

  struct Loaded {
    I code;
    u32 context;
  };
  struct Item {
    U value;
    int raw_bits;
    RansSymbol symbol;
  };

  TAMIS_DEVICE Loaded load(i32 i) const {
    if (i < 0 || i >= count_) return {0, 0};
    return {codes_[i], contexts_[i]};
  }
  TAMIS_DEVICE RansSymbol symbol(u32 context, int token) const {
    return symbols_[rows_[context] + token];
  }
  // Lanes without a code get one that changes nothing.
  TAMIS_DEVICE Item look_up(const Loaded& loaded, i32 i) const {
    if (i < 0 || i >= count_) return {0, 0, {~u32{0} / kRansTotal, kRansTotal}};
    const U value = rans_zigzag(loaded.code);
    const RansToken t = rans_token(value);
    return {value, t.raw_bits, symbol(loaded.context, t.token)};
  }

  // What log2_lanes() has seen.
  struct Sample {
    u32 bits = 0;  // of this lane
    U any = 0;
  };
  TAMIS_DEVICE void add(Sample& sample, const Loaded& loaded) const {
    const U value = rans_zigzag(loaded.code);
    const RansToken t = rans_token(value);
    const u32 frequency = symbol(loaded.context, t.token).span & 0xffffu;
    sample.bits += static_cast<u32>(kRansBits - bit_width(frequency) + 1 + t.raw_bits);
    sample.any |= value;
  }

  // Few lanes for short streams, by a bound of the bits; -1 when all codes are zero. Goes on only
  // until both are certain.
  TAMIS_DEVICE int log2_lanes() const {
    constexpr u32 kBitsPerLane = 2048;
    constexpr u32 kEnoughBits = kBitsPerLane * kMaxRansLanes / 2;
    constexpr int kAhead = 8;
    u32 total = 0;
    bool zero = true;
    for (i32 first = 0; first < count_ && (total <= kEnoughBits || zero);) {
      Sample sample;
      if (first + kAhead * kWave <= count_) {
        Loaded loaded[kAhead];
#pragma unroll
        for (int k = 0; k < kAhead; ++k) {
          const i32 i = first + k * kWave + lane_id();
          loaded[k] = {codes_[i], contexts_[i]};
        }
#pragma unroll
        for (int k = 0; k < kAhead; ++k) add(sample, loaded[k]);
        first += kAhead * kWave;
      } else {
        const i32 i = first + lane_id();
        if (i < count_) add(sample, {codes_[i], contexts_[i]});
        first += kWave;
      }
      if (total <= kEnoughBits) total += wave_sum(sample.bits);
      zero = zero && !wave_any(sample.any != 0);
    }
    if (zero) return -1;
    int log2 = 0;
    while (log2 < 5 && total > kBitsPerLane << log2 && count_ > 64 << log2) ++log2;
    return log2;
  }

  template <bool kStore>
  TAMIS_DEVICE u32 run(u8* end) {
    const int log2 = log2_lanes();
    if (log2 < 0) return 0;
    words_end_ = reinterpret_cast<u16*>(end);
    words_ = 0;
    state_ = kRansLow;
    const int lanes = 1 << log2;
    int turn_at = 0;  // the states are in the lanes of this turn
    i32 at = (count_ - 1) / kWave * kWave + lane_id();
    Item item = look_up(load(at), at);
    Loaded loaded = load(at - kWave);
    for (; wave_any(at >= 0); at -= kWave) {
      const Item next = look_up(loaded, at - kWave);
      loaded = load(at - 2 * kWave);
      if (lanes == kWave) {
        turn<kStore>(item, true);
      } else {
        // What is all but certain of its only token leaves the state as it was.
        const LaneMask busy =
            wave_ballot((item.symbol.span & 0xffffu) != kRansTotal || item.raw_bits != 0);
        for (int k = kWave / lanes - 1; k >= 0; --k) {
          if ((busy >> (k * lanes) & ((LaneMask{1} << lanes) - 1)) == 0) continue;
          state_ = shuffle(state_, turn_at * lanes + lane_id() % lanes);
          turn<kStore>(item, lane_id() / lanes == k);
          turn_at = k;
        }
      }
      item = next;
    }
    if (kStore) put_head(log2, turn_at);
    return 1 + 4 * static_cast<u32>(lanes) + 2 * words_;
  }

  // One code a lane; lanes after this one come before it.
  template <bool kStore>
  TAMIS_DEVICE void turn(const Item& item, bool active) {
    const LaneMask above = ~((LaneMask{2} << lane_id()) - 1);
    u32 x = state_;
    const u32 frequency = item.symbol.span & 0xffffu;
    if (!wave_any(active && item.raw_bits != 0)) {
      const bool full = active && x >> (32 - kRansBits) >= frequency;
      const LaneMask givers = wave_ballot(full);
      if (full) {
        if (kStore) *word_at(words_ + count_ones(givers & above)) = static_cast<u16>(x);
        x >>= 16;
      }
      words_ += count_ones(givers);
    } else {
      give_raw<kStore>(item, active, above, x);
    }
    // Now x < frequency * 2^20, and the quotient is at most one too small.
    u32 quotient = __umulhi(x, item.symbol.reciprocal);
    u32 rest = x - quotient * frequency;
    if (rest >= frequency) {
      ++quotient;
      rest -= frequency;
    }
    if (active) state_ = (quotient << kRansBits) + rest + (item.symbol.span >> 16);
  }

  // The raw bits, last piece first, and the words that they and the token push out.
  template <bool kStore>
  TAMIS_DEVICE void give_raw(const Item& item, bool active, LaneMask above, u32& x) {
    u64 given = 0;  // the last word lowest
    u64 given_earlier = 0;
    int count = 0;
    const auto give = [&](bool full) {
      if (!full) return;
      if (kMostPieces > 3) given_earlier = given_earlier << 16 | given >> 48;
      given = given << 16 | (x & 0xffffu);
      x >>= 16;
      ++count;
    };
    if (active) {
#pragma unroll
      for (int piece = kMostPieces - 1; piece >= 0; --piece) {
        const int from = piece * kRansRawPiece;
        if (item.raw_bits <= from) continue;
        const int bits = min_of(item.raw_bits - from, kRansRawPiece);
        give(x >> (32 - bits) != 0);
        x = x << bits | (static_cast<u32>(item.value >> from) & ((1u << bits) - 1));
      }
      give(x >> (32 - kRansBits) >= (item.symbol.span & 0xffffu));
    }
    u32 later = 0;
    u32 all = 0;
#pragma unroll
    for (int bit = 0; bit < 3; ++bit) {
      const LaneMask lanes = wave_ballot((count >> bit & 1) != 0);
      later += static_cast<u32>(count_ones(lanes & above)) << bit;
      all += static_cast<u32>(count_ones(lanes)) << bit;
    }
    if (kStore) {
      u16* to = words_end_ - static_cast<i64>(words_ + later + static_cast<u32>(count));
      for (int k = 0; k < count; ++k) {
        to[k] = static_cast<u16>(k < 4 ? given >> (16 * k) : given_earlier >> (16 * (k - 4)));
      }
    }
    words_ += all;
  }

  TAMIS_DEVICE u16* word_at(u32 index) const { return words_end_ - 1 - static_cast<i64>(index); }

  TAMIS_DEVICE void put_head(int log2, int turn_at) {
    const int lanes = 1 << log2;
    const u32 state = shuffle(state_, turn_at * lanes + lane_id() % lanes);
    u16* to = words_end_ - static_cast<i64>(words_) - 2 * lanes;
    if (lane_id() < lanes) {
      to[2 * lane_id()] = static_cast<u16>(state);
      to[2 * lane_id() + 1] = static_cast<u16>(state >> 16);
    }
    if (lane_id() == 0) reinterpret_cast<u8*>(to)[-1] = static_cast<u8>(log2);
  }

  const u16* rows_;
  const RansSymbol* symbols_;
  const I* codes_;
  const u8* contexts_;
  i32 count_;
  u16* words_end_ = nullptr;
  u32 words_ = 0;  // given so far, from the area's end
  u32 state_ = kRansLow;
};

}  // namespace tamis::device
