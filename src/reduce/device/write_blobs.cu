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

// Most tiles of a chunk are those of 16 bundles, so a wave has a lane for each bundle.
struct Blob {
  i64 slot;  // in file order
  i64 chunk_index;
  int number;
  ChunkRange chunk;

  TAMIS_DEVICE Blob(const GridArgs& grid, i64 file_slot) : slot(file_slot) {
    blob_of_slot(grid, slot, chunk_index, number);
    chunk = grid.chunks[chunk_index];
  }
  // First of the chunk's bundles in a stream's tables.
  TAMIS_DEVICE i64 first(const GridArgs& grid) const {
    return (number - 1) * grid.bundle_count + chunk.first_bundle;
  }
};

// Coder of a blob of streams, and the bytes of its tables.
struct BlobCoder {
  int coder;
  i64 slot;  // among blobs of streams
  u32 table_bytes;

  TAMIS_DEVICE BlobCoder(const BlobArgs& args, i64 chunk, int stream)
      : slot(stream * args.grid.chunk_count + chunk) {
    coder = coder_of(args, slot);
    table_bytes = coder == kRansCoder ? args.table_sizes[slot] : 0;
  }
  // All before the sizes of the streams.
  TAMIS_DEVICE u32 head_bytes() const {
    return 1 +
           (coder == kRansCoder ? static_cast<u32>(varint_bytes(table_bytes)) + table_bytes : 0);
  }
};

// Bytes of a stream in the lane of its bundle, 0 in the others.
TAMIS_DEVICE u32 size_in_lane(const BlobArgs& args, const Blob& blob) {
  return lane_id() < blob.chunk.bundles ? args.stream_sizes[blob.first(args.grid) + lane_id()] : 0;
}
TAMIS_DEVICE u32 varint_in_lane(const Blob& blob, u32 size) {
  return lane_id() < blob.chunk.bundles ? static_cast<u32>(varint_bytes(size)) : 0;
}

// Whether the tiles of a chunk agree.
TAMIS_DEVICE bool is_uniform(const u8* predictors, const ChunkRange& chunk) {
  const u8* first = predictors + chunk.first_tile;
  bool same = true;
  for (int i = lane_id(); i < chunk.tiles; i += kWave) same = same && first[i] == first[0];
  return wave_all(same);
}

TAMIS_DEVICE void write_predictors(const u8* predictors, const ChunkRange& chunk, u64 size,
                                   u8* to) {
  const u8* from = predictors + chunk.first_tile;
  if (lane_id() == 0) to[0] = size == 1 ? from[0] : 8;
  for (u32 i = lane_id(); i + 1 < size; i += kWave) {
    u32 bits = 0;
    for (int bit = 0; bit < 8; ++bit) {
      const u32 at = 8 * i + bit;
      if (at / 3 >= static_cast<u32>(chunk.tiles)) break;
      bits |= (from[at / 3] >> (at % 3) & 1u) << bit;
    }
    to[1 + i] = static_cast<u8>(bits);
  }
}

// The wave's blob, if there is one.
TAMIS_DEVICE bool find_slot(const GridArgs& grid, i64& slot) {
  slot = static_cast<i64>(blockIdx.x) * kWaves + wave_id();
  return slot < grid.chunk_count * kBlobs;
}

}  // namespace

// A wave takes a blob.
TAMIS_KERNEL void size_blobs(const BlobArgs args) {
  i64 slot;
  if (!find_slot(args.grid, slot)) return;
  const Blob blob(args.grid, slot);
  u64 size;
  if (blob.number == 0) {
    size = is_uniform(args.predictors, blob.chunk) ? 1 : 1 + ceil_div(3 * blob.chunk.tiles, 8);
  } else {
    const u32 mine = size_in_lane(args, blob);
    const u64 total = wave_sum(u64{mine});
    const u32 head = wave_sum(varint_in_lane(blob, mine));
    const BlobCoder coder(args, blob.chunk_index, blob.number - 1);
    size = total == 0 ? 0 : coder.head_bytes() + head + total;
  }
  if (lane_id() == 0) args.blob_sizes[slot] = size;
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

// A wave takes a blob: all of it but the streams, for which it finds the places. Nothing is written
// where the data have too little room; the report tells.
TAMIS_KERNEL void write_heads(const BlobArgs args) {
  i64 slot;
  if (!find_slot(args.grid, slot)) return;
  const Blob blob(args.grid, slot);
  const u64 size = args.blob_sizes[slot];
  const u64 at = args.blob_at[slot];
  const bool fits = static_cast<i64>(at + size) <= args.data_room;
  u8* to = args.data + at;
  if (fits && args.framed != 0 && lane_id() == 0) put_varint(to - varint_bytes(size), size);
  if (blob.number == 0) {
    if (fits) write_predictors(args.predictors, blob.chunk, size, to);
    return;
  }
  const u32 mine = size_in_lane(args, blob);
  const u32 head = varint_in_lane(blob, mine);
  const u32 head_before = wave_exclusive_sum(head);
  const u32 heads = wave_sum(head);
  const u64 before = wave_exclusive_sum(u64{mine});
  const BlobCoder coder(args, blob.chunk_index, blob.number - 1);
  if (lane_id() < blob.chunk.bundles) {
    args.stream_at[blob.first(args.grid) + lane_id()] = at + coder.head_bytes() + heads + before;
    if (fits && size != 0) put_varint(to + coder.head_bytes() + head_before, mine);
  }
  if (!fits || size == 0) return;
  if (lane_id() == 0) *to = static_cast<u8>(coder.coder);
  if (coder.coder != kRansCoder) return;
  if (lane_id() == 0) put_varint(to + 1, coder.table_bytes);
  const u8* tables = args.tables + coder.slot * args.table_room;
  u8* tables_to = to + 1 + varint_bytes(coder.table_bytes);
  for (u32 i = lane_id(); i < coder.table_bytes; i += kWave) tables_to[i] = tables[i];
}

// A block takes a stream.
TAMIS_KERNEL void copy_streams(const BlobArgs args) {
  const i64 bundles = args.grid.bundle_count;
  const int stream = static_cast<int>(blockIdx.x / bundles);
  const i64 bundle = blockIdx.x % bundles;
  const u32 size = args.stream_sizes[stream * bundles + bundle];
  const u64 at = args.stream_at[stream * bundles + bundle];
  if (size == 0 || static_cast<i64>(at + size) > args.data_room) return;
  const u32* area = args.words + args.words_at[stream] + bundle * args.word_room[stream];
  const BlobCoder coder(args, args.grid.bundles[bundle].chunk, stream);
  if (coder.coder == kRansCoder) {
    // Written backwards, up to the end of the area.
    const u8* end = reinterpret_cast<const u8*>(area + args.word_room[stream]);
    copy_by_block(args.data + at, end - size, size);
  } else {
    copy_words_by_block(args.data + at, area, size);
  }
}

// A block takes a blob.
TAMIS_KERNEL void __launch_bounds__(TAMIS_THREADS, 2) hash_blobs(const BlobArgs args) {
  __shared__ BlockXxh3<kWaves>::Scratch scratch;
  const i64 slot = blockIdx.x;
  const u64 size = args.blob_sizes[slot];
  const u64 at = args.blob_at[slot];
  if (size == 0 || static_cast<i64>(at + size) > args.data_room) return;
  const u64 hash = BlockXxh3<kWaves>::hash(args.data + at, size, scratch);
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
