// Fixed-width streams (docs/format_codes.md, 4), byte for byte those of codec/fixed_width.cpp.
// Planes can only be placed when the number of groups that are not zero is known; until then they
// wait in shared memory, as many as it holds, and the codes of the others are read twice.
#pragma once

#include "codec/device/byte_planes.cuh"
#include "codec/device/code_pieces.cuh"
#include "codec/device/wave_team.cuh"

namespace tamis::device {

/// Words of memory that encoding `count` codes may write to: w bits a code, 9 a group.
template <typename I>
TAMIS_DEVICE u32 fixed_room_words(u32 count) {
  return ceil_div<u32>(count, kSegmentCodes) * (kSegmentCodes * CodeTraits<I>::kBits / 32 + 3) + 1;
}

/// Groups that are not zero, and the bytes of their planes.
struct FixedSums {
  u32 groups = 0;
  u32 payload = 0;

  static constexpr u32 kOneGroup = 1u << 20;  // both in a word, for sums of less payload
  TAMIS_DEVICE u32 word() const { return groups * kOneGroup | payload; }
  static TAMIS_DEVICE FixedSums of(u32 word) { return {word / kOneGroup, word % kOneGroup}; }
  TAMIS_DEVICE void operator+=(FixedSums other) {
    groups += other.groups;
    payload += other.payload;
  }
};

/// What a wave knows of a segment of n codes; from `shape` on that of its lanes' groups and pieces.
template <typename I>
struct FixedPlan {
  const I* segment = nullptr;
  int n = 0;
  bool narrow = true;  // each u is a byte
  PieceShape shape = {};
  int width = 0;
  u32 bytes[kPieceWords] = {};
  FixedSums before;

  TAMIS_DEVICE u32 plane_bytes() const { return static_cast<u32>(shape.group_codes + 7) / 8; }
  TAMIS_DEVICE u32 payload() const { return static_cast<u32>(width) * plane_bytes(); }
  TAMIS_DEVICE MemoryPiece<I> piece() const {
    return {segment + kPieceCodes * lane_id(), shape.codes};
  }

  /// Reads n codes, at least 1.
  TAMIS_DEVICE void make(const I* codes, int count, u32* exchange) {
    segment = codes;
    n = count;
    shape = PieceShape::of(n);
    sync_wave();  // the lanes may still read what an earlier plan left
    narrow = load_bytes(segment, n, exchange, bytes);
    UnsignedCode<I> all = 0;
    if (narrow) {
      u32 word = (bytes[0] | bytes[1]) | (bytes[2] | bytes[3]);
      word |= word >> 16;
      all = (word | (word >> 8)) & 0xff;
    } else {
      piece().each([&](UnsignedCode<I> u, int) { all |= u; });
    }
    width = bit_width(group_or(all));
  }

  /// One bit for each group of the segment that is not zero.
  TAMIS_DEVICE u32 flags() const {
    // Bits 0, 4, 8 ... move together.
    u32 lanes = static_cast<u32>(wave_ballot(width > 0 && shape.in_group == 0));
    lanes = (lanes | (lanes >> 3)) & 0x03030303u;
    lanes = (lanes | (lanes >> 6)) & 0x000f000fu;
    return (lanes | (lanes >> 12)) & 0xff;
  }

  /// Fills `before`; returns the segment's sums.
  TAMIS_DEVICE FixedSums place() {
    u32 total = 0;
    const FixedSums mine = {width > 0 ? 1u : 0u, payload()};
    before = FixedSums::of(segment_prefix(mine.word(), total));
    return FixedSums::of(total);
  }

  /// Writes the planes, the segment's first to `stage`, a multiple of 8 bytes.
  TAMIS_DEVICE void stage_planes(u8* stage) const {
    const u32 stride = plane_bytes();
    u8* at = stage + before.payload + 2 * shape.in_group;
    if (narrow && n == kSegmentCodes) {
      u32 planes[kPieceWords] = {bytes[0], bytes[1], bytes[2], bytes[3]};
      bytes_to_planes(planes);
#pragma unroll
      for (int b = 0; b < 8; ++b) {
        if (b < width) {
          *reinterpret_cast<u16*>(at + kGroupCodes / 8 * b) = static_cast<u16>(plane_of(planes, b));
        }
      }
      return;
    }
    for (int first = 0; wave_any(first < width); first += 8) {
      u32 planes[kPieceWords] = {};
      if (narrow) {
#pragma unroll
        for (int w = 0; w < kPieceWords; ++w) planes[w] = bytes[w];
      } else {
        piece().each([&](UnsignedCode<I> u, int i) {
          planes[i / 4] |= (static_cast<u32>(u >> first) & 0xff) << (8 * (i % 4));
        });
      }
      bytes_to_planes(planes);
#pragma unroll
      for (int b = 0; b < 8; ++b) {
        if (first + b < width) put_plane(at, plane_of(planes, b));
        at += stride;
      }
    }
  }

 private:
  TAMIS_DEVICE void put_plane(u8* at, u32 plane) const {
    if (n == kSegmentCodes) {
      *reinterpret_cast<u16*>(at) = static_cast<u16>(plane);
      return;
    }
    // The planes of a short group take whole bytes.
    if (shape.codes > 0) at[0] = static_cast<u8>(plane);
    if (shape.codes > 8) at[1] = static_cast<u8>(plane >> 8);
  }
};

/// For blocks of exactly kWaves waves; with one wave, any wave of a block by itself.
template <typename I, int kWaves>
struct FixedWidthEncoder {
  using Team = WaveTeam<kWaves>;
  static constexpr u32 kStageBytes = (sizeof(I) == 4 ? 3072 : 4096) * kWaves;
  static constexpr u32 kRound = kWaves * kSegmentCodes;
  static_assert(kRound * sizeof(I) <= kStageBytes && kStageBytes < FixedSums::kOneGroup,
                "the stage holds a round");

