// Both directions of the number maps. The loops are plain so that each instruction set vectorises
// them; contraction is off for the whole project, so all of them round alike.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reduce/number_map.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
//
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "reduce/number_map.hpp"

HWY_BEFORE_NAMESPACE();
namespace tamis::reduce {
namespace HWY_NAMESPACE {

// Adding and subtracting 1.5 * 2^52 rounds to nearest even; the low bits of the sum are the
// integer.
constexpr double kRoundMagic = 6755399441055744.0;

template <typename T>
bool quantise_narrow(const T* values, int count, double offset, double inverse, std::int32_t* out) {
  double worst = 0;
  bool finite = true;
  for (int i = 0; i < count; ++i) {
    const double scaled = (static_cast<double>(values[i]) - offset) * inverse;
    worst = std::max(worst, std::fabs(scaled));
    finite &= scaled == scaled;
    const double shifted = scaled + kRoundMagic;
    std::int64_t bits;
    std::memcpy(&bits, &shifted, sizeof bits);
    out[i] = static_cast<std::int32_t>(bits);  // the magic's low 32 bits are zero
  }
  return finite && worst < 268435456.0;  // 2^28
}

template <typename T>
void reconstruct_narrow(const std::int32_t* lattice, int count, double offset, double unit,
                        T* out) {
  for (int i = 0; i < count; ++i) {
    out[i] = static_cast<T>(offset + unit * static_cast<double>(lattice[i]));
  }
}

template <typename T>
bool all_below(const T* x, const T* r, int count, double bound) {
  int failed = 0;  // NaN differences fail as well
  for (int i = 0; i < count; ++i) {
    failed |= !(std::fabs(static_cast<double>(x[i]) - static_cast<double>(r[i])) < bound);
  }
  return failed == 0;
}

bool within_f32(const float* x, const float* r, int n, double bound) {
  return all_below(x, r, n, bound);
}
bool within_f64(const double* x, const double* r, int n, double bound) {
  return all_below(x, r, n, bound);
}
bool quantise_f32(const float* v, int n, double offset, double inverse, std::int32_t* out) {
  return quantise_narrow(v, n, offset, inverse, out);
}
bool quantise_f64(const double* v, int n, double offset, double inverse, std::int32_t* out) {
  return quantise_narrow(v, n, offset, inverse, out);
}
void reconstruct_f32(const std::int32_t* lattice, int n, double offset, double unit, float* out) {
  reconstruct_narrow(lattice, n, offset, unit, out);
}
void reconstruct_f64(const std::int32_t* lattice, int n, double offset, double unit, double* out) {
  reconstruct_narrow(lattice, n, offset, unit, out);
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace tamis::reduce
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tamis::reduce {

HWY_EXPORT(quantise_f32);
HWY_EXPORT(quantise_f64);
HWY_EXPORT(reconstruct_f32);
HWY_EXPORT(reconstruct_f64);
HWY_EXPORT(within_f32);
HWY_EXPORT(within_f64);

bool within_bound(const float* x, const float* r, int count, double bound) {
  return HWY_DYNAMIC_DISPATCH(within_f32)(x, r, count, bound);
}
bool within_bound(const double* x, const double* r, int count, double bound) {
  return HWY_DYNAMIC_DISPATCH(within_f64)(x, r, count, bound);
}

const char* map_kind_name(MapKind kind) noexcept {
  switch (kind) {
    case MapKind::kAffine:
      return "affine";
    case MapKind::kLattice:
      return "lattice";
    case MapKind::kPalette:
      return "palette";
    case MapKind::kOrdered:
      return "ordered";
    case MapKind::kLogarithm:
      return "logarithm";
  }
  return "unknown";
}

namespace {

bool quantise_vector(const float* v, int n, double offset, double inverse, std::int32_t* out) {
  return HWY_DYNAMIC_DISPATCH(quantise_f32)(v, n, offset, inverse, out);
}
bool quantise_vector(const double* v, int n, double offset, double inverse, std::int32_t* out) {
  return HWY_DYNAMIC_DISPATCH(quantise_f64)(v, n, offset, inverse, out);
}
void reconstruct_vector(const std::int32_t* x, int n, double offset, double unit, float* out) {
  HWY_DYNAMIC_DISPATCH(reconstruct_f32)(x, n, offset, unit, out);
}
void reconstruct_vector(const std::int32_t* x, int n, double offset, double unit, double* out) {
  HWY_DYNAMIC_DISPATCH(reconstruct_f64)(x, n, offset, unit, out);
}

// 2^28 and 2^58: what the transform of each width can hold.
template <typename I>
constexpr double kLatticeLimit = sizeof(I) == 4 ? 268435456.0 : 288230376151711744.0;

template <typename T, typename I>
void quantise_affine(const NumberMap& map, const T* values, std::int64_t stride, int count,
                     I* out) {
  const double inverse = 1.0 / map.unit;
  I last = 0;
  for (int i = 0; i < count; ++i) {
    const double scaled = (static_cast<double>(values[i * stride]) - map.offset) * inverse;
    if (std::fabs(scaled) < kLatticeLimit<I>) last = static_cast<I>(std::llrint(scaled));
    out[i] = last;
  }
}

// Nearest palette entry; palettes are sorted.
std::int64_t palette_index(const std::vector<double>& palette, double value) {
  const auto above = std::lower_bound(palette.begin(), palette.end(), value);
  if (above == palette.begin()) return 0;
  if (above == palette.end()) return static_cast<std::int64_t>(palette.size()) - 1;
  const bool take_below = value - *(above - 1) <= *above - value;
  return above - palette.begin() - (take_below ? 1 : 0);
}

}  // namespace

template <typename T, typename I>
void NumberMap::quantise(const T* values, std::int64_t stride, int count, I* out) const {
  switch (kind) {
    case MapKind::kAffine:
    case MapKind::kLattice:
      if constexpr (sizeof(I) == 4) {
        if (stride == 1 && quantise_vector(values, count, offset, 1.0 / unit, out)) return;
      }
      quantise_affine(*this, values, stride, count, out);
      return;
    case MapKind::kPalette: {
      I last = 0;
      for (int i = 0; i < count; ++i) {
        const double value = static_cast<double>(values[i * stride]);
        if (std::isfinite(value)) last = static_cast<I>(palette_index(palette, value));
        out[i] = last;
      }
      return;
    }
    case MapKind::kOrdered:
      for (int i = 0; i < count; ++i) out[i] = static_cast<I>(ordered_bits(values[i * stride]));
      return;
    case MapKind::kLogarithm: {
      I last = 0;
      for (int i = 0; i < count; ++i) {
        const T value = std::fabs(values[i * stride]);
        if (std::isfinite(value)) last = static_cast<I>(ordered_bits(value));
        out[i] = last;
      }
      return;
    }
  }
}

template <typename T, typename I>
void NumberMap::reconstruct(const I* lattice, int count, T* out) const {
  using Bits = decltype(ordered_bits(T{}));
  switch (kind) {
    case MapKind::kAffine:
    case MapKind::kLattice:
      if constexpr (sizeof(I) == 4) {
        reconstruct_vector(lattice, count, offset, unit, out);
      } else {
        for (int i = 0; i < count; ++i) {
          out[i] = static_cast<T>(offset + unit * static_cast<double>(lattice[i]));
        }
      }
      return;
    case MapKind::kPalette: {
      const I top = static_cast<I>(palette.size()) - 1;
      for (int i = 0; i < count; ++i) {
        const auto index = static_cast<std::size_t>(std::clamp<I>(lattice[i], 0, top));
        out[i] = static_cast<T>(palette[index]);
      }
      return;
    }
    case MapKind::kOrdered:
      for (int i = 0; i < count; ++i) out[i] = from_ordered_bits(static_cast<Bits>(lattice[i]));
      return;
    case MapKind::kLogarithm: {
      const I top = static_cast<I>(std::numeric_limits<Bits>::max());
      for (int i = 0; i < count; ++i) {
        out[i] = from_ordered_bits(static_cast<Bits>(std::clamp<I>(lattice[i], 0, top)));
      }
      return;
    }
  }
}

template void NumberMap::quantise(const float*, std::int64_t, int, std::int32_t*) const;
template void NumberMap::quantise(const float*, std::int64_t, int, std::int64_t*) const;
template void NumberMap::quantise(const double*, std::int64_t, int, std::int32_t*) const;
template void NumberMap::quantise(const double*, std::int64_t, int, std::int64_t*) const;
template void NumberMap::reconstruct(const std::int32_t*, int, float*) const;
template void NumberMap::reconstruct(const std::int64_t*, int, float*) const;
template void NumberMap::reconstruct(const std::int32_t*, int, double*) const;
template void NumberMap::reconstruct(const std::int64_t*, int, double*) const;

}  // namespace tamis::reduce
#endif  // HWY_ONCE
