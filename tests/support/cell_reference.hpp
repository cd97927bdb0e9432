// The cell kernels once more, point by point, from the words of cell.hpp and lattice_math.hpp: no
// levels in arrays of their own, no vectors. The kernels must agree with it bit for bit.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "reduce/cell.hpp"

namespace tamis::testing {

using reduce::CellRule;
using reduce::CellShape;
using reduce::Predictor;

template <typename I>
class CellReference {
 public:
  /// `values` holds the boundary; all arrays are natural ones of (tile + 1)^rank elements. `valid`
  /// is empty when no point is masked.
  CellReference(const CellShape& shape, const CellRule& rule, std::vector<I> boundary,
                std::vector<std::uint8_t> valid)
      : values(std::move(boundary)), shape_(shape), rule_(rule), valid_(std::move(valid)) {
    step_ = static_cast<I>(rule.step);
  }

  std::vector<I> values;
  std::vector<I> coarse;
  std::vector<I> fine;
  std::vector<std::uint8_t> coarse_contexts;
  std::vector<std::uint8_t> fine_contexts;

  void encode(const std::vector<I>& input) {
    input_ = &input;
    if (rule_.predictor == Predictor::kLorenzo) {
      lorenzo();
      return;
    }
    int level = 0;
    while ((2 << level) < shape_.tile) ++level;
    for (; level >= 0; --level) {
      for (const int block : {1, 2, 4, 3, 5, 6, 7}) {
        if (block >> shape_.rank == 0) interpolate(level, block);
      }
    }
  }

 private:
  // Axes by speed: 0 is the fastest.
  using Point = std::array<int, 3>;

  int shape_axis(int axis) const { return shape_.rank - 1 - axis; }
  int nodes(int axis) const { return axis < shape_.rank ? shape_.nodes[shape_axis(axis)] : 1; }
  int open(int axis) const { return axis < shape_.rank ? shape_.open(shape_axis(axis)) : 0; }
  std::size_t at(const Point& p) const {
    const int side = shape_.tile + 1;
    return static_cast<std::size_t>((p[2] * side + p[1]) * side + p[0]);
  }
  I value(Point p, int axis, int offset) const {
    p[static_cast<std::size_t>(axis)] += offset;
    return values[at(p)];
  }

  // fn(point) for the open points in raster order.
  template <typename Fn>
  void each_open(const Fn& fn) {
    const auto first = [&](int axis) { return axis < shape_.rank ? 1 : 0; };
    for (int z = first(2); z <= open(2); ++z) {
      for (int y = first(1); y <= open(1); ++y) {
        for (int x = first(0); x <= open(0); ++x) fn(Point{x, y, z});
      }
    }
  }

  struct Guess {
    I value;
    I activity;
  };

  // Along one axis, from the nodes at distances 1 and 3.
  Guess guess(const Point& p, int axis, int h) const {
    const int c = p[static_cast<std::size_t>(axis)];
    const auto exists = [&](int offset) { return c + offset >= 0 && c + offset < nodes(axis); };
    const bool has_left = exists(-3 * h);
    const bool has_right = exists(h);
    const I b = value(p, axis, -h);
    const I right = has_right  ? value(p, axis, h)
                    : has_left ? reduce::extend_line(value(p, axis, -3 * h), b)
                               : b;
    const bool cubic =
        rule_.predictor == Predictor::kCubic || rule_.predictor == Predictor::kCubicAveraged;
    if (!cubic) {
      return {reduce::predict_linear(b, right), reduce::activity_linear(b, right)};
    }
    const bool has_far = exists(3 * h);
    I a = 0;
    I e = 0;
    if (has_left) a = value(p, axis, -3 * h);
    if (has_far) e = value(p, axis, 3 * h);
    if (!has_far) {
      e = has_left ? reduce::extend_parabola(a, b, right) : reduce::extend_line(b, right);
    }
    if (!has_left) {
      a = has_far ? reduce::extend_parabola(e, right, b) : reduce::extend_line(right, b);
    }
    return {reduce::predict_cubic(a, b, right, e), reduce::activity_cubic(a, b, right, e)};
  }

