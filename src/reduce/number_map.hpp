// How reals become lattice integers and back. The decoder's half is one multiplication, one
// addition and one rounding per value, written so that every device gets the same bits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tamis/tensor.hpp"

namespace tamis::reduce {

enum class MapKind : std::uint8_t {
  kAffine = 1,     // value = offset + unit * X; the lattice is finer than the bound by `step`
  kLattice = 2,    // the same, on the data's own lattice: every X is exact, step 1
  kPalette = 3,    // value = palette[X]: few distinct values
  kOrdered = 4,    // X = bits of the value as an ordered integer; lossless with step 1
  kLogarithm = 5,  // X = bits of |value| as an integer, a piecewise linear logarithm; signs and
                   // zeros are stored apart (pointwise relative bounds)
};
const char* map_kind_name(MapKind kind) noexcept;

struct NumberMap {
  MapKind kind = MapKind::kAffine;
  DType dtype = DType::kF32;
  bool wide = false;      // 64-bit lattice integers
  std::int64_t step = 1;  // odd; codes count multiples of it
  double offset = 0;
  double unit = 1;
  std::vector<double> palette;

  bool is_affine() const { return kind == MapKind::kAffine || kind == MapKind::kLattice; }

  /// Lattice values of `count` field values, `stride` elements apart. Non-finite values repeat the
  /// value before them (0 at the start), since no code can stand for them.
  template <typename T, typename I>
  void quantise(const T* values, std::int64_t stride, int count, I* out) const;

  /// Field values of `count` lattice values.
  template <typename T, typename I>
  void reconstruct(const I* lattice, int count, T* out) const;
};

/// Ordered integer of a float's bits: monotonic over all finite values and infinities, and -0 is
/// next to +0.
inline std::int32_t ordered_bits(float value) {
  std::int32_t bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  return bits < 0 ? static_cast<std::int32_t>(~static_cast<std::uint32_t>(bits) | 0x80000000U)
                  : bits;
}
inline std::int64_t ordered_bits(double value) {
  std::int64_t bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  return bits < 0
             ? static_cast<std::int64_t>(~static_cast<std::uint64_t>(bits) | 0x8000000000000000U)
             : bits;
}
inline float from_ordered_bits(std::int32_t ordered) {
  const std::uint32_t bits = ordered < 0 ? ~static_cast<std::uint32_t>(ordered) | 0x80000000U
                                         : static_cast<std::uint32_t>(ordered);
  float value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}
inline double from_ordered_bits(std::int64_t ordered) {
  const std::uint64_t bits = ordered < 0
                                 ? ~static_cast<std::uint64_t>(ordered) | 0x8000000000000000U
                                 : static_cast<std::uint64_t>(ordered);
  double value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}

}  // namespace tamis::reduce
