// The rANS side of blobs: models from the codes of a blob's bundles, streams of bundles by these
// models, the choice between rANS and Rice; and tables made ready for decoding. The parameters are
// TAMIS_AXES, TAMIS_LATTICE (bytes of a lattice integer) and TAMIS_THREADS.
#include "codec/device/rans_encode.cuh"
#include "codec/device/rans_model.cuh"
#include "codec/device/rans_table_reader.cuh"
#include "reduce/device/blob_layout.cuh"
#include "reduce/device/faults.cuh"
#include "reduce/device/rans_rooms.hpp"

using namespace tamis::device;

namespace {

#if TAMIS_LATTICE == 8
using Lattice = i64;
#else
using Lattice = i32;
#endif
constexpr int kThreads = TAMIS_THREADS;
constexpr int kWaves = kThreads / kWave;
constexpr u64 kTablesPayCodes = 256;  // below this many codes tables never pay
// Words of a model that a block keeps in shared memory; a larger one stays where it is.
constexpr int kCloseModelWords = 3 * 1024;

using Builder = RansBuilder<Lattice, kThreads>;
static_assert(sizeof(Builder::Scratch) <= rans_build_bytes(sizeof(Lattice)) &&
                  kRansTableBytes<Lattice> <= rans_table_room(sizeof(Lattice)) &&
                  kRansSymbolWords<Lattice> <= rans_symbol_room(sizeof(Lattice)) &&
                  kMostRansDecoderWords <= rans_decoder_room(),
              "the host takes too little memory");
extern __shared__ __align__(16) u8 shared_bytes[];

// A stream of a chunk; a block or a wave takes one. Those of the fine points come first.
struct Blob {
  int stream;
  i64 chunk_index;
  i64 slot;
  ChunkRange chunk;
  i64 first;  // its first bundle among those of all streams

  TAMIS_DEVICE Blob(const BlobArgs& args, i64 turn) {
    stream = kStreams - 1 - static_cast<int>(turn / args.grid.chunk_count);
    chunk_index = turn % args.grid.chunk_count;
    slot = stream * args.grid.chunk_count + chunk_index;
    chunk = args.grid.chunks[chunk_index];
    first = stream * args.grid.bundle_count + chunk.first_bundle;
  }
  TAMIS_DEVICE i64 codes_of(const BlobArgs& args, int bundle) const {
    return args.grid.codes_at[stream] + (chunk.first_bundle + bundle) * args.grid.code_room[stream];
  }
};

}  // namespace

// A block takes a blob: the tables and symbols of its model, where one can pay.
TAMIS_KERNEL void __launch_bounds__(TAMIS_THREADS)
    build_models(const BlobArgs args, const u8* contexts) {
  auto& scratch = *reinterpret_cast<Builder::Scratch*>(shared_bytes);
  const Blob blob(args, blockIdx.x);
  u64 total = 0;
  for (int b = 0; b < blob.chunk.bundles; ++b) total += args.counts[blob.first + b];
  if (total < kTablesPayCodes) {
    if (threadIdx.x == 0) args.coders[blob.slot] = kRiceCoder;
    return;
  }
  scratch.histogram.clear();
  __syncthreads();
  for (int b = 0; b < blob.chunk.bundles; ++b) {
    const i64 at = blob.codes_of(args, b);
    scratch.histogram.count(static_cast<const Lattice*>(args.codes) + at, contexts + at,
                            static_cast<i32>(args.counts[blob.first + b]));
  }
  __syncthreads();
  scratch.histogram.fold(scratch.rows, Builder::kStride);
  __syncthreads();
  const RansModelInfo info = Builder::build(scratch, args.tables + blob.slot * args.table_room,
                                            args.models + blob.slot * args.model_room);
  if (threadIdx.x != 0) return;
  args.coders[blob.slot] = kRansCoder;
  args.table_sizes[blob.slot] = info.table_bytes;
  args.model_sizes[blob.slot] = static_cast<u32>(rans_symbol_words(info));
}

// A block takes a blob, its waves a bundle each. Streams end where their areas end.
TAMIS_KERNEL void __launch_bounds__(TAMIS_THREADS)
    encode_coded_streams(const BlobArgs args, const u8* contexts) {
  __shared__ u64 close_words[kCloseModelWords / 2];
  u32* close = reinterpret_cast<u32*>(close_words);
  const Blob blob(args, blockIdx.x);
  if (args.coders[blob.slot] != kRansCoder) return;
  const u32* model = args.models + blob.slot * args.model_room;
  const u32 words = args.model_sizes[blob.slot];
  if (words <= kCloseModelWords) {
    for (u32 i = threadIdx.x; i < words; i += kThreads) close[i] = model[i];
    __syncthreads();
    model = close;
  }
  for (int b = wave_id(); b < blob.chunk.bundles; b += kWaves) {
    const i64 at = blob.codes_of(args, b);
    RansEncoder<Lattice> encoder(model, static_cast<const Lattice*>(args.codes) + at, contexts + at,
                                 static_cast<i32>(args.counts[blob.first + b]));
    u32* end = args.words + args.words_at[blob.stream] +
               (blob.chunk.first_bundle + b + 1) * args.word_room[blob.stream];
    const u32 size = encoder.encode(reinterpret_cast<u8*>(end));
    if (lane_id() == 0) args.stream_sizes[blob.first + b] = size;
  }
}

// A thread takes a blob: tables do not always pay, nor contexts. A stream of zeros alone takes no
// bytes by any coder, but the price of Rice has some for it.
TAMIS_KERNEL void choose_coders(const BlobArgs args) {
  const i64 turn = static_cast<i64>(grid_thread());
  if (turn >= args.grid.chunk_count * kStreams) return;
  const Blob blob(args, turn);
  if (args.coders[blob.slot] != kRansCoder) return;
  const u32* sizes = args.stream_sizes + blob.first;
  const u64 rans =
      streams_blob_size(sizes, blob.chunk.bundles, kRansCoder, args.table_sizes[blob.slot]);
  u32* rice_sizes = args.rice_sizes + blob.first;
  u64 price = 0;
  for (int b = 0; b < blob.chunk.bundles; ++b) {
    price += rice_sizes[b];
    if (sizes[b] == 0) rice_sizes[b] = 0;
  }
  if (price >= rans) return;
  const u64 rice = streams_blob_size(rice_sizes, blob.chunk.bundles, kRiceCoder, 0);
  if (rice < rans) args.coders[blob.slot] = kRiceCoder;
}

// A wave takes a blob: lays out its tables. Without good ones it counts as empty.
TAMIS_KERNEL void __launch_bounds__(TAMIS_THREADS) read_tables(const BlobArgs args) {
  const i64 turn = static_cast<i64>(blockIdx.x) * kWaves + wave_id();
  if (turn >= args.grid.chunk_count * kStreams) return;
  const Blob blob(args, turn);
  if (args.coders[blob.slot] != kRansCoder) return;
  RansTableReader reader(args.data + args.table_at[blob.slot], args.table_sizes[blob.slot]);
  const bool good = reader.read(args.models + blob.slot * args.model_room);
  if (lane_id() == 0) args.model_sizes[blob.slot] = static_cast<u32>(reader.words());
  if (good) return;
  if (lane_id() != 0) return;
  args.coders[blob.slot] = kNoCoder;
  for (int b = 0; b < blob.chunk.bundles; ++b) args.stream_sizes[blob.first + b] = 0;
  report_fault(args.report, file_slot(args.grid, blob.chunk_index, blob.stream + 1), kFaultTables);
}
