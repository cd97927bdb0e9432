// Which number maps could serve a field under a bound: the data's own lattice or palette where they
// have one, else a lattice derived from the bound, or the floats' bits.
#pragma once

#include <vector>

#include "reduce/field_rows.hpp"
#include "reduce/field_scan.hpp"
#include "reduce/number_map.hpp"

namespace tamis::reduce {

/// Maps that meet the check at (nearly) every point, most promising first; never empty. Compare
/// them with estimate_bits().
template <typename T>
std::vector<NumberMap> candidate_maps(const EachPiece<T>& pieces, const FieldScan<T>& scan,
                                      const PointCheck& check);

}  // namespace tamis::reduce
