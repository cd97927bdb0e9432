// Lorenzo cells: values are rounded to the lattice of the step itself, so that the prediction needs
// no reconstruction and both directions are differences or sums of whole rows. Boundary values of
// neighbouring cells are rounded to that lattice first. (Include guard toggles per target.)
#if defined(TAMIS_REDUCE_CELL_LORENZO_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef TAMIS_REDUCE_CELL_LORENZO_INL_HPP_
#undef TAMIS_REDUCE_CELL_LORENZO_INL_HPP_
#else
#define TAMIS_REDUCE_CELL_LORENZO_INL_HPP_
#endif

#include <algorithm>
#include <cstdint>

#include "reduce/cell.hpp"
#include "reduce/cell_lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tamis::reduce {
namespace HWY_NAMESPACE {

template <typename I>
HWY_INLINE void row_divide(const I* from, int n, const typename Lanes<I>::Step& step, I* to) {
  using L = Lanes<I>;
  for (int i = 0; i < n; i += L::count()) {
    L::store_some(L::divide(L::load(from + i), step), to + i, n - i);
  }
}

// Walks the rows of a cell in raster order; `scaled` holds its values in units of the step.
template <typename I>
class LorenzoRows {
 public:
  LorenzoRows(CellWorkspace<I>& work, const CellShape& shape, const CellRule& rule)
      : work_(work),
        shape_(shape),
        step_(static_cast<I>(rule.step)),
        divisor_(static_cast<I>(rule.step)) {
    for (int axis = 0; axis < 3; ++axis) {  // axis 0 = x
      const int k = shape.rank - 1 - axis;
      present_[axis] = k >= 0;
      open_[axis] = k >= 0 ? shape.open(k) : 1;
    }
    row_ = shape.tile + 1;
    plane_ = row_ * row_;
    const std::int64_t width = shape.tile + 2 * kRowSlack;
    for (int i = 0; i < kScratchRows; ++i) rows_[i] = work.rows.data() + i * width;
  }

  // Boundary at the low side in units of the step; the far side takes no part.
  void scale_boundary() {
    const int nz = present_[2] ? open_[2] + 1 : 1;
    const int ny = present_[1] ? open_[1] + 1 : 1;
    for (int z = 0; z < nz; ++z) {
      for (int y = 0; y < ny; ++y) {
        const bool face = (present_[2] && z == 0) || (present_[1] && y == 0);
        const std::int64_t at = z * plane_ + y * row_;
        row_divide(work_.values.data() + at, face ? open_[0] + 1 : 1, divisor_,
                   work_.scaled.data() + at);
      }
    }
  }

  // What the rows above and behind contribute: value - left = code + inherited. Writes open_[0].
  void inherited(std::int64_t at, I* out) const {
    const I* v = work_.scaled.data() + at;
    const int n = open_[0];
    for (int i = 0; i < n; i += L::count()) {
      L::store_some(inherited_lanes(v + i), out + i, n - i);
    }
  }

  // Codes of a row without masked points, from scaled values that are all there.
  void codes(std::int64_t at, I* out) const {
    const I* v = work_.scaled.data() + at;
    for (int i = 0; i < open_[0]; i += L::count()) {
      L::store(L::sub(difference(v + i), inherited_lanes(v + i)), out + i);
    }
  }

  // Contexts from the codes of the rows above and behind, which `codes` keeps as magnitudes.
  void contexts(int z, int y, std::uint8_t* out) const {
    const int n = open_[0];
    I* sum = rows_[5];
    const I* above = magnitudes(z, y - 1);
    const I* behind = magnitudes(z - 1, y);
    for (int i = 0; i < n; ++i) {
      sum[i] = wrap_mul(wrap_add(above ? above[i] : I{0}, behind ? behind[i] : I{0}), step_);
    }
    if (present_[2] && (above == nullptr) != (behind == nullptr)) {
      for (int i = 0; i < n; ++i) sum[i] = wrap_mul<I>(sum[i], 2);
    }
    for (int i = 0; i < n; i += L::count()) {
      L::store_contexts(L::load(sum + i), divisor_, 0, out + i);
    }
  }

  // Rows of code magnitudes live in the level pool, which a Lorenzo cell does not use otherwise.
  I* magnitudes(int z, int y) const {
    if ((present_[1] && y < 1) || (present_[2] && z < 1)) return nullptr;
    if (!present_[1] && y < 0) return nullptr;
    if (!present_[2] && z < 0) return nullptr;
    const int slot = present_[2] ? (z & 1) * (open_[1] + 1) + y : (y & 1);
    return work_.levels.data() + std::int64_t{slot} * (open_[0] + kRowSlack);
  }

  template <typename Fn>
  void open_rows(const Fn& fn) {
    const int z0 = present_[2] ? 1 : 0;
    const int y0 = present_[1] ? 1 : 0;
    for (int z = z0; z < z0 + open_[2]; ++z) {
      for (int y = y0; y < y0 + open_[1]; ++y) fn(z, y, z * plane_ + y * row_ + 1);
    }
  }

