// Measured difference of two fields. The verdict on each point repeats the encoder's check, which
// is exact; maxima and means are for the reader.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "core/threads.hpp"
#include "reduce/field_rows.hpp"
#include "reduce/field_scan.hpp"
#include "tamis/error.hpp"
#include "tamis/reduce.hpp"

namespace tamis::reduce {

namespace {

constexpr std::int64_t kBlock = 65536;  // sums are per block, so threads do not change them

struct BlockResult {
  double max_abs = 0;
  double max_relative = 0;
  double squares = 0;
  std::int64_t finite = 0;
  std::int64_t violations = 0;
  std::int64_t first_violation = -1;
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
};

template <typename T>
class Comparison {
 public:
  Comparison(const ConstTensorView& original, const ConstTensorView& decoded, const Info& info)
      : original_(original), decoded_(decoded), info_(info) {
    if (info.bound.kind == BoundKind::kPointwiseRelative && info.bound.value > 0) {
      check_ = {PointCheck::Kind::kPointwise, info.bound.value};
    } else if (info.absolute_bound > 0) {
      check_ = {PointCheck::Kind::kAbsolute, info.absolute_bound};
    }
    if (info.fill_value) fill_ = static_cast<T>(*info.fill_value);
    // Squares are taken of errors in units of a power of two near the range, lest they overflow.
    const double range = info.max_value / 2 - info.min_value / 2;
    if (range > 0) exponent_ = std::clamp(std::ilogb(range), -1000, 1000);
    inverse_ = std::ldexp(1.0, -exponent_);
  }

  /// Unit of the errors that `squares` adds up.
  double unit() const { return std::ldexp(1.0, exponent_); }

  BlockResult block(std::int64_t begin, std::int64_t end) const {
    BlockResult r;
    Extents at = position(begin);
    for (std::int64_t i = begin; i < end; ++i) {
      const T x = element(original_, at);
      const T y = element(decoded_, at);
      point(x, y, i, r);
      advance(at);
    }
    return r;
  }

 private:
  void point(T x, T y, std::int64_t index, BlockResult& r) const {
    const bool masked = fill_.has_value() && is_fill(x, *fill_);
    const PointCheck exact;
    const bool holds = point_holds(masked ? exact : check_, x, y);
    if (!holds) {
      if (r.violations++ == 0) r.first_violation = index;
    }
    if (masked || !std::isfinite(x)) return;
    const double a = static_cast<double>(x);
    const double error = std::fabs(a - static_cast<double>(y));
    r.low = std::min(r.low, a);
    r.high = std::max(r.high, a);
    ++r.finite;
    if (std::isnan(error)) {
      r.max_abs = std::numeric_limits<double>::infinity();
      return;
    }
    r.max_abs = std::max(r.max_abs, error);
    if (error > 0) {
      r.max_relative = std::max(
          r.max_relative, a != 0 ? error / std::fabs(a) : std::numeric_limits<double>::infinity());
    }
    r.squares += error * inverse_ * (error * inverse_);
  }

  Extents position(std::int64_t linear) const {
    Extents at = original_.shape;
    for (int d = at.rank() - 1; d >= 0; --d) {
      const std::int64_t n = original_.shape[d];
      at[d] = linear % n;
      linear /= n;
    }
    return at;
  }
  void advance(Extents& at) const {
    for (int d = at.rank() - 1; d >= 0 && ++at[d] == original_.shape[d]; --d) at[d] = 0;
  }
  static T element(const ConstTensorView& view, const Extents& at) {
    std::int64_t offset = 0;
    for (int d = 0; d < at.rank(); ++d) offset += at[d] * view.strides[d];
    return static_cast<const T*>(view.data)[offset];
  }

  const ConstTensorView& original_;
  const ConstTensorView& decoded_;
  const Info& info_;
  PointCheck check_;
  std::optional<T> fill_;
  int exponent_ = 0;
  double inverse_ = 1;
};

template <typename T>
Difference compare_as(const ConstTensorView& original, const ConstTensorView& decoded,
                      const Info& info, int threads) {
  const std::int64_t count = original.shape.element_count();
  const std::int64_t blocks = (count + kBlock - 1) / kBlock;
  std::vector<BlockResult> results(static_cast<std::size_t>(blocks));
  const Comparison<T> comparison(original, decoded, info);
  parallel_for(blocks, threads, [&](std::int64_t b, int) {
    results[static_cast<std::size_t>(b)] =
        comparison.block(b * kBlock, std::min(count, (b + 1) * kBlock));
  });
  BlockResult total;
  for (const BlockResult& r : results) {
    total.max_abs = std::max(total.max_abs, r.max_abs);
    total.max_relative = std::max(total.max_relative, r.max_relative);
    total.squares += r.squares;
    total.finite += r.finite;
    total.violations += r.violations;
    if (total.first_violation < 0) total.first_violation = r.first_violation;
    total.low = std::min(total.low, r.low);
    total.high = std::max(total.high, r.high);
  }
  Difference d;
  d.max_abs_error = total.max_abs;
  d.max_pointwise_relative = total.max_relative;
  d.psnr = std::numeric_limits<double>::infinity();
  if (total.finite > 0) {
    const double unit = comparison.unit();
    const double rms = std::sqrt(total.squares / static_cast<double>(total.finite));
    d.rms_error = rms * unit;
    d.range = total.high - total.low;
    if (rms > 0) d.psnr = 20 * std::log10((total.high / unit - total.low / unit) / rms);
  }
  d.violations = total.violations;
  d.first_violation = total.first_violation;
  // A mean-square promise is one more thing that can be broken.
  if (info.bound.kind == BoundKind::kPsnr && d.psnr < info.bound.value) ++d.violations;
  return d;
}

}  // namespace

Difference compare(const ConstTensorView& original, const ConstTensorView& decoded,
                   const Info& info, int threads) {
  if (original.dtype != decoded.dtype || !(original.shape == decoded.shape)) {
    throw Error(ErrorCode::kInvalidArgument,
                std::string("compare: ") + dtype_name(original.dtype) + " " +
                    original.shape.to_string() + " with " + dtype_name(decoded.dtype) + " " +
                    decoded.shape.to_string() + "; expected the same type and shape");
  }
  return original.dtype == DType::kF32 ? compare_as<float>(original, decoded, info, threads)
                                       : compare_as<double>(original, decoded, info, threads);
}

}  // namespace tamis::reduce
