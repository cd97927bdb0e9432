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

}  // namespace

// A block takes a stream. Those of the fine points, which are the longest, come first.
TAMIS_KERNEL void __launch_bounds__(TAMIS_THREADS) encode_streams(const BlobArgs args) {
  using Rice = RiceEncoder<Lattice, kWaves>;
  using FixedWidth = FixedWidthEncoder<Lattice, kWaves>;
  __shared__ union {
    typename Rice::Scratch rice;
    typename FixedWidth::Scratch fixed_width;
  } scratch;
  const i64 bundles = args.grid.bundle_count;
  const int stream = kStreams - 1 - static_cast<int>(blockIdx.x / bundles);
  const i64 bundle = blockIdx.x % bundles;
  const int coder =
      coder_of(args, stream * args.grid.chunk_count + args.grid.bundles[bundle].chunk);
  if (coder == kRansCoder) return;
  const Lattice* codes = static_cast<const Lattice*>(args.codes) + args.grid.codes_at[stream] +
                         bundle * args.grid.code_room[stream];
  u32* words = args.words + args.words_at[stream] + bundle * args.word_room[stream];
  const u32 count = args.counts[stream * bundles + bundle];
  const u32 size = coder == kFixedWidthCoder
                       ? FixedWidth::encode(codes, count, words, scratch.fixed_width)
                       : Rice::encode(codes, count, words, scratch.rice);
  if (threadIdx.x == 0) args.stream_sizes[stream * bundles + bundle] = size;
}

// A block takes a stream: what Rice would make of the codes of a rANS blob.
TAMIS_KERNEL void __launch_bounds__(TAMIS_THREADS) price_streams(const BlobArgs args) {
  using Rice = RiceEncoder<Lattice, kWaves>;
  __shared__ typename Rice::Scratch scratch;
  const i64 bundles = args.grid.bundle_count;
  const int stream = kStreams - 1 - static_cast<int>(blockIdx.x / bundles);
  const i64 bundle = blockIdx.x % bundles;
  const i64 at = stream * bundles + bundle;
  if (!is_coded(args.grid, args.coders, stream, bundle)) return;
  const Lattice* codes = static_cast<const Lattice*>(args.codes) + args.grid.codes_at[stream] +
                         bundle * args.grid.code_room[stream];
  const u64 bits = Rice::bits(codes, args.counts[at], scratch);
  if (threadIdx.x == 0) args.rice_sizes[at] = static_cast<u32>((bits + 7) / 8);
}

// A wave takes a stream.
TAMIS_KERNEL void __launch_bounds__(TAMIS_THREADS) decode_streams(const BlobArgs args) {
  using Rice = RiceDecoder<Lattice>;
  using FixedWidth = FixedWidthDecoder<Lattice, 1>;
  __shared__ union {
    typename Rice::Scratch rice;
    typename FixedWidth::Scratch fixed_width;
  } scratch[kWaves];
  const i64 bundles = args.grid.bundle_count;
  const i64 wave = static_cast<i64>(blockIdx.x) * kWaves + wave_id();
  if (wave >= bundles * kStreams) return;
  const int stream = kStreams - 1 - static_cast<int>(wave / bundles);
  const i64 bundle = wave % bundles;
  const i64 at = stream * bundles + bundle;
  Lattice* codes = static_cast<Lattice*>(const_cast<void*>(args.codes)) +
                   args.grid.codes_at[stream] + bundle * args.grid.code_room[stream];
  const u32 count = args.counts[at];
  const u32 size = args.stream_sizes[at];
  const u8* bytes = args.data + args.stream_at[at];
  const int coder = args.coders[stream * args.grid.chunk_count + args.grid.bundles[bundle].chunk];
  if (coder == kRansCoder) return;  // its codes need contexts
  const u32 fault =
      coder == kFixedWidthCoder
          ? FixedWidth::decode(bytes, size, count, codes, scratch[wave_id()].fixed_width)
          : Rice::decode(bytes, size, count, codes, scratch[wave_id()].rice);
  if (fault != 0 && lane_id() == 0) {
    report_fault(args.report, bundle, kFaultStream + static_cast<int>(fault));
  }
}
