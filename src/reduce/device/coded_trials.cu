// Trial encodings of single tiles, priced by tables that samples taught: what rANS would take.
// Parameters as in encode_cells.cu.
#include "codec/device/rans_tokens.cuh"
#include "reduce/device/closed_tile.cuh"
#include "reduce/device/trial_memory.hpp"

using namespace tamis::device;

namespace {

constexpr int kWaves = TAMIS_THREADS / kWave;
constexpr int kTokens = kRansTokens<Lattice>;
// Numbers of a table: [context][token].
constexpr int kTableSize = TrialSizes<kAxes>::kTableSize<sizeof(Lattice)>;
static_assert(kTableSize == kRansContexts * kTokens);

using Coded = ClosedTile<true>;

// Where a code is in a table.
TAMIS_DEVICE int place_in_table(const WalkPoint& point, Lattice code, Lattice activity,
                                float inverse_step) {
  const u32 context = context_of(activity, point.level, inverse_step);
  return static_cast<int>(context) * kTokens + rans_token(rans_zigzag(code)).token;
}

// Of a tile, by the whole block, which gets it all.
TAMIS_DEVICE u64 price(const Coded& tile, int predictor, const u32* table, u64* sums) {
  tile.load();
  __syncthreads();
  u64 mine = 0;
  tile.encode(predictor, [&](const WalkPoint& point, Lattice code, Lattice activity) {
    mine += table[place_in_table(point, code, activity, tile.args.lattice.inverse_step)];
  });
  const u64 of_wave = wave_sum(mine);
  if (lane_id() == 0) sums[wave_id()] = of_wave;
  __syncthreads();
  u64 all = 0;
#pragma unroll
  for (int w = 0; w < kWaves; ++w) all += sums[w];
  return all;
}

}  // namespace

// A block takes a tile (x) and a way (y), and adds its codes to the table of the way.
TAMIS_KERNEL void __launch_bounds__(TAMIS_THREADS) learn_trials(const TrialArgs args) {
  extern __shared__ __align__(16) u8 shared_bytes[];
  u32* table = reinterpret_cast<u32*>(shared_bytes);
  Lattice* nodes = reinterpret_cast<Lattice*>(table + kTableSize);
  static_assert(kTableSize * sizeof(u32) % 16 == 0);
  const TrialWay way = args.ways[blockIdx.y];
  if (static_cast<int>(blockIdx.x) >= way.tile_count) return;
  Coded tile{args, nodes, {}, 0, {}};
  tile.take(way, args.tiles[way.first_tile + static_cast<int>(blockIdx.x)]);
  if (tile.open_points() == 0) return;
  for (int i = static_cast<int>(threadIdx.x); i < kTableSize; i += TAMIS_THREADS) table[i] = 0;
  tile.load();
  __syncthreads();
  tile.encode(way.predictor, [&](const WalkPoint& point, Lattice code, Lattice activity) {
    atomicAdd(&table[place_in_table(point, code, activity, args.lattice.inverse_step)], 1u);
  });
  u32* counts = args.counts + static_cast<i64>(blockIdx.y) * kTableSize;
  for (int i = static_cast<int>(threadIdx.x); i < kTableSize; i += TAMIS_THREADS) {
    if (table[i] != 0) atomicAdd(&counts[i], table[i]);
  }
}

// A block takes a tile (x) and a way (y) with its table; bits are in 1/65536.
TAMIS_KERNEL void __launch_bounds__(TAMIS_THREADS) price_coded_trials(const TrialArgs args) {
  __shared__ __align__(16) Lattice nodes[CellPlaces<kAxes>::kSlots];
  __shared__ u64 sums[kWaves];
  const TrialWay way = args.ways[blockIdx.y];
  if (static_cast<int>(blockIdx.x) >= way.tile_count) return;
  Coded tile{args, nodes, {}, 0, {}};
  tile.take(way, args.tiles[way.first_tile + static_cast<int>(blockIdx.x)]);
  const u32 codes = tile.open_points();
  const u32* table = args.tables + static_cast<i64>(blockIdx.y) * kTableSize;
  const u64 bits = codes > 0 ? price(tile, way.predictor, table, sums) : 0;
  if (threadIdx.x == 0) {
    args.prices[way.first_price + static_cast<int>(blockIdx.x)] = {bits, codes};
  }
}

// A block takes a tile of the grid: the cheapest of all ways, the earliest where several are.
TAMIS_KERNEL void __launch_bounds__(TAMIS_THREADS, sizeof(Lattice) == 4 ? 6 : 4)
    choose_coded_predictors(const TrialArgs args) {
  __shared__ __align__(16) Lattice nodes[CellPlaces<kAxes>::kSlots];
  __shared__ u64 sums[kWaves];
  const Tile at = tile_at(args.grid, blockIdx.x);
  Coded tile{args, nodes, {}, 0, {}};
  tile.take(at);
  int best = args.ways[0].predictor;
  u64 least = ~u64{0};
  const int ways = tile.open_points() > 0 ? args.way_count : 0;
  for (int w = 0; w < ways; ++w) {
    const u32* table = args.tables + static_cast<i64>(w) * kTableSize;
    const u64 bits = price(tile, args.ways[w].predictor, table, sums);
    if (bits < least) {
      least = bits;
      best = args.ways[w].predictor;
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) args.predictors[at.index] = static_cast<u8>(best);
}
