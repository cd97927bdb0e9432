// Trial encodings of single tiles, priced by Golomb-Rice or fixed-width codes. Parameters as in
// encode_cells.cu.
#include "codec/device/fixed_encode.cuh"
#include "codec/device/rice_encode.cuh"
#include "reduce/device/closed_tile.cuh"
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

// Bits of a tile that has codes, by the whole block.
TAMIS_DEVICE u64 price(const ClosedTile<false>& tile, int predictor, Memory& memory) {
  tile.load();
  __syncthreads();
  tile.encode(predictor, [&](const WalkPoint& point, Lattice code, Lattice) {
    (point.level == 0 ? memory.fine : memory.coarse)[point.code] = code;
  });
  const u32 coarse = tile.coarse_points(predictor);
  const u32 fine = tile.open_points() - coarse;
  if (tile.args.coder == 2) {
    return FixedWidth::bits(memory.coarse, coarse, memory.coder.fixed_width) +
           FixedWidth::bits(memory.fine, fine, memory.coder.fixed_width);
  }
  return Rice::bits(memory.coarse, coarse, memory.coder.rice) +
         Rice::bits(memory.fine, fine, memory.coder.rice);
}

}  // namespace

// A block takes a tile (x) and a way (y).
TAMIS_KERNEL void __launch_bounds__(TAMIS_THREADS) price_trials(const TrialArgs args) {
  Memory& memory = *reinterpret_cast<Memory*>(shared_bytes);
  const TrialWay way = args.ways[blockIdx.y];
  if (static_cast<int>(blockIdx.x) >= way.tile_count) return;
  ClosedTile<false> tile{args, memory.nodes, {}, 0, {}};
  tile.take(way, args.tiles[way.first_tile + static_cast<int>(blockIdx.x)]);
  const u32 codes = tile.open_points();
  const u64 bits = codes > 0 ? price(tile, way.predictor, memory) : 0;
  if (threadIdx.x == 0) {
    args.prices[way.first_price + static_cast<int>(blockIdx.x)] = {bits, codes};
  }
}

// A block takes a tile of the grid: the cheapest of all ways, the earliest where several are.
TAMIS_KERNEL void __launch_bounds__(TAMIS_THREADS, 4) choose_predictors(const TrialArgs args) {
  Memory& memory = *reinterpret_cast<Memory*>(shared_bytes);
  const Tile at = tile_at(args.grid, blockIdx.x);
  ClosedTile<false> tile{args, memory.nodes, {}, 0, {}};
  tile.take(at);
  int best = args.ways[0].predictor;
  u64 least = ~u64{0};
  const int ways = tile.open_points() > 0 ? args.way_count : 0;
  for (int w = 0; w < ways; ++w) {
    const u64 bits = price(tile, args.ways[w].predictor, memory);
    if (bits < least) {
      least = bits;
      best = args.ways[w].predictor;
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) args.predictors[at.index] = static_cast<u8>(best);
}
