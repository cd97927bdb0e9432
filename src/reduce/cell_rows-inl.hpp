// Row operations of the cell kernels, compiled once per instruction set: 32-bit rows run in vectors
// of at most eight lanes (a tile's rows are that short), 64-bit rows in plain loops. Each vector
// path repeats lattice_math.hpp operation for operation. (Include guard toggles per target.)
#if defined(TAMIS_REDUCE_CELL_ROWS_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef TAMIS_REDUCE_CELL_ROWS_INL_HPP_
#undef TAMIS_REDUCE_CELL_ROWS_INL_HPP_
#else
#define TAMIS_REDUCE_CELL_ROWS_INL_HPP_
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "reduce/lattice_math.hpp"

HWY_BEFORE_NAMESPACE();
namespace tamis::reduce {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D32 = hn::CappedTag<std::int32_t, 8>;
using V32 = hn::Vec<D32>;

HWY_INLINE V32 linear_v(V32 b, V32 c) {
  return hn::ShiftRight<1>(hn::Add(hn::Add(b, c), hn::Set(D32(), 1)));
}

HWY_INLINE V32 cubic_v(V32 a, V32 b, V32 c, V32 e) {
  const D32 d;
  const V32 bend = hn::ShiftRight<3>(hn::Add(hn::Add(hn::Sub(b, a), hn::Sub(c, e)), hn::Set(d, 4)));
  return hn::ShiftRight<1>(hn::Add(hn::Add(hn::Add(b, c), bend), hn::Set(d, 1)));
}

HWY_INLINE V32 magnitude_v(V32 a) { return hn::Max(hn::Abs(a), hn::Zero(D32())); }

// Exact nearest quotient: the second step repairs what single precision lost in the first.
HWY_INLINE V32 divide_v(V32 value, V32 step, hn::Vec<hn::RebindToFloat<D32>> inverse) {
  const hn::RebindToFloat<D32> df;
  const V32 first = hn::NearestInt(hn::Mul(hn::ConvertTo(df, value), inverse));
  const V32 rest = hn::Sub(value, hn::Mul(first, step));
  return hn::Add(first, hn::NearestInt(hn::Mul(hn::ConvertTo(df, rest), inverse)));
}

template <typename I>
HWY_INLINE void row_linear(const I* b, const I* c, int n, I* p, I* activity) {
  if constexpr (sizeof(I) == 4) {
    const D32 d;
    for (int i = 0; i < n; i += static_cast<int>(hn::Lanes(d))) {
      const V32 vb = hn::LoadU(d, b + i);
      const V32 vc = hn::LoadU(d, c + i);
      hn::StoreU(linear_v(vb, vc), d, p + i);
      if (activity) hn::StoreU(magnitude_v(hn::Sub(vb, vc)), d, activity + i);
    }
  } else {
    for (int i = 0; i < n; ++i) {
      p[i] = predict_linear(b[i], c[i]);
      if (activity) activity[i] = activity_linear(b[i], c[i]);
    }
  }
}

template <typename I>
HWY_INLINE void row_cubic(const I* a, const I* b, const I* c, const I* e, int n, I* p,
                          I* activity) {
  if constexpr (sizeof(I) == 4) {
    const D32 d;
    for (int i = 0; i < n; i += static_cast<int>(hn::Lanes(d))) {
      const V32 va = hn::LoadU(d, a + i);
      const V32 vb = hn::LoadU(d, b + i);
      const V32 vc = hn::LoadU(d, c + i);
      const V32 ve = hn::LoadU(d, e + i);
      hn::StoreU(cubic_v(va, vb, vc, ve), d, p + i);
      if (activity) {
        const V32 turn = magnitude_v(hn::Sub(hn::Sub(vb, va), hn::Sub(ve, vc)));
        const V32 slope = hn::ShiftRight<2>(magnitude_v(hn::Sub(vb, vc)));
        hn::StoreU(hn::Add(turn, slope), d, activity + i);
      }
    }
  } else {
    for (int i = 0; i < n; ++i) {
      p[i] = predict_cubic(a[i], b[i], c[i], e[i]);
      if (activity) activity[i] = activity_cubic(a[i], b[i], c[i], e[i]);
    }
  }
}

template <typename I>
HWY_INLINE void row_extend_line(const I* a, const I* b, int n, I* out) {
  for (int i = 0; i < n; ++i) out[i] = extend_line(a[i], b[i]);
}

template <typename I>
HWY_INLINE void row_extend_parabola(const I* a, const I* b, const I* c, int n, I* out) {
  for (int i = 0; i < n; ++i) out[i] = extend_parabola(a[i], b[i], c[i]);
}

// p = mean of p and q; the same for activities.
template <typename I>
HWY_INLINE void row_mean2(I* p, const I* q, int n) {
  for (int i = 0; i < n; ++i) p[i] = predict_linear(p[i], q[i]);
}

// p = (p + q + 2 r + 2) / 4, r being the preferred direction.
template <typename I>
HWY_INLINE void row_mean3(I* p, const I* q, const I* r, int n) {
  for (int i = 0; i < n; ++i) {
    p[i] =
        static_cast<I>(wrap_add<I>(wrap_add(wrap_add(p[i], q[i]), wrap_mul<I>(2, r[i])), 2) >> 2);
  }
}

template <typename I>
HWY_INLINE void row_contexts(const I* activity, int n, float inverse_step, std::uint8_t base,
                             std::uint8_t* out) {
  if constexpr (sizeof(I) == 4) {
    const D32 d;
    const hn::RebindToFloat<D32> df;
    const hn::RebindToUnsigned<D32> du;
    for (int i = 0; i < n; i += static_cast<int>(hn::Lanes(d))) {
      const V32 act = hn::Max(hn::LoadU(d, activity + i), hn::Zero(d));
      const auto scaled =
          hn::Add(hn::Mul(hn::ConvertTo(df, act), hn::Set(df, inverse_step)), hn::Set(df, 1.0F));
      const auto half_octave =
          hn::Sub(hn::ShiftRight<22>(hn::BitCast(du, scaled)), hn::Set(du, 254U));
      const auto clamped = hn::Min(half_octave, hn::Set(du, kActivityClasses - 1U));
      const auto bytes = hn::U8FromU32(hn::Add(clamped, hn::Set(du, std::uint32_t{base})));
      hn::StoreU(bytes, hn::Rebind<std::uint8_t, D32>(), out + i);
    }
  } else {
    for (int i = 0; i < n; ++i) {
      out[i] = static_cast<std::uint8_t>(base + activity_class(activity[i], inverse_step));
    }
  }
}

// Every other element from `from`, starting at 0 or 1.
template <typename I>
HWY_INLINE void row_split(const I* from, int parity, int n, I* out) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (sizeof(I) == 4) {
    const D32 d;
    const int lanes = static_cast<int>(hn::Lanes(d));
    for (int i = 0; i < n; i += lanes) {
      const V32 low = hn::LoadU(d, from + 2 * i);
      const V32 high = hn::LoadU(d, from + 2 * i + lanes);
      hn::StoreU(parity ? hn::ConcatOdd(d, high, low) : hn::ConcatEven(d, high, low), d, out + i);
    }
    return;
  }
#endif
  for (int i = 0; i < n; ++i) out[i] = from[2 * i + parity];
}

