// Trial encodings of single tiles, taken as closed cells whose boundary is exact: what plans and
// predictors are judged by (reduce/tile_trial.cpp). Parameters as in encode_cells.cu.
#include "codec/device/fixed_encode.cuh"
#include "codec/device/rice_encode.cuh"
#include "reduce/device/cell_turns.cuh"
#include "reduce/device/lorenzo_cell.cuh"
#include "reduce/device/trial_memory.hpp"

using namespace tamis::device;

namespace {

constexpr int kThreads = TAMIS_THREADS;
constexpr int kWaves = kThreads / kWave;

struct Memory {
  alignas(16) Lattice nodes[CellPlaces<kAxes>::kSlots];
  alignas(16) Lattice coarse[TrialSizes<kAxes>::kCoarse];
  alignas(16) Lattice fine[TrialSizes<kAxes>::kFine];
  union {
    struct {
      struct {
        RicePlanScratch plan;
      } waves[kWaves];
      u64 sums[kWaves];
    } rice;
    struct {
      alignas(16) u32 exchange[kWaves][kSegmentWords];
      u64 sums[kWaves];
    } fixed_width;
  } coder;
};
// What the host asks for.
static_assert(sizeof(Memory) <= TrialSizes<kAxes>::kBytes<sizeof(Lattice)>);
extern __shared__ __align__(16) u8 shared_bytes[];

using Rice = RiceEncoder<Lattice, kWaves>;
using FixedWidth = FixedWidthEncoder<Lattice, kWaves>;

// Lattice value of node x of its row, the nodes of which are `stride` apart; without one, that of
// the node before it in the row, or 0.
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

// What happens at each interpolated point.
struct Codes {
  const LatticeArgs& lattice;
  Memory& memory;

  TAMIS_DEVICE void one(const WalkPoint& point, Lattice predicted, Lattice) const {
    const Lattice step = static_cast<Lattice>(lattice.step);
    const Lattice code =
        divide_nearest(wrap_sub(memory.nodes[point.place], predicted), step, lattice.reciprocal);
    memory.nodes[point.place] = wrap_add(predicted, wrap_mul(code, step));
    (point.level == 0 ? memory.fine : memory.coarse)[point.code] = code;
  }
  template <int kTurns, int kSure, int kLevel>
  TAMIS_DEVICE void column(int place, int gap, int code, int weight, int turns,
                           const Lattice* predicted, const Lattice*) const {
#pragma unroll
    for (int u = 0; u < kTurns; ++u) {
      if (u < kSure || u < turns)
        one({place + u * gap, code + u * weight, kLevel}, predicted[u], 0);
    }
  }
};

struct Trial {
  const TrialArgs& args;
  Memory& memory;
  CellForm<kAxes> form;
  i64 origin;
  i64 stride[kAxes];

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
      memory.nodes[CellPlaces<kAxes>::at(c)] =
          lattice_of(args.lattice, source, at, c[0], stride[0]);
    });
  }

  // Codes of the tile's open points; the values must have been loaded.
  TAMIS_DEVICE void encode(int predictor, u32& coarse_count, u32& fine_count) const {
    const WholeBlock group;
    u32 open = 1;
    u32 coarse = 1;
#pragma unroll
    for (int a = 0; a < kAxes; ++a) {
      const u32 points = static_cast<u32>(form.nodes[a] - (form.far[a] ? 2 : 1));
      open *= points;
      coarse *= points / 2;
    }
    coarse_count = predictor == 4 ? 0 : coarse;
    fine_count = open - coarse_count;
    const Lattice step = static_cast<Lattice>(args.lattice.step);
    const u64 reciprocal = args.lattice.reciprocal;
    Lattice* nodes = memory.nodes;
    if (predictor == 4) {
      // All values become multiples of the step, the near boundary as well.
      using Lorenzo = LorenzoCell<kAxes, false, Lattice>;
      Lorenzo::scale_boundary(nodes, form, args.lattice, group);
      Lorenzo::each_open(form, group, [&](const WalkPoint& point, const int*) {
        nodes[point.place] = divide_nearest(nodes[point.place], step, reciprocal);
      });
      group.sync();
      Lorenzo::each_open(form, group, [&](const WalkPoint& point, const int c[kAxes]) {
        memory.fine[point.code] = wrap_sub(nodes[point.place], Lorenzo::predicted(nodes, c));
      });
      group.sync();
      return;
    }
    walk_cell<kAxes, false, Lattice>(nodes, form, predictor, false, group,
                                     Codes{args.lattice, memory});
  }

  TAMIS_DEVICE u64 price(u32 coarse_count, u32 fine_count) const {
    if (args.coder == 2) {
      return FixedWidth::bits(memory.coarse, coarse_count, memory.coder.fixed_width) +
             FixedWidth::bits(memory.fine, fine_count, memory.coder.fixed_width);
    }
    return Rice::bits(memory.coarse, coarse_count, memory.coder.rice) +
           Rice::bits(memory.fine, fine_count, memory.coder.rice);
  }
};