  Guess combined(const Point& p, int block, int h) const {
    std::vector<Guess> guesses;  // preferred first
    for (int i = reduce::kMaxCellRank - 1; i >= 0; --i) {
      const int k = rule_.axis_order[i];
      if (k >= shape_.rank) continue;
      const int axis = shape_.rank - 1 - k;
      if (block >> axis & 1) guesses.push_back(guess(p, axis, h));
    }
    const bool averaged = rule_.predictor == Predictor::kLinearAveraged ||
                          rule_.predictor == Predictor::kCubicAveraged;
    if (guesses.size() == 1 || !averaged) return guesses[0];
    const auto mean = [&](I Guess::*part) {
      if (guesses.size() == 2) {
        return reduce::predict_linear(guesses[0].*part, guesses[1].*part);
      }
      I sum = 2;
      for (const std::size_t i : {0, 0, 1, 2}) sum = reduce::wrap_add(sum, guesses[i].*part);
      return static_cast<I>(sum >> 2);
    };
    return {mean(&Guess::value), mean(&Guess::activity)};
  }

  void interpolate(int level, int block) {
    const int h = 1 << level;
    each_open([&](const Point& p) {
      for (int axis = 0; axis < 3; ++axis) {
        const int c = p[static_cast<std::size_t>(axis)];
        if (c % h != 0 || (c / h % 2 != 0) != ((block >> axis & 1) != 0)) return;
      }
      const Guess g = combined(p, block, h);
      const int base = reduce::kActivityClasses * (level < 3 ? level : 3);
      code_point(p, g.value, g.activity, base, level == 0, step_);
    });
  }

  // Records the code of a point in units of `unit` and sets its value.
  I code_point(const Point& p, I predicted, I activity, int base, bool is_fine, I unit) {
    const bool coded = valid_.empty() || valid_[at(p)] != 0;
    const I code =
        coded ? reduce::divide_nearest(reduce::wrap_sub((*input_)[at(p)], predicted), unit) : I{0};
    values[at(p)] = reduce::wrap_add(predicted, reduce::wrap_mul(code, unit));
    if (coded) record(code, activity, base, is_fine);
    return code;
  }

  void record(I code, I activity, int base, bool is_fine) {
    const float inverse = 1.0F / static_cast<float>(step_);
    const int context = base + reduce::activity_class(activity, inverse);
    (is_fine ? fine : coarse).push_back(code);
    (is_fine ? fine_contexts : coarse_contexts).push_back(static_cast<std::uint8_t>(context));
  }

  // All in units of the step: boundary and input are rounded to it first.
  void lorenzo() {
    std::vector<I> scaled(values.size());
    std::vector<I> sizes(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      scaled[i] = reduce::divide_nearest(values[i], step_);
    }
    each_open([&](const Point& p) {
      I predicted = 0;  // inclusion and exclusion over the lower corner
      for (int corner = 1; corner < 1 << shape_.rank; ++corner) {
        Point q = p;
        bool minus = true;
        for (int axis = 0; axis < shape_.rank; ++axis) {
          if ((corner >> axis & 1) == 0) continue;
          --q[static_cast<std::size_t>(axis)];
          minus = !minus;
        }
        predicted = minus ? reduce::wrap_sub(predicted, scaled[at(q)])
                          : reduce::wrap_add(predicted, scaled[at(q)]);
      }
      const bool coded = valid_.empty() || valid_[at(p)] != 0;
      const I v = coded ? reduce::divide_nearest((*input_)[at(p)], step_) : predicted;
      const I code = reduce::wrap_sub(v, predicted);
      scaled[at(p)] = v;
      sizes[at(p)] = reduce::magnitude(code);
      values[at(p)] = reduce::wrap_mul(v, step_);
      if (coded) record(code, roughness(p, sizes), 0, true);
    });
  }

  // From the codes above and behind; in space one of them alone counts twice.
  I roughness(const Point& p, const std::vector<I>& sizes) const {
    const bool above = shape_.rank > 1 && p[1] > 1;
    const bool behind = shape_.rank > 2 && p[2] > 1;
    I sum = 0;
    if (above) sum = reduce::wrap_add(sum, sizes[at({p[0], p[1] - 1, p[2]})]);
    if (behind) sum = reduce::wrap_add(sum, sizes[at({p[0], p[1], p[2] - 1})]);
    sum = reduce::wrap_mul(sum, step_);
    return shape_.rank > 2 && above != behind ? reduce::wrap_mul<I>(sum, 2) : sum;
  }

  CellShape shape_;
  CellRule rule_;
  std::vector<std::uint8_t> valid_;
  const std::vector<I>* input_ = nullptr;
  I step_ = 1;
};

}  // namespace tamis::testing
