// Walks through the points of interpolated cells. A thread keeps its place along all axes but the
// slowest and goes along that one, so that addresses are constants apart, what decides about
// missing neighbours is known beforehand, and neighbours along it are read once.
#pragma once

#include "reduce/device/cell_places.cuh"

namespace tamis::device {

/// How a point of a line is predicted where neighbours are missing (docs/format.md, section 11.2).
/// With b and c around the point, a and d beyond, let A = b - a, D = c - d, R = c - b. The cubic's
/// bend A + D is 2R + 2D without a, 2A - 2R without d, and 0 without both. Without c, the line
/// through a and b takes its place, or b itself, and there is no bend.
struct EndRule {
  // Weights of A, D and R in the bend; all 0 makes the prediction linear.
  int a;
  int d;
  int rise;
  int beyond;  // weight of A in the replacement of c
  bool has_a;
  bool has_c;
  bool has_d;

  /// Of the `index`-th odd point on a line whose last node has level index `last`.
  static TAMIS_DEVICE EndRule at(int index, int last, bool cubic) {
    EndRule rule;
    rule.has_a = index > 0;
    rule.has_c = 2 * index + 2 <= last;
    rule.has_d = 2 * index + 4 <= last;
    const bool bends = cubic && rule.has_c;
    rule.a = bends && rule.has_a ? (rule.has_d ? 1 : 2) : 0;
    rule.d = bends && rule.has_d ? (rule.has_a ? 1 : 2) : 0;
    rule.rise = !bends || rule.has_a == rule.has_d ? 0 : rule.has_d ? 2 : -2;
    rule.beyond = rule.has_a ? 1 : 0;
    return rule;
  }
};

/// How much of a walk is known beforehand.
enum : int {
  kAnyCell = -2,       // nothing
  kAnyPredictor = -1,  // the cell is full
  // From 0 on: the cell is full, and has this predictor.
};

/// Neighbours that do not exist may have any value.
template <int kKnown, bool kContexts, typename I>
TAMIS_DEVICE I predict_by(const EndRule& rule, bool cubic, I a, I b, I c, I d, I& activity) {
  if (kKnown == kAnyCell && !rule.has_c) {
    c = wrap_add(b, wrap_mul(wrap_sub(b, a), static_cast<I>(rule.beyond)));
  }
  const I rise = wrap_sub(c, b);
  if (kKnown >= 0 && kKnown < 2) {
    if (kContexts) activity = magnitude_of(rise);
    return static_cast<I>(wrap_add(wrap_add(b, c), I{1}) >> 1);
  }
  const I bend = wrap_add(wrap_add(wrap_mul(wrap_sub(b, a), static_cast<I>(rule.a)),
                                   wrap_mul(wrap_sub(c, d), static_cast<I>(rule.d))),
                          wrap_mul(rise, static_cast<I>(rule.rise)));
  if (kContexts) {
    const I slope = magnitude_of(wrap_sub(b, c));
    activity = cubic ? wrap_add(magnitude_of(bend), static_cast<I>(slope >> 2)) : slope;
  }
  const I eighth = static_cast<I>(wrap_add(bend, I{4}) >> 3);
  return static_cast<I>(wrap_add(wrap_add(wrap_add(b, c), eighth), I{1}) >> 1);
}

/// Which axis a point is predicted along, or mostly, for the sets of its odd axes.
template <int kRank>
struct AxisChoice {
  int of_set[1 << kRank];

  TAMIS_DEVICE explicit AxisChoice(const CellForm<kRank>& form) {
#pragma unroll
    for (int set = 1; set < 1 << kRank; ++set)
      of_set[set] = preferred_axis<kRank>(form.prefer, set);
  }
};

constexpr TAMIS_DEVICE int min_constant(int a, int b) { return a < b ? a : b; }
constexpr TAMIS_DEVICE int max_constant(int a, int b) { return a < b ? b : a; }
constexpr TAMIS_DEVICE int level_of_stride(int stride) {
  int level = 0;
  for (; stride > 1; stride /= 2) ++level;
  return level;
}

constexpr TAMIS_DEVICE int count_axes(int set) {
  return (set & 1) + (set >> 1 & 1) + (set >> 2 & 1);
}

/// Points of a level of stride 2^level along an axis, with odd indices or with even ones.
template <int kRank, bool kFull>
TAMIS_DEVICE int points_along(const CellForm<kRank>& form, int axis, int level, bool odd) {
  if (kFull) return (kSide >> (level + 1)) - (odd ? 0 : 1);
  const int last = (form.nodes[axis] - 1) >> level;
  // The far boundary lies on an odd index where a slice is as long as the stride.
  const int far = form.far[axis] ? 1 : 0;
  return odd ? (last + 1) / 2 - (last & far) : max_of(last / 2 - far, 0);
}

/// The coarse levels of a cell of two or three axes that is not full: one short text serves all
/// levels and predictors.
template <int kRank, bool kContexts, typename I, typename Group>
struct CoarseWalk {
  using Places = CellPlaces<kRank>;

