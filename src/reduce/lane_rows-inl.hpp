// Between rows of single cells and lanes: [lane][element] <-> [element][lane], in blocks of four by
// four. (Include guard toggles per target.)
#if defined(TAMIS_REDUCE_LANE_ROWS_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef TAMIS_REDUCE_LANE_ROWS_INL_HPP_
#undef TAMIS_REDUCE_LANE_ROWS_INL_HPP_
#else
#define TAMIS_REDUCE_LANE_ROWS_INL_HPP_
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "reduce/cell_lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tamis::reduce {
namespace HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR
inline constexpr int kBlock = 4;
using D4 = hn::FixedTag<std::int32_t, kBlock>;

// Four vectors of four become the columns of what they were the rows of.
HWY_INLINE void transpose4(hn::Vec<D4>& a, hn::Vec<D4>& b, hn::Vec<D4>& c, hn::Vec<D4>& d) {
  const D4 d4;
  const hn::Repartition<std::int64_t, D4> d2;
  const auto ab_low = hn::BitCast(d2, hn::InterleaveLower(d4, a, b));
  const auto cd_low = hn::BitCast(d2, hn::InterleaveLower(d4, c, d));
  const auto ab_high = hn::BitCast(d2, hn::InterleaveUpper(d4, a, b));
  const auto cd_high = hn::BitCast(d2, hn::InterleaveUpper(d4, c, d));
  a = hn::BitCast(d4, hn::InterleaveLower(d2, ab_low, cd_low));
  b = hn::BitCast(d4, hn::InterleaveUpper(d2, ab_low, cd_low));
  c = hn::BitCast(d4, hn::InterleaveLower(d2, ab_high, cd_high));
  d = hn::BitCast(d4, hn::InterleaveUpper(d2, ab_high, cd_high));
}
#endif

// Elements i < count of lane l < used: to[i * lanes + l] = from[l][i]. May read three elements
// behind a row; lanes from `used` on get anything.
template <typename I>
HWY_INLINE void transpose_rows(const I* const* from, int used, int count, I* to) {
  const int lanes = Lanes<I>::count();
#if HWY_TARGET != HWY_SCALAR
  if constexpr (sizeof(I) == 4) {
    if (lanes % kBlock == 0) {
      const D4 d;
      for (int i = 0; i < count; i += kBlock) {
        for (int l = 0; l < used; l += kBlock) {
          const I* const first = from[l];
          auto v0 = hn::LoadU(d, first + i);
          auto v1 = hn::LoadU(d, (l + 1 < used ? from[l + 1] : first) + i);
          auto v2 = hn::LoadU(d, (l + 2 < used ? from[l + 2] : first) + i);
          auto v3 = hn::LoadU(d, (l + 3 < used ? from[l + 3] : first) + i);
          transpose4(v0, v1, v2, v3);
          I* out = to + std::int64_t{i} * lanes + l;
          hn::Store(v0, d, out);
          if (i + 1 < count) hn::Store(v1, d, out + lanes);
          if (i + 2 < count) hn::Store(v2, d, out + 2 * lanes);
          if (i + 3 < count) hn::Store(v3, d, out + 3 * lanes);
        }
      }
      return;
    }
  }
#endif
  for (int i = 0; i < count; ++i) {
    for (int l = 0; l < used; ++l) to[std::int64_t{i} * lanes + l] = from[l][i];
  }
}

// The inverse: to[l][i] = from[i * lanes + l]. Writes no element from `room` on, but may write up
// to it; reads three elements' lanes behind the last.
template <typename I>
HWY_INLINE void transpose_lanes(const I* from, int used, int count,
                                [[maybe_unused]] std::int64_t room, I* const* to) {
  const int lanes = Lanes<I>::count();
  int done = 0;
#if HWY_TARGET != HWY_SCALAR
  if constexpr (sizeof(I) == 4) {
    if (lanes % kBlock == 0) {
      const D4 d;
      for (; done < count && done + kBlock <= room; done += kBlock) {
        for (int l = 0; l < used; l += kBlock) {
          const I* in = from + std::int64_t{done} * lanes + l;
          auto v0 = hn::Load(d, in);
          auto v1 = hn::Load(d, in + lanes);
          auto v2 = hn::Load(d, in + 2 * lanes);
          auto v3 = hn::Load(d, in + 3 * lanes);
          transpose4(v0, v1, v2, v3);
          hn::StoreU(v0, d, to[l] + done);
          if (l + 1 < used) hn::StoreU(v1, d, to[l + 1] + done);
          if (l + 2 < used) hn::StoreU(v2, d, to[l + 2] + done);
          if (l + 3 < used) hn::StoreU(v3, d, to[l + 3] + done);
        }
      }
    }
  }
#endif
  for (int i = done; i < count; ++i) {
    for (int l = 0; l < used; ++l) to[l][i] = from[std::int64_t{i} * lanes + l];
  }
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace tamis::reduce
HWY_AFTER_NAMESPACE();

#endif  // include guard
