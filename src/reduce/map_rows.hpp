// The affine number maps on rows of 32-bit lattice values, for every instruction set: what the
// encoder and the decoder spend on each value outside of the transform.
#pragma once

#include <cstdint>

#include "reduce/cell.hpp"
#include "reduce/number_map.hpp"

namespace tamis::reduce {

/// Rows of `count` values: row l at data[l] among the field's, at lattice + l * pitch among the
/// lattice's.
template <typename T>
struct ValueRows {
  T* data[kMaxLanes];
  int used;
  int count;
};

/// Lattice values of the rows. Bit l of the result is set when some value of row l has none; that
/// row is then of no use.
std::uint32_t quantise_rows(const NumberMap& map, const ValueRows<const float>& rows,
                            std::int32_t* lattice, std::int64_t pitch);
std::uint32_t quantise_rows(const NumberMap& map, const ValueRows<const double>& rows,
                            std::int32_t* lattice, std::int64_t pitch);

/// Bit l is set unless every reconstructed value of row l is closer to its original than `bound`.
std::uint32_t check_rows(const NumberMap& map, const ValueRows<const float>& rows,
                         const std::int32_t* lattice, std::int64_t pitch, double bound);
std::uint32_t check_rows(const NumberMap& map, const ValueRows<const double>& rows,
                         const std::int32_t* lattice, std::int64_t pitch, double bound);

void reconstruct_rows(const NumberMap& map, const std::int32_t* lattice, std::int64_t pitch,
                      const ValueRows<float>& rows);
void reconstruct_rows(const NumberMap& map, const std::int32_t* lattice, std::int64_t pitch,
                      const ValueRows<double>& rows);

/// True when every |x - r| is below the bound; a point at the bound or a NaN makes it false.
bool within_bound(const float* x, const float* r, int count, double bound);
bool within_bound(const double* x, const double* r, int count, double bound);

}  // namespace tamis::reduce
