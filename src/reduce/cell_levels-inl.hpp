// The hierarchy of an interpolated cell, from its corners down to the finest level. The rows of a
// level keep even and odd points apart, so that each step works on contiguous lanes. (Include guard
// toggles per target.)
#if defined(TAMIS_REDUCE_CELL_LEVELS_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef TAMIS_REDUCE_CELL_LEVELS_INL_HPP_
#undef TAMIS_REDUCE_CELL_LEVELS_INL_HPP_
#else
#define TAMIS_REDUCE_CELL_LEVELS_INL_HPP_
#endif

#include <bit>
#include <cstdint>

#include "reduce/cell.hpp"
#include "reduce/cell_predict-inl.hpp"
#include "reduce/cell_steps-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tamis::reduce {
namespace HWY_NAMESPACE {

template <typename I>
class Interpolation {
 public:
  using L = Lanes<I>;

  Interpolation(CellWorkspace<I>& work, const CellShape& shape, const CellRule& rule)
      : work_(work), natural_(shape), tile_(shape.tile) {
    cubic_ = rule.predictor == Predictor::kCubic || rule.predictor == Predictor::kCubicAveraged;
    averaged_ =
        rule.predictor == Predictor::kLinearAveraged || rule.predictor == Predictor::kCubicAveraged;
    for (int axis = 0; axis < 3; ++axis) {  // axis 0 = x
      const int k = shape.rank - 1 - axis;
      present_[axis] = k >= 0;
      nodes_[axis] = k >= 0 ? shape.nodes[k] : 1;
      far_[axis] = k >= 0 && shape.has_far(k);
    }
    for (int i = kMaxCellRank - 1; i >= 0; --i) {  // last predicted first
      const int k = rule.axis_order[i];
      if (k < shape.rank) preferred_[axes_++] = shape.rank - 1 - k;
    }
  }

  // Runs levels down to `last` and leaves the result in `values`.
  template <typename Step>
  void run(int last, bool contexts, Step& step) {
    if (contexts) {
      cubic_ ? run_levels<true, true>(last, step) : run_levels<false, true>(last, step);
    } else {
      cubic_ ? run_levels<true, false>(last, step) : run_levels<false, false>(last, step);
    }
  }

 private:
  struct Level {
    int level = 0;
    int n[3] = {};  // nodes along x y z
    int even = 0;   // along x
    int odd = 0;
    std::int64_t stride = 0;
    I* base = nullptr;
    I* even_row(int z, int y) const { return base + (std::int64_t{z} * n[1] + y) * stride + 1; }
    I* odd_row(int z, int y) const { return even_row(z, y) + even + 2; }
  };

  template <bool kCubic, bool kContexts, typename Step>
  void run_levels(int last, Step& step) {
    int level = std::countr_zero(static_cast<unsigned>(tile_)) - 1;
    I* pool = work_.levels.data();
    lay_out(previous_, level + 1, pool);
    for (; level >= last; --level) {
      Level current;
      lay_out(current, level, pool);
      fill_known(current);
      for (const int block : {1, 2, 4, 3, 5, 6, 7}) {
        if (block_exists(block)) predict_block<kCubic, kContexts>(current, block, step);
      }
      previous_ = current;
      is_corner_level_ = false;
    }
    if (!is_corner_level_) write_back(previous_);
  }

  void lay_out(Level& l, int level, I*& pool) const {
    l.level = level;
    for (int axis = 0; axis < 3; ++axis) l.n[axis] = ((nodes_[axis] - 1) >> level) + 1;
    l.even = (l.n[0] + 1) / 2;
    l.odd = l.n[0] / 2;
    l.stride = l.n[0] + 3;
    l.base = pool;
    // The corner level exists in `values` only.
    if ((1 << level) < tile_) pool += std::int64_t{l.n[1]} * l.n[2] * l.stride;
  }

  bool on_boundary(int axis, int index, int count) const {
    return present_[axis] && (index == 0 || (far_[axis] && index == count - 1));
  }

  bool block_exists(int block) const {
    for (int axis = 0; axis < 3; ++axis) {
      if ((block >> axis & 1) && !present_[axis]) return false;
    }
    return true;
  }