// Preferences of the axes, from the order of active axes.
TAMIS_DEVICE void set_preferences(const int order[kMostActive], CellForm<kAxes>& form) {
#pragma unroll
  for (int i = 0; i < kAxes; ++i) {
#pragma unroll
    for (int a = 0; a < kAxes; ++a) {
      if (order[i] == kAxes - 1 - a) form.prefer[a] = i;
    }
  }
}

}  // namespace

// A block takes a tile (x) and a way (y).
TAMIS_KERNEL void __launch_bounds__(TAMIS_THREADS) price_trials(const TrialArgs args) {
  Memory& memory = *reinterpret_cast<Memory*>(shared_bytes);
  const TrialWay way = args.ways[blockIdx.y];
  if (static_cast<int>(blockIdx.x) >= way.tile_count) return;
  const TrialTile tile = args.tiles[way.first_tile + static_cast<int>(blockIdx.x)];
  Trial trial{args, memory, {}, tile.origin, {}};
  bool empty = false;
#pragma unroll
  for (int a = 0; a < kAxes; ++a) {
    const int k = kAxes - 1 - a;
    trial.stride[a] = way.strides[k];
    trial.form.nodes[a] = tile.nodes[k];
    trial.form.far[a] = tile.nodes[k] == kSide + 1 || (k == 0 && tile.slice != 0);
    empty = empty || tile.nodes[k] < (trial.form.far[a] ? 3 : 2);
  }
  set_preferences(way.order, trial.form);
  u32 coarse = 0;
  u32 fine = 0;
  u64 bits = 0;
  if (!empty) {
    trial.load();
    __syncthreads();
    trial.encode(way.predictor, coarse, fine);
    bits = trial.price(coarse, fine);
  }
  if (threadIdx.x == 0) {
    args.prices[way.first_price + static_cast<int>(blockIdx.x)] = {bits, coarse + fine};
  }
}

// A block takes a tile of the grid: the cheapest of all ways, the earliest where several are.
TAMIS_KERNEL void __launch_bounds__(TAMIS_THREADS, 4) choose_predictors(const TrialArgs args) {
  Memory& memory = *reinterpret_cast<Memory*>(shared_bytes);
  const Tile tile = tile_at(args.grid, blockIdx.x);
  Trial trial{args, memory, {}, tile.origin, {}};
  bool empty = false;
#pragma unroll
  for (int a = 0; a < kAxes; ++a) {
    trial.stride[a] = tile.stride[a];
    trial.form.nodes[a] = tile.nodes[a];
    trial.form.far[a] = tile.nodes[a] == kSide + 1;
    if (a + 1 == kAxes && args.sliced != 0 && tile.nodes[a] > kSide / 4 + 1) {
      trial.form.nodes[a] = kSide / 4 + 1;
      trial.form.far[a] = true;
    }
    empty = empty || trial.form.nodes[a] < (trial.form.far[a] ? 3 : 2);
  }
  set_preferences(args.grid.order, trial.form);
  int best = args.ways[0].predictor;
  u64 least = ~u64{0};
  for (int w = 0; w < args.way_count && !empty; ++w) {
    trial.load();
    __syncthreads();
    u32 coarse;
    u32 fine;
    trial.encode(args.ways[w].predictor, coarse, fine);
    const u64 bits = trial.price(coarse, fine);
    if (bits < least) {
      least = bits;
      best = args.ways[w].predictor;
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) args.predictors[tile.index] = static_cast<u8>(best);
}
