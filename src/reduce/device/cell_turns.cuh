// Which thread group takes which cell, and the choice of the walk for a predictor.
#pragma once

#include "reduce/device/cell_io.cuh"
#include "reduce/device/cell_walk.cuh"

namespace tamis::device {

struct CellTurn {
  i64 bundle;
  i64 tile;
  int mask;
};

/// Tile number `index % kTilesPerBundle` of bundle `index / kTilesPerBundle`; false when the
/// bundle is shorter, or there is none.
TAMIS_DEVICE bool find_turn(const GridArgs& grid, i64 index, CellTurn& turn) {
  turn.bundle = index / kTilesPerBundle;
  if (turn.bundle >= grid.bundle_count) return false;
  const BundleRange range = grid.bundles[turn.bundle];
  const int number = static_cast<int>(index % kTilesPerBundle);
  turn.tile = range.first_tile + number;
  return number < range.tiles;
}

/// A block takes a tile.
TAMIS_DEVICE bool turn_of_block(const GridArgs& grid, CellTurn& turn) {
  turn.mask = kFullMask;
  return find_turn(grid, blockIdx.x, turn);
}

/// A wave takes a cell of lower rank.
template <int kRank, int kThreads>
TAMIS_DEVICE bool turn_of_wave(const GridArgs& grid, CellTurn& turn) {
  constexpr int kCells = cells_of_rank<kRank>();
  const i64 wave = static_cast<i64>(blockIdx.x) * (kThreads / kWave) + wave_id();
  turn.mask = mask_of_cell<kRank>(static_cast<int>(wave % kCells));
  return find_turn(grid, wave / kCells, turn);
}

/// Faces and interiors are taken in two parts, full cells first: what a multiprocessor runs at a
/// time then fits its instruction cache.
TAMIS_DEVICE bool is_full_part(int part) { return part == 0; }
TAMIS_DEVICE bool is_full_cell(const Tile& tile, int mask) {
  bool full = true;
#pragma unroll
  for (int axis = 0; axis < kAxes; ++axis) {
    full = full && ((mask >> (kAxes - 1 - axis) & 1) == 0 || tile.nodes[axis] == kSide + 1);
  }
  return full;
}

/// A thread takes an edge: all tiles' edges along one axis, then those along the next.
TAMIS_DEVICE bool turn_of_edge(const GridArgs& grid, CellTurn& turn) {
  const i64 turns = grid.bundle_count * kTilesPerBundle;
  const i64 index = static_cast<i64>(grid_thread());
  turn.mask = 1 << static_cast<int>(index / turns);
  return index < turns * kAxes && find_turn(grid, index % turns, turn);
}
/// The turn of a lane, for all lanes.
TAMIS_DEVICE CellTurn turn_of_lane(const CellTurn& mine, int lane) {
  return {shuffle(mine.bundle, lane), shuffle(mine.tile, lane), shuffle(mine.mask, lane)};
}

/// The coarse levels of a full cell, from stride kStride down.
template <int kRank, int kStride, bool kContexts, typename I, typename Group, typename Node,
          typename Visit>
TAMIS_DEVICE void walk_coarse(const Node* v, const CellForm<kRank>& form, int predictor, int code,
                              const Visit& visit) {
  if constexpr (kStride > 1) {
    LevelWalk<kRank, kStride, kAnyPredictor, kContexts, I, Group>::run(v, form, predictor, code,
                                                                       visit);
    walk_coarse<kRank, kStride / 2, kContexts, I, Group>(v, form, predictor, code, visit);
  }
}
template <int kRank, int kKnown, bool kContexts, typename I, typename Group, typename Node,
          typename Visit>
TAMIS_DEVICE void walk_fine(const Node* v, const CellForm<kRank>& form, int predictor,
                            const Visit& visit) {
  int code = 0;
  LevelWalk<kRank, 1, kKnown, kContexts, I, Group>::run(v, form, predictor, code, visit);
}

/// Walks an interpolated cell with predictor 0 to 3. Only the finest level of full cells, which is
/// most of the work, is worth a text for each predictor.
template <int kRank, bool kContexts, typename I, typename Node, typename Group, typename Visit>
TAMIS_DEVICE void walk_cell(const Node* v, const CellForm<kRank>& form, int predictor,
                            bool may_be_full, const Group&, const Visit& visit) {
  if constexpr (kRank == 1) {
    LineWalk<kContexts, I, Group>::run(v, form, predictor >= 2, visit);
  } else if (!may_be_full || !form.is_full()) {
    CoarseWalk<kRank, kContexts, I, Group>::run(v, form, predictor >= 2, (predictor & 1) != 0,
                                                visit);
    walk_fine<kRank, kAnyCell, kContexts, I, Group>(v, form, predictor, visit);
  } else {
    walk_coarse<kRank, kSide / 2, kContexts, I, Group>(v, form, predictor, 0, visit);
    switch (predictor) {
      case 0:
        walk_fine<kRank, 0, kContexts, I, Group>(v, form, predictor, visit);
        return;
      case 1:
        walk_fine<kRank, 1, kContexts, I, Group>(v, form, predictor, visit);
        return;
      case 2:
        walk_fine<kRank, 2, kContexts, I, Group>(v, form, predictor, visit);
        return;
      default:
        walk_fine<kRank, 3, kContexts, I, Group>(v, form, predictor, visit);
    }
  }
}

}  // namespace tamis::device
