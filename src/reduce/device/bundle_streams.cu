// Codes of bundles to streams of bytes, and back. The parameters are TAMIS_AXES, TAMIS_LATTICE
// (bytes of a lattice integer) and TAMIS_THREADS.
#include "codec/device/fixed_decode.cuh"
#include "codec/device/fixed_encode.cuh"
#include "codec/device/rice_decode.cuh"
#include "codec/device/rice_encode.cuh"
#include "reduce/device/blob_layout.cuh"
#include "reduce/device/contexts.cuh"
#include "reduce/device/faults.cuh"

using namespace tamis::device;

namespace {

#if TAMIS_LATTICE == 8
using Lattice = i64;
#else
using Lattice = i32;
#endif
constexpr int kThreads = TAMIS_THREADS;
constexpr int kWaves = kThreads / kWave;

// The stream of a block or wave, by number; those of the fine points, which are the longest, come
// first.
struct Stream {
  int number;
  i64 bundle;
  i64 at;  // among sizes and counts
  Lattice* codes;

  TAMIS_DEVICE Stream(const BlobArgs& args, i64 turn) {
    const i64 bundles = args.grid.bundle_count;
    number = kStreams - 1 - static_cast<int>(turn / bundles);
    bundle = turn % bundles;
    at = number * bundles + bundle;
    codes = static_cast<Lattice*>(const_cast<void*>(args.codes)) + args.grid.codes_at[number] +
            bundle * args.grid.code_room[number];
  }
  TAMIS_DEVICE int coder(const BlobArgs& args) const {
    return coder_of(args, number * args.grid.chunk_count + args.grid.bundles[bundle].chunk);
  }
};

// A block takes a stream.
template <typename Encoder>
TAMIS_DEVICE void encode_stream(const BlobArgs& args) {
  __shared__ typename Encoder::Scratch scratch;
  const Stream stream(args, blockIdx.x);
  if (stream.coder(args) == kRansCoder) return;
  u32* words =
      args.words + args.words_at[stream.number] + stream.bundle * args.word_room[stream.number];
  const u32 size = Encoder::encode(stream.codes, args.counts[stream.at], words, scratch);
  if (threadIdx.x == 0) args.stream_sizes[stream.at] = size;
}

// A wave takes a stream, if it is of this coder; empty ones count as Rice streams. Those of rANS
// need contexts and are decoded with the cells.
template <typename Decoder>
TAMIS_DEVICE void decode_stream(const BlobArgs& args, int wanted) {
  __shared__ typename Decoder::Scratch scratch[kWaves];
  const i64 turn = static_cast<i64>(blockIdx.x) * kWaves + wave_id();
  if (turn >= args.grid.bundle_count * kStreams) return;
  const Stream stream(args, turn);
  const int coder =
      args.coders[stream.number * args.grid.chunk_count + args.grid.bundles[stream.bundle].chunk];
  if ((coder == kNoCoder ? kRiceCoder : coder) != wanted) return;
  const u32 fault =
      Decoder::decode(args.data + args.stream_at[stream.at], args.stream_sizes[stream.at],
                      args.counts[stream.at], stream.codes, scratch[wave_id()]);
  if (fault != 0 && lane_id() == 0) {
    report_fault(args.report, stream.bundle, kFaultStream + static_cast<int>(fault));
  }
}

}  // namespace

// A block takes a stream: what Rice would make of the codes of a rANS blob.
TAMIS_KERNEL void __launch_bounds__(TAMIS_THREADS) price_streams(const BlobArgs args) {
  using Rice = RiceEncoder<Lattice, kWaves>;
  __shared__ typename Rice::Scratch scratch;
  const Stream stream(args, blockIdx.x);
  if (!is_coded(args.grid, args.coders, stream.number, stream.bundle)) return;
  const u64 bits = Rice::bits(stream.codes, args.counts[stream.at], scratch);
  if (threadIdx.x == 0) args.rice_sizes[stream.at] = static_cast<u32>((bits + 7) / 8);
}

TAMIS_KERNEL void __launch_bounds__(TAMIS_THREADS) encode_rice(const BlobArgs args) {
  encode_stream<RiceEncoder<Lattice, kWaves>>(args);
}
TAMIS_KERNEL void __launch_bounds__(TAMIS_THREADS) encode_fixed_width(const BlobArgs args) {
  encode_stream<FixedWidthEncoder<Lattice, kWaves>>(args);
}
TAMIS_KERNEL void __launch_bounds__(TAMIS_THREADS) decode_rice(const BlobArgs args) {
  decode_stream<RiceDecoder<Lattice>>(args, kRiceCoder);
}
TAMIS_KERNEL void __launch_bounds__(TAMIS_THREADS) decode_fixed_width(const BlobArgs args) {
  decode_stream<FixedWidthDecoder<Lattice, 1>>(args, kFixedWidthCoder);
}
