// Lanes of the cell kernels, compiled once per instruction set: 32-bit values in vectors of at most
// eight lanes (a tile's rows are that short), 64-bit values one at a time. Both spell out
// lattice_math.hpp operation for operation. (Include guard toggles per target.)
#if defined(TAMIS_REDUCE_CELL_LANES_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef TAMIS_REDUCE_CELL_LANES_INL_HPP_
#undef TAMIS_REDUCE_CELL_LANES_INL_HPP_
#else
#define TAMIS_REDUCE_CELL_LANES_INL_HPP_
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <cstring>

#include "reduce/lattice_math.hpp"

HWY_BEFORE_NAMESPACE();
namespace tamis::reduce {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <typename I>
struct Lanes;

template <>
struct Lanes<std::int32_t> {
  using D = hn::CappedTag<std::int32_t, 8>;
  using DF = hn::RebindToFloat<D>;
  using DU = hn::RebindToUnsigned<D>;
  using V = hn::Vec<D>;

  // What divide() needs of the step.
  struct Step {
    explicit Step(std::int32_t s)
        : is_one(s == 1),
          step(hn::Set(D(), s)),
          inverse(hn::Set(DF(), 1.0F / static_cast<float>(s))) {}
    bool is_one;
    V step;
    hn::Vec<DF> inverse;
  };

  static HWY_INLINE int count() { return static_cast<int>(hn::Lanes(D())); }
  static HWY_INLINE V load(const std::int32_t* p) { return hn::LoadU(D(), p); }
  static HWY_INLINE void store(V v, std::int32_t* p) { hn::StoreU(v, D(), p); }
  static HWY_INLINE void store_some(V v, std::int32_t* p, int n) {
    if (n >= count()) {
      hn::StoreU(v, D(), p);
    } else {
      hn::BlendedStore(v, hn::FirstN(D(), static_cast<std::size_t>(n)), D(), p);
    }
  }
  static HWY_INLINE V set(std::int32_t x) { return hn::Set(D(), x); }
  static HWY_INLINE V add(V a, V b) { return hn::Add(a, b); }
  static HWY_INLINE V sub(V a, V b) { return hn::Sub(a, b); }
  template <int kBits>
  static HWY_INLINE V shift_right(V a) {
    return hn::ShiftRight<kBits>(a);
  }
  static HWY_INLINE V magnitude(V a) { return hn::Max(hn::Abs(a), hn::Zero(D())); }
  static HWY_INLINE V multiply(V a, const Step& s) { return hn::Mul(a, s.step); }
  // Exact nearest quotient: the second step repairs what single precision lost in the first.
  static HWY_INLINE V divide(V a, const Step& s) {
    if (s.is_one) return a;
    const V first = hn::NearestInt(hn::Mul(hn::ConvertTo(DF(), a), s.inverse));
    const V rest = hn::Sub(a, hn::Mul(first, s.step));
    return hn::Add(first, hn::NearestInt(hn::Mul(hn::ConvertTo(DF(), rest), s.inverse)));
  }
  // `v` with lane `lane` taken from `other`.
  static HWY_INLINE V replace_lane(V v, V other, int lane) {
    return hn::IfThenElse(hn::Eq(hn::Iota(D(), 0), hn::Set(D(), lane)), other, v);
  }
  static HWY_INLINE V keep_valid(V v, const std::uint8_t* valid) {
    const V keep = hn::PromoteTo(D(), hn::LoadU(hn::Rebind<std::uint8_t, D>(), valid));
    return hn::IfThenElseZero(hn::Gt(keep, hn::Zero(D())), v);
  }
  // Elements parity, parity + 2, ... of `from`.
  static HWY_INLINE V load_split(const std::int32_t* from, int parity) {
#if HWY_TARGET == HWY_SCALAR
    return hn::LoadU(D(), from + parity);
#else
    const V low = hn::LoadU(D(), from);
    const V high = hn::LoadU(D(), from + count());
    return parity != 0 ? hn::ConcatOdd(D(), high, low) : hn::ConcatEven(D(), high, low);
#endif
  }
  static HWY_INLINE void store_contexts(V activity, const Step& s, std::uint8_t base,
                                        std::uint8_t* out) {
    const V positive = hn::Max(activity, hn::Zero(D()));
    const auto scaled =
        hn::Add(hn::Mul(hn::ConvertTo(DF(), positive), s.inverse), hn::Set(DF(), 1.0F));
    const auto half_octave =
        hn::Sub(hn::ShiftRight<22>(hn::BitCast(DU(), scaled)), hn::Set(DU(), 254U));
    const auto clamped = hn::Min(half_octave, hn::Set(DU(), kActivityClasses - 1U));
    hn::StoreU(hn::U8FromU32(hn::Add(clamped, hn::Set(DU(), std::uint32_t{base}))),
               hn::Rebind<std::uint8_t, D>(), out);
  }
};

template <>
struct Lanes<std::int64_t> {
  using V = std::int64_t;

