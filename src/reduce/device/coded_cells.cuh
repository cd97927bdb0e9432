// Cells whose codes come from rANS: contexts are known only while predicting, so one wave of a team
// takes codes off the stream while the others predict the points that come next.
#pragma once

#include "codec/device/rans_decode.cuh"
#include "reduce/device/bundle_team.cuh"
#include "reduce/device/cell_turns.cuh"
#include "reduce/device/contexts.cuh"
#include "reduce/device/faults.cuh"
#include "reduce/device/lorenzo_cell.cuh"
#include "reduce/device/rans_rooms.hpp"

namespace tamis::device {

/// Bundles that a block takes: more where cells are small and few points can be predicted at once.
template <int kRank>
inline constexpr int kTeamsOf = kRank == kAxes ? TAMIS_TEAMS : low_rank_teams(TAMIS_TEAMS, kWave);
template <int kRank>
using CodedTeam = BundleTeam<kTeamsOf<kRank>>;
/// Threads that predict: those of all waves but the first, which decodes.
template <int kRank>
inline constexpr int kPredictorsOf = CodedTeam<kRank>::kThreads - kWave;

/// Codes of a stream of a bundle, in order, whatever their coder.
class CodeSource {
 public:
  /// `tables` are those of the blob, when it is coded.
  TAMIS_DEVICE CodeSource(const CellArgs& cells, const BlobArgs& blobs, i64 bundle, int stream,
                          const u32* tables)
      : coded_(tables != nullptr),
        stream_(tables, blobs.data + (coded_ ? blobs.stream_at[place(blobs, bundle, stream)] : 0),
                coded_ ? blobs.stream_sizes[place(blobs, bundle, stream)] : 0),
        codes_(static_cast<const Lattice*>(cells.codes) + cells.grid.codes_at[stream] +
               bundle * cells.grid.code_room[stream]) {}

  /// The next codes, one each for the first lanes of a wave, those that are active.
  TAMIS_DEVICE Lattice next(bool active, u32 context) {
    if (coded_) return stream_.next(active, context);
    const Lattice code = active ? codes_[lane_id()] : Lattice{0};
    codes_ += count_ones(wave_ballot(active));
    return code;
  }
  /// After all codes: whether the stream is corrupt.
  TAMIS_DEVICE bool finish() const { return stream_.finish(); }

 private:
  static TAMIS_DEVICE i64 place(const BlobArgs& blobs, i64 bundle, int stream) {
    return stream * blobs.grid.bundle_count + bundle;
  }

  bool coded_;
  RansStream<Lattice> stream_;
  const Lattice* codes_;
};

/// Shared memory of a team.
template <int kRank>
struct CodedMemory {
  static_assert(kPredictorsOf<kRank> > 0, "a wave that decodes and another one");
  u32 points[2][kPredictorsOf<kRank>];  // place | context << 16
  alignas(16) Slot nodes[CellPlaces<kRank>::kSlots];
};

/// The points of a cell with predictor 0 to 3. Those of a phase do not depend on each other: as
/// many as the other waves have threads are predicted while the first wave gives the ones before
/// their codes.
template <int kRank>
struct CodedWalk {
  using Places = CellPlaces<kRank>;
  static constexpr int kPredictors = kPredictorsOf<kRank>;

  const CodedTeam<kRank>& team;
  CodedMemory<kRank>& memory;
  const CellForm<kRank>& form;
  int predictor;
  Lattice step;
  float inverse_step;

  TAMIS_DEVICE void run(CodeSource& coarse, CodeSource& fine) const {
    if (team.wave() == 0) {
      for (int level = kLevels - 1; level >= 1; --level) decode_level(level, coarse);
      decode_level(0, fine);
    } else {
      for (int level = kLevels - 1; level >= 0; --level) {
        for (int odd = 1; odd <= kRank; ++odd) predict_phase(level, odd);
      }
    }
  }

