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

// Sizes of the streams of a blob: varints of at most 10 bytes each.
constexpr u32 kMostHeadBytes = 10 * kBundlesPerChunk;

struct StreamsHead {
  bool good;
  int coder;  // kNoCoder for a blob that holds nothing to decode here
  u64 sizes;  // where the sizes of the streams begin
  u8 bytes[kMostHeadBytes];
};

// By one thread: what comes before the sizes.
TAMIS_DEVICE void read_head(const BlobArgs& args, const ChunkRange& chunk, i64 chunk_index,
                            int stream, const u8* bytes, u64 size, u64 at, StreamsHead& head) {
  const i64 slot = stream * args.grid.chunk_count + chunk_index;
  const i64 first = stream * args.grid.bundle_count + chunk.first_bundle;
  args.coders[slot] = kNoCoder;
  for (int b = 0; b < chunk.bundles; ++b) {
    args.stream_sizes[first + b] = 0;
    args.stream_at[first + b] = 0;
  }
  head.coder = kNoCoder;
  head.sizes = 1;
  head.good = size == 0 || (bytes[0] >= kRiceCoder && bytes[0] <= kRansCoder);
  if (size == 0 || !head.good) return;
  if (bytes[0] == kRansCoder) {
    if (args.models == nullptr) {
      report_fault(args.report, file_slot(args.grid, chunk_index, stream + 1), kFaultNoModels);
      return;
    }
    const u8* next = bytes + 1;
    const u8* end = bytes + size;
    u64 tables;
    if (!take_varint(next, end, tables) || tables > static_cast<u64>(end - next)) {
      head.good = false;
      return;
    }
    args.table_at[slot] = at + static_cast<u64>(next - bytes);
    args.table_sizes[slot] = static_cast<u32>(min_of<u64>(tables, ~u32{0}));
    head.sizes = static_cast<u64>(next - bytes) + tables;
  }
  head.coder = bytes[0];
}

// By one thread: places of the streams; the bytes of their sizes are in `head`.
TAMIS_DEVICE bool place_streams(const BlobArgs& args, const ChunkRange& chunk, i64 chunk_index,
                                int stream, u64 size, u64 at, const StreamsHead& head) {
  const i64 first = stream * args.grid.bundle_count + chunk.first_bundle;
  const u64 left = size - head.sizes;
  const u8* next = head.bytes;
  const u8* end = head.bytes + min_of<u64>(left, kMostHeadBytes);
  u64 total = 0;
  for (int b = 0; b < chunk.bundles; ++b) {
    u64 bundle;
    if (!take_varint(next, end, bundle) || bundle > size || bundle >> 31 != 0) return false;
    total += bundle;
  }
  const u64 head_bytes = static_cast<u64>(next - head.bytes);
  if (total != left - head_bytes) return false;
  u64 begin = at + head.sizes + head_bytes;
  next = head.bytes;
  for (int b = 0; b < chunk.bundles; ++b) {
    u64 bundle = 0;
    take_varint(next, end, bundle);
    args.stream_sizes[first + b] = static_cast<u32>(bundle);
    args.stream_at[first + b] = begin;
    begin += bundle;
  }
  args.coders[stream * args.grid.chunk_count + chunk_index] = static_cast<u8>(head.coder);
  return true;
}

// By the block. Bytes are brought close before they are looked at one after the other.
TAMIS_DEVICE bool open_streams(const BlobArgs& args, const ChunkRange& chunk, i64 chunk_index,
                               int stream, const u8* bytes, u64 size, u64 at, StreamsHead& head) {
  if (threadIdx.x == 0) read_head(args, chunk, chunk_index, stream, bytes, size, at, head);
  __syncthreads();
  if (!head.good || head.coder == kNoCoder) return head.good;
  const u64 left = size - head.sizes;
  for (u32 i = threadIdx.x; i < kMostHeadBytes && i < left; i += kThreads) {
    head.bytes[i] = bytes[head.sizes + i];
  }
  __syncthreads();
  return threadIdx.x != 0 || place_streams(args, chunk, chunk_index, stream, size, at, head);
}

}  // namespace

// A block takes a blob.
TAMIS_KERNEL void __launch_bounds__(TAMIS_THREADS, 2) open_blobs(const BlobArgs args) {
  __shared__ BlockXxh3<kWaves>::Scratch scratch;
  __shared__ StreamsHead head;
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
  } else if (!open_streams(args, chunk, chunk_index, blob - 1, bytes, size, at, head)) {
    report_fault(args.report, slot, kFaultBlobHead);
  }
}
