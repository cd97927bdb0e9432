// One pass over the field for all of its bit maps.
#include "reduce/field_masks.hpp"

#include <cmath>

#include "reduce/value_bits.hpp"

namespace tamis::reduce {

template <typename T>
FieldMasks find_masks(const EachPiece<T>& pieces, std::int64_t count, const FieldScan<T>& scan,
                      bool logarithm) {
  FieldMasks masks;
  const bool fill = scan.masked_count > 0;
  masks.any_zeros = logarithm && scan.may_have_zeros;
  masks.any_signs = logarithm && scan.has_negative;
  masks.any_voids = fill || masks.any_zeros;
  if (!may_have_masks(scan, logarithm)) return masks;
  if (fill) masks.fill = BitMap(count);
  if (masks.any_zeros) masks.zeros = BitMap(count);
  if (masks.any_signs) masks.signs = BitMap(count);
  bool zero_found = false;
  pieces([&](std::int64_t first, std::int64_t size, const T* data) {
    for (std::int64_t i = 0; i < size; ++i) {
      if (fill && is_fill(data[i], *scan.fill)) {
        masks.fill.set(first + i);
        if (bits_of(data[i]) != bits_of(*scan.fill)) {
          masks.patches.push_back({first + i, bits_of(data[i])});
        }
        continue;
      }
      if (masks.any_zeros && data[i] == 0) {
        masks.zeros.set(first + i);
        zero_found = true;
      }
      if (masks.any_signs && std::signbit(data[i])) masks.signs.set(first + i);
    }
    return true;
  });
  // The scan's word on zeros depends on how the field is cut up, and the bytes must not.
  if (!zero_found) {
    masks.any_zeros = false;
    masks.zeros = BitMap();
    masks.any_voids = fill;
  }
  if (masks.any_voids) {
    masks.voids = fill ? masks.fill : masks.zeros;
    if (fill && masks.any_zeros) masks.voids.merge(masks.zeros);
  }
  return masks;
}

template FieldMasks find_masks(const EachPiece<float>&, std::int64_t, const FieldScan<float>&,
                               bool);
template FieldMasks find_masks(const EachPiece<double>&, std::int64_t, const FieldScan<double>&,
                               bool);

}  // namespace tamis::reduce
