// Prediction and quantisation of cells, rank by rank: edges, faces, interiors. Each kernel leaves
// the codes in the order of the format and the reconstruction in the planes. TAMIS_AXES,
// TAMIS_VALUE (bytes of a value; 0 = the source holds lattice integers), TAMIS_LATTICE (bytes),
// TAMIS_CONTEXTS (0 or 1), TAMIS_THREADS, TAMIS_FACE_BLOCKS and TAMIS_INTERIOR_BLOCKS (what a
// multiprocessor is to hold) are its parameters.
#include "reduce/device/cell_turns.cuh"
#include "reduce/device/contexts.cuh"
#include "reduce/device/edge_line.cuh"
#include "reduce/device/lorenzo_cell.cuh"

using namespace tamis::device;

namespace {

constexpr bool kContexts = TAMIS_CONTEXTS != 0;

// Rare, and kept out of the registers of what is not.
__noinline__ __device__ void add_patch(CodecReport* report, PatchEntry* patches, i64 room,
                                       i64 index, u64 bits) {
  const u64 place = atomicAdd(&report->patches, u64{1});
  if (static_cast<i64>(place) < room) patches[place] = {index, bits};
}
template <typename T>
__noinline__ __device__ bool bound_holds(T x, T r, double bound) {
  return point_holds(kCheckAbsolute, bound, x, r);
}

/// What happens at each point. Careful encoders know all maps and checks, and points without a
/// lattice value; the others know affine maps and an absolute bound.
template <int kRank, bool kCareful>
struct Encoder {
  const CellArgs& args;
  const Cell<kRank>& cell;
  Slot* v;
  Lattice* coarse;
  Lattice* fine;
  u8* coarse_context;
  u8* fine_context;

  TAMIS_DEVICE Lattice lattice_at(Slot raw, int place) const {
    if constexpr (!kIsField) {
      return static_cast<Lattice>(raw);
    } else if constexpr (!kCareful) {
      return quantise_affine<Lattice>(args.lattice, static_cast<double>(value_in(raw)));
    } else {
      Lattice lattice;
      if (quantise(args.lattice, value_in(raw), lattice)) return lattice;
      return lattice_before(place);
    }
  }

  // Whether the bound certainly holds.
  TAMIS_DEVICE bool is_safe(Slot raw, Lattice decoded) const {
    if constexpr (!kIsField) return true;
    if constexpr (kIsField && kCareful) return false;
    const double x = static_cast<double>(value_in(raw));
    return fabs(__dsub_rn(x, reconstruct_affine(args.lattice, decoded))) < args.lattice.safe_bound;
  }

  TAMIS_DEVICE void check(Slot raw, Lattice decoded, int place) const {
    if constexpr (kIsField && !kCareful) {
      if (is_safe(raw, decoded)) return;
      const Value r = static_cast<Value>(reconstruct_affine(args.lattice, decoded));
      if (bound_holds(value_in(raw), r, args.bound)) return;
      add_patch(args.report, args.patches, args.patch_room, node_of(place), raw);
    } else if constexpr (kIsField) {
      Value x = value_in(raw);
      if (args.lattice.kind == kMapLogarithm && x <= 0) x = Value{0} - x;
      const Value r = reconstruct<Value>(args.lattice, decoded);
      if (point_holds(args.check, args.bound, x, r)) return;
      add_patch(args.report, args.patches, args.patch_room, node_of(place), raw);
    }
  }

  TAMIS_DEVICE void put(const WalkPoint& point, bool in_fine, Lattice code,
                        Lattice activity) const {
    (in_fine ? fine : coarse)[point.code] = code;
    if (kContexts) {
      (in_fine ? fine_context : coarse_context)[point.code] =
          static_cast<u8>(context_of(activity, point.level, args.lattice.inverse_step));
    }
  }

