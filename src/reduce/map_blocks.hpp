// The affine number maps on whole blocks of 32-bit lattice values, for every instruction set: what
// the encoder and the decoder spend on each value outside of the transform.
#pragma once

#include <cstdint>

#include "reduce/grid_codec.hpp"
#include "reduce/number_map.hpp"

namespace tamis::reduce {

/// Lattice values of a block whose rows are contiguous in `data` (indexed by linear index). False
/// when some value has none; those are 0.
bool quantise_block(const NumberMap& map, const float* data, const NodeBlock& block,
                    std::int32_t* out);
bool quantise_block(const NumberMap& map, const double* data, const NodeBlock& block,
                    std::int32_t* out);

/// True when every reconstructed value is closer to `data` than `bound`.
bool check_block(const NumberMap& map, const float* data, const NodeBlock& block,
                 const std::int32_t* values, double bound);
bool check_block(const NumberMap& map, const double* data, const NodeBlock& block,
                 const std::int32_t* values, double bound);

/// True when every |x - r| is below the bound; a point at the bound or a NaN makes it false.
bool within_bound(const float* x, const float* r, int count, double bound);
bool within_bound(const double* x, const double* r, int count, double bound);

void reconstruct_block(const NumberMap& map, const NodeBlock& block, const std::int32_t* values,
                       float* out);
void reconstruct_block(const NumberMap& map, const NodeBlock& block, const std::int32_t* values,
                       double* out);

}  // namespace tamis::reduce
