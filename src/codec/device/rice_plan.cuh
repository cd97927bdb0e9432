// How a Rice segment is written best and at what cost, planned by one wave: the same choices as
// codec/rice.cpp makes. Segments whose u all fit a byte, the usual ones, are planned four codes at
// a time; the others code by code.
#pragma once

#include "codec/device/byte_planes.cuh"
#include "codec/device/rice_layout.cuh"
#include "codec/device/rice_list.cuh"

namespace tamis::device {

/// Shared memory of a wave that encodes.
struct RicePlanScratch {
  alignas(16) u32 exchange[kSegmentWords];
  RiceList list;
};

/// Parameter of a group without one.
inline constexpr int kNoParameter = -1;

TAMIS_DEVICE u32 group_head_bits(int parameter) {
  return kHeadBits + (parameter >= kWideHead - 1 ? kWideBits : 0);
}

/// A plan of a segment. The members after `listed` are for dense segments, of the lane's group.
template <typename I>
struct RicePlan {
  static constexpr int kCodeBits = CodeTraits<I>::kBits;
  using U = UnsignedCode<I>;

  u32 bits = 0;
  int head = kZeroHead;
  int listed = 0;

  int parameter = kNoParameter;
  u32 payload = 0;  // bits of the group
  u32 head_at = 0;  // from the segment's start
  u32 at = 0;
  bool folded = false;  // the bytes hold low bits too, above the quotient
  bool capped = false;  // some quotient may be kEscape
  u32 bytes[kPieceWords] = {};

  /// Plans the segment of n codes, at least 1.
  TAMIS_DEVICE void make(const I* segment, int n, RicePlanScratch& scratch) {
    sync_wave();  // the lanes may still read what an earlier plan left
    const bool narrow = load_bytes(segment, n, scratch.exchange, bytes);
    bits = kHeadBits;
    head = kZeroHead;
    const u32 mask = nonzero_bytes(bytes);
    const u32 found = static_cast<u32>(count_ones(mask));
    const int nonzero = static_cast<int>(wave_sum(found));
    if (nonzero == 0) return;
    u32 sparse_bits = ~0u;
    if (3 * nonzero <= n) {
      int low_bits = 0;
      sparse_bits = make_list<kCodeBits>(mask, found, reinterpret_cast<const u8*>(scratch.exchange),
                                         nonzero, n, scratch.list, low_bits);
      listed = nonzero;
      head = 1 + low_bits;
      if (sparse_bits < least_dense(found, nonzero, n)) {
        bits += sparse_bits;
        return;
      }
    }
    const PieceShape shape = PieceShape::of(n);
    if (narrow) {
      choose(shape, n, NarrowGroups{}, sparse_bits);
      return;
    }
    const MemoryPiece<I> memory{segment + kPieceCodes * lane_id(), shape.codes};
    u64 all = 0;
    if (sizeof(I) == 8) memory.each([&](U u, int) { all |= u; });
    if (sizeof(I) == 4 || !wave_any(all >> 32 != 0)) {
      RegisterPiece<u32> piece;
      memory.each([&](U u, int i) { piece.u[i] = static_cast<u32>(u); });
      choose(shape, n, WideGroups<RegisterPiece<u32>, u32>{piece}, sparse_bits);
    } else {
      choose(shape, n, WideGroups<MemoryPiece<I>, U>{memory}, sparse_bits);
    }
  }

 private:
  /// Groups whose u are bytes.
  struct NarrowGroups {
    TAMIS_DEVICE void choose_parameter(RicePlan& plan, const PieceShape& shape, int n) const {
      const u32(&bytes)[kPieceWords] = plan.bytes;
      u32 sum = 0;
#pragma unroll
      for (int k = 0; k < kPieceWords; ++k) sum = add_bytes(bytes[k], sum);
      sum = group_sum(sum);
      const u32 codes = static_cast<u32>(shape.group_codes);
      const u32 mean = n == kSegmentCodes ? sum / kGroupCodes : sum / max_of(codes, 1u);
      const int guess = highest_one(mean | 1);
      const int lower = max_of(guess - 1, 0);
      const u32 all = (bytes[0] | bytes[1]) | (bytes[2] | bytes[3]);
      plan.capped = wave_any(bytes_from<kEscape>(shifted(all, lower)) != 0);
      u32 costs = 0;
      if (plan.capped) {
        costs = capped_cost(bytes, guess) | (capped_cost(bytes, lower) << 16);
      } else {
        u32 with_guess = 0, with_lower = 0;
#pragma unroll
        for (int k = 0; k < kPieceWords; ++k) {
          with_guess = add_bytes(shifted(bytes[k], guess), with_guess);
          with_lower = add_bytes(shifted(bytes[k], lower), with_lower);
        }
        costs = with_guess | (with_lower << 16);
      }
      costs = group_sum(costs);
      const u32 with_guess = (costs & 0xffff) + codes * static_cast<u32>(guess + 1);
      const u32 with_lower = (costs >> 16) + codes * static_cast<u32>(lower + 1);
      plan.payload = sum == 0 ? 0 : min_of(with_guess, with_lower);
      plan.parameter = sum == 0 ? kNoParameter : with_lower < with_guess ? lower : guess;
    }

    TAMIS_DEVICE void make_bytes(RicePlan& plan) const {
      const int k = max_of(plan.parameter, 0);
      const u32 low = in_each_byte(low_bits_32(min_of(k, kMostFolded)));
#pragma unroll
      for (int w = 0; w < kPieceWords; ++w) {
        u32 quotients = shifted(plan.bytes[w], k);
        u32 reached = 0;
        if (plan.capped) quotients = cap_bytes<kEscape>(quotients, reached);
        if (plan.folded) quotients |= (plan.bytes[w] & low) << kQuotientPlanes;
        plan.bytes[w] = quotients;
      }
    }

