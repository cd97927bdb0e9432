// Where blobs stand in file order, and variable-length integers.
#pragma once

#include "reduce/device/tile.cuh"

namespace tamis::device {

inline constexpr int kStreams = kAxes + 1;
inline constexpr int kBlobs = kStreams + 1;  // blob 0 holds the predictors

/// Blob 0 of all chunks, blob 1 of all chunks ...; the last two side by side.
TAMIS_DEVICE i64 file_slot(const GridArgs& grid, i64 chunk, int blob) {
  if (blob < kAxes) return blob * grid.chunk_count + chunk;
  return kAxes * grid.chunk_count + 2 * chunk + (blob - kAxes);
}
TAMIS_DEVICE void blob_of_slot(const GridArgs& grid, i64 slot, i64& chunk, int& blob) {
  const i64 first_pair = kAxes * grid.chunk_count;
  if (slot < first_pair) {
    blob = static_cast<int>(slot / grid.chunk_count);
    chunk = slot % grid.chunk_count;
  } else {
    blob = kAxes + static_cast<int>((slot - first_pair) & 1);
    chunk = (slot - first_pair) >> 1;
  }
}

TAMIS_DEVICE int varint_bytes(u64 value) {
  int bytes = 1;
  for (; value >= 128; value >>= 7) ++bytes;
  return bytes;
}
TAMIS_DEVICE u8* put_varint(u8* to, u64 value) {
  for (; value >= 128; value >>= 7) *to++ = static_cast<u8>(value) | 128;
  *to++ = static_cast<u8>(value);
  return to;
}

/// Bytes of a blob with streams of these sizes; none where all of them are empty. `table_bytes` are
/// those of rANS tables.
TAMIS_DEVICE u64 streams_blob_size(const u32* sizes, int bundles, int coder, u32 table_bytes) {
  u64 total = 0;
  u64 head = 1;
  if (coder == kRansCoder) head += varint_bytes(table_bytes) + table_bytes;
  for (int b = 0; b < bundles; ++b) {
    total += sizes[b];
    head += varint_bytes(sizes[b]);
  }
  return total == 0 ? 0 : head + total;
}

/// Coder of an encoder's blob; `slot` counts streams, then chunks.
TAMIS_DEVICE int coder_of(const BlobArgs& args, i64 slot) {
  return args.coder == kRansCoder ? args.coders[slot] : args.coder;
}

}  // namespace tamis::device
