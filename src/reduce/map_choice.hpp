// Which number maps could serve a field under a bound: the data's own lattice or palette where they
// have one, else a lattice derived from the bound, or the floats' bits.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "reduce/field_rows.hpp"
#include "reduce/field_scan.hpp"
#include "reduce/number_map.hpp"

namespace tamis::reduce {

/// Every so many values of a field of `count` are its sample, from the first on.
std::int64_t sample_stride(std::int64_t count);

/// The map of the data's own lattice or palette, if they have one. Guessed from the sample, of
/// which the order does not matter, and verified on the pieces, which are asked for only when the
/// guess is plausible.
template <typename T>
std::optional<NumberMap> own_map(std::span<const T> sample, const EachPiece<T>& pieces,
                                 const FieldScan<T>& scan, const PointCheck& check);

/// Maps that follow from the scan and the check alone, most promising first; with own_map() before
/// them never empty.
template <typename T>
std::vector<NumberMap> derived_maps(const FieldScan<T>& scan, const PointCheck& check);

/// Maps that meet the check at (nearly) every point, most promising first; never empty:
/// own_map() and derived_maps().
template <typename T>
std::vector<NumberMap> candidate_maps(const EachPiece<T>& pieces, const FieldScan<T>& scan,
                                      const PointCheck& check);

}  // namespace tamis::reduce