   private:
    static TAMIS_DEVICE u32 shifted(u32 word, int by) {
      return (word >> by) & in_each_byte(0xffu >> by);
    }
    /// Quotients, and what escapes take beyond them.
    static TAMIS_DEVICE u32 capped_cost(const u32 (&bytes)[kPieceWords], int parameter) {
      u32 cost = 0;
#pragma unroll
      for (int k = 0; k < kPieceWords; ++k) {
        u32 reached = 0;
        cost = add_bytes(cap_bytes<kEscape>(shifted(bytes[k], parameter), reached), cost);
        cost += static_cast<u32>(count_ones(reached)) * (kCodeBits - 1);
      }
      return cost;
    }
  };

  /// Groups of any codes.
  template <typename Piece, typename V>
  struct WideGroups {
    const Piece& piece;

    TAMIS_DEVICE void choose_parameter(RicePlan& plan, const PieceShape& shape, int n) const {
      V all = 0;
      piece.each([&](V u, int) { all |= u; });
      all = group_or(all);
      const int width = bit_width(all);
      const int lowest = max_of(width - 50, 0);  // the sum must not overflow
      u64 sum = 0;
      piece.each([&](V u, int) { sum += u >> lowest; });
      sum = group_sum(sum);
      const u32 codes = static_cast<u32>(shape.group_codes);
      const u64 mean = n == kSegmentCodes ? sum / kGroupCodes : sum / max_of(codes, 1u);
      const int guess = lowest + highest_one(mean | 1);
      const int lower = max_of(guess - 1, 0);
      u32 with_guess = 0, with_lower = 0;
      piece.each([&](V u, int) {
        with_guess += quotient_cost(u >> guess);
        with_lower += quotient_cost(u >> lower);
      });
      with_guess = group_sum(with_guess) + codes * static_cast<u32>(guess + 1);
      with_lower = group_sum(with_lower) + codes * static_cast<u32>(lower + 1);
      const bool take_lower =
          with_lower + group_head_bits(lower) < with_guess + group_head_bits(guess);
      plan.payload = all == 0 ? 0 : take_lower ? with_lower : with_guess;
      plan.parameter = all == 0 ? kNoParameter : take_lower ? lower : guess;
      plan.capped = true;
    }

    TAMIS_DEVICE void make_bytes(RicePlan& plan) const {
      const int k = max_of(plan.parameter, 0);
      const u32 low = plan.folded ? low_bits_32(min_of(k, kMostFolded)) : 0;
      pack(plan.bytes, [&](V u) {
        const V quotient = u >> k;
        return (quotient < kEscape ? static_cast<u32>(quotient) : u32{kEscape}) |
               ((static_cast<u32>(u) & low) << kQuotientPlanes);
      });
    }

   private:
    template <typename Make>
    TAMIS_DEVICE void pack(u32 (&bytes)[kPieceWords], Make make) const {
#pragma unroll
      for (int w = 0; w < kPieceWords; ++w) bytes[w] = 0;
      piece.each([&](V u, int i) { bytes[i / 4] |= make(u) << (8 * (i % 4)); });
    }
    static TAMIS_DEVICE u32 quotient_cost(V quotient) {
      return quotient < kEscape ? static_cast<u32>(quotient) : u32{kEscape + kCodeBits - 1};
    }
  };

  /// What a dense segment takes at least behind its head: the groups' heads, a bit for each code of
  /// a group that is not zero, and one more for a code that is not.
  static TAMIS_DEVICE u32 least_dense(u32 found, int nonzero, int n) {
    LaneMask lanes = wave_ballot(found > 0);  // a group's lanes to the first of them
    lanes |= lanes >> 1;
    lanes |= lanes >> 2;
    const int groups = count_ones(lanes & LaneMask{0x11111111});
    int least = kHeadBits * kSegmentGroups + kGroupCodes * groups + nonzero;
    if (n < kSegmentCodes) {
      const int last = (n - 1) / kGroupCodes;
      least -= kHeadBits * (kSegmentGroups - 1 - last);
      if (((lanes >> (kGroupLanes * last)) & 1) != 0) least -= kGroupCodes * (last + 1) - n;
    }
    return static_cast<u32>(least);
  }

  /// Plans a dense segment, and keeps to the list where that takes `sparse_bits` and is shorter.
  template <typename Groups>
  TAMIS_DEVICE void choose(const PieceShape& shape, int n, const Groups& groups, u32 sparse_bits) {
    groups.choose_parameter(*this, shape, n);
    const u32 dense_bits = place_groups(shape);
    if (sparse_bits < dense_bits) {
      bits += sparse_bits;
      return;
    }
    head = kDenseHead;
    bits += dense_bits;
    folded = !wave_any(parameter > kMostFolded);
    groups.make_bytes(*this);
  }

  /// Where the groups go; returns the bits behind the segment's head.
  TAMIS_DEVICE u32 place_groups(const PieceShape& shape) {
    const u32 head_bits = shape.group_codes > 0 ? group_head_bits(parameter) : 0;
    u32 total = 0;  // a payload is below 2^17
    const u32 before = segment_prefix((head_bits << 24) | payload, total);
    head_at = kHeadBits + (before >> 24);
    at = kHeadBits + (total >> 24) + (before & 0xffffff);
    return (total >> 24) + (total & 0xffffff);
  }
};

}  // namespace tamis::device
