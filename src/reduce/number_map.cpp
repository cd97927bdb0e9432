// Both directions of the number maps, a row at a time. Narrow affine rows go through the vector
// code of map_rows.cpp; the rest is rare or wide.
#include "reduce/number_map.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "reduce/map_rows.hpp"

namespace tamis::reduce {

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

// In vectors; false when some value has no lattice value.
template <typename T>
bool quantise_dense(const NumberMap& map, const T* values, std::int64_t stride, int count,
                    std::int32_t* out) {
  if (stride == 1) return quantise_rows(map, ValueRows<const T>{{values}, 1, count}, out, 0) == 0;
  constexpr int kPiece = 256;
  T dense[kPiece];
  for (int at = 0; at < count; at += kPiece) {
    const int n = std::min(kPiece, count - at);
    for (int i = 0; i < n; ++i) dense[i] = values[(at + i) * stride];
    if (quantise_rows(map, ValueRows<const T>{{dense}, 1, n}, out + at, 0) != 0) return false;
  }
  return true;
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
        if (quantise_dense(*this, values, stride, count, out)) return;
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
        reconstruct_rows(*this, lattice, 0, ValueRows<T>{{out}, 1, count});
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