  // Copies a finished row to `values`.
  void publish(std::int64_t at) const {
    const I* v = work_.scaled.data() + at;
    for (int i = 0; i < open_[0]; i += L::count()) {
      L::store_some(L::multiply(L::load(v + i), divisor_), work_.values.data() + at + i,
                    open_[0] - i);
    }
  }

  void divide(const I* from, I* to) const { row_divide(from, open_[0], divisor_, to); }

  int width() const { return open_[0]; }
  I* row(int i) const { return rows_[i]; }

 private:
  using L = Lanes<I>;

  static HWY_INLINE typename L::V difference(const I* v) {
    return L::sub(L::load(v), L::load(v - 1));
  }

  HWY_INLINE typename L::V inherited_lanes(const I* v) const {
    if (present_[2]) {
      return L::sub(L::add(difference(v - row_), difference(v - plane_)),
                    difference(v - plane_ - row_));
    }
    return present_[1] ? difference(v - row_) : L::set(0);
  }

  CellWorkspace<I>& work_;
  CellShape shape_;
  I step_;
  typename Lanes<I>::Step divisor_;
  bool present_[3] = {};
  int open_[3] = {};
  std::int64_t row_ = 0;
  std::int64_t plane_ = 0;
  I* rows_[kScratchRows] = {};
};

template <typename I>
void encode_lorenzo(CellWorkspace<I>& work, const CellShape& shape, const CellRule& rule,
                    bool masked, CodeSink<I>& sink) {
  if (shape.open_count() == 0) return;
  LorenzoRows<I> rows(work, shape, rule);
  const int n = rows.width();
  rows.scale_boundary();
  rows.open_rows([&](int z, int y, std::int64_t at) {
    I* v = work.scaled.data() + at;
    const I* x = work.input.data() + at;
    const std::uint8_t* valid = masked ? work.valid.data() + at : nullptr;
    I* codes = valid == nullptr ? sink.fine : rows.row(1);
    if (valid == nullptr) {
      rows.divide(x, v);
      rows.codes(at, codes);
    } else {
      I* inherited = rows.row(0);
      I* scaled = rows.row(2);
      rows.inherited(at, inherited);
      rows.divide(x, scaled);
      for (int i = 0; i < n; ++i) {
        const I predicted = wrap_add(v[i - 1], inherited[i]);
        v[i] = valid[i] ? scaled[i] : predicted;
        codes[i] = wrap_sub(v[i], predicted);
      }
    }
    std::uint8_t* contexts = nullptr;
    if (sink.fine_context != nullptr) {
      contexts = work.contexts.data();
      rows.contexts(z, y, contexts);
      I* sizes = rows.magnitudes(z, y);
      for (int i = 0; i < n; ++i) sizes[i] = magnitude(codes[i]);
    }
    if (valid == nullptr) {
      sink.fine += n;
      if (contexts != nullptr) {
        std::copy_n(contexts, n, sink.fine_context);
        sink.fine_context += n;
      }
    } else {
      for (int i = 0; i < n; ++i) {
        if (valid[i] == 0) continue;
        *sink.fine++ = codes[i];
        if (contexts != nullptr) *sink.fine_context++ = contexts[i];
      }
    }
    rows.publish(at);
  });
}

template <typename I>
void decode_lorenzo(CellWorkspace<I>& work, const CellShape& shape, const CellRule& rule,
                    bool masked, CodeSource<I>& source) {
  if (shape.open_count() == 0) return;
  LorenzoRows<I> rows(work, shape, rule);
  const int n = rows.width();
  rows.scale_boundary();
  rows.open_rows([&](int z, int y, std::int64_t at) {
    I* v = work.scaled.data() + at;
    const std::uint8_t* valid = masked ? work.valid.data() + at : nullptr;
    I* inherited = rows.row(0);
    rows.inherited(at, inherited);
    const bool wants_contexts = source.decoded == nullptr;
    std::uint8_t* contexts = work.contexts.data();
    if (wants_contexts) rows.contexts(z, y, contexts);
    int count = n;
    if (valid != nullptr) {
      count = 0;
      for (int i = 0; i < n; ++i) {
        if (!valid[i]) continue;
        if (wants_contexts) contexts[count] = contexts[i];
        ++count;
      }
    }
    const I* codes = rows.row(2);
    if (source.decoded != nullptr) {
      codes = source.decoded;
      source.decoded += count;
    } else {
      source.reader->read(rows.row(2), count, contexts);
    }
    I* spread = rows.row(1);
    for (int i = 0; i < n; ++i) spread[i] = valid == nullptr || valid[i] ? *codes++ : I{0};
    if (wants_contexts) {
      I* sizes = rows.magnitudes(z, y);
      for (int i = 0; i < n; ++i) sizes[i] = magnitude(spread[i]);
    }
    I left = v[-1];
    for (int i = 0; i < n; ++i) {
      left = wrap_add(left, wrap_add(spread[i], inherited[i]));
      v[i] = left;
    }
    rows.publish(at);
  });
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace tamis::reduce
HWY_AFTER_NAMESPACE();

#endif  // include guard
