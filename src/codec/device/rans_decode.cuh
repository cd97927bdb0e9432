// Decodes a stream by a wave, as codec::RansReader, some codes at a time, as many as their contexts
// are known of. How many words a code takes follows from the number of bits of its lane's state,
// before any word is read: so the lanes find their words by counting, and read them all at once.
#pragma once

#include "codec/device/rans_table_reader.cuh"

namespace tamis::device {

template <typename I>
class RansStream {
 public:
  /// `tables` as RansTableReader laid them out, in shared or global memory; the stream's bytes, of
  /// any alignment, less than 4 GB. The lanes of a wave call this and all that follows.
  TAMIS_DEVICE RansStream(const u32* tables, const u8* bytes, i64 size) : tables_(tables) {
    zero_ = true;
    if (size == 0) return;
    const int log2 = bytes[0];
    fault_ = log2 > 5 || size < 1 + (4 << log2) || size >= i64{1} << 32;
    if (fault_) return;
    lane_mask_ = (1 << log2) - 1;
    const u8* head = bytes + 1 + 4 * (lane_id() & lane_mask_);
    state_ = head[0] | u32{head[1]} << 8 | u32{head[2]} << 16 | u32{head[3]} << 24;
    fault_ = wave_any(state_ < kRansLow);
    if (fault_) return;
    zero_ = false;
    words_at_ = bytes + 1 + 4 * (lane_mask_ + 1);
    const i64 rest = size - 1 - 4 * (lane_mask_ + 1);
    words_ = static_cast<u32>(rest / 2);
    fault_ = rest % 2 != 0;
  }

  /// The next codes of the stream, one each for the first lanes, those that are active; the others
  /// get 0. After a fault codes are arbitrary.
  TAMIS_DEVICE I next(bool active, u32 context) {
    if (zero_) return 0;
    const int count = count_ones(wave_ballot(active));
    const int lanes = lane_mask_ + 1;
    if (count <= lanes) {
      const I code = turn(active, context);
      if (count != kWave) state_ = shuffle(state_, (lane_id() + count) & lane_mask_);
      return code;
    }
    I code = 0;
    for (int first = 0; first < count; first += lanes) {
      const bool mine = lane_id() >= first && lane_id() < first + lanes;
      const u32 moved = shuffle_up(state_, lanes);
      if (first > 0 && mine) state_ = moved;
      const I decoded = turn(active && mine, context);
      if (mine) code = decoded;
    }
    state_ = shuffle(state_, count - lanes + (lane_id() & lane_mask_));
    return code;
  }

  /// After the last code: whether the bytes were anything but a whole stream of these codes.
  TAMIS_DEVICE bool finish() const {
    if (zero_) return fault_;
    return wave_any(fault_ || next_ != words_ || state_ != kRansLow);
  }

 private:
  using U = RansUnsigned<I>;

  // A code each for the active lanes, in their order; each has the state that it needs.
  TAMIS_DEVICE I turn(bool active, u32 context) {
    u32 x = state_;
    u32 token = 0;
    if (active) {
      const u32* part = tables_ + reinterpret_cast<const u16*>(tables_)[context];
      const u32 slot = x & (kRansTotal - 1);
      u32 entry = part[slot >> kBucketSlotBits];
      while (slot - start_of(entry) > (entry & (kRansTotal - 1))) {
        entry = part[kRansBuckets + (entry >> 24) + 1];
      }
      x = ((entry & (kRansTotal - 1)) + 1) * (x >> kRansBits) + slot - start_of(entry);
      token = entry >> 24;
    }
    U value = token;
    if (!wave_any(token >= kDirectTokens)) {
      const LaneMask takers = wave_ballot(active && x < kRansLow);
      if (active && x < kRansLow) x = x << 16 | word(next_ + count_ones(takers & lanes_before()));
      advance(count_ones(takers));
    } else {
      value = take_raw(active, token, x);
    }
    if (active) state_ = x;
    return active ? rans_unzigzag<I>(value) : I{0};
  }

  static TAMIS_DEVICE u32 start_of(u32 entry) { return entry >> 12 & (kRansTotal - 1); }

  // Words and raw bits of codes of which some have such.
  TAMIS_DEVICE U take_raw(bool active, u32 token, u32& x) {
    int raw_bits = raw_bits_of(static_cast<int>(token));
    if (raw_bits + 2 > kRansCodeBits<I>) {
      fault_ = true;
      raw_bits = 0;
    }
    // A state ends up with 17 to 32 bits, whatever the order in which it gave and took.
    const int count = active ? (32 - bit_width(x) + raw_bits) >> 4 : 0;
    u32 at = next_;
    int all = 0;
#pragma unroll
    for (int bit = 0; bit < 3; ++bit) {
      const LaneMask lanes = wave_ballot((count >> bit & 1) != 0);
      at += static_cast<u32>(count_ones(lanes & lanes_before())) << bit;
      all += count_ones(lanes) << bit;
    }
    advance(all);
    if (!active) return 0;
    if (x < kRansLow) x = x << 16 | word(at++);
    if (raw_bits == 0) return token;
    U value = U{2 + (token & 1)} << raw_bits;
    for (int done = 0; done < raw_bits; done += kRansRawPiece) {
      const int piece = min_of(kRansRawPiece, raw_bits - done);
      value |= U{x & ((1u << piece) - 1)} << done;
      x >>= piece;
      if (x < kRansLow) x = x << 16 | word(at++);
    }
    return value;
  }

  TAMIS_DEVICE u32 word(u32 index) const {
    if (index >= words_) return 0;
    const u8* at = words_at_ + 2 * u64{index};
    if (reinterpret_cast<u64>(words_at_) % 2 != 0) return at[0] | u32{at[1]} << 8;
    return *reinterpret_cast<const u16*>(at);
  }
  // Past the end it stays there, so that finish() sees it.
  TAMIS_DEVICE void advance(int count) {
    next_ = min_of(next_ + static_cast<u32>(count), words_ + 1);
  }

  const u32* tables_;
  const u8* words_at_ = nullptr;
  u32 words_ = 0;
  u32 next_ = 0;
  u32 state_ = kRansLow;  // of the code that is as far ahead as the lane's number
  int lane_mask_ = 0;
  bool zero_ = false;
  bool fault_ = false;
};

}  // namespace tamis::device
