// A tile taken as a closed cell whose boundary is exact, in shared memory, and its codes: what
// plans and predictors are judged by (reduce/tile_trial.cpp).
#pragma once

#include "reduce/device/cell_turns.cuh"
#include "reduce/device/contexts.cuh"
#include "reduce/device/lorenzo_cell.cuh"

namespace tamis::device {

/// Lattice value of node x of its row, the nodes of which are `stride` apart; without one, that of
/// the node before it in the row, or 0.
TAMIS_DEVICE Lattice lattice_of(const LatticeArgs& map, const Value* source, i64 at, int x,
                                i64 stride) {
  if constexpr (!kIsField) {
    return static_cast<Lattice>(source[at]);
  } else {
    Lattice lattice;
    for (; x >= 0; --x, at -= stride) {
      if (quantise(map, source[at], lattice)) return lattice;
    }
    return 0;
  }
}

/// Codes the interpolated points of a walk.
template <typename Put>
struct TrialVisitor {
  const LatticeArgs& lattice;
  Lattice* nodes;
  const Put& put;

  TAMIS_DEVICE void one(const WalkPoint& point, Lattice predicted, Lattice activity) const {
    const Lattice step = static_cast<Lattice>(lattice.step);
    const Lattice code =
        divide_nearest(wrap_sub(nodes[point.place], predicted), step, lattice.reciprocal);
    nodes[point.place] = wrap_add(predicted, wrap_mul(code, step));
    put(point, code, activity);
  }
  template <int kTurns, int kSure, int kLevel>
  TAMIS_DEVICE void column(int place, int gap, int code, int weight, int turns,
                           const Lattice* predicted, const Lattice* activity) const {
#pragma unroll
    for (int u = 0; u < kTurns; ++u) {
      if (u < kSure || u < turns)
        one({place + u * gap, code + u * weight, kLevel}, predicted[u], activity[u]);
    }
  }
};

template <bool kContexts>
struct ClosedTile {
  const TrialArgs& args;
  Lattice* nodes;
  CellForm<kAxes> form;
  i64 origin;
  i64 stride[kAxes];

  /// A sample tile, cut in some way.
  TAMIS_DEVICE void take(const TrialWay& way, const TrialTile& tile) {
    origin = tile.origin;
#pragma unroll
    for (int a = 0; a < kAxes; ++a) {
      const int k = kAxes - 1 - a;
      stride[a] = way.strides[k];
      form.nodes[a] = tile.nodes[k];
      form.far[a] = tile.nodes[k] == kSide + 1 || (k == 0 && tile.slice != 0);
    }
    set_preferences(way.order);
  }
  /// A tile of the grid, or a slice of it.
  TAMIS_DEVICE void take(const Tile& tile) {
    origin = tile.origin;
#pragma unroll
    for (int a = 0; a < kAxes; ++a) {
      stride[a] = tile.stride[a];
      form.nodes[a] = tile.nodes[a];
      form.far[a] = tile.nodes[a] == kSide + 1;
      if (a + 1 == kAxes && args.sliced != 0 && tile.nodes[a] > kSide / 4 + 1) {
        form.nodes[a] = kSide / 4 + 1;
        form.far[a] = true;
      }
    }
    set_preferences(args.grid.order);
  }

  /// Codes of all parts, and those of the coarse one.
  TAMIS_DEVICE u32 open_points() const {
    u32 open = 1;
#pragma unroll
    for (int a = 0; a < kAxes; ++a) open *= points(a);
    return open;
  }
  TAMIS_DEVICE u32 coarse_points(int predictor) const {
    u32 coarse = 1;
#pragma unroll
    for (int a = 0; a < kAxes; ++a) coarse *= points(a) / 2;
    return predictor == 4 ? 0 : coarse;
  }

  /// The values; barriers are the caller's.
  TAMIS_DEVICE void load() const {
    const WholeBlock group;
    const Value* source = static_cast<const Value*>(args.source);
    int first[kAxes];
    int count[kAxes];
#pragma unroll
    for (int a = 0; a < kAxes; ++a) {
      first[a] = 0;
      count[a] = form.nodes[a];
    }
    each_in_box<kAxes>(first, count, group, [&](const int c[kAxes], int) {
      i64 at = origin;
#pragma unroll
      for (int a = 0; a < kAxes; ++a) at += c[a] * stride[a];
      nodes[CellPlaces<kAxes>::at(c)] = lattice_of(args.lattice, source, at, c[0], stride[0]);
    });
  }

  /// put(point, code, activity) for all open points; the values must have been loaded, and are
  /// overwritten. Ends with a barrier.
  template <typename Put>
  TAMIS_DEVICE void encode(int predictor, const Put& put) const {
    const WholeBlock group;
    if (predictor == 4) {
      encode_lorenzo(group, put);
    } else {
      walk_cell<kAxes, kContexts, Lattice>(nodes, form, predictor, false, group,
                                           TrialVisitor<Put>{args.lattice, nodes, put});
    }
  }

 private:
  TAMIS_DEVICE u32 points(int a) const {
    return static_cast<u32>(max_of(form.nodes[a] - (form.far[a] ? 2 : 1), 0));
  }

  // All values become multiples of the step, the near boundary as well.
  template <typename Put>
  TAMIS_DEVICE void encode_lorenzo(const WholeBlock& group, const Put& put) const {
    using Lorenzo = LorenzoCell<kAxes, kContexts, Lattice>;
    const Lattice step = static_cast<Lattice>(args.lattice.step);
    Lorenzo::scale_boundary(nodes, form, args.lattice, group);
    Lorenzo::each_open(form, group, [&](const WalkPoint& point, const int*) {
      nodes[point.place] = divide_nearest(nodes[point.place], step, args.lattice.reciprocal);
    });
    group.sync();
    const auto code_at = [&](const int c[kAxes]) {
      return wrap_sub(nodes[CellPlaces<kAxes>::at(c)], Lorenzo::predicted(nodes, c));
    };
    Lorenzo::each_open(form, group, [&](const WalkPoint& point, const int c[kAxes]) {
      const Lattice activity = kContexts ? Lorenzo::activity(c, args.lattice, code_at) : Lattice{0};
      put(point, code_at(c), activity);
    });
    group.sync();
  }

  // Preferences of the axes, from the order of active axes.
  TAMIS_DEVICE void set_preferences(const int order[kMostActive]) {
#pragma unroll
    for (int i = 0; i < kAxes; ++i) {
#pragma unroll
      for (int a = 0; a < kAxes; ++a) {
        if (order[i] == kAxes - 1 - a) form.prefer[a] = i;
      }
    }
  }
};

}  // namespace tamis::device