  template <typename Slot, typename Visit>
  static TAMIS_DEVICE void run(const Slot* v, const CellForm<kRank>& form, bool cubic,
                               bool averaged, const Visit& visit) {
    const Group group;
    const AxisChoice<kRank> choice(form);
    int first_code = 0;
#pragma unroll 1
    for (int level = kLevels - 1; level > 0; --level) {
#pragma unroll 1
      for (int odd = 1; odd <= kRank; ++odd) {
        phase(v, form, choice, level, odd, cubic, averaged, group, first_code, visit);
        group.sync();
      }
    }
  }

 private:
  // The sets of `odd` axes in the order of the format.
  static TAMIS_DEVICE int set_of(int odd, int b) {
    if (odd == kRank) return (1 << kRank) - 1;
    return odd == 1 ? 1 << b : b == 2 ? 6 : 3 + 2 * b;
  }

  // Indices run up to the next power of two, so that nothing is divided.
  template <typename Slot, typename Visit>
  static TAMIS_DEVICE void phase(const Slot* v, const CellForm<kRank>& form,
                                 const AxisChoice<kRank>& choice, int level, int odd, bool cubic,
                                 bool averaged, const Group& group, int& first_code,
                                 const Visit& visit) {
    const int bits = kLevels - 1 - level;
    const int sets = odd == kRank ? 1 : kRank;
    const bool mean = averaged && odd > 1;
    const int shift = mean ? odd - 1 : 0;
    const I round = static_cast<I>(shift);
    int points[kRank];  // of the sets
#pragma unroll
    for (int b = 0; b < kRank; ++b) points[b] = points_of(form, level, set_of(odd, b));
#pragma unroll 1
    for (int i = group.rank(); i < sets << (kRank * bits); i += Group::kThreads) {
      const int b = i >> (kRank * bits);
      const int set = set_of(odd, b);
      WalkPoint point;
      point.level = level;
      point.code = first_code + (b > 0 ? points[0] : 0) + (b > 1 ? points[1] : 0);
      int index[kRank];
      int weight = 1;
      bool inside = true;
      point.place = 0;
#pragma unroll
      for (int axis = 0; axis < kRank; ++axis) {
        const bool is_odd = (set >> axis & 1) != 0;
        const int count = points_along<kRank, false>(form, axis, level, is_odd);
        index[axis] = (i >> (axis * bits)) & ((1 << bits) - 1);
        inside = inside && index[axis] < count;
        point.code += index[axis] * weight;
        weight *= count;
        const int node = (2 * index[axis] + (is_odd ? 1 : 2)) << level;
        point.place += axis == 0 ? node / 2 : node * Places::stride(axis);
      }
      if (!inside) continue;
      const int chosen = choice_of(choice, set);
      I sum = round;
      I activities = round;
#pragma unroll
      for (int axis = 0; axis < kRank; ++axis) {
        if ((set >> axis & 1) == 0 || (!mean && axis != chosen)) continue;
        const int half = axis == 0 ? 1 << (level - 1) : Places::stride(axis) << level;
        I activity = I{0};
        const I p = along(v, point.place - half, 2 * half, index[axis],
                          (form.nodes[axis] - 1) >> level, cubic, activity);
        const I times = mean && odd == 3 && axis == chosen ? I{2} : I{1};
        sum = wrap_add(sum, wrap_mul(p, times));
        if (kContexts) activities = wrap_add(activities, wrap_mul(activity, times));
      }
      visit.one(point, static_cast<I>(sum >> shift), static_cast<I>(activities >> shift));
    }
#pragma unroll
    for (int b = 0; b < kRank; ++b) first_code += b < sets ? points[b] : 0;
  }

