// The bit maps of a field: which points are fill, zero or negative, and which carry no code.
#pragma once

#include <vector>

#include "reduce/bit_map.hpp"
#include "reduce/field_rows.hpp"
#include "reduce/field_scan.hpp"

namespace tamis::reduce {

/// The bit maps of a field and the patches that they need.
struct FieldMasks {
  BitMap fill;
  BitMap zeros;
  BitMap signs;
  BitMap voids;  // fill or zero: points without a code
  bool any_voids = false;
  bool any_zeros = false;
  bool any_signs = false;
  std::vector<Patch> patches;  // masked points whose bits are not the fill's
};

/// Whether there may be any.
template <typename T>
bool may_have_masks(const FieldScan<T>& scan, bool logarithm) {
  return scan.masked_count > 0 || (logarithm && (scan.may_have_zeros || scan.has_negative));
}

/// `logarithm` says that zeros and signs are stored apart. Looks at the field only where
/// may_have_masks().
template <typename T>
FieldMasks find_masks(const EachPiece<T>& pieces, std::int64_t count, const FieldScan<T>& scan,
                      bool logarithm);

}  // namespace tamis::reduce
