// One pass over the field for all of its bit maps.
#include "reduce/field_masks.hpp"

#include <cmath>

#include "reduce/value_bits.hpp"

namespace tamis::reduce {

template <typename T>
FieldMasks find_masks(FieldSource<T>& source, const FieldScan<T>& scan, bool logarithm) {
  FieldMasks masks;
  const bool fill = scan.masked_count > 0;
  masks.any_zeros = logarithm && scan.may_have_zeros;
  masks.any_signs = logarithm && scan.has_negative;
  masks.any_voids = fill || masks.any_zeros;
  if (!masks.any_voids && !masks.any_signs) return masks;
  if (fill) masks.fill = BitMap(source.count());
  if (masks.any_zeros) masks.zeros = BitMap(source.count());
  if (masks.any_signs) masks.signs = BitMap(source.count());
  bool zero_found = false;
  source.pieces()([&](std::int64_t first, std::int64_t count, const T* data) {
    for (std::int64_t i = 0; i < count; ++i) {
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

template FieldMasks find_masks(FieldSource<float>&, const FieldScan<float>&, bool);
template FieldMasks find_masks(FieldSource<double>&, const FieldScan<double>&, bool);

}  // namespace tamis::reduce