  static TAMIS_DEVICE int points_of(const CellForm<kRank>& form, int level, int set) {
    int points = 1;
#pragma unroll
    for (int axis = 0; axis < kRank; ++axis) {
      points *= points_along<kRank, false>(form, axis, level, (set >> axis & 1) != 0);
    }
    return points;
  }
  static TAMIS_DEVICE int choice_of(const AxisChoice<kRank>& choice, int set) {
    int chosen = 0;
#pragma unroll
    for (int s = 1; s < 1 << kRank; ++s) chosen = s == set ? choice.of_set[s] : chosen;
    return chosen;
  }

  template <typename Slot>
  static TAMIS_DEVICE I along(const Slot* v, int b_place, int gap, int index, int last, bool cubic,
                              I& activity) {
    const EndRule rule = EndRule::at(index, last, cubic);
    const I b = static_cast<I>(v[b_place]);
    const I c = static_cast<I>(v[b_place + (rule.has_c ? gap : 0)]);
    const I a = static_cast<I>(v[b_place - (rule.has_a ? gap : 0)]);
    const I d = static_cast<I>(v[b_place + (rule.has_d ? 2 * gap : 0)]);
    return predict_by<kAnyCell, kContexts>(rule, cubic, a, b, c, d, activity);
  }
};

/// A level of a cell of two or three axes. Where the cell is known to be full all numbers are
/// constants.
template <int kRank, int kStride, int kKnown, bool kContexts, typename I, typename Group>
struct LevelWalk {
  using Places = CellPlaces<kRank>;
  static constexpr int kSlow = kRank - 1;  // the axis that threads go along
  static constexpr bool kFull = kKnown != kAnyCell;
  static constexpr int kOdds = kSide / (2 * kStride);  // odd points along an axis, at most
  // Without a far boundary there may be as many even points as odd ones, but never more.
  static constexpr int kAcross = power(kOdds, kRank - 1);  // threads side by side
  static_assert(kAcross <= Group::kThreads, "a group of threads covers a plane");
  static constexpr int kGroups = min_constant(Group::kThreads / kAcross, kOdds);
  // Coarse levels have fewer points than there are threads: teams of whole waves take sets of a
  // phase side by side.
  static constexpr int kTeamThreads = max_constant(kAcross * kGroups, kWave);
  static constexpr int kTeams = Group::kThreads / kTeamThreads;
  static constexpr int kTurns = (kOdds + kGroups - 1) / kGroups;  // along the slow axis
  static constexpr int kSlowGap = 2 * kStride * Places::stride(kSlow);

  /// `code` is the number of the level's first code in its part, and then that behind the last.
  template <typename Slot, typename Visit>
  static TAMIS_DEVICE void run(const Slot* v, const CellForm<kRank>& form, int predictor, int& code,
                               const Visit& visit) {
    const Group group;
    const LevelWalk walk(form, kKnown >= 0 ? kKnown : predictor, group.rank());
    if constexpr (kOdds > 1 || !kFull) {
      walk.template block<1, 0>(v, form, code, visit);
      walk.template block<2, 1>(v, form, code, visit);
      if constexpr (kRank == 3) walk.template block<4, 2>(v, form, code, visit);
      group.sync();
    }
    if constexpr (kRank == 3 && (kOdds > 1 || !kFull)) {
      walk.template block<3, 0>(v, form, code, visit);
      walk.template block<5, 1>(v, form, code, visit);
      walk.template block<6, 2>(v, form, code, visit);
      group.sync();
    }
    walk.template block<(1 << kRank) - 1, 0>(v, form, code, visit);
    group.sync();
  }

 private:
  static constexpr bool kBeyond = kKnown < 0 || kKnown >= 2;  // a and d may be wanted
  static constexpr int kLevel = level_of_stride(kStride);

  AxisChoice<kRank> choice_;
  bool cubic_;
  bool averaged_;
  int index_[kRank];  // of this thread's first point along each axis
  int team_;
  int last_[kRank];  // highest index of a node
  EndRule rule_[kRank - 1];

