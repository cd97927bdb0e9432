// The hierarchy of an interpolated cell (docs/format.md, section 11): its points in the order of
// their codes, level by level, each with what its neighbours predict. The points of one phase (a
// level's points with equally many odd axes) do not depend on each other, so a group of threads
// takes them together and meets between phases.
#pragma once

#include "gpu/device/warp.cuh"
#include "reduce/device/number_map.cuh"
#include "reduce/device/tile.cuh"

namespace tamis::device {

constexpr TAMIS_DEVICE int power(int base, int exponent) {
  int result = 1;
  for (int i = 0; i < exponent; ++i) result *= base;
  return result;
}

/// Nodes of a cell of kRank axes in shared memory. A row holds its even nodes first, then the odd
/// ones: the finest level, which is most of the work, then reads and writes without bank conflicts.
/// Rows are padded so that four of them cover all banks.
template <int kRank>
struct CellPlaces {
  static constexpr int kHalf = kSide / 2;
  static constexpr int kPitch = kSide + 4;
  static constexpr int kPlane = (kSide + 1) * kPitch;
  static constexpr int kSlots = kPitch * power(kSide + 1, kRank - 1);

  static TAMIS_DEVICE int in_row(int x) { return (x & 1) != 0 ? kHalf + 1 + (x >> 1) : x >> 1; }
  /// Distance of neighbours along an axis other than 0.
  static constexpr TAMIS_DEVICE int stride(int axis) { return axis == 1 ? kPitch : kPlane; }
  static TAMIS_DEVICE int at(const int c[kRank]) {
    int place = in_row(c[0]);
#pragma unroll
    for (int axis = 1; axis < kRank; ++axis) place += c[axis] * stride(axis);
    return place;
  }
};

/// What a walk needs to know of a cell. Axis 0 is the fastest.
template <int kRank>
struct CellForm {
  int nodes[kRank];
  bool far[kRank];    // the last of them is a boundary
  int prefer[kRank];  // higher = preferred

