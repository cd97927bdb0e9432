// Edges of tiles with three axes: up to 15 points between two anchors are so few that one thread
// takes them all, in registers.
#pragma once

#include "reduce/device/cell_io.cuh"
#include "reduce/device/cell_walk.cuh"

namespace tamis::device {

/// The points of an edge of `nodes` nodes, coarse levels first: point(i, predicted, activity,
/// level, code) in the order of the codes, where `code` counts through coarse and fine ones; it
/// returns the reconstructed value. v[0] and, if it exists, v[kSide] are anchors.
template <bool kContexts, typename I, typename Point>
TAMIS_DEVICE void walk_edge(I v[kSide + 1], int nodes, bool cubic, const Point& point) {
  int first_code = 0;
#pragma unroll
  for (int level = kLevels - 1; level >= 0; --level) {
    const int stride = 1 << level;
    const int last = (nodes - 1) >> level;
#pragma unroll
    for (int j = 0; j < kSide >> (level + 1); ++j) {
      const int i = (2 * j + 1) * stride;
      if (2 * j + 1 > last) continue;
      const I a = j > 0 ? v[i - 3 * stride] : I{0};
      const I d = i + 3 * stride <= kSide ? v[i + 3 * stride] : I{0};
      I activity = I{0};
      const I predicted = predict_by<kAnyCell, kContexts>(
          EndRule::at(j, last, cubic), cubic, a, v[i - stride], v[i + stride], d, activity);
      v[i] = point(i, predicted, activity, level, first_code + j);
    }
    first_code += (last + 1) / 2;
  }
}

/// Stores the points between the anchors into the planes of the edge's two normals.
template <typename I>
TAMIS_DEVICE void store_edge(const CellArgs& args, const Cell<1>& cell, const I v[kSide + 1]) {
  Lattice* planes = static_cast<Lattice*>(args.planes);
#pragma unroll
  for (int n = 0; n < Cell<1>::kNormals; ++n) {
    Lattice* plane = planes + cell.plane_at[n];
#pragma unroll
    for (int i = 1; i < kSide; ++i) {
      if (i < cell.form.nodes[0]) plane[i * cell.plane_step[n][0]] = v[i];
    }
  }
}

}  // namespace tamis::device
