// Which thread group takes which cell, and the choice of the walk for a predictor.
#pragma once

#include "reduce/device/cell_io.cuh"

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

/// Walks an interpolated cell with predictor 0 to 3.
template <int kRank, bool kContexts, typename I, typename Group, typename Visit>
TAMIS_DEVICE void walk_cell(const Slot* v, const CellForm<kRank>& form, int predictor,
                            const Group& group, const Visit& visit) {
  const bool cubic = predictor >= 2;
  const bool averaged = (predictor & 1) != 0;
  if (!form.is_full()) {
    PartialWalk<kRank, kContexts, I>::run(v, form, cubic, averaged, group, visit);
  } else if (cubic) {
    if (averaged) {
      FullWalk<kRank, true, true, kContexts, I>::template levels<kSide / 2>(v, form, group, 0,
                                                                            visit);
    } else {
      FullWalk<kRank, true, false, kContexts, I>::template levels<kSide / 2>(v, form, group, 0,
                                                                             visit);
    }
  } else if (averaged) {
    FullWalk<kRank, false, true, kContexts, I>::template levels<kSide / 2>(v, form, group, 0,
                                                                           visit);
  } else {
    FullWalk<kRank, false, false, kContexts, I>::template levels<kSide / 2>(v, form, group, 0,
                                                                            visit);
  }
}

}  // namespace tamis::device
