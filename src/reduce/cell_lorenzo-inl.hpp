// Lorenzo cells: values are rounded to the lattice of the step itself, so that the prediction needs
// no reconstruction. Boundary values of neighbouring cells are rounded to that lattice first.
// (Include guard toggles per target.)
#if defined(TAMIS_REDUCE_CELL_LORENZO_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef TAMIS_REDUCE_CELL_LORENZO_INL_HPP_
#undef TAMIS_REDUCE_CELL_LORENZO_INL_HPP_
#else
#define TAMIS_REDUCE_CELL_LORENZO_INL_HPP_
#endif

#include <cstdint>

#include "reduce/cell.hpp"
#include "reduce/cell_steps-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tamis::reduce {
namespace HWY_NAMESPACE {

// Walks the rows of a cell in raster order; `scaled` holds its values in units of the step, and
// `marks` the magnitudes of its codes where contexts are wanted.
template <typename I>
class LorenzoRows {
 public:
  using L = Lanes<I>;
  using V = typename L::V;

  LorenzoRows(const CellBatch<I>& batch, const CellShape& shape, const typename L::Step& step)
      : values_(batch.values()), scaled_(batch.scaled()), marks_(batch.marks()), step_(step) {
    for (int axis = 0; axis < 3; ++axis) {  // axis 0 = x
      const int k = shape.rank - 1 - axis;
      present_[axis] = k >= 0;
      open_[axis] = k >= 0 ? shape.open(k) : 1;
    }
    side_ = shape.tile + 1;
    row_ = side_ * L::count();
    plane_ = side_ * row_;
  }

  // Boundary at the low side in units of the step; the far side takes no part.
  void scale_boundary() {
    const int nz = present_[2] ? open_[2] + 1 : 1;
    const int ny = present_[1] ? open_[1] + 1 : 1;
    for (int z = 0; z < nz; ++z) {
      for (int y = 0; y < ny; ++y) {
        const bool face = (present_[2] && z == 0) || (present_[1] && y == 0);
        std::int64_t at = z * plane_ + y * row_;
        for (int x = 0; x <= (face ? open_[0] : 0); ++x, at += L::count()) {
          L::store(L::divide(L::load(values_ + at), step_), scaled_ + at);
        }
      }
    }
  }

  // fn(place of its first point) for each row, which is a run of the step.
  template <typename Step, typename Fn>
  HWY_INLINE void each_row(Step& step, const Fn& fn) {
    const int z0 = present_[2] ? 1 : 0;
    const int y0 = present_[1] ? 1 : 0;
    for (int z = z0; z < z0 + open_[2]; ++z) {
      for (int y = y0; y < y0 + open_[1]; ++y) {
        const std::int64_t first = (z * side_ + y) * side_ + 1;
        step.begin_run({0, true, first, 1, open_[0]});
        const std::int64_t at = first * L::count();
        above_ = y > y0 ? marks_ + at - row_ : nullptr;
        behind_ = z > z0 ? marks_ + at - plane_ : nullptr;
        fn(at);
      }
    }
  }

  // From the codes of the rows above and behind.
  HWY_INLINE V activity(int i) const {
    const std::int64_t at = std::int64_t{i} * L::count();
    V sum = L::set(0);
    if (above_ != nullptr) sum = L::load(above_ + at);
    if (behind_ != nullptr) sum = L::add(sum, L::load(behind_ + at));
    sum = L::multiply(sum, step_);
    if (present_[2] && (above_ == nullptr) != (behind_ == nullptr)) sum = L::add(sum, sum);
    return sum;
  }
  HWY_INLINE void mark(std::int64_t at, const V& code) {
    L::store(L::magnitude(code), marks_ + at);
  }

  HWY_INLINE V predicted(std::int64_t at) const {
    const I* v = scaled_ + at;
    V sum = L::load(v - L::count());
    if (present_[1]) sum = L::add(sum, difference(v - row_));
    if (present_[2])
      sum = L::add(sum, L::sub(difference(v - plane_), difference(v - plane_ - row_)));
    return sum;
  }

  HWY_INLINE V rounded(std::int64_t at) const { return L::divide(L::load(values_ + at), step_); }

  HWY_INLINE void publish(std::int64_t at, const V& value) {
    L::store(value, scaled_ + at);
    L::store(L::multiply(value, step_), values_ + at);
  }

  int width() const { return open_[0]; }

 private:
  static HWY_INLINE V difference(const I* v) { return L::sub(L::load(v), L::load(v - L::count())); }

  I* values_;
  I* scaled_;
  I* marks_;
  const I* above_ = nullptr;
  const I* behind_ = nullptr;
  const typename L::Step& step_;
  bool present_[3] = {};
  int open_[3] = {};
  std::int64_t side_ = 0;
  std::int64_t row_ = 0;
  std::int64_t plane_ = 0;
};

template <bool kContexts, typename I>
void encode_lorenzo(const CellBatch<I>& batch, const CellShape& shape, EncodeStep<I>& step) {
  using L = Lanes<I>;
  LorenzoRows<I> rows(batch, shape, step.step());
  rows.scale_boundary();
  rows.each_row(step, [&](std::int64_t at) {
    for (int i = 0; i < rows.width(); ++i, at += L::count()) {
      const typename L::V predicted = rows.predicted(at);
      typename L::V value = rows.rounded(at);
      if (step.masked()) value = L::select(step.valid_at(i), value, predicted);
      const typename L::V code = L::sub(value, predicted);
      step.template put<kContexts>(i, code, kContexts ? rows.activity(i) : L::set(0));
      if (kContexts) rows.mark(at, code);
      rows.publish(at, value);
    }
    step.template end_run<kContexts>();
  });
}

template <bool kContexts, typename I>
void decode_lorenzo(const CellBatch<I>& batch, const CellShape& shape, DecodeStep<I>& step) {
  using L = Lanes<I>;
  LorenzoRows<I> rows(batch, shape, step.step());
  rows.scale_boundary();
  rows.each_row(step, [&](std::int64_t at) {
    if (kContexts) {
      for (int i = 0; i < rows.width(); ++i) step.put_context(i, rows.activity(i));
      step.take_streamed();
    }
    for (int i = 0; i < rows.width(); ++i, at += L::count()) {
      const typename L::V code = step.code(i);
      if (kContexts) rows.mark(at, code);
      rows.publish(at, L::add(rows.predicted(at), code));
    }
  });
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace tamis::reduce
HWY_AFTER_NAMESPACE();

#endif  // include guard