  void read_row(const Level& l, int z, int y, bool with_odd) {
    const I* from = work_.values.data() +
                    natural_.at(std::int64_t{z} << l.level, std::int64_t{y} << l.level, 0);
    I* even = l.even_row(z, y);
    I* odd = l.odd_row(z, y);
    const std::int64_t stride = std::int64_t{2} << l.level;
    if (l.level == 0) {
      int i = 0;
      for (; i + L::count() <= l.odd; i += L::count()) {
        L::store(L::load_split(from + 2 * i, 0), even + i);
        if (with_odd) L::store(L::load_split(from + 2 * i, 1), odd + i);
      }
      for (; i < l.even; ++i) {
        even[i] = from[2 * i];
        if (with_odd && i < l.odd) odd[i] = from[2 * i + 1];
      }
      return;
    }
    for (int i = 0; i < l.even; ++i) even[i] = from[i * stride];
    if (!with_odd) return;
    from += stride / 2;
    for (int i = 0; i < l.odd; ++i) odd[i] = from[i * stride];
  }

  void fill_known(const Level& l) {
    const I* values = work_.values.data();
    const std::int64_t far_offset = std::int64_t{l.even - 1} * (std::int64_t{2} << l.level);
    for (int z = 0; z < l.n[2]; ++z) {
      for (int y = 0; y < l.n[1]; ++y) {
        if (on_boundary(2, z, l.n[2]) || on_boundary(1, y, l.n[1])) {
          read_row(l, z, y, true);
          continue;
        }
        if (z % 2 == 0 && y % 2 == 0) {
          if (is_corner_level_) {
            read_row(l, z, y, false);
          } else {
            row_interleave(previous_.even_row(z / 2, y / 2), previous_.odd_row(z / 2, y / 2),
                           previous_.even, previous_.odd, l.even_row(z, y));
          }
          continue;
        }
        const I* from =
            values + natural_.at(std::int64_t{z} << l.level, std::int64_t{y} << l.level, 0);
        I* even = l.even_row(z, y);
        even[0] = from[0];
        if (far_[0]) even[l.even - 1] = from[far_offset];
      }
    }
  }

  // Level indices of the open points with this parity: from `first` (step 2) below `end`.
  void open_range(const Level& l, int axis, bool odd, int& first, int& end) const {
    first = odd ? 1 : (present_[axis] ? 2 : 0);
    end = l.n[axis] - (far_[axis] ? 1 : 0);
  }

  template <bool kCubic, bool kContexts, typename Step>
  void predict_block(const Level& l, int block, Step& step) {
    int axes[3];
    int n_axes = 0;
    for (int i = 0; i < axes_; ++i) {
      if (block >> preferred_[i] & 1) axes[n_axes++] = preferred_[i];
    }
    if (n_axes == 1 || !averaged_) {
      predict_rows<kCubic, kContexts, 1>(l, block, axes, step);
    } else if (n_axes == 2) {
      predict_rows<kCubic, kContexts, 2>(l, block, axes, step);
    } else {
      predict_rows<kCubic, kContexts, 3>(l, block, axes, step);
    }
  }

  template <bool kCubic, bool kContexts, int kAxes, typename Step>
  void predict_rows(const Level& l, int block, const int* axes, Step& step) {
    int z0, z1, y0, y1;
    open_range(l, 2, (block & 4) != 0, z0, z1);
    open_range(l, 1, (block & 2) != 0, y0, y1);
    const bool odd_x = (block & 1) != 0;
    const int first = odd_x ? 0 : 1;
    const int count = odd_x ? l.odd : l.even - 1 - (far_[0] ? 1 : 0);
    if (count <= 0) return;
    for (int z = z0; z < z1; z += 2) {
      for (int y = y0; y < y1; y += 2) {
        const RowPlace place{l.level, z, y, odd_x ? 1 : 0, first, count};
        I* r = (odd_x ? l.odd_row(z, y) : l.even_row(z, y)) + first;
        Direction<I> d[kAxes];
        for (int k = 0; k < kAxes; ++k) d[k] = direction<kCubic>(l, axes[k], place, r);
        step.begin_row(place);
        for (int i = 0; i < count; i += L::count()) {
          Predicted<L> p = predict<I, kCubic, kContexts>(d[0], i);
          if constexpr (kAxes == 2) {
            const Predicted<L> q = predict<I, kCubic, kContexts>(d[1], i);
            p.value = linear_v<L>(p.value, q.value);
            if (kContexts) p.activity = linear_v<L>(p.activity, q.activity);
          } else if constexpr (kAxes == 3) {
            const Predicted<L> q = predict<I, kCubic, kContexts>(d[1], i);
            const Predicted<L> s = predict<I, kCubic, kContexts>(d[2], i);
            p.value = mean3(p.value, q.value, s.value);
            if (kContexts) p.activity = mean3(p.activity, q.activity, s.activity);
          }
          step.template lanes<kContexts>(i, count - i, p.value, p.activity, r);
        }
        step.template end_row<kContexts>(count);
      }
    }
  }

