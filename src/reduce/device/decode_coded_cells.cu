// Reconstruction of the cells whose codes come from rANS, rank by rank, each with its stream.
// Others are left to decode_cells.cu, whose parameters these are; TAMIS_TEAMS is how many bundles a
// block takes.
#include "codec/device/stream_fault.hpp"
#include "reduce/device/coded_cells.cuh"

using namespace tamis::device;

namespace {

// Of interiors, that a multiprocessor holds: as many as shared memory allows.
constexpr int kInteriorBlocks = sizeof(Slot) == 4 ? 2 : 1;

extern __shared__ __align__(16) u8 shared_bytes[];

template <int kRank>
struct Memory {
  TeamCounters<kTeamsOf<kRank>> counters;
  alignas(16) u32 tables[kCloseTableWords];
  CodedMemory<kRank> teams[kTeamsOf<kRank>];
};

// The tables of a blob, when it is coded.
TAMIS_DEVICE const u32* tables_of(const BlobArgs& blobs, i64 chunk, int stream, int& words) {
  const i64 slot = stream * blobs.grid.chunk_count + chunk;
  if (blobs.coders[slot] != kRansCoder) return nullptr;
  words = static_cast<int>(blobs.model_sizes[slot]);
  return blobs.models + slot * blobs.model_room;
}

// In shared memory where they fit.
TAMIS_DEVICE const u32* keep_close(const u32* tables, int words, u32* close) {
  if (tables == nullptr || words > kCloseTableWords) return tables;
  for (int i = static_cast<int>(threadIdx.x); i < words; i += TAMIS_THREADS) close[i] = tables[i];
  return close;
}

// Of the nodes that the tile owns, in the target's own terms.
TAMIS_DEVICE void store_nodes(const CellArgs& args, const Cell<kAxes>& cell,
                              const CodedTeam<kAxes>& team, const Slot* v) {
  int first[kAxes];
  int count[kAxes];
#pragma unroll
  for (int a = 0; a < kAxes; ++a) {
    first[a] = 0;
    count[a] = owned_nodes(cell.form.nodes[a]);
  }
  each_in_box<kAxes>(first, count, team, [&](const int c[kAxes], int) {
    const Lattice lattice = static_cast<Lattice>(v[CellPlaces<kAxes>::at(c)]);
    Value& to = static_cast<Value*>(args.target)[cell.node(c)];
    if constexpr (kIsField) {
      to = reconstruct<Value>(args.lattice, lattice);
    } else {
      to = lattice;
    }
  });
}

template <int kRank>
TAMIS_DEVICE void decode_cell(const CellArgs& args, const Tile& tile, int mask,
                              const CodedTeam<kRank>& team, CodedMemory<kRank>& memory,
                              CodeSource& coarse, CodeSource& fine) {
  const Cell<kRank> cell(args.grid, tile, mask);
  load_boundary<kRank>(args, tile, cell, team, memory.nodes);
  team.sync();
  const int predictor = args.predictors[tile.index];
  if (predictor == 4) {
    decode_coded_lorenzo<kRank>(team, memory.nodes, cell.form, args.lattice, fine);
  } else {
    const CodedWalk<kRank> walk{team,
                                memory,
                                cell.form,
                                predictor,
                                static_cast<Lattice>(args.lattice.step),
                                args.lattice.inverse_step};
    walk.run(coarse, fine);
  }
  if constexpr (kRank < kAxes) {
    store_open<kRank>(args, cell, team, memory.nodes);
  } else {
    store_nodes(args, cell, team, memory.nodes);
  }
  team.sync();
}

// A team takes a bundle; those of a block belong to one chunk.
template <int kRank>
TAMIS_DEVICE void decode_bundles(const CellArgs& args, const BlobArgs& blobs) {
  constexpr int kTeams = kTeamsOf<kRank>;
  constexpr int kChunkBlocks = (kBundlesPerChunk + kTeams - 1) / kTeams;
  static_assert(sizeof(Memory<kRank>) <= coded_cell_bytes(kRank, kAxes, sizeof(Slot), kTeams),
                "the host gives too little memory");
  // Coarse and fine codes are those of one stream below the full rank.
  constexpr bool kTwo = kRank == kAxes;
  constexpr int kFine = kTwo ? kAxes : kRank - 1;
  auto& memory = *reinterpret_cast<Memory<kRank>*>(shared_bytes);
  const i64 chunk_index = blockIdx.x / kChunkBlocks;
  const ChunkRange chunk = args.grid.chunks[chunk_index];
  int words = 0;
  const u32* fine_tables = tables_of(blobs, chunk_index, kFine, words);
  int coarse_words = 0;
  const u32* coarse_tables =
      kTwo ? tables_of(blobs, chunk_index, kRank - 1, coarse_words) : nullptr;
  if (fine_tables == nullptr && coarse_tables == nullptr) return;
  fine_tables = keep_close(fine_tables, words, memory.tables);
  if (threadIdx.x < kTeams) memory.counters.arrived[threadIdx.x] = 0;
  __syncthreads();
  const CodedTeam<kRank> team(memory.counters);
  const int number = static_cast<int>(blockIdx.x % kChunkBlocks) * kTeams + team.index();
  if (number >= chunk.bundles) return;
  const i64 bundle = chunk.first_bundle + number;
  CodeSource fine(args, blobs, bundle, kFine, fine_tables);
  CodeSource coarse(args, blobs, bundle, kRank - 1, coarse_tables);
  const BundleRange range = args.grid.bundles[bundle];
  for (int turn = 0; turn < range.tiles; ++turn) {
    const Tile tile = tile_at(args.grid, range.first_tile + turn);
#pragma unroll 1
    for (int index = 0; index < cells_of_rank<kRank>(); ++index) {
      decode_cell<kRank>(args, tile, mask_of_cell<kRank>(index), team, memory.teams[team.index()],
                         kTwo ? coarse : fine, fine);
    }
  }
  if (team.wave() != 0) return;
  const bool fine_fault = fine.finish();
  const bool coarse_fault = coarse.finish();
  if ((fine_fault || coarse_fault) && lane_id() == 0) {
    report_fault(args.report, bundle, kFaultStream + tamis::codec::kStreamRans);
  }
}

}  // namespace

#if TAMIS_AXES >= 2
TAMIS_KERNEL void __launch_bounds__(TAMIS_THREADS, 2)
    decode_coded_edges(const CellArgs args, const BlobArgs blobs) {
  decode_bundles<1>(args, blobs);
}
#endif
#if TAMIS_AXES >= 3
TAMIS_KERNEL void __launch_bounds__(TAMIS_THREADS, 2)
    decode_coded_faces(const CellArgs args, const BlobArgs blobs) {
  decode_bundles<2>(args, blobs);
}
#endif
TAMIS_KERNEL void __launch_bounds__(TAMIS_THREADS, kInteriorBlocks)
    decode_coded_interiors(const CellArgs args, const BlobArgs blobs) {
  decode_bundles<kAxes>(args, blobs);
}