  TAMIS_DEVICE bool is_full() const {
    bool full = true;
#pragma unroll
    for (int axis = 0; axis < kRank; ++axis) full = full && nodes[axis] == kSide + 1;
    return full;
  }
};

/// The threads that work on one cell.
struct WholeBlock {
  TAMIS_DEVICE int rank() const { return static_cast<int>(threadIdx.x); }
  TAMIS_DEVICE int size() const { return static_cast<int>(blockDim.x); }
  TAMIS_DEVICE void sync() const { __syncthreads(); }
  /// sync(), and whether the flag is set in all threads.
  TAMIS_DEVICE bool sync_all(bool flag) const { return block_all(flag); }
};
struct OneWave {
  TAMIS_DEVICE int rank() const { return lane_id(); }
  static constexpr TAMIS_DEVICE int size() { return kWave; }
  TAMIS_DEVICE void sync() const { sync_wave(); }
  TAMIS_DEVICE bool sync_all(bool flag) const {
    sync_wave();
    return wave_all(flag);
  }
};

/// A point of the walk.
template <int kRank, typename I>
struct WalkPoint {
  int place;  // in shared memory
  int code;   // position among the codes of its part
  int level;  // log2 of the stride; 0 = fine part
  I predicted;
  I activity;
  int at[kRank];  // coordinates
};

template <typename I>
TAMIS_DEVICE I magnitude_of(I a) {
  const I m = a < 0 ? wrap_sub(I{0}, a) : a;
  return m < 0 ? I{0} : m;
}

/// Prediction between b and c; a and d are the next ones, where they exist.
template <bool kContexts, typename I>
TAMIS_DEVICE I predict_between(bool cubic, I a, I b, I c, I d, I& activity) {
  if (!cubic) {
    if (kContexts) activity = magnitude_of(wrap_sub(b, c));
    return static_cast<I>(wrap_add(wrap_add(b, c), I{1}) >> 1);
  }
  if (kContexts) {
    const I turn = magnitude_of(wrap_sub(wrap_sub(b, a), wrap_sub(d, c)));
    activity = wrap_add(turn, static_cast<I>(magnitude_of(wrap_sub(b, c)) >> 2));
  }
  const I bend = static_cast<I>(wrap_add(wrap_add(wrap_sub(b, a), wrap_sub(c, d)), I{4}) >> 3);
  return static_cast<I>(wrap_add(wrap_add(wrap_add(b, c), bend), I{1}) >> 1);
}

/// Along one axis: b lies at `b_place`, even nodes of the level are `gap` apart.
template <bool kContexts, typename I, typename Slot>
TAMIS_DEVICE I predict_inside(bool cubic, const Slot* v, int b_place, int gap, bool has_a,
                              bool has_d, I& activity) {
  const I b = static_cast<I>(v[b_place]);
  const I c = static_cast<I>(v[b_place + gap]);
  if (!cubic) return predict_between<kContexts, I>(false, b, b, c, c, activity);
  I a = static_cast<I>(v[has_a ? b_place - gap : b_place]);
  I d = static_cast<I>(v[has_d ? b_place + 2 * gap : b_place]);
  const I rise = wrap_sub(c, b);
  if (!has_a) a = has_d ? wrap_sub(d, wrap_mul(I{3}, rise)) : wrap_sub(b, rise);
  if (!has_d) d = has_a ? wrap_add(a, wrap_mul(I{3}, rise)) : wrap_add(c, rise);
  return predict_between<kContexts, I>(true, a, b, c, d, activity);
}

/// Mean over axes as the format has it; entries of axes that are not odd are ignored.
template <int kRank, typename I>
TAMIS_DEVICE I average(const I p[kRank], int set, int odd, int preferred) {
  I sum = I{0};
#pragma unroll
  for (int axis = 0; axis < kRank; ++axis) {
    if ((set >> axis & 1) == 0) continue;
    sum = wrap_add(sum, p[axis]);
    if (odd == 3 && axis == preferred) sum = wrap_add(sum, p[axis]);
  }
  if (odd == 1) return sum;
  return odd == 2 ? static_cast<I>(wrap_add(sum, I{1}) >> 1)
                  : static_cast<I>(wrap_add(sum, I{2}) >> 2);
}

/// The b-th of the sets of `odd` axes, in the order of the format.
template <int kRank>
TAMIS_DEVICE int odd_set(int odd, int b) {
  if (odd == 1) return 1 << b;
  if (odd == kRank) return (1 << kRank) - 1;
  return b == 2 ? 6 : 3 + 2 * b;  // two of three
}
template <int kRank>
constexpr TAMIS_DEVICE int odd_set_count(int odd) {
  return odd == kRank ? 1 : kRank;
}

template <int kRank>
TAMIS_DEVICE int preferred_axis(const int prefer[kRank], int set) {
  int best = -1;
  int rank = -1;
#pragma unroll
  for (int axis = 0; axis < kRank; ++axis) {
    if ((set >> axis & 1) == 0 || prefer[axis] <= rank) continue;
    rank = prefer[axis];
    best = axis;
  }
  return best;
}

/// Full cells: all numbers are constants. kStride is that of the level, kOdd the phase.
template <int kRank, bool kCubic, bool kAveraged, bool kContexts, typename I>
struct FullWalk {
  using Places = CellPlaces<kRank>;

  template <int kStride, int kOdd, typename Slot, typename Group, typename Visit>
  static TAMIS_DEVICE void phase(const Slot* v, const CellForm<kRank>& form, const Group& group,
                                 int first_code, const Visit& visit) {
    constexpr int kOdds = kSide / (2 * kStride);  // odd indices along an axis
    constexpr int kEvens = kOdds - 1;
    constexpr int kEach = power(kOdds, kOdd) * power(kEvens, kRank - kOdd);
    constexpr int kSets = odd_set_count<kRank>(kOdd);
    if constexpr (kEach > 0) {
      for (int i = group.rank(); i < kSets * kEach; i += group.size()) {
        const int set = odd_set<kRank>(kOdd, i / kEach);
        int rest = i % kEach;
        int index[kRank];  // among the odd or even ones along each axis
        WalkPoint<kRank, I> point;
#pragma unroll
        for (int axis = 0; axis < kRank; ++axis) {
          const bool odd = (set >> axis & 1) != 0;
          if (axis + 1 == kRank) {
            index[axis] = rest;
          } else if (odd) {
            index[axis] = rest % kOdds;
            rest /= kOdds;
          } else {
            index[axis] = rest % (kEvens > 0 ? kEvens : 1);
            rest /= kEvens > 0 ? kEvens : 1;
          }
          point.at[axis] = (2 * index[axis] + (odd ? 1 : 2)) * kStride;
        }
        int row = 0;
#pragma unroll
        for (int axis = 1; axis < kRank; ++axis) row += point.at[axis] * Places::stride(axis);
        point.place = row + Places::in_row(point.at[0]);
        point.code = first_code + i;
        point.level = level_of(kStride);
        predict<kStride, kOdd>(v, form, set, index, row, point);
        visit(point);
      }
      group.sync();
    }
  }

