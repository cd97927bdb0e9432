// Rice streams, byte for byte those of codec/rice.cpp, written by a block: each wave plans a
// segment, the block sums up their bits, then all waves write into one buffer in shared memory,
// whose full words leave together.
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
    RicePlanScratch waves[kWaves];
    u32 words[kWaves * kMostSegmentWords<I> + 2];
    u32 totals[kWaves];
    u32 carried;
    u64 sums[kWaves];
  };

  /// Writes the stream of `count` codes, 16-byte aligned and readable up to a multiple of 512, to
  /// `out`, where rice_room_words<I>(count) words may be written to. Returns its bytes, to all
  /// threads; 0 when all codes are zero.
  static TAMIS_DEVICE u32 encode(const I* codes, u32 count, u32* out, Scratch& scratch) {
    constexpr u32 kWords = kWaves * kMostSegmentWords<I> + 2;
    for (u32 i = Team::thread(); i < kWords; i += Team::kThreads) scratch.words[i] = 0;
    if (Team::thread() == 0) scratch.carried = 0;
    u32 done = 0;     // words that have left
    u32 pending = 0;  // bits of the word that is not full
    bool any = false;
    for (u32 first = 0; first < count; first += kWaves * kSegmentCodes) {
      const u32 at = first + static_cast<u32>(Team::wave()) * kSegmentCodes;
      const int n = at < count ? static_cast<int>(min_of<u32>(count - at, kSegmentCodes)) : 0;
      RicePlan<I> plan;
      if (n > 0) plan.make(codes + at, n, scratch.waves[Team::wave()]);
      // Bits of a segment are far below 2^31.
      const u32 mine = plan.bits | (plan.head != kZeroHead ? kNonZero : 0);
      if (lane_id() == 0) scratch.totals[Team::wave()] = mine;
      Team::sync();
      u32 start = pending;
      u32 end = pending;
#pragma unroll
      for (int w = 0; w < kWaves; ++w) {
        const u32 total = scratch.totals[w];
        any = any || (total & kNonZero) != 0;
        if (w < Team::wave()) start += total & ~kNonZero;
        end += total & ~kNonZero;
      }
      if (Team::thread() == 0 && scratch.carried != 0) atomicOr(scratch.words, scratch.carried);
      if (plan.head == kDenseHead) {
        put_dense(plan, codes + at, n, scratch.words, start);
      } else if (plan.head != kZeroHead) {
        put_list(scratch.waves[Team::wave()].list, plan.listed, plan.head - 1, codes + at,
                 scratch.words, start);
      }
      Team::sync();
      const u32 full = end / 32;
      for (u32 i = Team::thread(); i <= full; i += Team::kThreads) {
        const u32 word = scratch.words[i];
        scratch.words[i] = 0;
        if (i < full) {
          out[done + i] = word;
        } else {
          scratch.carried = word;
        }
      }
      done += full;
      pending = end % 32;
    }
    Team::sync();
    if (!any) return 0;
    if (Team::thread() == 0 && pending > 0) out[done] = scratch.carried;
    return 4 * done + (pending + 7) / 8;
  }

  /// Bits that such a stream takes before it is filled up to bytes, to all threads. Memory of the
  /// codes as for encode().
  static TAMIS_DEVICE u64 bits(const I* codes, u32 count, Scratch& scratch) {
    u64 sum = 0;
    for (u32 at = static_cast<u32>(Team::wave()) * kSegmentCodes; at < count;
         at += kWaves * kSegmentCodes) {
      RicePlan<I> plan;
      plan.make(codes + at, static_cast<int>(min_of<u32>(count - at, kSegmentCodes)),
                scratch.waves[Team::wave()]);
      sum += plan.bits;
    }
    return Team::sum(sum, scratch.sums);
  }

 private:
  static constexpr u32 kNonZero = u32{1} << 31;
};

}  // namespace tamis::device