  struct Scratch {
    alignas(16) u32 exchange[kWaves][kSegmentWords];
    u32 stage[kStageBytes / 4 + 1];
    u32 totals[2][kWaves];
    u64 sums[kWaves];
  };

  /// Writes the stream of `count` codes, 16-byte aligned and readable up to a multiple of 512, to
  /// `out`, where fixed_room_words<I>(count) words may be written to. Returns its bytes, to all
  /// threads; 0 when all codes are zero.
  static TAMIS_DEVICE u32 encode(const I* codes, u32 count, u32* out, Scratch& scratch) {
    u8* bytes = reinterpret_cast<u8*>(out);
    u8* stage = reinterpret_cast<u8*>(scratch.stage);
    const u32 flag_bytes = ceil_div<u32>(count, kSegmentCodes);
    const int wave = Team::wave();
    FixedSums done;
    u32 staged = 0;  // bytes in the stage: the planes of so many codes
    u32 covered = 0;
    for (u32 first = 0; first < count; first += kRound) {
      FixedPlan<I> plan;
      const FixedSums round = plan_round(codes, count, first, wave, plan, scratch);
      if (plan.n > 0) {
        const u32 flags = plan.flags();
        if (lane_id() == 0) {
          bytes[first / kSegmentCodes + static_cast<u32>(wave)] = static_cast<u8>(flags);
        }
        if (plan.shape.in_group == 0 && plan.width > 0) {
          bytes[flag_bytes + done.groups + plan.before.groups] = static_cast<u8>(plan.width);
        }
      }
      if (covered == first && staged + round.payload <= kStageBytes) {
        if (plan.n > 0) plan.stage_planes(stage + staged);
        staged += round.payload;
        covered = first + kRound;
      }
      done += round;
    }
    Team::sync();
    if (done.groups == 0) return 0;
    u32 at = flag_bytes + done.groups;
    const u32 size = at + done.payload;
    flush(scratch.stage, staged, bytes, at);
    at += staged;
    for (u32 first = covered; first < count; first += kRound) {
      FixedPlan<I> plan;
      const FixedSums round = plan_round(codes, count, first, wave, plan, scratch);
      if (plan.n > 0) plan.stage_planes(stage);
      Team::sync();
      flush(scratch.stage, round.payload, bytes, at);
      at += round.payload;
    }
    Team::sync();
    return size;
  }

  /// Bits of such a stream, to all threads. Memory of the codes as for encode(); of the
  /// scratch `exchange` and `sums` are used.
  template <typename S>
  static TAMIS_DEVICE u64 bits(const I* codes, u32 count, S& scratch) {
    const int wave = Team::wave();
    u64 sum = 0;
    for (u32 at = static_cast<u32>(wave) * kSegmentCodes; at < count; at += kRound) {
      FixedPlan<I> plan;
      plan.make(codes + at, static_cast<int>(min_of<u32>(count - at, kSegmentCodes)),
                scratch.exchange[wave]);
      const u32 mine = plan.width == 0 ? 1 : 9 + 8 * plan.payload();
      sum += segment_sum(plan.shape.group_codes > 0 ? mine : 0);
    }
    return Team::sum(sum, scratch.sums);
  }

 private:
  /// Plans the wave's segment of a round. Returns the round's sums; those before the lane's group
  /// are in the plan.
  static TAMIS_DEVICE FixedSums plan_round(const I* codes, u32 count, u32 first, int wave,
                                           FixedPlan<I>& plan, Scratch& scratch) {
    const u32 at = first + static_cast<u32>(wave) * kSegmentCodes;
    prefetch_segment(codes + at + kRound, codes + count);
    FixedSums mine;
    if (at < count) {
      plan.make(codes + at, static_cast<int>(min_of<u32>(count - at, kSegmentCodes)),
                scratch.exchange[wave]);
      mine = plan.place();
    }
    // Two sets of totals: one barrier a round is then enough.
    u32* totals = scratch.totals[first / kRound % 2];
    if (lane_id() == 0) totals[wave] = mine.word();
    Team::sync();
    const u32 total = lane_id() < kWaves ? totals[lane_id()] : 0;
    const u32 through = wave_inclusive_sum(total);
    const u32 before = shuffle(through - total, wave);
    const u32 all = shuffle(through, kWaves - 1);
    plan.before += FixedSums::of(before);
    return FixedSums::of(all);
  }

  /// Copies `size` bytes from the stage to byte `at`, in words where they fit.
  static TAMIS_DEVICE void flush(const u32* stage, u32 size, u8* bytes, u32 at) {
    const u8* from = reinterpret_cast<const u8*>(stage);
    u8* to = bytes + at;
    const u32 head = min_of<u32>((0 - at) & 3, size);
    const u32 words = (size - head) / 4;
    const u32 tail = head + 4 * words;
    if (Team::thread() < head) to[Team::thread()] = from[Team::thread()];
    u32* target = reinterpret_cast<u32*>(to + head);
    for (u32 i = Team::thread(); i < words; i += Team::kThreads) {
      target[i] = funnel_right(stage[i], stage[i + 1], 8 * head);
    }
    if (Team::thread() < size - tail) to[tail + Team::thread()] = from[tail + Team::thread()];
  }
};

}  // namespace tamis::device
