// Contexts of codes (docs/format.md, section 11.5), and which blobs have codes that need them.
#pragma once

#include "gpu/device/basics.cuh"
#include "reduce/device/grid_args.hpp"

namespace tamis::device {

/// Of a point of a level, from the activity around it.
template <typename I>
TAMIS_DEVICE u32 context_of(I activity, int level, float inverse_step) {
  const float scaled =
      __fadd_rn(__fmul_rn(static_cast<float>(activity < 0 ? I{0} : activity), inverse_step), 1.0f);
  const u32 half_octave = (__float_as_uint(scaled) >> 22) - 254u;
  return static_cast<u32>(min_of(level, 3)) * 16 + min_of(half_octave, 15u);
}

/// Whether codes of a stream of this bundle come from rANS. `coders` may be null: none do.
TAMIS_DEVICE bool is_coded(const GridArgs& grid, const u8* coders, int stream, i64 bundle) {
  if (coders == nullptr) return false;
  return coders[stream * grid.chunk_count + grid.bundles[bundle].chunk] == kRansCoder;
}
/// Whether cells of this rank are: those are decoded along with their stream.
template <int kRank, int kAxes>
TAMIS_DEVICE bool cells_are_coded(const GridArgs& grid, const u8* coders, i64 bundle) {
  return is_coded(grid, coders, kRank - 1, bundle) ||
         (kRank == kAxes && is_coded(grid, coders, kAxes, bundle));
}

}  // namespace tamis::device