  struct Step {
    explicit Step(std::int64_t s) : step(s), inverse(1.0F / static_cast<float>(s)) {}
    std::int64_t step;
    float inverse;
  };

  static constexpr int count() { return 1; }
  static HWY_INLINE V load(const std::int64_t* p) { return *p; }
  static HWY_INLINE void store(V v, std::int64_t* p) { *p = v; }
  static HWY_INLINE void store_some(V v, std::int64_t* p, int) { *p = v; }
  static HWY_INLINE V set(std::int64_t x) { return x; }
  static HWY_INLINE V add(V a, V b) { return wrap_add(a, b); }
  static HWY_INLINE V sub(V a, V b) { return wrap_sub(a, b); }
  template <int kBits>
  static HWY_INLINE V shift_right(V a) {
    return a >> kBits;
  }
  static HWY_INLINE V magnitude(V a) { return tamis::reduce::magnitude(a); }
  static HWY_INLINE V multiply(V a, const Step& s) { return wrap_mul(a, s.step); }
  static HWY_INLINE V divide(V a, const Step& s) { return divide_nearest(a, s.step); }
  static HWY_INLINE V replace_lane(V v, V other, int lane) { return lane == 0 ? other : v; }
  static HWY_INLINE V keep_valid(V v, const std::uint8_t* valid) { return *valid != 0 ? v : 0; }
  static HWY_INLINE V load_split(const std::int64_t* from, int parity) { return from[parity]; }
  static HWY_INLINE void store_contexts(V activity, const Step& s, std::uint8_t base,
                                        std::uint8_t* out) {
    *out = static_cast<std::uint8_t>(base + activity_class(activity, s.inverse));
  }
};

template <typename L>
HWY_INLINE typename L::V linear_v(typename L::V b, typename L::V c) {
  return L::template shift_right<1>(L::add(L::add(b, c), L::set(1)));
}

template <typename L>
HWY_INLINE typename L::V cubic_v(typename L::V a, typename L::V b, typename L::V c,
                                 typename L::V e) {
  const auto bend =
      L::template shift_right<3>(L::add(L::add(L::sub(b, a), L::sub(c, e)), L::set(4)));
  return L::template shift_right<1>(L::add(L::add(L::add(b, c), bend), L::set(1)));
}

template <typename L>
HWY_INLINE typename L::V extend_line_v(typename L::V a, typename L::V b) {
  return L::add(b, L::sub(b, a));
}

template <typename L>
HWY_INLINE typename L::V extend_parabola_v(typename L::V a, typename L::V b, typename L::V c) {
  const auto slope = L::sub(c, b);
  return L::add(a, L::add(slope, L::add(slope, slope)));
}

// Plain loops over rows; the compiler vectorises them per target.

template <typename I>
HWY_INLINE void row_interleave(const I* even, const I* odd, int n_even, int n_odd, I* out) {
  int i = 0;
#if HWY_TARGET != HWY_SCALAR
  if constexpr (sizeof(I) == 4) {
    const hn::CappedTag<std::int32_t, 4> d;
    const int lanes = static_cast<int>(hn::Lanes(d));
    for (; i + lanes <= n_odd; i += lanes) {
      hn::StoreInterleaved2(hn::LoadU(d, even + i), hn::LoadU(d, odd + i), d, out + 2 * i);
    }
  }
#endif
  for (; i < n_odd; ++i) {
    out[2 * i] = even[i];
    out[2 * i + 1] = odd[i];
  }
  if (n_even > n_odd) out[2 * n_odd] = even[n_odd];
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace tamis::reduce
HWY_AFTER_NAMESPACE();

#endif  // include guard
