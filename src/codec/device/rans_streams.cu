// Kernels of the rANS coder by itself, for timing and for checks on a device: blobs of up to 16
// streams, stream number b of a blob at `capacity` codes times its number among all streams.
// TAMIS_LATTICE is the size of a code in bytes.
#include "codec/device/rans_decode.cuh"
#include "codec/device/rans_encode.cuh"
#include "codec/device/rans_model.cuh"

namespace tamis::device {

#if TAMIS_LATTICE == 8
using Code = i64;
#elif TAMIS_LATTICE == 4
using Code = i32;
#else
#error "TAMIS_LATTICE is 4 or 8"
#endif

inline constexpr int kBuildThreads = 512;
using Builder = RansBuilder<Code, kBuildThreads>;
inline constexpr int kBuildSharedBytes = sizeof(Code) == 4 ? 50 << 10 : 83 << 10;
static_assert(sizeof(Builder::Scratch) <= kBuildSharedBytes, "the host asks for too little");

/// What a block keeps in shared memory of a blob's model; a larger one stays where it is.
inline constexpr int kSharedEncoderWords = 3 * 1024;
inline constexpr int kSharedDecoderWords = 8 * 1024;

// A copy in shared memory where it fits.
TAMIS_DEVICE const u32* keep_close(const u32* words, int count, u32* shared, int room) {
  if (count > room) return words;
  for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x)) {
    shared[i] = words[i];
  }
  __syncthreads();
  return shared;
}

/// A block of kBuildThreads threads and kBuildSharedBytes of dynamic shared memory a blob.
/// `table_bytes` has kRansTableBytes and `symbols` kRansSymbolWords for each, rounded up to 8
/// bytes.
TAMIS_KERNEL void __launch_bounds__(kBuildThreads)
    rans_build(const Code* codes, const u8* contexts, const i32* counts, i64 capacity, int bundles,
               u8* table_bytes, u32* symbols, RansModelInfo* infos) {
  extern __shared__ u64 shared_words[];
  auto& scratch = *reinterpret_cast<Builder::Scratch*>(shared_words);
  scratch.histogram.clear();
  __syncthreads();
  const i64 blob = blockIdx.x;
  for (int b = 0; b < bundles; ++b) {
    const i64 stream = blob * bundles + b;
    scratch.histogram.count(codes + stream * capacity, contexts + stream * capacity,
                            counts[stream]);
  }
  __syncthreads();
  scratch.histogram.fold(scratch.rows, Builder::kStride);
  __syncthreads();
  const RansModelInfo info = Builder::build(scratch, table_bytes + blob * kRansTableBytes<Code>,
                                            symbols + blob * kRansSymbolWords<Code>);
  if (threadIdx.x == 0) infos[blob] = info;
}

/// A block a blob and a wave a stream. Streams end at the ends of areas of `room` bytes.
TAMIS_KERNEL void __launch_bounds__(16 * kWave)
    rans_encode_streams(const u32* symbols, const RansModelInfo* infos, const Code* codes,
                        const u8* contexts, const i32* counts, i64 capacity, int bundles, i64 room,
                        u8* areas, u32* sizes) {
  __shared__ u32 close[kSharedEncoderWords];
  const u32* model = keep_close(symbols + i64{blockIdx.x} * kRansSymbolWords<Code>,
                                rans_symbol_words(infos[blockIdx.x]), close, kSharedEncoderWords);
  if (wave_id() >= bundles) return;
  const i64 stream = i64{blockIdx.x} * bundles + wave_id();
  RansEncoder<Code> encoder(model, codes + stream * capacity, contexts + stream * capacity,
                            counts[stream]);
  const u32 size = encoder.encode(areas + (stream + 1) * room);
  if (lane_id() == 0) sizes[stream] = size;
}

/// A wave a blob; faults[blob] is 1 where the bytes are corrupt.
TAMIS_KERNEL void rans_read_tables(const u8* table_bytes, const RansModelInfo* infos, i64 blobs,
                                   u32* tables, i64 table_stride, u32* faults) {
  const i64 blob = static_cast<i64>(grid_thread() / kWave);
  if (blob >= blobs) return;
  const u8* bytes = table_bytes + blob * kRansTableBytes<Code>;
  RansTableReader reader(bytes, infos[blob].table_bytes);
  const bool good = reader.read(tables + blob * table_stride);
  if (lane_id() == 0) faults[blob] = good ? 0 : 1;
}

/// A block a blob and a wave a stream, where rans_encode_streams() put it; faults[stream] is 1
/// where the bytes are corrupt.
TAMIS_KERNEL void __launch_bounds__(16 * kWave)
    rans_decode_streams(const u32* tables, i64 table_stride, const RansModelInfo* infos,
                        const u8* areas, i64 room, const u32* sizes, const u8* contexts,
                        const i32* counts, i64 capacity, int bundles, Code* codes, u32* faults) {
  __shared__ u32 close[kSharedDecoderWords];
  const u32* laid_out =
      keep_close(tables + i64{blockIdx.x} * table_stride,
                 rans_decoder_words(infos[blockIdx.x].clusters), close, kSharedDecoderWords);
  if (wave_id() >= bundles) return;
  const i64 stream = i64{blockIdx.x} * bundles + wave_id();
  const u8* own_contexts = contexts + stream * capacity;
  Code* own_codes = codes + stream * capacity;
  const i32 count = counts[stream];
  RansStream<Code> reader(laid_out, areas + (stream + 1) * room - sizes[stream], sizes[stream]);
  u32 ahead = lane_id() < count ? own_contexts[lane_id()] : 0;
  for (i32 first = 0; first < count; first += kWave) {
    const i32 i = first + lane_id();
    const u32 context = ahead;
    ahead = i + kWave < count ? own_contexts[i + kWave] : 0;
    const Code code = reader.next(i < count, context);
    if (i < count) own_codes[i] = code;
  }
  const bool fault = reader.finish();
  if (lane_id() == 0) faults[stream] = fault ? 1 : 0;
}

}  // namespace tamis::device
