// The decoder's first look at blobs: checksums, predictors, and where the stream of each bundle
// lies. Whatever is wrong is noted in the report, and the part is then taken for empty. The
// parameters are TAMIS_AXES and TAMIS_THREADS.
#include "gpu/device/xxh3.cuh"
#include "reduce/device/blob_layout.cuh"
#include "reduce/device/faults.cuh"

using namespace tamis::device;

namespace {

constexpr int kThreads = TAMIS_THREADS;
constexpr int kWaves = kThreads / kWave;

// Next varint of at most 10 bytes in its shortest form; false where there is none.
TAMIS_DEVICE bool take_varint(const u8*& at, const u8* end, u64& value) {
  value = 0;
  for (int shift = 0; shift < 70; shift += 7) {
    if (at == end) return false;
    const u64 byte = *at++;
    if (shift == 63 && byte > 1) return false;
    value |= (byte & 127) << shift;
    if (byte < 128) return byte != 0 || shift == 0;
  }
  return false;
}

TAMIS_DEVICE bool open_predictors(const BlobArgs& args, const ChunkRange& chunk, const u8* bytes,
                                  u64 size) {
  u8* out = args.predictors_out + chunk.first_tile;
  const bool uniform = size == 1 && bytes[0] < 5;
  const u64 packed = ceil_div(3 * chunk.tiles, 8);
  bool good = uniform || (size == 1 + packed && bytes[0] == 8);
  if (good && !uniform && 3 * chunk.tiles % 8 != 0) {
    good = bytes[packed] >> (3 * chunk.tiles % 8) == 0;  // spare bits
  }
  for (u32 t = threadIdx.x; t < static_cast<u32>(chunk.tiles); t += kThreads) {
    u32 predictor = 0;
    if (uniform) {
      predictor = bytes[0];
    } else if (good) {
      for (int b = 0; b < 3; ++b) {
        const u32 bit = 3 * t + b;
        predictor |= (bytes[1 + bit / 8] >> (bit % 8) & 1u) << b;
      }
    }
    if (predictor > 4) {
      good = false;
      predictor = 0;
    }
    out[t] = static_cast<u8>(predictor);
  }
  return good;
}

// By one thread.
TAMIS_DEVICE bool open_streams(const BlobArgs& args, const ChunkRange& chunk, i64 chunk_index,
                               int stream, const u8* bytes, u64 size, u64 at) {
  const i64 first = stream * args.grid.bundle_count + chunk.first_bundle;
  args.coders[stream * args.grid.chunk_count + chunk_index] = 0;
  for (int b = 0; b < chunk.bundles; ++b) {
    args.stream_sizes[first + b] = 0;
    args.stream_at[first + b] = 0;
  }
  if (size == 0) return true;
  const u8* next = bytes + 1;
  const u8* end = bytes + size;
  const int coder = bytes[0];
  if (coder < kRiceCoder || coder > kRansCoder) return false;
  if (coder == kRansCoder) {
    if (args.models == nullptr) {
      report_fault(args.report, file_slot(args.grid, chunk_index, stream + 1), kFaultNoModels);
      return true;
    }
    u64 tables;
    if (!take_varint(next, end, tables) || tables > static_cast<u64>(end - next)) return false;
    const i64 slot = stream * args.grid.chunk_count + chunk_index;
    args.table_at[slot] = at + static_cast<u64>(next - bytes);
    args.table_sizes[slot] = static_cast<u32>(min_of<u64>(tables, ~u32{0}));
    next += tables;
  }
  const u8* sizes = next;
  u64 total = 0;
  for (int b = 0; b < chunk.bundles; ++b) {
    u64 bundle;
    if (!take_varint(next, end, bundle) || bundle > size || bundle >> 31 != 0) return false;
    total += bundle;
  }
  if (total != static_cast<u64>(end - next)) return false;
  u64 begin = at + static_cast<u64>(next - bytes);
  next = sizes;
  for (int b = 0; b < chunk.bundles; ++b) {
    u64 bundle = 0;
    take_varint(next, end, bundle);
    args.stream_sizes[first + b] = static_cast<u32>(bundle);
    args.stream_at[first + b] = begin;
    begin += bundle;
  }
  args.coders[stream * args.grid.chunk_count + chunk_index] = static_cast<u8>(coder);
  return true;
}

}  // namespace

// A block takes a blob.
TAMIS_KERNEL void open_blobs(const BlobArgs args) {
  __shared__ BlockXxh3<kWaves>::Scratch scratch;
  const i64 slot = blockIdx.x;
  i64 chunk_index;
  int blob;
  blob_of_slot(args.grid, slot, chunk_index, blob);
  const ChunkRange chunk = args.grid.chunks[chunk_index];
  u64 size = args.blob_sizes[slot];
  const u64 at = args.blob_at[slot];
  const u8* bytes = args.data + at;
  if (size != 0 && args.framed == 0) {
    const u64 hash = BlockXxh3<kWaves>::hash(bytes, size, scratch);
    if (static_cast<u32>(hash) != args.checksums[slot]) {
      report_fault(args.report, slot, kFaultChecksum);
      size = 0;
    }
  }
  if (blob == 0) {
    if (!open_predictors(args, chunk, bytes, size)) {
      report_fault(args.report, slot, kFaultPredictors);
    }
  } else if (threadIdx.x == 0) {
    if (!open_streams(args, chunk, chunk_index, blob - 1, bytes, size, at)) {
      report_fault(args.report, slot, kFaultBlobHead);
    }
  }
}