  TAMIS_DEVICE LevelWalk(const CellForm<kRank>& form, int predictor, int thread)
      : choice_(form), cubic_(predictor >= 2), averaged_((predictor & 1) != 0) {
    int rest = thread % kTeamThreads;
    team_ = thread / kTeamThreads;
#pragma unroll
    for (int axis = 0; axis < kRank; ++axis) {
      last_[axis] = kFull ? 2 * kOdds : (form.nodes[axis] - 1) / kStride;
      index_[axis] = axis == kSlow ? rest % kGroups * kTurns : rest % kOdds;
      rest /= axis == kSlow ? kGroups : kOdds;
      if (axis < kSlow) rule_[axis] = EndRule::at(index_[axis], last_[axis], cubic_);
    }
    if (rest > 0) team_ = kTeams;  // more threads than points
  }

  // Points with odd coordinates along the axes of kSet and even ones along the others.
  // Those of the kTurn-th set of a phase.
  template <int kSet, int kTurn, typename Slot, typename Visit>
  TAMIS_DEVICE void block(const Slot* v, const CellForm<kRank>& form, int& code,
                          const Visit& visit) const {
    int count[kRank];
    int all = 1;
    int line = 0;  // of the first point among all of one index along the slow axis
    int weight = 1;
    int place = 0;
    bool inside = true;
#pragma unroll
    for (int axis = 0; axis < kRank; ++axis) {
      const bool odd = (kSet >> axis & 1) != 0;
      count[axis] =
          kFull ? kOdds - (odd ? 0 : 1) : points_along<kRank, kFull>(form, axis, kLevel, odd);
      all *= count[axis];
      inside = inside && index_[axis] < count[axis];
      const int node = (2 * index_[axis] + (odd ? 1 : 2)) * kStride;
      if (axis > 0) {
        place += node * Places::stride(axis);
      } else {
        place += kStride > 1 ? node / 2 : index_[0] + (odd ? Places::kOdds : 1);
      }
      if (axis == kSlow) continue;
      line += index_[axis] * weight;
      weight *= count[axis];
    }
    const int first = code + line + index_[kSlow] * weight;
    code += all;
    if (!inside || team_ != kTurn % kTeams) return;
    // Turns that certainly exist, and those that do.
    constexpr bool kSlowOdd = (kSet >> kSlow & 1) != 0;
    constexpr int kSure = !kFull || kOdds % kTurns != 0 ? 1 : kSlowOdd ? kTurns : kTurns - 1;
    const int turns = kSure == kTurns ? kTurns : min_of(kTurns, count[kSlow] - index_[kSlow]);
    I predicted[kTurns];
    I activity[kTurns];
    predict<kSet>(v, place, predicted, activity);
    visit.template column<kTurns, kSure, kLevel>(place, kSlowGap, first, weight, turns, predicted,
                                                 activity);
  }

  // Of kTurns points that follow each other along the slow axis.
  template <int kSet, typename Slot>
  TAMIS_DEVICE void predict(const Slot* v, int place, I predicted[kTurns],
                            I activity[kTurns]) const {
    constexpr int kOdd = count_axes(kSet);
    const bool mean = averaged_ && kOdd > 1;
    const int chosen = choice_.of_set[kSet];
    I sums[kTurns];
    I activities[kTurns];
#pragma unroll
    for (int u = 0; u < kTurns; ++u) sums[u] = activities[u] = I{0};
#pragma unroll
    for (int axis = 0; axis < kRank; ++axis) {
      if ((kSet >> axis & 1) == 0) continue;
      if (!mean && kOdd > 1 && axis != chosen) continue;
      I p[kTurns];
      I a[kTurns];
      if (axis == kSlow) {
        along_slow(v, place, p, a);
      } else {
        along_row(v, axis, place, p, a);
      }
      const bool twice = mean && kOdd == 3 && axis == chosen;
#pragma unroll
      for (int u = 0; u < kTurns; ++u) {
        sums[u] = wrap_add(sums[u], twice ? wrap_add(p[u], p[u]) : p[u]);
        if (kContexts) activities[u] = wrap_add(activities[u], twice ? wrap_add(a[u], a[u]) : a[u]);
      }
    }
    const int shift = mean ? kOdd - 1 : 0;
    const I half = mean ? static_cast<I>(kOdd - 1) : I{0};
#pragma unroll
    for (int u = 0; u < kTurns; ++u) {
      predicted[u] = static_cast<I>(wrap_add(sums[u], half) >> shift);
      activity[u] = static_cast<I>(wrap_add(activities[u], half) >> shift);
    }
  }

