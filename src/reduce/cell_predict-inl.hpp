// Prediction of a point along one axis, with what stands in for missing neighbours. (Include guard
// toggles per target.)
#if defined(TAMIS_REDUCE_CELL_PREDICT_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef TAMIS_REDUCE_CELL_PREDICT_INL_HPP_
#undef TAMIS_REDUCE_CELL_PREDICT_INL_HPP_
#else
#define TAMIS_REDUCE_CELL_PREDICT_INL_HPP_
#endif

#include <cstdint>

#include "reduce/cell_lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tamis::reduce {
namespace HWY_NAMESPACE {

// Which of the four neighbours a . b x c . e of a point exist; the missing ones are extrapolated.
enum class Stencil : std::uint8_t {
  kFull,
  kNoFirst,    // a
  kNoLast,     // e
  kInnerOnly,  // a and e
  kNoRight,    // c and e
  kLeftOnly,   // b alone
};

// Of the odd point `index` among `end` points of a level.
HWY_INLINE Stencil stencil_at(int index, int end) {
  const bool has_a = index >= 3;
  if (index + 1 >= end) return has_a ? Stencil::kNoRight : Stencil::kLeftOnly;
  if (index + 3 >= end) return has_a ? Stencil::kNoLast : Stencil::kInnerOnly;
  return has_a ? Stencil::kFull : Stencil::kNoFirst;
}

template <typename L>
struct Predicted {
  typename L::V value;
  typename L::V activity;
};

// `reach` is the distance to b and c in memory.
template <typename I, bool kCubic, bool kContexts>
HWY_INLINE Predicted<Lanes<I>> predict(const I* at, std::int64_t reach, Stencil stencil) {
  using L = Lanes<I>;
  using V = typename L::V;
  const V b = L::load(at - reach);
  V a = b;
  V c = b;
  V e = b;
  switch (stencil) {
    case Stencil::kFull:
      c = L::load(at + reach);
      if (kCubic) {
        a = L::load(at - 3 * reach);
        e = L::load(at + 3 * reach);
      }
      break;
    case Stencil::kNoFirst:
      c = L::load(at + reach);
      if (kCubic) {
        e = L::load(at + 3 * reach);
        a = extend_parabola_v<L>(e, c, b);
      }
      break;
    case Stencil::kNoLast:
      c = L::load(at + reach);
      if (kCubic) {
        a = L::load(at - 3 * reach);
        e = extend_parabola_v<L>(a, b, c);
      }
      break;
    case Stencil::kInnerOnly:
      c = L::load(at + reach);
      if (kCubic) {
        a = extend_line_v<L>(c, b);
        e = extend_line_v<L>(b, c);
      }
      break;
    case Stencil::kNoRight:
      a = L::load(at - 3 * reach);
      c = extend_line_v<L>(a, b);
      if (kCubic) e = extend_parabola_v<L>(a, b, c);
      break;
    case Stencil::kLeftOnly:
      break;
  }
  Predicted<L> out;
  out.value = kCubic ? cubic_v<L>(a, b, c, e) : linear_v<L>(b, c);
  if (kContexts) {
    const V slope = L::magnitude(L::sub(b, c));
    if (kCubic) {
      const V turn = L::magnitude(L::sub(L::sub(b, a), L::sub(e, c)));
      out.activity = L::add(turn, L::template shift_right<2>(slope));
    } else {
      out.activity = slope;
    }
  }
  return out;
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace tamis::reduce
HWY_AFTER_NAMESPACE();

#endif  // include guard