  // An interpolated point.
  TAMIS_DEVICE void one(const WalkPoint& point, Lattice predicted, Lattice activity) const {
    const Slot raw = v[point.place];
    const Lattice step = static_cast<Lattice>(args.lattice.step);
    const Lattice code = divide_nearest(wrap_sub(lattice_at(raw, point.place), predicted), step,
                                        args.lattice.reciprocal);
    const Lattice decoded = wrap_add(predicted, wrap_mul(code, step));
    v[point.place] = slot_of(decoded);
    check(raw, decoded, point.place);
    put(point, point.level == 0, code, activity);
  }
  template <int kTurns, int kSure, int kLevel>
  TAMIS_DEVICE void column(int place, int gap, int code_at, int weight, int turns,
                           const Lattice* predicted, const Lattice* activity) const {
    const Lattice step = static_cast<Lattice>(args.lattice.step);
    Lattice* to = (kLevel == 0 ? fine : coarse) + code_at;
    Slot raw[kTurns];
    bool safe = true;
#pragma unroll
    for (int u = 0; u < kTurns; ++u) {
      if (u < kSure || u < turns) raw[u] = v[place + u * gap];
    }
#pragma unroll
    for (int u = 0; u < kTurns; ++u) {
      if (u >= kSure && u >= turns) continue;
      const Lattice x = lattice_at(raw[u], place + u * gap);
      const Lattice code = divide_nearest(wrap_sub(x, predicted[u]), step, args.lattice.reciprocal);
      const Lattice decoded = wrap_add(predicted[u], wrap_mul(code, step));
      v[place + u * gap] = slot_of(decoded);
      to[u * weight] = code;
      if (kContexts) {
        (kLevel == 0 ? fine_context : coarse_context)[code_at + u * weight] =
            static_cast<u8>(context_of(activity[u], kLevel, args.lattice.inverse_step));
      }
      safe = safe && is_safe(raw[u], decoded);
    }
    if (safe) return;
#pragma unroll 1
    for (int u = 0; u < turns; ++u) {
      const int at = place + u * gap;
      check(pick<kTurns>(raw, u), static_cast<Lattice>(v[at]), at);
    }
  }

 private:
  template <int kTurns>
  static TAMIS_DEVICE Slot pick(const Slot* raw, int u) {
    Slot picked = raw[0];
#pragma unroll
    for (int i = 1; i < kTurns; ++i) picked = i == u ? raw[i] : picked;
    return picked;
  }
  TAMIS_DEVICE i64 node_of(int place) const {
    int c[kRank];
    CellPlaces<kRank>::nodes_of(place, c);
    return cell.node(c);
  }

