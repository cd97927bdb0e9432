// Prediction of a few lanes along one axis, with what stands in for missing neighbours. (Include
// guard toggles per target.)
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
  kLaneEnds,   // a of the first lane and e of the last one
};

template <typename I>
struct Direction {
  Stencil stencil = Stencil::kFull;
  const I* a = nullptr;
  const I* b = nullptr;
  const I* c = nullptr;
  const I* e = nullptr;
  int last = 0;           // last lane of kLaneEnds
  bool no_right = false;  // it has no c (and the lane before it no e)
};

template <typename L>
struct Predicted {
  typename L::V value;
  typename L::V activity;
};

template <typename I, bool kCubic, bool kContexts>
HWY_INLINE Predicted<Lanes<I>> predict(const Direction<I>& d, int i) {
  using L = Lanes<I>;
  using V = typename L::V;
  const V b = L::load(d.b + i);
  V c = b;
  V a = b;
  if (d.stencil == Stencil::kNoRight) {
    a = L::load(d.a + i);
    c = extend_line_v<L>(a, b);
  } else if (d.stencil != Stencil::kLeftOnly) {
    c = L::load(d.c + i);
    if (d.stencil == Stencil::kLaneEnds) {
      a = L::load(d.a + i);
      if (d.no_right && i + L::count() > d.last) {
        c = L::replace_lane(c, extend_line_v<L>(a, b), d.last - i);
      }
    }
  }
  Predicted<L> out;
  const V slope = L::magnitude(L::sub(b, c));
  if (!kCubic) {
    out.value = linear_v<L>(b, c);
    out.activity = slope;
    return out;
  }
  V e = b;
  switch (d.stencil) {
    case Stencil::kFull:
      a = L::load(d.a + i);
      e = L::load(d.e + i);
      break;
    case Stencil::kNoFirst:
      e = L::load(d.e + i);
      a = extend_parabola_v<L>(e, c, b);
      break;
    case Stencil::kNoLast:
      a = L::load(d.a + i);
      e = extend_parabola_v<L>(a, b, c);
      break;
    case Stencil::kNoRight:
      e = extend_parabola_v<L>(a, b, c);
      break;
    case Stencil::kInnerOnly:
    case Stencil::kLeftOnly:
      a = extend_line_v<L>(c, b);
      e = extend_line_v<L>(b, c);
      break;
    case Stencil::kLaneEnds: {
      e = L::load(d.e + i);
      if (i == 0) a = L::replace_lane(a, extend_parabola_v<L>(e, c, b), 0);
      const int first_without = d.no_right ? d.last - 1 : d.last;
      if (i + L::count() > first_without) {
        const V parabola = extend_parabola_v<L>(a, b, c);
        e = L::replace_lane(e, parabola, d.last - i);
        if (d.no_right) e = L::replace_lane(e, parabola, d.last - 1 - i);
      }
      break;
    }
  }
  out.value = cubic_v<L>(a, b, c, e);
  if (kContexts) {
    const V turn = L::magnitude(L::sub(L::sub(b, a), L::sub(e, c)));
    out.activity = L::add(turn, L::template shift_right<2>(slope));
  } else {
    out.activity = slope;
  }
  return out;
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace tamis::reduce
HWY_AFTER_NAMESPACE();

#endif  // include guard
