// Reconstruction of cells from their codes, rank by rank: edges, faces, interiors; the last writes
// all nodes of its tile to the target. TAMIS_AXES, TAMIS_VALUE (bytes of a value; 0 = the target
// holds lattice integers), TAMIS_LATTICE (bytes) and TAMIS_THREADS are its parameters.
#include "reduce/device/cell_io.cuh"
#include "reduce/device/cell_turns.cuh"
#include "reduce/device/contexts.cuh"
#include "reduce/device/lorenzo_cell.cuh"

using namespace tamis::device;

namespace {

template <int kRank>
struct Decoder {
  Slot* v;
  const Lattice* coarse;
  const Lattice* fine;
  Lattice step;

  TAMIS_DEVICE void operator()(const WalkPoint<kRank, Lattice>& point) const {
    const Lattice code = (point.level == 0 ? fine : coarse)[point.code];
    v[point.place] = slot_of(wrap_add(point.predicted, wrap_mul(code, step)));
  }
};

template <int kRank, typename Group>
TAMIS_DEVICE void decode_lorenzo(const Decoder<kRank>& decode, const CellForm<kRank>& form,
                                 const LatticeArgs& lattice, const Group& group) {
  using Lorenzo = LorenzoCell<kRank, false, Lattice>;
  using Point = WalkPoint<kRank, Lattice>;
  Slot* v = decode.v;
  Lorenzo::each_open(
      form, group, [&](const Point& point) { v[point.place] = slot_of(decode.fine[point.code]); });
  // The near boundary is needed in units of the step here, and as it is by the tile's output.
  Lorenzo::invert(v, form, lattice, group);
  group.sync();
  Lorenzo::each_open(form, group, [&](const Point& point) {
    v[point.place] = slot_of(wrap_mul(static_cast<Lattice>(v[point.place]), decode.step));
  });
  group.sync();
}

// All nodes that the tile owns, in the target's own terms.
template <typename Group>
TAMIS_DEVICE void store_tile(const CellArgs& args, const Cell<kAxes>& cell, const Group& group,
                             const Slot* v) {
  Value* target = static_cast<Value*>(args.target);
  const auto store = [&](const int c[kAxes]) {
    const Lattice lattice = static_cast<Lattice>(v[CellPlaces<kAxes>::at(c)]);
    Value& to = target[cell.node(c)];
    if constexpr (kIsField) {
      to = reconstruct<Value>(args.lattice, lattice);
    } else {
      to = lattice;
    }
  };
  if (cell.form.is_full()) {
    constexpr int kNodes = power(kSide, kAxes);
#pragma unroll 4
    for (int i = group.rank(); i < kNodes; i += group.size()) {
      int c[kAxes];
#pragma unroll
      for (int a = 0; a < kAxes; ++a) c[a] = (i >> (a * kLevels)) & (kSide - 1);
      store(c);
    }
    return;
  }
  int first[kAxes];
  int count[kAxes];
#pragma unroll
  for (int a = 0; a < kAxes; ++a) {
    first[a] = 0;
    count[a] = owned_nodes(cell.form.nodes[a]);
  }
  each_in_box<kAxes>(first, count, group, [&](const int c[kAxes], int) { store(c); });
}

template <int kRank, typename Group>
TAMIS_DEVICE void decode_cell(const CellArgs& args, const Tile& tile, i64 bundle, int mask,
                              const Group& group, Slot* v) {
  const Cell<kRank> cell(args.grid, tile, mask);
  load_boundary<kRank>(args, tile, cell, group, v);
  const int predictor = args.predictors[tile.index];
  const CodePlaces places = code_places<kRank>(args, tile, bundle, cell, predictor == 4);
  const Lattice* codes = static_cast<const Lattice*>(args.codes);
  const Decoder<kRank> decode{v, codes + places.coarse, codes + places.fine,
                              static_cast<Lattice>(args.lattice.step)};
  group.sync();
  if (predictor == 4) {
    decode_lorenzo<kRank>(decode, cell.form, args.lattice, group);
  } else {
    walk_cell<kRank, false, Lattice>(v, cell.form, predictor, group, decode);
  }
  if constexpr (kRank < kAxes) {
    store_open<kRank>(args, cell, group, v);
  } else {
    store_tile(args, cell, group, v);
  }
}

template <int kRank>
TAMIS_DEVICE void decode_low_cells(const CellArgs& args) {
  __shared__ Slot nodes[TAMIS_THREADS / kWave][CellPlaces<kRank>::kSlots];
  CellTurn turn;
  if (!turn_of_wave<kRank, TAMIS_THREADS>(args.grid, turn)) return;
  if (cells_are_coded<kRank, kAxes>(args.grid, args.coders, turn.bundle)) return;
  const Tile tile = tile_at(args.grid, turn.tile);
  decode_cell<kRank>(args, tile, turn.bundle, turn.mask, OneWave{}, nodes[wave_id()]);
}

}  // namespace

#if TAMIS_AXES >= 2
TAMIS_KERNEL void decode_edges(const CellArgs args) { decode_low_cells<1>(args); }
#endif
#if TAMIS_AXES >= 3
TAMIS_KERNEL void decode_faces(const CellArgs args) { decode_low_cells<2>(args); }
#endif

// A block takes a tile.
TAMIS_KERNEL void __launch_bounds__(TAMIS_THREADS, 8) decode_interiors(const CellArgs args) {
  __shared__ Slot nodes[CellPlaces<kAxes>::kSlots];
  CellTurn turn;
  if (!turn_of_block(args.grid, turn)) return;
  if (cells_are_coded<kAxes, kAxes>(args.grid, args.coders, turn.bundle)) return;
  const Tile tile = tile_at(args.grid, turn.tile);
  decode_cell<kAxes>(args, tile, turn.bundle, kFullMask, WholeBlock{}, nodes);
}
