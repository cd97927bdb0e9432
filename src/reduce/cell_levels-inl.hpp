// The hierarchy of an interpolated cell, from its corners down to the finest level. (Include guard
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
  using V = typename L::V;

  Interpolation(const CellBatch<I>& batch, const CellShape& shape, const CellRule& rule)
      : values_(batch.values()), tile_(shape.tile) {
    cubic_ = rule.predictor == Predictor::kCubic || rule.predictor == Predictor::kCubicAveraged;
    averaged_ =
        rule.predictor == Predictor::kLinearAveraged || rule.predictor == Predictor::kCubicAveraged;
    const std::int64_t side = shape.tile + 1;
    std::int64_t pitch = 1;
    for (int axis = 0; axis < 3; ++axis, pitch *= side) {  // axis 0 = x
      const int k = shape.rank - 1 - axis;
      present_[axis] = k >= 0;
      nodes_[axis] = k >= 0 ? shape.nodes[k] : 1;
      far_[axis] = k >= 0 && shape.has_far(k);
      pitch_[axis] = pitch;
    }
    for (int i = kMaxCellRank - 1; i >= 0; --i) {  // last predicted first
      const int k = rule.axis_order[i];
      if (k < shape.rank) preferred_[axes_++] = shape.rank - 1 - k;
    }
  }

  // Runs levels down to `last`.
  template <typename Step>
  void run(int last, bool contexts, Step& step) {
    if (contexts) {
      cubic_ ? run_levels<true, true>(last, step) : run_levels<false, true>(last, step);
    } else {
      cubic_ ? run_levels<true, false>(last, step) : run_levels<false, false>(last, step);
    }
  }

 private:
  template <bool kCubic, bool kContexts, typename Step>
  void run_levels(int last, Step& step) {
    for (int level = std::countr_zero(static_cast<unsigned>(tile_)) - 1; level >= last; --level) {
      for (int axis = 0; axis < 3; ++axis) n_[axis] = ((nodes_[axis] - 1) >> level) + 1;
      for (const int block : {1, 2, 4, 3, 5, 6, 7}) {
        if (block_exists(block)) run_block<kCubic, kContexts>(level, block, step);
      }
    }
  }

  bool block_exists(int block) const {
    for (int axis = 0; axis < 3; ++axis) {
      if ((block >> axis & 1) && !present_[axis]) return false;
    }
    return true;
  }

  template <bool kCubic, bool kContexts, typename Step>
  void run_block(int level, int block, Step& step) {
    int axes[3];
    int n_axes = 0;
    for (int i = 0; i < axes_; ++i) {
      if (block >> preferred_[i] & 1) axes[n_axes++] = preferred_[i];
    }
    if (n_axes == 1 || !averaged_) {
      run_rows<kCubic, kContexts, 1>(level, block, axes, step);
    } else if (n_axes == 2) {
      run_rows<kCubic, kContexts, 2>(level, block, axes, step);
    } else {
      run_rows<kCubic, kContexts, 3>(level, block, axes, step);
    }
  }

  // Level indices of the open points with this parity: from `first` (step 2) below `end`.
  void open_range(int axis, bool odd, int& first, int& end) const {
    first = odd ? 1 : (present_[axis] ? 2 : 0);
    end = n_[axis] - (far_[axis] ? 1 : 0);
  }

  // Axes along which a point is predicted: how far its neighbours lie in memory, and which exist.
  // The stencil along x changes within a run.
  struct Direction {
    std::int64_t reach = 0;
    Stencil stencil = Stencil::kFull;
    bool along = false;
  };

  template <bool kCubic, bool kContexts, int kAxes, typename Step>
  HWY_INLINE void run_rows(int level, int block, const int* axes, Step& step) {
    int begin[3];
    int end[3];
    for (int axis = 0; axis < 3; ++axis) {
      open_range(axis, (block >> axis & 1) != 0, begin[axis], end[axis]);
    }
    const int count = (end[0] - begin[0] + 1) / 2;
    if (count <= 0) return;
    const std::int64_t lanes = L::count();
    Direction directions[kAxes];
    for (int k = 0; k < kAxes; ++k) {
      directions[k].reach = (pitch_[axes[k]] << level) * lanes;
      directions[k].along = axes[k] == 0;
    }
    const std::int64_t stride = std::int64_t{2} << level;
    for (int z = begin[2]; z < end[2]; z += 2) {
      for (int y = begin[1]; y < end[1]; y += 2) {
        const std::int64_t first =
            (z * pitch_[2] + y * pitch_[1] + begin[0]) * (std::int64_t{1} << level);
        for (int k = 0; k < kAxes; ++k) {
          if (axes[k] == 1) directions[k].stencil = stencil_at(y, n_[1]);
          if (axes[k] == 2) directions[k].stencil = stencil_at(z, n_[2]);
        }
        step.begin_run({level, level == 0, first, stride, count});
        I* at = values_ + first * lanes;
        for (int i = 0; i < count; ++i, at += stride * lanes) {
          for (int k = 0; k < kAxes; ++k) {
            if (directions[k].along) directions[k].stencil = stencil_at(begin[0] + 2 * i, n_[0]);
          }
          const Predicted<L> p = combine<kCubic, kContexts, kAxes>(at, directions);
          step.template point<kContexts>(i, at, p.value, p.activity);
        }
        finish<kContexts>(step);
      }
    }
  }

  template <bool kContexts>
  HWY_INLINE void finish(EncodeStep<I>& step) {
    step.template end_run<kContexts>();
  }
  template <bool kContexts>
  HWY_INLINE void finish(DecodeStep<I>& step) {
    step.template end_run<kContexts>(values_);
  }

  template <bool kCubic, bool kContexts, int kAxes>
  static HWY_INLINE Predicted<L> combine(const I* at, const Direction* d) {
    Predicted<L> p = predict<I, kCubic, kContexts>(at, d[0].reach, d[0].stencil);
    if constexpr (kAxes == 2) {
      const Predicted<L> q = predict<I, kCubic, kContexts>(at, d[1].reach, d[1].stencil);
      p.value = linear_v<L>(p.value, q.value);
      if (kContexts) p.activity = linear_v<L>(p.activity, q.activity);
    } else if constexpr (kAxes == 3) {
      const Predicted<L> q = predict<I, kCubic, kContexts>(at, d[1].reach, d[1].stencil);
      const Predicted<L> s = predict<I, kCubic, kContexts>(at, d[2].reach, d[2].stencil);
      p.value = mean3(p.value, q.value, s.value);
      if (kContexts) p.activity = mean3(p.activity, q.activity, s.activity);
    }
    return p;
  }

  // (2 p + q + s + 2) / 4, p being the preferred direction.
  static HWY_INLINE V mean3(const V& p, const V& q, const V& s) {
    return L::template shift_right<2>(L::add(L::add(L::add(q, s), L::add(p, p)), L::set(2)));
  }

  I* values_;
  int tile_;
  bool cubic_ = false;
  bool averaged_ = false;
  bool present_[3] = {};
  bool far_[3] = {};
  int nodes_[3] = {};
  int n_[3] = {};  // nodes of the current level
  std::int64_t pitch_[3] = {};
  int preferred_[3] = {};
  int axes_ = 0;
};

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace tamis::reduce
HWY_AFTER_NAMESPACE();

#endif  // include guard