  /// fn of all levels from kStride down.
  template <int kStride, typename Slot, typename Group, typename Visit>
  static TAMIS_DEVICE void levels(const Slot* v, const CellForm<kRank>& form, const Group& group,
                                  int first_code, const Visit& visit) {
    const int first = kStride == 1 ? 0 : first_code;  // the fine part counts anew
    phase<kStride, 1>(v, form, group, first, visit);
    if constexpr (kRank >= 2) phase<kStride, 2>(v, form, group, first + size(kStride, 1), visit);
    if constexpr (kRank >= 3) {
      phase<kStride, 3>(v, form, group, first + size(kStride, 1) + size(kStride, 2), visit);
    }
    if constexpr (kStride > 1) {
      const int next = first + size(kStride, 1) + (kRank >= 2 ? size(kStride, 2) : 0) +
                       (kRank >= 3 ? size(kStride, 3) : 0);
      levels<kStride / 2>(v, form, group, next, visit);
    }
  }

 private:
  static constexpr TAMIS_DEVICE int level_of(int stride) {
    int level = 0;
    for (; stride > 1; stride /= 2) ++level;
    return level;
  }
  static constexpr TAMIS_DEVICE int size(int stride, int odd) {
    const int odds = kSide / (2 * stride);
    return odd_set_count<kRank>(odd) * power(odds, odd) * power(odds - 1, kRank - odd);
  }

  template <int kStride, int kOdd, typename Slot>
  static TAMIS_DEVICE void predict(const Slot* v, const CellForm<kRank>& form, int set,
                                   const int index[kRank], int row, WalkPoint<kRank, I>& point) {
    constexpr int kOdds = kSide / (2 * kStride);
    const int preferred = kOdd == kRank && kRank == 1 ? 0 : preferred_axis<kRank>(form.prefer, set);
    const auto along = [&](int axis, I& activity) {
      const int j = index[axis];
      int b_place;
      int gap;
      if (axis == 0) {
        b_place = kStride == 1 ? row + j : point.place - kStride / 2;
        gap = kStride;
      } else {
        b_place = point.place - kStride * Places::stride(axis);
        gap = 2 * kStride * Places::stride(axis);
      }
      return predict_inside<kContexts, I>(kCubic, v, b_place, gap, j >= 1, j + 2 <= kOdds,
                                          activity);
    };
    I p[kRank];
    I activity[kRank];
#pragma unroll
    for (int axis = 0; axis < kRank; ++axis) {
      const bool wanted = kAveraged && kOdd > 1 ? (set >> axis & 1) != 0 : axis == preferred;
      p[axis] = I{0};
      activity[axis] = I{0};
      if (wanted) p[axis] = along(axis, activity[axis]);
    }
    if (kAveraged && kOdd > 1) {
      point.predicted = average<kRank>(p, set, kOdd, preferred);
      if (kContexts) point.activity = average<kRank>(activity, set, kOdd, preferred);
      return;
    }
    point.predicted = I{0};
    point.activity = I{0};
#pragma unroll
    for (int axis = 0; axis < kRank; ++axis) {
      if (axis != preferred) continue;
      point.predicted = p[axis];
      point.activity = activity[axis];
    }
  }
};

/// Cells that end before their far boundary, and slices: the same with numbers known at run time.
template <int kRank, bool kContexts, typename I>
struct PartialWalk {
  using Places = CellPlaces<kRank>;