 private:
  // Both sides meet once for each buffer full of points, and once more.
  TAMIS_DEVICE void decode_level(int level, CodeSource& source) const {
    for (int odd = 1; odd <= kRank; ++odd) {
      const int total = phase_size(level, odd);
      if (total > 0) team.sync();
      int buffer = 0;
      for (int begin = 0; begin < total; begin += kPredictors, buffer ^= 1) {
        const int count = min_of(total - begin, kPredictors);
        for (int first = 0; first < count; first += kWave) {
          const bool active = first + lane_id() < count;
          const u32 point = active ? memory.points[buffer][first + lane_id()] : 0;
          const Lattice code = source.next(active, point >> 16);
          if (!active) continue;
          Slot& slot = memory.nodes[point & 0xffff];
          slot = slot_of(wrap_add(static_cast<Lattice>(slot), wrap_mul(code, step)));
        }
        team.sync();
      }
    }
  }
  TAMIS_DEVICE void predict_phase(int level, int odd) const {
    const int total = phase_size(level, odd);
    int buffer = 0;
    for (int begin = 0; begin < total; begin += kPredictors, buffer ^= 1) {
      const int i = team.rank() - kWave;
      if (begin + i < total) memory.points[buffer][i] = predict(level, odd, begin + i);
      team.sync();
    }
    if (total > 0) team.sync();
  }

  // The sets of so many odd axes, in the order of the format.
  static TAMIS_DEVICE int sets_of(int odd) { return odd == kRank ? 1 : kRank; }
  static TAMIS_DEVICE int set_of(int odd, int b) {
    if (odd == 1) return 1 << b;
    if (odd == kRank) return (1 << kRank) - 1;
    return b == 2 ? 6 : 3 + 2 * b;  // two of three
  }

  TAMIS_DEVICE int phase_size(int level, int odd) const {
    int total = 0;
#pragma unroll
    for (int b = 0; b < kRank; ++b) {
      if (b < sets_of(odd)) total += block_size(level, set_of(odd, b));
    }
    return total;
  }
  TAMIS_DEVICE int last(int axis, int level) const { return (form.nodes[axis] - 1) >> level; }
  TAMIS_DEVICE int points_along(int axis, int level, int set) const {
    const int l = last(axis, level);
    return (set >> axis & 1) != 0 ? (l + 1) / 2 : max_of(l / 2 - (form.far[axis] ? 1 : 0), 0);
  }
  TAMIS_DEVICE int block_size(int level, int set) const {
    int size = 1;
#pragma unroll
    for (int axis = 0; axis < kRank; ++axis) size *= points_along(axis, level, set);
    return size;
  }

  // Leaves the prediction at the place of the i-th point of a phase.
  TAMIS_DEVICE u32 predict(int level, int odd, int i) const {
    int set = set_of(odd, 0);
#pragma unroll
    for (int b = 0; b + 1 < kRank; ++b) {
      if (b + 1 >= sets_of(odd) || set != set_of(odd, b)) continue;
      const int size = block_size(level, set);
      if (i < size) continue;
      i -= size;
      set = set_of(odd, b + 1);
    }
    int at[kRank];
#pragma unroll
    for (int axis = 0; axis < kRank; ++axis) {
      const u32 count = static_cast<u32>(points_along(axis, level, set));
      const int index = axis + 1 == kRank ? i : static_cast<int>(static_cast<u32>(i) % count);
      if (axis + 1 < kRank) i = static_cast<int>(static_cast<u32>(i) / count);
      at[axis] = (2 * index + ((set >> axis & 1) != 0 ? 1 : 2)) << level;
    }
    const int preferred = preferred_axis<kRank>(form.prefer, set);
    const bool averaged = (predictor & 1) != 0 && odd > 1;
    Lattice sum = 0;
    Lattice activities = 0;
#pragma unroll
    for (int axis = 0; axis < kRank; ++axis) {
      if (averaged ? (set >> axis & 1) == 0 : axis != preferred) continue;
      Lattice activity;
      const Lattice predicted = along(at, axis, level, activity);
      const Lattice weight = averaged && odd == 3 && axis == preferred ? 2 : 1;
      sum = wrap_add(sum, wrap_mul(predicted, weight));
      activities = wrap_add(activities, wrap_mul(activity, weight));
    }
    const int shift = averaged ? odd - 1 : 0;
    const Lattice half = shift;
    const Lattice predicted = static_cast<Lattice>(wrap_add(sum, half) >> shift);
    const Lattice activity = static_cast<Lattice>(wrap_add(activities, half) >> shift);
    const int place = Places::at(at);
    memory.nodes[place] = slot_of(predicted);
    return static_cast<u32>(place) | context_of(activity, level, inverse_step) << 16;
  }

