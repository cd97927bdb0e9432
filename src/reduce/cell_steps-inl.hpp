// The hierarchy of an interpolated cell, from its corners down to the finest level, and what the
// encoder and the decoder do with each predicted row. (Include guard toggles per target.)
#if defined(TAMIS_REDUCE_CELL_STEPS_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef TAMIS_REDUCE_CELL_STEPS_INL_HPP_
#undef TAMIS_REDUCE_CELL_STEPS_INL_HPP_
#else
#define TAMIS_REDUCE_CELL_STEPS_INL_HPP_
#endif

#include <bit>
#include <cstdint>

#include "reduce/cell.hpp"
#include "reduce/cell_rows-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tamis::reduce {
namespace HWY_NAMESPACE {

// A run of points of one level: row (z, y) in level indices, x = first + i among even or odd ones.
struct RowPlace {
  int level;
  int z;
  int y;
  int odd_x;
  int first;
  int count;
};

// Index arithmetic of the natural arrays, for axes z y x whatever the rank.
struct NaturalArray {
  std::int64_t row;
  std::int64_t plane;
  explicit NaturalArray(const CellShape& shape)
      : row(shape.tile + 1), plane(std::int64_t{shape.tile + 1} * (shape.tile + 1)) {}
  std::int64_t at(std::int64_t z, std::int64_t y, std::int64_t x) const {
    return z * plane + y * row + x;
  }
  std::int64_t at(const RowPlace& p) const {
    return at(std::int64_t{p.z} << p.level, std::int64_t{p.y} << p.level,
              (2 * std::int64_t{p.first} + p.odd_x) << p.level);
  }
  // Every (2 << level)-th element from a row's place, gathered into `out` (or in place).
  template <typename T>
  void gather(const T* from, const RowPlace& p, T* out) const {
    const T* begin = from + at(p);
    const std::int64_t stride = std::int64_t{2} << p.level;
    for (int i = 0; i < p.count; ++i) out[i] = begin[i * stride];
  }
};

HWY_INLINE std::uint8_t context_base(int level) {
  return static_cast<std::uint8_t>((level < 3 ? level : 3) * kActivityClasses);
}

template <typename I>
class EncodeStep {
 public:
  EncodeStep(CellWorkspace<I>& work, const CellShape& shape, const CellRule& rule, bool masked,
             CodeSink<I>& sink)
      : work_(work),
        natural_(shape),
        step_(static_cast<I>(rule.step)),
        inverse_(1.0F / static_cast<float>(rule.step)),
        masked_(masked),
        sink_(sink) {}

  void row(const RowPlace& place, const I* p, const I* activity, I* r, I* scratch) {
    const int n = place.count;
    I* x = scratch;
    if (place.level == 0) {
      row_split(work_.input.data() + natural_.at(place) - place.odd_x, place.odd_x, n, x);
    } else {
      natural_.gather(work_.input.data(), place, x);
    }
    I*& out = place.level == 0 ? sink_.fine : sink_.coarse;
    std::uint8_t*& contexts = place.level == 0 ? sink_.fine_context : sink_.coarse_context;
    const std::uint8_t base = context_base(place.level);
    if (!masked_) {
      row_quantise(x, p, n, step_, inverse_, nullptr, out, r);
      out += n;
      if (activity) {
        row_contexts(activity, n, inverse_, base, contexts);
        contexts += n;
      }
      return;
    }
    std::uint8_t* valid = work_.contexts.data();
    natural_.gather(work_.valid.data(), place, valid);
    I* codes = scratch;  // x is read before codes are written
    row_quantise(x, p, n, step_, inverse_, valid, codes, r);
    for (int i = 0; i < n; ++i) {
      if (!valid[i]) continue;
      *out++ = codes[i];
      if (activity) {
        *contexts++ = static_cast<std::uint8_t>(base + activity_class(activity[i], inverse_));
      }
    }
  }

 private:
  CellWorkspace<I>& work_;
  NaturalArray natural_;
  I step_;
  float inverse_;
  bool masked_;
  CodeSink<I>& sink_;
};

// The next codes of a source; `buffer` holds them when they come from an entropy decoder.
template <typename I>
HWY_INLINE const I* take_codes(CodeSource<I>& source, int count, const std::uint8_t* contexts,
                               I* buffer) {
  if (source.decoded != nullptr) {
    const I* codes = source.decoded;
    source.decoded += count;
    return codes;
  }
  source.reader->read(buffer, count, contexts);
  return buffer;
}

template <typename I>
class DecodeStep {
 public:
  DecodeStep(CellWorkspace<I>& work, const CellShape& shape, const CellRule& rule, bool masked,
             CodeSource<I>& coarse, CodeSource<I>& fine)
      : work_(work),
        natural_(shape),
        step_(static_cast<I>(rule.step)),
        inverse_(1.0F / static_cast<float>(rule.step)),
        masked_(masked),
        coarse_(coarse),
        fine_(fine) {}