  // (2 p + q + s + 2) / 4, p being the preferred direction.
  static HWY_INLINE typename L::V mean3(typename L::V p, typename L::V q, typename L::V s) {
    return L::template shift_right<2>(L::add(L::add(L::add(q, s), L::add(p, p)), L::set(2)));
  }

  template <bool kCubic>
  HWY_INLINE Direction<I> direction(const Level& l, int axis, const RowPlace& place, const I* r) {
    return axis == 0 ? along_row<kCubic>(l, place) : across_rows(l, axis, place, r);
  }

  template <bool kCubic>
  HWY_INLINE Direction<I> along_row(const Level& l, const RowPlace& place) {
    Direction<I> d;
    I* even = l.even_row(place.z, place.y);
    d.a = even - 1;
    d.b = even;
    d.c = even + 1;
    d.e = even + 2;
    if (l.even > 2) {
      d.stencil = Stencil::kLaneEnds;
      d.last = l.odd - 1;
      d.no_right = l.odd == l.even;
      return d;
    }
    // Short rows: pads take the place of what is missing.
    int known = l.even;
    if (l.odd == l.even) {
      even[known] = known > 1 ? extend_line(even[known - 2], even[known - 1]) : even[known - 1];
      ++known;
    }
    if (kCubic) {
      even[-1] =
          known > 2 ? extend_parabola(even[2], even[1], even[0]) : extend_line(even[1], even[0]);
      even[known] = known > 2 ? extend_parabola(even[known - 3], even[known - 2], even[known - 1])
                              : extend_line(even[known - 2], even[known - 1]);
    }
    return d;
  }

  HWY_INLINE Direction<I> across_rows(const Level& l, int axis, const RowPlace& place,
                                      const I* r) const {
    const std::int64_t stride = axis == 1 ? l.stride : l.stride * l.n[1];
    const int here = axis == 1 ? place.y : place.z;
    const int end = l.n[axis];
    Direction<I> d;
    d.a = r - 3 * stride;
    d.b = r - stride;
    d.c = r + stride;
    d.e = r + 3 * stride;
    const bool has_a = here >= 3;
    if (here + 1 >= end) {
      d.stencil = has_a ? Stencil::kNoRight : Stencil::kLeftOnly;
    } else if (here + 3 >= end) {
      d.stencil = has_a ? Stencil::kNoLast : Stencil::kInnerOnly;
    } else {
      d.stencil = has_a ? Stencil::kFull : Stencil::kNoFirst;
    }
    return d;
  }

  void write_back(const Level& l) {
    I* values = work_.values.data();
    for (int z = 0; z < l.n[2]; ++z) {
      for (int y = 0; y < l.n[1]; ++y) {
        const I* even = l.even_row(z, y);
        const I* odd = l.odd_row(z, y);
        I* out = values + natural_.at(std::int64_t{z} << l.level, std::int64_t{y} << l.level, 0);
        if (l.level == 0) {
          row_interleave(even, odd, l.even, l.odd, out);
          continue;
        }
        for (int x = 0; x < l.even; ++x) out[(std::int64_t{2} * x) << l.level] = even[x];
        for (int x = 0; x < l.odd; ++x) out[(std::int64_t{2} * x + 1) << l.level] = odd[x];
      }
    }
  }

  CellWorkspace<I>& work_;
  NaturalArray natural_;
  int tile_;
  bool cubic_ = false;
  bool averaged_ = false;
  bool present_[3] = {};
  bool far_[3] = {};
  int nodes_[3] = {};
  int preferred_[3] = {};
  int axes_ = 0;
  bool is_corner_level_ = true;
  Level previous_;
};

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace tamis::reduce
HWY_AFTER_NAMESPACE();

#endif  // include guard