  // Points without a lattice value repeat the one before them in their row of up to 64, or are 0.
  TAMIS_DEVICE Lattice lattice_before(int place) const {
    if constexpr (kIsField) {
      int c[kRank];
      CellPlaces<kRank>::nodes_of(place, c);
      const int begin = 1 + (c[0] - 1) / 64 * 64;
      for (--c[0]; c[0] >= begin; --c[0]) {
        Lattice lattice;
        const Value value = static_cast<const Value*>(args.source)[cell.node(c)];
        if (quantise(args.lattice, value, lattice)) return lattice;
      }
    }
    return 0;
  }
};

template <int kRank, bool kCareful, typename Group>
TAMIS_DEVICE void encode_lorenzo(const Encoder<kRank, kCareful>& encode, const Group& group) {
  using Lorenzo = LorenzoCell<kRank, kContexts, Lattice>;
  Slot* v = encode.v;
  const CellForm<kRank>& form = encode.cell.form;
  const LatticeArgs& lattice = encode.args.lattice;
  const Lattice step = static_cast<Lattice>(lattice.step);
  Lorenzo::scale_boundary(v, form, lattice, group);
  Lorenzo::each_open(form, group, [&](const WalkPoint& point, const int*) {
    const Slot raw = v[point.place];
    const Lattice value =
        divide_nearest(encode.lattice_at(raw, point.place), step, lattice.reciprocal);
    v[point.place] = slot_of(value);
    encode.check(raw, wrap_mul(value, step), point.place);
  });
  group.sync();
  const auto code_at = [&](const int c[kRank]) {
    return wrap_sub(static_cast<Lattice>(v[CellPlaces<kRank>::at(c)]), Lorenzo::predicted(v, c));
  };
  Lorenzo::each_open(form, group, [&](const WalkPoint& point, const int c[kRank]) {
    const Lattice activity = kContexts ? Lorenzo::activity(c, lattice, code_at) : Lattice{0};
    encode.put(point, true, code_at(c), activity);
  });
  group.sync();
  if (kRank == kAxes) return;
  Lorenzo::each_open(form, group, [&](const WalkPoint& point, const int*) {
    v[point.place] = slot_of(wrap_mul(static_cast<Lattice>(v[point.place]), step));
  });
  group.sync();
}

template <int kRank, bool kCareful, typename Group>
TAMIS_DEVICE void encode_points(const CellArgs& args, const Tile& tile, i64 bundle,
                                const Cell<kRank>& cell, const Group& group, Slot* v) {
  const int predictor = args.predictors[tile.index];
  const CodePlaces places = code_places<kRank>(args, tile, bundle, cell, predictor == 4);
  Lattice* codes = static_cast<Lattice*>(args.codes);
  const Encoder<kRank, kCareful> encode{args,
                                        cell,
                                        v,
                                        codes + places.coarse,
                                        codes + places.fine,
                                        args.contexts + places.coarse,
                                        args.contexts + places.fine};
  if (predictor == 4) {
    encode_lorenzo<kRank>(encode, group);
  } else {
    walk_cell<kRank, kContexts, Lattice>(v, cell.form, predictor, !kCareful, group, encode);
  }
}

// Reconstructed nodes that the tile owns, to the target: of grids of anchors, which are small.
template <typename Group>
TAMIS_DEVICE void store_nodes(const CellArgs& args, const Cell<kAxes>& cell, const Group& group,
                              const Slot* v) {
  int first[kAxes];
  int count[kAxes];
#pragma unroll
  for (int a = 0; a < kAxes; ++a) {
    first[a] = 0;
    count[a] = owned_nodes(cell.form.nodes[a]);
  }
  each_in_box<kAxes>(first, count, group, [&](const int c[kAxes], int) {
    static_cast<Lattice*>(args.target)[cell.node(c)] =
        static_cast<Lattice>(v[CellPlaces<kAxes>::at(c)]);
  });
}

template <int kRank, typename Group>
TAMIS_DEVICE void encode_cell(const CellArgs& args, const Tile& tile, i64 bundle, int mask,
                              const Group& group, Slot* v) {
  const Cell<kRank> cell(args.grid, tile, mask);
  const bool plain = group.sync_all(load_open<kRank>(args, cell, group, v));
  load_boundary<kRank>(args, tile, cell, group, v);
  group.sync();
  if (plain) {
    encode_points<kRank, false>(args, tile, bundle, cell, group, v);
  } else {
    encode_points<kRank, true>(args, tile, bundle, cell, group, v);
  }
  if constexpr (kRank < kAxes) {
    store_open<kRank>(args, cell, group, v);
  } else if constexpr (!kIsField) {
    // Nodes of a grid of anchors are the anchors of the next finer one.
    group.sync();
    store_nodes(args, cell, group, v);
  }
}

template <int kRank>
TAMIS_DEVICE void encode_by_wave(const CellArgs& args, const CellTurn& turn, Slot* nodes) {
  const Tile tile = tile_at(args.grid, turn.tile);
  encode_cell<kRank>(args, tile, turn.bundle, turn.mask, OneWave{}, nodes);
}

#if TAMIS_AXES == 3
// A thread takes an edge; false when it needs care.
TAMIS_DEVICE bool encode_edge_by_thread(const CellArgs& args, const CellTurn& turn) {
  const Tile tile = tile_at(args.grid, turn.tile);
  const Cell<1> cell(args.grid, tile, turn.mask);
  const int predictor = args.predictors[turn.tile];
  if (predictor == 4) return false;
  const int nodes = cell.form.nodes[0];
  const Value* source = static_cast<const Value*>(args.source) + cell.origin;
  Value values[kSide + 1];
  bool plain = true;
#pragma unroll
  for (int i = 1; i < kSide; ++i) {
    if (i >= nodes) continue;
    values[i] = source[i * cell.node_step[0]];
    plain = plain && is_plain(args.lattice, values[i]);
  }
  if (!plain) return false;
  const Lattice* anchors = static_cast<const Lattice*>(args.planes) + cell.plane_at[0];
  Lattice v[kSide + 1];
  v[0] = anchors[0];
  v[kSide] = nodes > kSide ? anchors[kSide * cell.plane_step[0][0]] : Lattice{0};
  const CodePlaces places = code_places<1>(args, tile, turn.bundle, cell, false);
  Lattice* codes = static_cast<Lattice*>(args.codes) + places.coarse;
  u8* contexts = args.contexts + places.coarse;
  const Lattice step = static_cast<Lattice>(args.lattice.step);
  walk_edge<kContexts>(
      v, nodes, predictor >= 2,
      [&](int i, Lattice predicted, Lattice activity, int level, int code_at) {
        Lattice x;
        if constexpr (kIsField) {
          x = quantise_affine<Lattice>(args.lattice, static_cast<double>(values[i]));
        } else {
          x = values[i];
        }
        const Lattice code = divide_nearest(wrap_sub(x, predicted), step, args.lattice.reciprocal);
        const Lattice decoded = wrap_add(predicted, wrap_mul(code, step));
        codes[code_at] = code;
        if (kContexts) {
          contexts[code_at] =
              static_cast<u8>(context_of(activity, level, args.lattice.inverse_step));
        }
        if constexpr (kIsField) {
          const double r = reconstruct_affine(args.lattice, decoded);
          const double error = fabs(__dsub_rn(static_cast<double>(values[i]), r));
          if (!(error < args.lattice.safe_bound) &&
              !bound_holds(values[i], static_cast<Value>(r), args.bound)) {
            add_patch(args.report, args.patches, args.patch_room,
                      cell.origin + i * cell.node_step[0], bits_of(values[i]));
          }
        }
        return decoded;
      });
  store_edge(args, cell, v);
  return true;
}
#endif

}  // namespace

