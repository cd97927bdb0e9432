// What is applied to decoded values last. TAMIS_VALUE (bytes of a value) is its parameter.
#include "reduce/device/number_map.cuh"

using namespace tamis::device;

#if TAMIS_VALUE == 8
using Bits = u64;
#else
using Bits = u32;
#endif

// A thread takes a patch; the host has checked the indices.
TAMIS_KERNEL void apply_patches(Bits* values, const PatchEntry* patches, u64 count) {
  const u64 i = grid_thread();
  if (i < count) values[patches[i].index] = static_cast<Bits>(patches[i].bits);
}