  template <typename Slot, typename Group, typename Visit>
  static TAMIS_DEVICE void run(const Slot* v, const CellForm<kRank>& form, bool cubic,
                               bool averaged, const Group& group, const Visit& visit) {
    int first_code = 0;
    for (int level = kLevels - 1; level >= 0; --level) {
      if (level == 0) first_code = 0;
      for (int odd = 1; odd <= kRank; ++odd) {
        for (int b = 0; b < odd_set_count<kRank>(odd); ++b) {
          first_code += block(v, form, level, odd, odd_set<kRank>(odd, b), cubic, averaged, group,
                              first_code, visit);
        }
        group.sync();
      }
    }
  }

 private:
  template <typename Slot, typename Group, typename Visit>
  static TAMIS_DEVICE int block(const Slot* v, const CellForm<kRank>& form, int level, int odd,
                                int set, bool cubic, bool averaged, const Group& group,
                                int first_code, const Visit& visit) {
    int last[kRank];   // highest level index along each axis
    int count[kRank];  // points along each axis
    int total = 1;
#pragma unroll
    for (int axis = 0; axis < kRank; ++axis) {
      last[axis] = (form.nodes[axis] - 1) >> level;
      count[axis] =
          (set >> axis & 1) != 0 ? (last[axis] + 1) / 2 : last[axis] / 2 - (form.far[axis] ? 1 : 0);
      total *= max_of(count[axis], 0);
    }
    const int preferred = preferred_axis<kRank>(form.prefer, set);
    for (int i = group.rank(); i < total; i += group.size()) {
      WalkPoint<kRank, I> point;
      int rest = i;
#pragma unroll
      for (int axis = 0; axis < kRank; ++axis) {
        const int index = axis + 1 == kRank ? rest : rest % count[axis];
        rest = axis + 1 == kRank ? 0 : rest / count[axis];
        point.at[axis] = (2 * index + ((set >> axis & 1) != 0 ? 1 : 2)) << level;
      }
      point.place = Places::at(point.at);
      point.code = first_code + i;
      point.level = level;
      I p[kRank];
      I activity[kRank];
      point.predicted = I{0};
      point.activity = I{0};
#pragma unroll
      for (int axis = 0; axis < kRank; ++axis) {
        p[axis] = I{0};
        activity[axis] = I{0};
        const bool wanted = averaged ? (set >> axis & 1) != 0 : axis == preferred;
        if (!wanted) continue;
        p[axis] = along(v, point.at, axis, level, last[axis], cubic, activity[axis]);
        if (averaged) continue;
        point.predicted = p[axis];
        point.activity = activity[axis];
      }
      if (averaged) {
        point.predicted = average<kRank>(p, set, odd, preferred);
        if (kContexts) point.activity = average<kRank>(activity, set, odd, preferred);
      }
      visit(point);
    }
    return total;
  }

  template <typename Slot>
  static TAMIS_DEVICE I along(const Slot* v, const int at[kRank], int axis, int level, int last,
                              bool cubic, I& activity) {
    const int stride = 1 << level;
    const int i = at[axis] >> level;
    const auto node = [&](int distance) {
      int c[kRank];
#pragma unroll
      for (int k = 0; k < kRank; ++k) c[k] = k == axis ? at[k] + distance * stride : at[k];
      return static_cast<I>(v[Places::at(c)]);
    };
    const bool has_a = i >= 3;
    const bool has_c = i + 1 <= last;
    const bool has_d = i + 3 <= last;
    const I b = node(-1);
    if (!has_c) {
      // The line through the two nodes before, or the only one.
      const I a = has_a ? node(-3) : b;
      const I rise = wrap_sub(b, a);
      const I c = wrap_add(b, rise);
      return predict_between<kContexts, I>(cubic, a, b, c, wrap_add(c, rise), activity);
    }
    const I c = node(1);
    const I rise = wrap_sub(c, b);
    I a = has_a ? node(-3) : b;
    I d = has_d ? node(3) : c;
    if (!has_a) a = has_d ? wrap_sub(d, wrap_mul(I{3}, rise)) : wrap_sub(b, rise);
    if (!has_d) d = has_a ? wrap_add(a, wrap_mul(I{3}, rise)) : wrap_add(c, rise);
    return predict_between<kContexts, I>(cubic, a, b, c, d, activity);
  }
};

}  // namespace tamis::device
