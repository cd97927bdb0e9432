// What surrounds the cells of a grid: where their codes lie, and the anchors on their way between
// the field, an array of their own, and the planes. Parameters as in encode_cells.cu.
#include "reduce/device/cell_io.cuh"

using namespace tamis::device;

// A thread takes a tile: where it is.
TAMIS_KERNEL void list_tiles(const CellArgs args) {
  const i64 index = static_cast<i64>(grid_thread());
  if (index < args.grid.tile_count) args.grid.entries[index] = make_entry(args.grid, index);
}

// A thread takes a tile, neighbours those of a bundle: first code of each cell, and how many codes
// each stream of the bundle holds.
TAMIS_KERNEL void count_codes(const CellArgs args) {
  const GridArgs& grid = args.grid;
  const i64 turn = static_cast<i64>(grid_thread());
  const i64 bundle = turn / kTilesPerBundle;
  const int number = static_cast<int>(turn % kTilesPerBundle);
  BundleRange range = {};
  if (bundle < grid.bundle_count) range = grid.bundles[bundle];
  const bool exists = number < range.tiles;
  Tile tile = {};
  u32 count[kAxes + 1] = {};
  if (exists) {
    tile = tile_at(grid, range.first_tile + number);
    const bool lorenzo = args.predictors[tile.index] == 4;
#pragma unroll
    for (int mask = 1; mask < kFullMask; ++mask) {
      count[count_ones(static_cast<u32>(mask)) - 1] += static_cast<u32>(open_count(tile, mask));
    }
    const u32 open = static_cast<u32>(open_count(tile, kFullMask));
    count[kAxes - 1] = lorenzo ? 0 : static_cast<u32>(coarse_count(tile, kFullMask));
    count[kAxes] = open - count[kAxes - 1];
  }
  u32 first[kAxes + 1];
#pragma unroll
  for (int stream = 0; stream <= kAxes; ++stream) {
    u32 through = count[stream];
#pragma unroll
    for (int step = 1; step < kTilesPerBundle; step *= 2) {
      const u32 before = shuffle_up(through, step);
      if (number >= step) through += before;
    }
    first[stream] = through - count[stream];
    if (number == kTilesPerBundle - 1 && bundle < grid.bundle_count) {
      args.counts[stream * grid.bundle_count + bundle] = through;
    }
  }
  if (!exists) return;
  u32* at = args.cell_at + (tile.index << kAxes);
#pragma unroll
  for (int mask = 1; mask < kFullMask; ++mask) {
    const int stream = count_ones(static_cast<u32>(mask)) - 1;
    at[mask] = first[stream];
    first[stream] += static_cast<u32>(open_count(tile, mask));
  }
  at[kFullMask] = first[kAxes - 1];
  at[0] = first[kAxes];
}

// A thread takes a tile: the lattice value of its anchor, 0 where it has none.
TAMIS_KERNEL void gather_anchors(const CellArgs args, Lattice* anchors) {
  const i64 index = static_cast<i64>(grid_thread());
  if (index >= args.grid.tile_count) return;
  const Tile tile = tile_at(args.grid, index);
  const Value value = static_cast<const Value*>(args.source)[tile.origin];
  Lattice lattice;
  if constexpr (kIsField) {
    if (!quantise(args.lattice, value, lattice)) lattice = 0;
  } else {
    lattice = value;
  }
  anchors[index] = lattice;
}

// A thread takes a tile: puts its reconstructed anchor into the planes and, for an encoder of
// field values, checks it.
TAMIS_KERNEL void place_anchors(const CellArgs args) {
  const i64 index = static_cast<i64>(grid_thread());
  if (index >= args.grid.tile_count) return;
  const Tile tile = tile_at(args.grid, index);
  const Lattice lattice = static_cast<const Lattice*>(args.anchors)[index];
  const int corner[kAxes] = {};
#pragma unroll
  for (int axis = 0; axis < kAxes; ++axis) {
    static_cast<Lattice*>(args.planes)[plane_element(args.grid, tile, axis, corner)] = lattice;
  }
  if constexpr (kIsField) {
    if (args.source == nullptr) return;
    const Value value = static_cast<const Value*>(args.source)[tile.origin];
    Value x = value;
    if (args.lattice.kind == kMapLogarithm && x <= 0) x = Value{0} - x;
    if (point_holds(args.check, args.bound, x, reconstruct<Value>(args.lattice, lattice))) return;
    const u64 place = atomicAdd(&args.report->patches, u64{1});
    if (static_cast<i64>(place) >= args.patch_room) return;
    args.patches[place] = {tile.origin, static_cast<u64>(bits_of(value))};
  }
}

// A thread takes a node: nearest multiple of the step.
TAMIS_KERNEL void round_nodes(const CellArgs args, const Lattice* nodes, Lattice* rounded,
                              u64 count) {
  const u64 i = grid_thread();
  if (i >= count) return;
  const Lattice step = static_cast<Lattice>(args.lattice.step);
  rounded[i] = wrap_mul(divide_nearest(nodes[i], step, args.lattice.reciprocal), step);
}