  // Neighbours in the thread's own column: those of one point are those of the next, moved by one.
  template <typename Slot>
  TAMIS_DEVICE void along_slow(const Slot* v, int place, I p[kTurns], I activity[kTurns]) const {
    const int b_place = place - kSlowGap / 2;
    I nodes[kTurns + 3];  // even ones from a of the first point to d of the last
#pragma unroll
    for (int i = 0; i < kTurns + 3; ++i) {
      const int at = index_[kSlow] + i - 1;
      const bool wanted = kBeyond || (i > 0 && i < kTurns + 2);
      nodes[i] = wanted && at >= 0 && 2 * at <= last_[kSlow]
                     ? static_cast<I>(v[b_place + (i - 1) * kSlowGap])
                     : I{0};
    }
#pragma unroll
    for (int u = 0; u < kTurns; ++u) {
      p[u] = predict_by<kKnown, kContexts>(EndRule::at(index_[kSlow] + u, last_[kSlow], cubic_),
                                           cubic_, nodes[u], nodes[u + 1], nodes[u + 2],
                                           nodes[u + 3], activity[u]);
    }
  }

  template <typename Slot>
  TAMIS_DEVICE void along_row(const Slot* v, int axis, int place, I p[kTurns],
                              I activity[kTurns]) const {
    const EndRule& rule = rule_[axis];
    // Odd nodes of the finest level lie in their own half of the row.
    const int back = axis > 0      ? kStride * Places::stride(axis)
                     : kStride > 1 ? kStride / 2
                                   : Places::kOdds;
    const int b_place = place - back;
    const int gap = axis == 0 ? kStride : 2 * kStride * Places::stride(axis);
    const int a_place = b_place - (rule.has_a ? gap : 0);
    const int c_place = b_place + (kFull || rule.has_c ? gap : 0);
    const int d_place = b_place + (rule.has_d ? 2 * gap : 0);
#pragma unroll
    for (int u = 0; u < kTurns; ++u) {
      const I b = static_cast<I>(v[b_place + u * kSlowGap]);
      const I c = static_cast<I>(v[c_place + u * kSlowGap]);
      const I a = kBeyond ? static_cast<I>(v[a_place + u * kSlowGap]) : b;
      const I d = kBeyond ? static_cast<I>(v[d_place + u * kSlowGap]) : c;
      p[u] = predict_by<kKnown, kContexts>(rule, cubic_, a, b, c, d, activity[u]);
    }
  }
};

/// Cells of one axis.
template <bool kContexts, typename I, typename Group>
struct LineWalk {
  using Places = CellPlaces<1>;

  template <typename Slot, typename Visit>
  static TAMIS_DEVICE void run(const Slot* v, const CellForm<1>& form, bool cubic,
                               const Visit& visit) {
    const Group group;
    int first_code = 0;
    for (int level = kLevels - 1; level >= 0; --level) {
      const int last = (form.nodes[0] - 1) >> level;
      const int odds = (last + 1) / 2 - (form.far[0] ? last & 1 : 0);  // as in points_along()
      if (level == 0) first_code = 0;
#pragma unroll 4
      for (int i = group.rank(); i < odds; i += Group::kThreads) {
        WalkPoint point;
        point.place = level == 0 ? Places::kOdds + i : (2 * i + 1) << (level - 1);
        point.code = first_code + i;
        point.level = level;
        const EndRule rule = EndRule::at(i, last, cubic);
        const int gap = 1 << level;
        const int b_place = level == 0 ? i : point.place - gap / 2;
        const I b = static_cast<I>(v[b_place]);
        const I c = static_cast<I>(v[b_place + (rule.has_c ? gap : 0)]);
        const I a = static_cast<I>(v[b_place - (rule.has_a ? gap : 0)]);
        const I d = static_cast<I>(v[b_place + (rule.has_d ? 2 * gap : 0)]);
        I activity = I{0};
        const I predicted = predict_by<kAnyCell, kContexts>(rule, cubic, a, b, c, d, activity);
        visit.one(point, predicted, activity);
      }
      first_code += odds;
      group.sync();
    }
  }
};

}  // namespace tamis::device
