// Extremes for every instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reduce/block_range.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
//
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "reduce/block_range.hpp"

HWY_BEFORE_NAMESPACE();
namespace tamis::reduce {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <typename T>
BlockRange<T> range_any(const T* data, std::int64_t count) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const T infinity = std::numeric_limits<T>::infinity();
  auto low = hn::Set(d, infinity);
  auto high = hn::Set(d, -infinity);
  auto spread = hn::Zero(d);  // becomes NaN once a value is not finite
  auto bits = hn::Zero(d);
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto v = hn::LoadU(d, data + i);
    low = hn::Min(low, v);
    high = hn::Max(high, v);
    spread = hn::Add(spread, hn::Sub(v, v));
    bits = hn::Or(bits, v);
  }
  BlockRange<T> range{hn::GetLane(hn::MinOfLanes(d, low)), hn::GetLane(hn::MaxOfLanes(d, high)),
                      !hn::AllFalse(d, hn::Lt(hn::CopySign(hn::Set(d, T{1}), bits), hn::Zero(d))),
                      hn::AllTrue(d, hn::Eq(spread, hn::Zero(d)))};
  for (; i < count; ++i) {
    range.low = std::min(range.low, data[i]);
    range.high = std::max(range.high, data[i]);
    range.negative = range.negative || std::signbit(data[i]);
    range.finite = range.finite && std::isfinite(data[i]);
  }
  return range;
}

BlockRange<float> range_f32(const float* data, std::int64_t n) { return range_any(data, n); }
BlockRange<double> range_f64(const double* data, std::int64_t n) { return range_any(data, n); }

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace tamis::reduce
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tamis::reduce {

HWY_EXPORT(range_f32);
HWY_EXPORT(range_f64);

BlockRange<float> block_range(const float* data, std::int64_t count) {
  return HWY_DYNAMIC_DISPATCH(range_f32)(data, count);
}
BlockRange<double> block_range(const double* data, std::int64_t count) {
  return HWY_DYNAMIC_DISPATCH(range_f64)(data, count);
}

}  // namespace tamis::reduce
#endif  // HWY_ONCE
