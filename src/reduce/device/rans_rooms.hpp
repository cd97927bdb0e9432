// How much memory rANS models take: numbers that the host and the kernels that check them share.
#pragma once

#if defined(TAMIS_GPU_CUDA) || defined(TAMIS_GPU_HIP)
#define TAMIS_ROOM __device__ constexpr
#else
#define TAMIS_ROOM constexpr
#endif

namespace tamis::device {

/// Of an encoder: bytes of a blob's tables, and words of the symbols that it looks up.
TAMIS_ROOM long long rans_table_room(int lattice_bytes) {
  return lattice_bytes == 4 ? 9344 : 17536;
}
TAMIS_ROOM long long rans_symbol_room(int lattice_bytes) {
  return lattice_bytes == 4 ? 9248 : 17440;
}
/// Of a decoder: words of a blob's tables, laid out.
TAMIS_ROOM long long rans_decoder_room() { return 25120; }

/// Dynamic shared memory of the kernel that builds models.
TAMIS_ROOM long long rans_build_bytes(int lattice_bytes) {
  return (lattice_bytes == 4 ? 50ll : 83ll) << 10;
}

/// Tables that a block keeps in shared memory while it decodes cells; larger ones stay where they
/// are.
inline constexpr int kCloseTableWords = 4608;  // of 16 clusters, mostly

/// Bundles a block of the kernels that decode coded cells of lower rank, where `teams` are those of
/// interiors: a bundle needs two waves.
TAMIS_ROOM int low_rank_teams(int teams, int wave_size) {
  return wave_size == 32 ? 2 * teams : teams;
}

/// Dynamic shared memory of the kernels that decode coded cells of `rank` axes, so many bundles a
/// block.
TAMIS_ROOM long long coded_cell_bytes(int rank, int axes, int slot_bytes, int teams) {
  const long long side = axes == 1 ? 4096 : axes == 2 ? 64 : 16;
  long long slots = side + 4;
  for (int axis = 1; axis < rank; ++axis) slots *= side + 1;
  return 64 + 4ll * kCloseTableWords + teams * (768 + slots * slot_bytes);
}

}  // namespace tamis::device