// even[0] odd[0] even[1] odd[1] ... for n_even + n_odd elements, n_even - n_odd in {0, 1}.
template <typename I>
HWY_INLINE void row_interleave(const I* even, const I* odd, int n_even, int n_odd, I* out) {
  for (int i = 0; i < n_odd; ++i) {
    out[2 * i] = even[i];
    out[2 * i + 1] = odd[i];
  }
  if (n_even > n_odd) out[2 * n_odd] = even[n_odd];
}

// codes and reconstruction from predictions; `valid` (may be null) zeroes codes.
template <typename I>
HWY_INLINE void row_quantise(const I* x, const I* p, int n, I step, float inverse,
                             const std::uint8_t* valid, I* codes, I* r) {
  if constexpr (sizeof(I) == 4) {
    const D32 d;
    const hn::RebindToFloat<D32> df;
    const V32 vstep = hn::Set(d, step);
    const auto vinverse = hn::Set(df, inverse);
    for (int i = 0; i < n; i += static_cast<int>(hn::Lanes(d))) {
      const V32 vp = hn::LoadU(d, p + i);
      V32 code = hn::Sub(hn::LoadU(d, x + i), vp);
      if (step != 1) code = divide_v(code, vstep, vinverse);
      if (valid) {
        const auto keep = hn::PromoteTo(d, hn::LoadU(hn::Rebind<std::uint8_t, D32>(), valid + i));
        code = hn::IfThenElseZero(hn::Gt(keep, hn::Zero(d)), code);
      }
      hn::StoreU(code, d, codes + i);
      const V32 value = hn::Add(vp, hn::Mul(code, vstep));
      if (n - i >= static_cast<int>(hn::Lanes(d))) {
        hn::StoreU(value, d, r + i);
      } else {
        hn::BlendedStore(value, hn::FirstN(d, static_cast<std::size_t>(n - i)), d, r + i);
      }
    }
  } else {
    for (int i = 0; i < n; ++i) {
      I code = divide_nearest(wrap_sub(x[i], p[i]), step);
      if (valid && !valid[i]) code = 0;
      codes[i] = code;
      r[i] = wrap_add(p[i], wrap_mul(code, step));
    }
  }
}

template <typename I>
HWY_INLINE void row_reconstruct(const I* codes, const I* p, int n, I step, I* r) {
  for (int i = 0; i < n; ++i) r[i] = wrap_add(p[i], wrap_mul(codes[i], step));
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace tamis::reduce
HWY_AFTER_NAMESPACE();

#endif  // include guard
