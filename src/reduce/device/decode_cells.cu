// Reconstruction of cells from their codes, rank by rank: edges, faces, interiors; the last writes
// all nodes of its tile to the target. TAMIS_AXES, TAMIS_VALUE (bytes of a value; 0 = the target
// holds lattice integers), TAMIS_LATTICE (bytes), TAMIS_THREADS, TAMIS_FACE_BLOCKS and
// TAMIS_INTERIOR_BLOCKS (what a multiprocessor is to hold) are its parameters.
#include "reduce/device/cell_io.cuh"
#include "reduce/device/cell_turns.cuh"
#include "reduce/device/contexts.cuh"
#include "reduce/device/edge_line.cuh"
#include "reduce/device/lorenzo_cell.cuh"

using namespace tamis::device;

namespace {

template <int kRank>
struct Decoder {
  Slot* v;
  const Lattice* coarse;
  const Lattice* fine;
  Lattice step;

  TAMIS_DEVICE void one(const WalkPoint& point, Lattice predicted, Lattice) const {
    const Lattice code = (point.level == 0 ? fine : coarse)[point.code];
    v[point.place] = slot_of(wrap_add(predicted, wrap_mul(code, step)));
  }
  template <int kTurns, int kSure, int kLevel>
  TAMIS_DEVICE void column(int place, int gap, int code, int weight, int turns,
                           const Lattice* predicted, const Lattice*) const {
    const Lattice* from = (kLevel == 0 ? fine : coarse) + code;
    Slot* to = v + place;
    Lattice codes[kTurns];
#pragma unroll
    for (int u = 0; u < kTurns; ++u) {
      if (u < kSure || u < turns) codes[u] = from[u * weight];
    }
#pragma unroll
    for (int u = 0; u < kTurns; ++u) {
      if (u < kSure || u < turns)
        to[u * gap] = slot_of(wrap_add(predicted[u], wrap_mul(codes[u], step)));
    }
  }
};

template <int kRank, typename Group>
TAMIS_DEVICE void decode_lorenzo(const Decoder<kRank>& decode, const CellForm<kRank>& form,
                                 const LatticeArgs& lattice, const Group& group) {
  using Lorenzo = LorenzoCell<kRank, false, Lattice>;
  Slot* v = decode.v;
  Lorenzo::each_open(form, group, [&](const WalkPoint& point, const int*) {
    v[point.place] = slot_of(decode.fine[point.code]);
  });
  // The near boundary is needed in units of the step here, and as it is by the tile's output.
  Lorenzo::invert(v, form, lattice, group);
  group.sync();
  Lorenzo::each_open(form, group, [&](const WalkPoint& point, const int*) {
    v[point.place] = slot_of(wrap_mul(static_cast<Lattice>(v[point.place]), decode.step));
  });
  group.sync();
}

template <bool kAffine>
TAMIS_DEVICE Value value_of_node(const LatticeArgs& map, Slot slot) {
  if constexpr (!kIsField) {
    return static_cast<Lattice>(slot);
  } else if constexpr (kAffine) {
    return static_cast<Value>(reconstruct_affine(map, static_cast<Lattice>(slot)));
  } else {
    return reconstruct<Value>(map, static_cast<Lattice>(slot));
  }
}

// All nodes that the tile owns, in the target's own terms.
template <bool kAffine, typename Group>
TAMIS_DEVICE void store_tile(const CellArgs& args, const Cell<kAxes>& cell, const Group& group,
                             const Slot* v) {
  using Places = CellPlaces<kAxes>;
  Value* target = static_cast<Value*>(args.target);
  if (has_row_pieces<kAxes, Group::kThreads>(cell, target)) {
    using Pieces = RowPieces<kAxes, Group::kThreads>;
    const Pieces pieces(cell.node_step, group.rank());
    Value* to = target + cell.origin + pieces.first_node(cell.node_step);
    const Slot* from = v + pieces.first_place();
#pragma unroll
    for (int turn = 0; turn < Pieces::kTurns; ++turn) {
      if (pieces.is_owned(turn, cell.form)) {
        RowPiece piece;
#pragma unroll
        for (int i = 0; i < Pieces::kValues / 2; ++i) {
          piece.values[2 * i] = value_of_node<kAffine>(args.lattice, from[i]);
          piece.values[2 * i + 1] = value_of_node<kAffine>(args.lattice, from[Places::kOdds + i]);
        }
        store_16_streaming(to, piece.words);
      }
      to += pieces.node_on;
      from += pieces.place_on;
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
  each_in_box<kAxes>(first, count, group, [&](const int c[kAxes], int) {
    target[cell.node(c)] = value_of_node<kAffine>(args.lattice, v[Places::at(c)]);
  });
}

template <typename Group>
TAMIS_DEVICE void prefetch_run(const Lattice* first, int count, const Group& group) {
  constexpr int kLine = 128 / static_cast<int>(sizeof(Lattice));
  for (int i = group.rank() * kLine; i < count; i += Group::kThreads * kLine) {
    prefetch_line(first + i);
  }
}

template <int kRank, typename Group>
TAMIS_DEVICE void decode_cell(const CellArgs& args, const Tile& tile, i64 bundle, int mask,
                              const Group& group, Slot* v) {
  const Cell<kRank> cell(args.grid, tile, mask);
  const int predictor = args.predictors[tile.index];
  const CodePlaces places = code_places<kRank>(args, tile, bundle, cell, predictor == 4);
  const Lattice* codes = static_cast<const Lattice*>(args.codes);
  if constexpr (kRank == kAxes) {
    // Codes are needed one after the other, a long way from memory.
    prefetch_run(codes + places.coarse, coarse_count(tile, mask), group);
    prefetch_run(codes + places.fine, open_count(tile, mask), group);
  }
  load_boundary<kRank>(args, tile, cell, group, v);
  const Decoder<kRank> decode{v, codes + places.coarse, codes + places.fine,
                              static_cast<Lattice>(args.lattice.step)};
  group.sync();
  if (predictor == 4) {
    decode_lorenzo<kRank>(decode, cell.form, args.lattice, group);
  } else {
    walk_cell<kRank, false, Lattice>(v, cell.form, predictor, true, group, decode);
  }
  if constexpr (kRank < kAxes) {
    store_open<kRank>(args, cell, group, v);
  } else {
    if (args.lattice.kind <= kMapLattice) {
      store_tile<true>(args, cell, group, v);
    } else {
      store_tile<false>(args, cell, group, v);
    }
  }
}

// Whether the cells of this turn are decoded along with their rANS streams.
template <int kRank>
TAMIS_DEVICE bool is_coded_apart(const CellArgs& args, const CellTurn& turn) {
  return cells_are_coded<kRank, kAxes>(args.grid, args.coders, turn.bundle);
}

template <int kRank>
TAMIS_DEVICE void decode_by_wave(const CellArgs& args, const CellTurn& turn, Slot* nodes) {
  const Tile tile = tile_at(args.grid, turn.tile);
  decode_cell<kRank>(args, tile, turn.bundle, turn.mask, OneWave{}, nodes);
}

#if TAMIS_AXES == 3
// A thread takes an edge; false when it is a Lorenzo one.
TAMIS_DEVICE bool decode_edge_by_thread(const CellArgs& args, const CellTurn& turn) {
  const Tile tile = tile_at(args.grid, turn.tile);
  const Cell<1> cell(args.grid, tile, turn.mask);
  const int predictor = args.predictors[turn.tile];
  if (predictor == 4) return false;
  const int nodes = cell.form.nodes[0];
  const CodePlaces places = code_places<1>(args, tile, turn.bundle, cell, false);
  const Lattice* codes = static_cast<const Lattice*>(args.codes) + places.coarse;
  const Lattice* anchors = static_cast<const Lattice*>(args.planes) + cell.plane_at[0];
  Lattice v[kSide + 1];
  v[0] = anchors[0];
  v[kSide] = nodes > kSide ? anchors[kSide * cell.plane_step[0][0]] : Lattice{0};
  const Lattice step = static_cast<Lattice>(args.lattice.step);
  walk_edge<false>(v, nodes, predictor >= 2,
                   [&](int, Lattice predicted, Lattice, int, int code_at) {
                     return wrap_add(predicted, wrap_mul(codes[code_at], step));
                   });
  store_edge(args, cell, v);
  return true;
}
#endif

}  // namespace

#if TAMIS_AXES == 2
// A wave takes an edge.
TAMIS_KERNEL void decode_edges(const CellArgs args) {
  __shared__ __align__(16) Slot nodes[TAMIS_THREADS / kWave][CellPlaces<1>::kSlots];
  CellTurn turn;
  if (turn_of_wave<1, TAMIS_THREADS>(args.grid, turn) && !is_coded_apart<1>(args, turn)) {
    decode_by_wave<1>(args, turn, nodes[wave_id()]);
  }
}
#endif
#if TAMIS_AXES == 3
// A thread takes an edge; Lorenzo ones are left to the whole wave.
TAMIS_KERNEL void decode_edges(const CellArgs args) {
  __shared__ __align__(16) Slot nodes[TAMIS_THREADS / kWave][CellPlaces<1>::kSlots];
  CellTurn turn;
  const bool exists = turn_of_edge(args.grid, turn) && !is_coded_apart<1>(args, turn);
  LaneMask left = wave_ballot(exists && !decode_edge_by_thread(args, turn));
  for (; left != 0; left &= left - 1) {
    decode_by_wave<1>(args, turn_of_lane(turn, lowest_one(left)), nodes[wave_id()]);
    sync_wave();
  }
}
// A wave takes a face.
TAMIS_KERNEL void __launch_bounds__(TAMIS_THREADS, TAMIS_FACE_BLOCKS)
    decode_faces(const CellArgs args, int part) {
  __shared__ __align__(16) Slot nodes[TAMIS_THREADS / kWave][CellPlaces<2>::kSlots];
  CellTurn turn;
  if (turn_of_wave<2, TAMIS_THREADS>(args.grid, turn) &&
      is_full_part(part) == is_full_cell(tile_at(args.grid, turn.tile), turn.mask) &&
      !is_coded_apart<2>(args, turn)) {
    decode_by_wave<2>(args, turn, nodes[wave_id()]);
  }
}
#endif

// A block takes a tile.
TAMIS_KERNEL void __launch_bounds__(TAMIS_THREADS, TAMIS_INTERIOR_BLOCKS)
    decode_interiors(const CellArgs args, int part) {
  __shared__ __align__(16) Slot nodes[CellPlaces<kAxes>::kSlots];
  CellTurn turn;
  if (!turn_of_block(args.grid, turn) || is_coded_apart<kAxes>(args, turn)) return;
  const Tile tile = tile_at(args.grid, turn.tile);
  if (is_full_part(part) != is_full_cell(tile, kFullMask)) return;
  decode_cell<kAxes>(args, tile, turn.bundle, kFullMask, WholeBlock{}, nodes);
}
