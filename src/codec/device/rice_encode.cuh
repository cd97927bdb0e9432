// Rice streams, byte for byte those of codec/rice.cpp, written by a block: each wave writes a
// segment into shared memory of its own; once the block has summed up their bits, it shifts that to
// its place in the stream.
#pragma once

#include "codec/device/rice_dense.cuh"
#include "codec/device/rice_layout.cuh"
#include "codec/device/rice_list.cuh"
#include "codec/device/rice_plan.cuh"
#include "codec/device/wave_team.cuh"

namespace tamis::device {

/// For blocks of exactly kWaves waves; with one wave, any wave of a block by itself.
template <typename I, int kWaves>
struct RiceEncoder {
  using Team = WaveTeam<kWaves>;

  struct Scratch {
    struct Wave {
      RicePlanScratch plan;
      u32 room[kMostSegmentWords<I> + 2];

      /// The segment, and a word of zeros; the word before them may be read too.
      TAMIS_DEVICE u32* words() { return room + 1; }
    };
    Wave waves[kWaves];
    // Two of each, in turn: one barrier a round is then enough.
    u32 totals[2][kWaves];  // bits of a segment, and kNonZero
    u32 firsts[2][kWaves];  // its first word
    u32 carried[2];         // bits of the round's last word when that is not full
    u64 sums[kWaves];
  };

  /// Writes the stream of `count` codes, 16-byte aligned and readable up to a multiple of 512, to
  /// `out`, where rice_room_words<I>(count) words may be written to. Returns its bytes, to all
  /// threads; 0 when all codes are zero.
  static TAMIS_DEVICE u32 encode(const I* codes, u32 count, u32* out, Scratch& scratch) {
    const int wave = Team::wave();
    typename Scratch::Wave& own = scratch.waves[wave];
    u32 done = 0;     // words that have left
    u32 pending = 0;  // bits carried over
    bool any = false;
    int turn = 0;
    for (u32 first = 0; first < count; first += kWaves * kSegmentCodes, turn ^= 1) {
      const u32 at = first + static_cast<u32>(wave) * kSegmentCodes;
      u32 mine = 0;
      prefetch_segment(codes + at + kWaves * kSegmentCodes, codes + count);
      if (at < count) {
        mine = write_segment(codes + at, static_cast<int>(min_of<u32>(count - at, kSegmentCodes)),
                             own);
      }
      if (lane_id() == 0) {
        scratch.totals[turn][wave] = mine;
        scratch.firsts[turn][wave] = mine != 0 ? own.words()[0] : 0;
      }
      Team::sync();
      const u32 total = lane_id() < kWaves ? scratch.totals[turn][lane_id()] : 0;
      const u32 through = pending + wave_inclusive_sum(total & ~kNonZero);
      any = any || wave_any((total & kNonZero) != 0);
      const u32 begin = through - (total & ~kNonZero);
      const u32 end = shuffle(through, kWaves - 1);
      if (mine != 0) {
        flush(own.words(), shuffle(begin, wave), mine & ~kNonZero, begin, end, turn, out + done,
              scratch);
      }
      done += end / 32;
      pending = end % 32;
    }
    Team::sync();
    if (!any) return 0;
    if (Team::thread() == 0 && pending > 0) out[done] = scratch.carried[turn ^ 1];
    return 4 * done + (pending + 7) / 8;
  }

  /// Bits that such a stream takes before it is filled up to bytes, to all threads. Memory of the
  /// codes as for encode(). Of the scratch, the plans of `waves` and `sums` are used.
  template <typename S>
  static TAMIS_DEVICE u64 bits(const I* codes, u32 count, S& scratch) {
    const int wave = Team::wave();
    u64 sum = 0;
    for (u32 at = static_cast<u32>(wave) * kSegmentCodes; at < count;
         at += kWaves * kSegmentCodes) {
      RicePlan<I> plan;
      plan.make(codes + at, static_cast<int>(min_of<u32>(count - at, kSegmentCodes)),
                scratch.waves[wave].plan);
      sum += plan.bits;
    }
    return Team::sum(sum, scratch.sums);
  }

 private:
  static constexpr u32 kNonZero = u32{1} << 31;  // bits of a segment are far below that

  /// Writes a segment to the wave's words, and behind it a word of zeros. Returns its bits.
  static TAMIS_DEVICE u32 write_segment(const I* segment, int n, typename Scratch::Wave& own) {
    RicePlan<I> plan;
    plan.make(segment, n, own.plan);
    if (plan.head == kZeroHead) {
      if (lane_id() < 2) own.words()[lane_id()] = 0;
    } else if (plan.head == kDenseHead) {
      put_dense(plan, segment, n, own.plan.exchange, own.words());
    } else {
      put_list(own.plan.list, plan.listed, plan.head - 1, plan.bits, segment, own.words());
    }
    sync_wave();
    return plan.bits | (plan.head != kZeroHead ? kNonZero : 0);
  }

  /// Sends off the words whose first bit is of the wave's segment, which has `bits` bits from
  /// `start` of the round on; the first wave sends what was carried over too. Lane w knows in
  /// `begin` where the segment of wave w begins.
  static TAMIS_DEVICE void flush(const u32* words, u32 start, u32 bits, u32 begin, u32 end,
                                 int turn, u32* out, Scratch& scratch) {
    const int wave = Team::wave();
    const u32 last = (start + bits - 1) / 32;
    // Others end the last word. Segments are longer than nothing, so they begin behind `start`.
    const u32 others = wave_or(lane_id() > wave && lane_id() < kWaves
                                   ? shift_left(scratch.firsts[turn][lane_id()], begin - 32 * last)
                                   : 0);
    for (u32 i = (wave == 0 ? 0 : (start + 31) / 32) + static_cast<u32>(lane_id()); i <= last;
         i += kWave) {
      const int from = static_cast<int>(32 * i - start);
      const u32* word = words + (from >> 5);
      u32 value = funnel_right(word[0], word[1], static_cast<u32>(from));
      if (from < 0) value = (words[0] << start) | scratch.carried[turn ^ 1];
      if (i == last) value |= others;
      if (32 * (i + 1) <= end) {
        out[i] = value;
      } else {
        scratch.carried[turn] = value;
      }
    }
  }
};

}  // namespace tamis::device
