// Prediction and quantisation of cells, rank by rank: edges, faces, interiors. Each kernel leaves
// the codes in the order of the format and the reconstruction in the planes. TAMIS_AXES,
// TAMIS_VALUE (bytes of a value; 0 = the source holds lattice integers), TAMIS_LATTICE (bytes),
// TAMIS_CONTEXTS (0 or 1) and TAMIS_THREADS are its parameters.
#include "reduce/device/cell_turns.cuh"
#include "reduce/device/contexts.cuh"
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

  TAMIS_DEVICE Lattice lattice_at(Slot raw, const int at[kRank]) const {
    if constexpr (!kIsField) {
      return static_cast<Lattice>(raw);
    } else if constexpr (!kCareful) {
      return quantise_affine<Lattice>(args.lattice, static_cast<double>(value_in(raw)));
    } else {
      Lattice lattice;
      if (quantise(args.lattice, value_in(raw), lattice)) return lattice;
      return lattice_before(at);
    }
  }

  TAMIS_DEVICE void check(Slot raw, Lattice decoded, const int at[kRank]) const {
    if constexpr (kIsField && !kCareful) {
      const double x = static_cast<double>(value_in(raw));
      const double r = reconstruct_affine(args.lattice, decoded);
      if (fabs(__dsub_rn(x, r)) < args.lattice.safe_bound) return;
      if (bound_holds(value_in(raw), static_cast<Value>(r), args.bound)) return;
      add_patch(args.report, args.patches, args.patch_room, cell.node(at), raw);
    } else if constexpr (kIsField) {
      Value x = value_in(raw);
      if (args.lattice.kind == kMapLogarithm && x <= 0) x = Value{0} - x;
      const Value r = reconstruct<Value>(args.lattice, decoded);
      if (point_holds(args.check, args.bound, x, r)) return;
      add_patch(args.report, args.patches, args.patch_room, cell.node(at), raw);
    }
  }

  TAMIS_DEVICE void put(const WalkPoint<kRank, Lattice>& point, bool in_fine, Lattice code) const {
    (in_fine ? fine : coarse)[point.code] = code;
    if (kContexts) {
      (in_fine ? fine_context : coarse_context)[point.code] =
          static_cast<u8>(context_of(point.activity, point.level, args.lattice.inverse_step));
    }
  }

  // An interpolated point.
  TAMIS_DEVICE void operator()(const WalkPoint<kRank, Lattice>& point) const {
    const Slot raw = v[point.place];
    const Lattice step = static_cast<Lattice>(args.lattice.step);
    const Lattice code = divide_nearest(wrap_sub(lattice_at(raw, point.at), point.predicted), step,
                                        args.lattice.reciprocal);
    const Lattice decoded = wrap_add(point.predicted, wrap_mul(code, step));
    v[point.place] = slot_of(decoded);
    check(raw, decoded, point.at);
    put(point, point.level == 0, code);
  }

 private:
  // Points without a lattice value repeat the one before them in their row of up to 64, or are 0.
  TAMIS_DEVICE Lattice lattice_before(const int at[kRank]) const {
    if constexpr (kIsField) {
      int c[kRank];
#pragma unroll
      for (int r = 0; r < kRank; ++r) c[r] = at[r];
      const int begin = 1 + (at[0] - 1) / 64 * 64;
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
  using Point = WalkPoint<kRank, Lattice>;
  Slot* v = encode.v;
  const CellForm<kRank>& form = encode.cell.form;
  const LatticeArgs& lattice = encode.args.lattice;
  const Lattice step = static_cast<Lattice>(lattice.step);
  Lorenzo::scale_boundary(v, form, lattice, group);
  Lorenzo::each_open(form, group, [&](const Point& point) {
    const Slot raw = v[point.place];
    const Lattice value =
        divide_nearest(encode.lattice_at(raw, point.at), step, lattice.reciprocal);
    v[point.place] = slot_of(value);
    encode.check(raw, wrap_mul(value, step), point.at);
  });
  group.sync();
  const auto code_at = [&](const int c[kRank]) {
    return wrap_sub(static_cast<Lattice>(v[CellPlaces<kRank>::at(c)]), Lorenzo::predicted(v, c));
  };
  Lorenzo::each_open(form, group, [&](Point point) {
    if (kContexts) point.activity = Lorenzo::activity(point.at, lattice, code_at);
    encode.put(point, true, code_at(point.at));
  });
  group.sync();
  if (kRank == kAxes) return;
  Lorenzo::each_open(form, group, [&](const Point& point) {
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
  } else if constexpr (kCareful) {
    PartialWalk<kRank, kContexts, Lattice>::run(v, cell.form, predictor >= 2, (predictor & 1) != 0,
                                                group, encode);
  } else {
    walk_cell<kRank, kContexts, Lattice>(v, cell.form, predictor, group, encode);
  }
}

template <int kRank, typename Group>
TAMIS_DEVICE void encode_cell(const CellArgs& args, const Tile& tile, i64 bundle, int mask,
                              const Group& group, Slot* v) {
  const Cell<kRank> cell(args.grid, tile, mask);
  const bool plain = load_open<kRank>(args, cell, group, v);
  load_boundary<kRank>(args, tile, cell, group, v);
  if (group.sync_all(plain)) {
    encode_points<kRank, false>(args, tile, bundle, cell, group, v);
  } else {
    encode_points<kRank, true>(args, tile, bundle, cell, group, v);
  }
  if constexpr (kRank < kAxes) store_open<kRank>(args, cell, group, v);
}

template <int kRank>
TAMIS_DEVICE void encode_low_cells(const CellArgs& args) {
  __shared__ Slot nodes[TAMIS_THREADS / kWave][CellPlaces<kRank>::kSlots];
  CellTurn turn;
  if (!turn_of_wave<kRank, TAMIS_THREADS>(args.grid, turn)) return;
  const Tile tile = tile_at(args.grid, turn.tile);
  encode_cell<kRank>(args, tile, turn.bundle, turn.mask, OneWave{}, nodes[wave_id()]);
}

}  // namespace

#if TAMIS_AXES >= 2
TAMIS_KERNEL void encode_edges(const CellArgs args) { encode_low_cells<1>(args); }
#endif
#if TAMIS_AXES >= 3
TAMIS_KERNEL void encode_faces(const CellArgs args) { encode_low_cells<2>(args); }
#endif

TAMIS_KERNEL void __launch_bounds__(TAMIS_THREADS, 8) encode_interiors(const CellArgs args) {
  __shared__ Slot nodes[CellPlaces<kAxes>::kSlots];
  CellTurn turn;
  if (!turn_of_block(args.grid, turn)) return;
  const Tile tile = tile_at(args.grid, turn.tile);
  encode_cell<kAxes>(args, tile, turn.bundle, kFullMask, WholeBlock{}, nodes);
}