  void row(const RowPlace& place, const I* p, const I* activity, I* r, I* scratch) {
    const int n = place.count;
    CodeSource<I>& source = place.level == 0 ? fine_ : coarse_;
    const std::uint8_t base = context_base(place.level);
    std::uint8_t* contexts = work_.contexts.data();
    if (!masked_) {
      if (source.decoded == nullptr) row_contexts(activity, n, inverse_, base, contexts);
      row_reconstruct(take_codes(source, n, contexts, scratch), p, n, step_, r);
      return;
    }
    const std::uint8_t* valid = work_.valid.data() + natural_.at(place);
    const std::int64_t stride = std::int64_t{2} << place.level;
    int count = 0;
    for (int i = 0; i < n; ++i) {
      if (!valid[i * stride]) continue;
      if (source.decoded == nullptr) {
        contexts[count] = static_cast<std::uint8_t>(base + activity_class(activity[i], inverse_));
      }
      ++count;
    }
    const I* codes = take_codes(source, count, contexts, scratch);
    for (int i = 0; i < n; ++i) {
      r[i] = valid[i * stride] ? wrap_add(p[i], wrap_mul(*codes++, step_)) : p[i];
    }
  }

 private:
  CellWorkspace<I>& work_;
  NaturalArray natural_;
  I step_;
  float inverse_;
  bool masked_;
  CodeSource<I>& coarse_;
  CodeSource<I>& fine_;
};

template <typename I>
class Interpolation {
 public:
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
    int seen = 0;
    for (int i = kMaxCellRank - 1; i >= 0; --i) {  // last predicted first
      const int k = rule.axis_order[i];
      if (k < shape.rank) preferred_[seen++] = shape.rank - 1 - k;
    }
    axes_ = seen;
    const std::int64_t width = tile_ + 2 * kRowSlack;
    for (int i = 0; i < kScratchRows; ++i) rows_[i] = work_.rows.data() + i * width;
  }

