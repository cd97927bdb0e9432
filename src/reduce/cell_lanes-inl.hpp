// Lanes of the cell kernels, compiled once per instruction set: each lane belongs to a cell of its
// own, so every operation is a plain vertical one. All spell out lattice_math.hpp operation for
// operation. (Include guard toggles per target.)
#if defined(TAMIS_REDUCE_CELL_LANES_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef TAMIS_REDUCE_CELL_LANES_INL_HPP_
#undef TAMIS_REDUCE_CELL_LANES_INL_HPP_
#else
#define TAMIS_REDUCE_CELL_LANES_INL_HPP_
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "reduce/cell.hpp"
#include "reduce/lattice_math.hpp"

HWY_BEFORE_NAMESPACE();
namespace tamis::reduce {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <typename I>
struct Lanes;

template <>
struct Lanes<std::int32_t> {
  using D = hn::CappedTag<std::int32_t, kMaxLanes>;
  using DF = hn::RebindToFloat<D>;
  using DU = hn::RebindToUnsigned<D>;
  using D8 = hn::Rebind<std::uint8_t, D>;
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
  static HWY_INLINE V load(const std::int32_t* p) { return hn::Load(D(), p); }
  static HWY_INLINE void store(V v, std::int32_t* p) { hn::Store(v, D(), p); }
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
  // `yes` where valid is not 0.
  static HWY_INLINE V select(const std::uint8_t* valid, V yes, V no) {
    const V keep = hn::PromoteTo(D(), hn::LoadU(D8(), valid));
    return hn::IfThenElse(hn::Gt(keep, hn::Zero(D())), yes, no);
  }
  static HWY_INLINE void store_contexts(V activity, const Step& s, std::uint8_t base,
                                        std::uint8_t* out) {
    const V positive = hn::Max(activity, hn::Zero(D()));
    const auto scaled =
        hn::Add(hn::Mul(hn::ConvertTo(DF(), positive), s.inverse), hn::Set(DF(), 1.0F));
    const auto half_octave =
        hn::Sub(hn::ShiftRight<22>(hn::BitCast(DU(), scaled)), hn::Set(DU(), 254U));
    const auto clamped = hn::Min(half_octave, hn::Set(DU(), kActivityClasses - 1U));
    hn::StoreU(hn::U8FromU32(hn::Add(clamped, hn::Set(DU(), std::uint32_t{base}))), D8(), out);
  }
};

// 64-bit lanes are vectors of the compiler's own, which splits them as the target needs; products
// and quotients by the step go one at a time.
template <>
struct Lanes<std::int64_t> {
  static constexpr int kLanes = 8;
  static constexpr int kBytes = kLanes * static_cast<int>(sizeof(std::int64_t));
  using V [[gnu::vector_size(kBytes), gnu::may_alias]] = std::int64_t;
  using U [[gnu::vector_size(kBytes)]] = std::uint64_t;

  struct Step {
    explicit Step(std::int64_t s) : step(s), inverse(1.0F / static_cast<float>(s)) {}
    std::int64_t step;
    float inverse;
  };

  static constexpr int count() { return kLanes; }
  static HWY_INLINE V load(const std::int64_t* p) { return *reinterpret_cast<const V*>(p); }
  static HWY_INLINE void store(V a, std::int64_t* p) { *reinterpret_cast<V*>(p) = a; }
  static HWY_INLINE V set(std::int64_t x) { return V{} + x; }
  // Unsigned, so that sums wrap.
  static HWY_INLINE V add(V a, V b) { return V(U(a) + U(b)); }
  static HWY_INLINE V sub(V a, V b) { return V(U(a) - U(b)); }
  template <int kBits>
  static HWY_INLINE V shift_right(V a) {
    return a >> kBits;
  }
  static HWY_INLINE V magnitude(V a) {
    const V m = a < 0 ? sub(V{}, a) : a;
    return m < 0 ? V{} : m;
  }
  static HWY_INLINE V multiply(V a, const Step& s) {
    return V(U(a) * static_cast<std::uint64_t>(s.step));
  }
  static HWY_INLINE V divide(V a, const Step& s) {
    if (s.step == 1) return a;
    V q{};
    for (int i = 0; i < kLanes; ++i) q[i] = divide_nearest<std::int64_t>(a[i], s.step);
    return q;
  }
  static HWY_INLINE V select(const std::uint8_t* valid, V yes, V no) {
    V out = no;
    for (int i = 0; i < kLanes; ++i) out[i] = valid[i] != 0 ? yes[i] : no[i];
    return out;
  }
  static HWY_INLINE void store_contexts(V activity, const Step& s, std::uint8_t base,
                                        std::uint8_t* out) {
    for (int i = 0; i < kLanes; ++i) {
      out[i] =
          static_cast<std::uint8_t>(base + activity_class<std::int64_t>(activity[i], s.inverse));
    }
  }
};

template <typename L>
HWY_INLINE typename L::V linear_v(const typename L::V& b, const typename L::V& c) {
  return L::template shift_right<1>(L::add(L::add(b, c), L::set(1)));
}

template <typename L>
HWY_INLINE typename L::V cubic_v(const typename L::V& a, const typename L::V& b,
                                 const typename L::V& c, const typename L::V& e) {
  const auto bend =
      L::template shift_right<3>(L::add(L::add(L::sub(b, a), L::sub(c, e)), L::set(4)));
  return L::template shift_right<1>(L::add(L::add(L::add(b, c), bend), L::set(1)));
}

template <typename L>
HWY_INLINE typename L::V extend_line_v(const typename L::V& a, const typename L::V& b) {
  return L::add(b, L::sub(b, a));
}

template <typename L>
HWY_INLINE typename L::V extend_parabola_v(const typename L::V& a, const typename L::V& b,
                                           const typename L::V& c) {
  const auto slope = L::sub(c, b);
  return L::add(a, L::add(slope, L::add(slope, slope)));
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace tamis::reduce
HWY_AFTER_NAMESPACE();

#endif  // include guard