#if TAMIS_AXES == 2
// A wave takes an edge.
TAMIS_KERNEL void encode_edges(const CellArgs args) {
  __shared__ __align__(16) Slot nodes[TAMIS_THREADS / kWave][CellPlaces<1>::kSlots];
  CellTurn turn;
  if (turn_of_wave<1, TAMIS_THREADS>(args.grid, turn)) {
    encode_by_wave<1>(args, turn, nodes[wave_id()]);
  }
}
#endif
#if TAMIS_AXES == 3
// A thread takes an edge; those that need care are left to the whole wave.
TAMIS_KERNEL void encode_edges(const CellArgs args) {
  __shared__ __align__(16) Slot nodes[TAMIS_THREADS / kWave][CellPlaces<1>::kSlots];
  CellTurn turn;
  const bool exists = turn_of_edge(args.grid, turn);
  LaneMask left = wave_ballot(exists && !encode_edge_by_thread(args, turn));
  for (; left != 0; left &= left - 1) {
    encode_by_wave<1>(args, turn_of_lane(turn, lowest_one(left)), nodes[wave_id()]);
    sync_wave();
  }
}
// A wave takes a face.
TAMIS_KERNEL void __launch_bounds__(TAMIS_THREADS, TAMIS_FACE_BLOCKS)
    encode_faces(const CellArgs args, int part) {
  __shared__ __align__(16) Slot nodes[TAMIS_THREADS / kWave][CellPlaces<2>::kSlots];
  CellTurn turn;
  if (turn_of_wave<2, TAMIS_THREADS>(args.grid, turn) &&
      is_full_part(part) == is_full_cell(tile_at(args.grid, turn.tile), turn.mask)) {
    encode_by_wave<2>(args, turn, nodes[wave_id()]);
  }
}
#endif

TAMIS_KERNEL void __launch_bounds__(TAMIS_THREADS, TAMIS_INTERIOR_BLOCKS)
    encode_interiors(const CellArgs args, int part) {
  __shared__ __align__(16) Slot nodes[CellPlaces<kAxes>::kSlots];
  CellTurn turn;
  if (!turn_of_block(args.grid, turn)) return;
  const Tile tile = tile_at(args.grid, turn.tile);
  if (is_full_part(part) != is_full_cell(tile, kFullMask)) return;
  encode_cell<kAxes>(args, tile, turn.bundle, kFullMask, WholeBlock{}, nodes);
}