  // Runs levels down to `last` and leaves the result in `values`.
  template <typename Step>
  void run(int last, bool activities, Step& step) {
    int level = std::countr_zero(static_cast<unsigned>(tile_)) - 1;
    I* pool = work_.levels.data();
    lay_out(previous_, level + 1, pool);
    for (; level >= last; --level) {
      Level current;
      lay_out(current, level, pool);
      fill_known(current);
      for (const int block : {1, 2, 4, 3, 5, 6, 7}) {
        if (!block_exists(block)) continue;
        predict_block(current, block, activities, step);
      }
      previous_ = current;
      is_corner_level_ = false;
    }
    if (!is_corner_level_) write_back(previous_);
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

  void fill_known(const Level& l) {
    const I* values = work_.values.data();
    for (int z = 0; z < l.n[2]; ++z) {
      for (int y = 0; y < l.n[1]; ++y) {
        I* even = l.even_row(z, y);
        I* odd = l.odd_row(z, y);
        if (on_boundary(2, z, l.n[2]) || on_boundary(1, y, l.n[1])) {
          natural_.gather(values, {l.level, z, y, 0, 0, l.even}, even);
          natural_.gather(values, {l.level, z, y, 1, 0, l.odd}, odd);
          continue;
        }
        if (z % 2 == 0 && y % 2 == 0) {
          if (is_corner_level_) {
            natural_.gather(values, {l.level, z, y, 0, 0, l.even}, even);
          } else {
            row_interleave(previous_.even_row(z / 2, y / 2), previous_.odd_row(z / 2, y / 2),
                           previous_.even, previous_.odd, even);
          }
          continue;
        }
        natural_.gather(values, {l.level, z, y, 0, 0, 1}, even);
        if (far_[0]) natural_.gather(values, {l.level, z, y, 0, l.even - 1, 1}, even + l.even - 1);
      }
    }
  }

  // Level indices of the open points with this parity: from `first` (step 2) below `end`.
  void open_range(const Level& l, int axis, bool odd, int& first, int& end) const {
    first = odd ? 1 : (present_[axis] ? 2 : 0);
    end = l.n[axis] - (far_[axis] ? 1 : 0);
  }

  template <typename Step>
  void predict_block(const Level& l, int block, bool activities, Step& step) {
    int z0, z1, y0, y1;
    open_range(l, 2, (block & 4) != 0, z0, z1);
    open_range(l, 1, (block & 2) != 0, y0, y1);
    const bool odd_x = (block & 1) != 0;
    const int first = odd_x ? 0 : 1;
    const int count = odd_x ? l.odd : l.even - 1 - (far_[0] ? 1 : 0);
    if (count <= 0) return;
    int axes[3];
    int n_axes = 0;
    for (int i = 0; i < axes_; ++i) {
      if (block >> preferred_[i] & 1) axes[n_axes++] = preferred_[i];
    }
    if (!averaged_) n_axes = 1;
    for (int z = z0; z < z1; z += 2) {
      for (int y = y0; y < y1; y += 2) {
        const RowPlace place{l.level, z, y, odd_x ? 1 : 0, first, count};
        I* activity = activities ? rows_[1] : nullptr;
        predict_along(l, axes[0], place, rows_[0], activity);
        if (n_axes == 2) {
          predict_along(l, axes[1], place, rows_[2], activities ? rows_[3] : nullptr);
          row_mean2(rows_[0], rows_[2], count);
          if (activities) row_mean2(rows_[1], rows_[3], count);
        } else if (n_axes == 3) {
          average_three(l, axes, place, activities);
        }
        I* r = (odd_x ? l.odd_row(z, y) : l.even_row(z, y)) + first;
        step.row(place, rows_[0], activity, r, rows_[7]);
      }
    }
  }

  void average_three(const Level& l, const int* axes, const RowPlace& place, bool activities) {
    std::copy_n(rows_[0], place.count, rows_[5]);
    if (activities) std::copy_n(rows_[1], place.count, rows_[6]);
    predict_along(l, axes[1], place, rows_[0], activities ? rows_[1] : nullptr);
    predict_along(l, axes[2], place, rows_[2], activities ? rows_[3] : nullptr);
    row_mean3(rows_[0], rows_[2], rows_[5], place.count);
    if (activities) row_mean3(rows_[1], rows_[3], rows_[6], place.count);
  }

  void predict_along(const Level& l, int axis, const RowPlace& place, I* p, I* activity) {
    if (axis == 0) {
      predict_along_x(l, place, p, activity);
    } else {
      predict_across_rows(l, axis, place, p, activity);
    }
  }

  void predict_along_x(const Level& l, const RowPlace& place, I* p, I* activity) {
    I* even = l.even_row(place.z, place.y);
    int known = l.even;
    if (l.odd == l.even) {  // the last odd point has no right neighbour
      even[known] = known > 1 ? extend_line(even[known - 2], even[known - 1]) : even[known - 1];
      ++known;
    }
    if (!cubic_) {
      row_linear(even, even + 1, place.count, p, activity);
      return;
    }
    if (known > 2) {
      even[-1] = extend_parabola(even[2], even[1], even[0]);
      even[known] = extend_parabola(even[known - 3], even[known - 2], even[known - 1]);
    } else {
      even[-1] = extend_line(even[1], even[0]);
      even[known] = extend_line(even[known - 2], even[known - 1]);
    }
    row_cubic(even - 1, even, even + 1, even + 2, place.count, p, activity);
  }

  void predict_across_rows(const Level& l, int axis, const RowPlace& place, I* p, I* activity) {
    const int here = axis == 1 ? place.y : place.z;
    const int end = l.n[axis];
    const auto row = [&](int index) -> const I* {
      if (index < 0 || index >= end) return nullptr;
      const int z = axis == 2 ? index : place.z;
      const int y = axis == 1 ? index : place.y;
      return (place.odd_x ? l.odd_row(z, y) : l.even_row(z, y)) + place.first;
    };
    const int n = place.count;
    const I* b = row(here - 1);
    const I* c = row(here + 1);
    const I* a = row(here - 3);
    if (c == nullptr) {
      if (a != nullptr) {
        row_extend_line(a, b, n, rows_[4]);
        c = rows_[4];
      } else {
        c = b;
      }
    }
    if (!cubic_) {
      row_linear(b, c, n, p, activity);
      return;
    }
    const I* e = row(here + 3);
    if (a == nullptr && e == nullptr) {
      row_extend_line(c, b, n, rows_[8]);
      row_extend_line(b, c, n, rows_[9]);
      a = rows_[8];
      e = rows_[9];
    } else if (e == nullptr) {
      row_extend_parabola(a, b, c, n, rows_[9]);
      e = rows_[9];
    } else if (a == nullptr) {
      row_extend_parabola(e, c, b, n, rows_[8]);
      a = rows_[8];
    }
    row_cubic(a, b, c, e, n, p, activity);
  }

  void write_back(const Level& l) {
    I* values = work_.values.data();
    for (int z = 0; z < l.n[2]; ++z) {
      for (int y = 0; y < l.n[1]; ++y) {
        if (l.level == 0) {
          row_interleave(l.even_row(z, y), l.odd_row(z, y), l.even, l.odd,
                         values + natural_.at(z, y, 0));
          continue;
        }
        row_interleave(l.even_row(z, y), l.odd_row(z, y), l.even, l.odd, rows_[0]);
        I* out = values + natural_.at(std::int64_t{z} << l.level, std::int64_t{y} << l.level, 0);
        for (int x = 0; x < l.n[0]; ++x) out[std::int64_t{x} << l.level] = rows_[0][x];
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
  I* rows_[kScratchRows] = {};  // 0-3 predictions, 5 6 kept ones, 4 8 9 stand-ins, 7 the step's
};

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace tamis::reduce
HWY_AFTER_NAMESPACE();

#endif  // include guard