  // Along one axis, with replacements for neighbours that do not exist (docs/format.md, section
  // 11.2).
  TAMIS_DEVICE Lattice along(const int at[kRank], int axis, int level, Lattice& activity) const {
    const auto node = [&](int distance) {
      int c[kRank];
#pragma unroll
      for (int k = 0; k < kRank; ++k) c[k] = at[k] + (k == axis ? distance << level : 0);
      return static_cast<Lattice>(memory.nodes[Places::at(c)]);
    };
    const int end = last(axis, level);
    const int index = at[axis] >> level;
    const bool has_a = index >= 3;
    const bool has_d = index + 3 <= end;
    const Lattice b = node(-1);
    Lattice a = has_a ? node(-3) : b;
    Lattice c;
    Lattice d;
    if (index + 1 > end) {
      const Lattice rise = wrap_sub(b, a);
      c = wrap_add(b, rise);
      d = wrap_add(c, rise);
    } else {
      c = node(1);
      d = has_d ? node(3) : c;
      const Lattice rise = wrap_sub(c, b);
      if (!has_a) a = has_d ? wrap_sub(d, wrap_mul(Lattice{3}, rise)) : wrap_sub(b, rise);
      if (!has_d) d = has_a ? wrap_add(a, wrap_mul(Lattice{3}, rise)) : wrap_add(c, rise);
    }
    const Lattice slope = magnitude_of(wrap_sub(b, c));
    const Lattice both = wrap_add(wrap_add(b, c), Lattice{1});
    if (predictor < 2) {
      activity = slope;
      return static_cast<Lattice>(both >> 1);
    }
    const Lattice bend = wrap_add(wrap_sub(b, a), wrap_sub(c, d));
    activity = wrap_add(magnitude_of(bend), static_cast<Lattice>(slope >> 2));
    const Lattice eighth = static_cast<Lattice>(wrap_add(bend, Lattice{4}) >> 3);
    return static_cast<Lattice>(wrap_add(both, eighth) >> 1);
  }
};

/// A Lorenzo cell: its codes row by row, whose contexts are in the rows before; then its values.
template <int kRank>
TAMIS_DEVICE void decode_coded_lorenzo(const CodedTeam<kRank>& team, Slot* v,
                                       const CellForm<kRank>& form, const LatticeArgs& lattice,
                                       CodeSource& fine) {
  using Lorenzo = LorenzoCell<kRank, true, Lattice>;
  using Places = CellPlaces<kRank>;
  int count[3] = {1, 1, 1};
#pragma unroll
  for (int axis = 0; axis < kRank; ++axis) count[axis] = open_nodes(form.nodes[axis]);
  const auto code_at = [&](const int c[kRank]) { return static_cast<Lattice>(v[Places::at(c)]); };
  if (team.wave() == 0 && count[0] > 0) {
    for (int row = 0; row < count[1] * count[2]; ++row) {
      for (int first = 0; first < count[0]; first += kWave) {
        const bool active = first + lane_id() < count[0];
        int c[kRank];
        c[0] = 1 + first + lane_id();
        if constexpr (kRank >= 2) c[1] = 1 + row % count[1];
        if constexpr (kRank >= 3) c[2] = 1 + row / count[1];
        const u32 context =
            active ? context_of(Lorenzo::activity(c, lattice, code_at), 0, lattice.inverse_step)
                   : 0;
        const Lattice code = fine.next(active, context);
        if (active) v[Places::at(c)] = slot_of(code);
      }
      sync_wave();
    }
  }
  team.sync();
  Lorenzo::invert(v, form, lattice, team);
  team.sync();
  const Lattice step = static_cast<Lattice>(lattice.step);
  int first[kRank];
  int open[kRank];
#pragma unroll
  for (int axis = 0; axis < kRank; ++axis) {
    first[axis] = 1;
    open[axis] = count[axis];
  }
  each_in_box<kRank>(first, open, team, [&](const int c[kRank], int) {
    Slot& slot = v[Places::at(c)];
    slot = slot_of(wrap_mul(static_cast<Lattice>(slot), step));
  });
  team.sync();
}

}  // namespace tamis::device
