// From the streams of bundles to blobs in their final place, their checksums, and the index. The
// parameters are TAMIS_AXES and TAMIS_THREADS.
#include "gpu/device/block_scan.cuh"
#include "gpu/device/copy.cuh"
#include "gpu/device/xxh3.cuh"
#include "reduce/device/blob_layout.cuh"

using namespace tamis::device;

namespace {

constexpr int kThreads = TAMIS_THREADS;
constexpr int kWaves = kThreads / kWave;

// 1 for a chunk whose tiles agree.
TAMIS_DEVICE bool is_uniform(const u8* predictors, const ChunkRange& chunk) {
  for (int i = 1; i < chunk.tiles; ++i) {
    if (predictors[chunk.first_tile + i] != predictors[chunk.first_tile]) return false;
  }
  return true;
}

TAMIS_DEVICE u64 blob_size(const BlobArgs& args, i64 chunk_index, int blob) {
  const ChunkRange chunk = args.grid.chunks[chunk_index];
  if (blob == 0) {
    return is_uniform(args.predictors, chunk) ? 1 : 1 + ceil_div(3 * chunk.tiles, 8);
  }
  const u32* sizes = args.stream_sizes + (blob - 1) * args.grid.bundle_count + chunk.first_bundle;
  const i64 slot = (blob - 1) * args.grid.chunk_count + chunk_index;
  const int coder = coder_of(args, slot);
  const u32 table_bytes = coder == kRansCoder ? args.table_sizes[slot] : 0;
  return streams_blob_size(sizes, chunk.bundles, coder, table_bytes);
}

TAMIS_DEVICE void write_predictors(const u8* predictors, const ChunkRange& chunk, u64 size,
                                   u8* to) {
  const u8* from = predictors + chunk.first_tile;
  if (size == 1) {
    if (threadIdx.x == 0) to[0] = from[0];
    return;
  }
  if (threadIdx.x == 0) to[0] = 8;
  for (u32 i = threadIdx.x; i + 1 < size; i += kThreads) {
    u32 bits = 0;
    for (int bit = 0; bit < 8; ++bit) {
      const u32 at = 8 * i + bit;
      if (at / 3 >= static_cast<u32>(chunk.tiles)) break;
      bits |= (from[at / 3] >> (at % 3) & 1u) << bit;
    }
    to[1 + i] = static_cast<u8>(bits);
  }
}

TAMIS_DEVICE void write_streams(const BlobArgs& args, const ChunkRange& chunk, i64 chunk_index,
                                int stream, u8* to) {
  const GridArgs& grid = args.grid;
  const u32* sizes = args.stream_sizes + stream * grid.bundle_count + chunk.first_bundle;
  const i64 slot = stream * grid.chunk_count + chunk_index;
  const int coder = coder_of(args, slot);
  const u32 table_bytes = coder == kRansCoder ? args.table_sizes[slot] : 0;
  u64 at = 1;
  if (coder == kRansCoder) {
    at += varint_bytes(table_bytes);
    copy_by_block(to + at, args.tables + slot * args.table_room, table_bytes);
    at += table_bytes;
  }
  u8* sizes_to = to + at;
  for (int b = 0; b < chunk.bundles; ++b) at += varint_bytes(sizes[b]);
  if (threadIdx.x == 0) {
    *to = static_cast<u8>(coder);
    if (coder == kRansCoder) put_varint(to + 1, table_bytes);
    u8* head = sizes_to;
    for (int b = 0; b < chunk.bundles; ++b) head = put_varint(head, sizes[b]);
  }
  for (int b = 0; b < chunk.bundles; ++b) {
    const u32* area =
        args.words + args.words_at[stream] + (chunk.first_bundle + b) * args.word_room[stream];
    const u8* from = reinterpret_cast<const u8*>(area);
    // rANS streams are written backwards, up to the end of their area.
    if (coder == kRansCoder) from += 4 * args.word_room[stream] - sizes[b];
    copy_by_block(to + at, from, sizes[b]);
    at += sizes[b];
  }
}

}  // namespace

// A thread takes a blob.
TAMIS_KERNEL void size_blobs(const BlobArgs args) {
  const i64 slot = static_cast<i64>(grid_thread());
  if (slot >= args.grid.chunk_count * kBlobs) return;
  i64 chunk;
  int blob;
  blob_of_slot(args.grid, slot, chunk, blob);
  args.blob_sizes[slot] = blob_size(args, chunk, blob);
}

// One block: where each blob begins.
TAMIS_KERNEL void place_blobs(const BlobArgs args) {
  using Scan = BlockScan<kThreads, u64>;
  __shared__ Scan::Scratch scratch;
  const i64 count = args.grid.chunk_count * kBlobs;
  u64 begin = 0;
  for (i64 first = 0; first < count; first += kThreads) {
    const i64 slot = first + threadIdx.x;
    const u64 size = slot < count ? args.blob_sizes[slot] : 0;
    const u64 frame = slot < count && args.framed != 0 ? varint_bytes(size) : 0;
    u64 total;
    const u64 before = Scan::exclusive_sum(size + frame, scratch, total);
    if (slot < count) args.blob_at[slot] = begin + before + frame;
    begin += total;
  }
  if (threadIdx.x == 0) {
    args.blob_at[count] = begin;
    args.report->data_bytes = begin;
  }
}

// A block takes a blob. Nothing is written where the data have too little room; the report tells.
TAMIS_KERNEL void write_blobs(const BlobArgs args) {
  __shared__ BlockXxh3<kWaves>::Scratch scratch;
  const i64 slot = blockIdx.x;
  i64 chunk_index;
  int blob;
  blob_of_slot(args.grid, slot, chunk_index, blob);
  const u64 size = args.blob_sizes[slot];
  const u64 at = args.blob_at[slot];
  if (static_cast<i64>(at + size) > args.data_room) return;
  const ChunkRange chunk = args.grid.chunks[chunk_index];
  u8* to = args.data + at;
  if (args.framed != 0 && threadIdx.x == 0) put_varint(to - varint_bytes(size), size);
  if (size == 0) return;
  if (blob == 0) {
    write_predictors(args.predictors, chunk, size, to);
  } else {
    write_streams(args, chunk, chunk_index, blob - 1, to);
  }
  if (args.framed != 0) return;
  __syncthreads();
  const u64 hash = BlockXxh3<kWaves>::hash(to, size, scratch);
  if (threadIdx.x == 0) args.checksums[slot] = static_cast<u32>(hash);
}

// One block: sizes and checksums of all blobs.
TAMIS_KERNEL void write_index(const BlobArgs args) {
  using Scan = BlockScan<kThreads, u64>;
  __shared__ Scan::Scratch scratch;
  const i64 count = args.grid.chunk_count * kBlobs;
  u64 begin = 0;
  for (i64 first = 0; first < count; first += kThreads) {
    const i64 slot = first + threadIdx.x;
    const u64 size = slot < count ? args.blob_sizes[slot] : 0;
    const u64 bytes = slot < count ? varint_bytes(size) + (size != 0 ? 4 : 0) : 0;
    u64 total;
    const u64 before = Scan::exclusive_sum(bytes, scratch, total);
    if (slot < count) {
      u8* to = put_varint(args.index + begin + before, size);
      if (size != 0) {
        const u32 sum = args.checksums[slot];
        for (int i = 0; i < 4; ++i) to[i] = static_cast<u8>(sum >> (8 * i));
      }
    }
    begin += total;
  }
  if (threadIdx.x == 0) args.report->index_bytes = begin;
}
