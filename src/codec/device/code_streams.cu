// Kernels that encode, price and decode arrays of streams in the Rice and the fixed-width code: for
// tests and timing. Parameters: TAMIS_LATTICE, the bytes of a code (4 or 8), and TAMIS_WAVES, the
// waves of a block. Encoders take a block a stream, decoders a wave a stream; the fixed-width
// decoder takes a block. Stream s has counts[s] codes from codes + s * capacity on, where capacity
// is a multiple of 512, and `room` words of memory from out + s * room on.
#include "codec/device/fixed_decode.cuh"
#include "codec/device/fixed_encode.cuh"
#include "codec/device/rice_decode.cuh"
#include "codec/device/rice_encode.cuh"

using namespace tamis::device;

namespace {

#if TAMIS_LATTICE == 8
using Code = i64;
#else
using Code = i32;
#endif
constexpr int kWaves = TAMIS_WAVES;
constexpr int kThreads = kWaves * kWave;

template <typename Encoder>
TAMIS_DEVICE void encode_streams(const Code* codes, u64 capacity, const u32* counts, u32* out,
                                 u64 room, u32* sizes, u32 streams,
                                 typename Encoder::Scratch& scratch) {
  const u32 s = blockIdx.x;
  if (s >= streams) return;
  const u32 size = Encoder::encode(codes + s * capacity, counts[s], out + s * room, scratch);
  if (threadIdx.x == 0) sizes[s] = size;
}

template <typename Encoder>
TAMIS_DEVICE void price_streams(const Code* codes, u64 capacity, const u32* counts, u64* bits,
                                u32 streams, typename Encoder::Scratch& scratch) {
  const u32 s = blockIdx.x;
  if (s >= streams) return;
  const u64 sum = Encoder::bits(codes + s * capacity, counts[s], scratch);
  if (threadIdx.x == 0) bits[s] = sum;
}

}  // namespace

TAMIS_KERNEL void __launch_bounds__(kThreads)
    rice_encode_streams(const Code* codes, u64 capacity, const u32* counts, u32* out, u64 room,
                        u32* sizes, u32 streams) {
  __shared__ RiceEncoder<Code, kWaves>::Scratch scratch;
  encode_streams<RiceEncoder<Code, kWaves>>(codes, capacity, counts, out, room, sizes, streams,
                                            scratch);
}

TAMIS_KERNEL void __launch_bounds__(kThreads)
    rice_price_streams(const Code* codes, u64 capacity, const u32* counts, u64* bits, u32 streams) {
  __shared__ RiceEncoder<Code, kWaves>::Scratch scratch;
  price_streams<RiceEncoder<Code, kWaves>>(codes, capacity, counts, bits, streams, scratch);
}

// Stream s is sizes[s] bytes from bytes + offsets[s] on.
TAMIS_KERNEL void __launch_bounds__(kThreads)
    rice_decode_streams(const u8* bytes, const u64* offsets, const u32* sizes, Code* codes,
                        u64 capacity, const u32* counts, u32* faults, u32 streams) {
  __shared__ RiceDecoder<Code>::Scratch scratch[kWaves];
  const u32 s = blockIdx.x * kWaves + static_cast<u32>(wave_uniform(wave_id()));
  if (s >= streams) return;
  const u32 fault = RiceDecoder<Code>::decode(bytes + offsets[s], sizes[s], counts[s],
                                              codes + s * capacity, scratch[wave_id()]);
  if (lane_id() == 0) faults[s] = fault;
}

TAMIS_KERNEL void __launch_bounds__(kThreads)
    fixed_encode_streams(const Code* codes, u64 capacity, const u32* counts, u32* out, u64 room,
                         u32* sizes, u32 streams) {
  __shared__ FixedWidthEncoder<Code, kWaves>::Scratch scratch;
  encode_streams<FixedWidthEncoder<Code, kWaves>>(codes, capacity, counts, out, room, sizes,
                                                  streams, scratch);
}

TAMIS_KERNEL void __launch_bounds__(kThreads)
    fixed_price_streams(const Code* codes, u64 capacity, const u32* counts, u64* bits,
                        u32 streams) {
  __shared__ FixedWidthEncoder<Code, kWaves>::Scratch scratch;
  price_streams<FixedWidthEncoder<Code, kWaves>>(codes, capacity, counts, bits, streams, scratch);
}

TAMIS_KERNEL void __launch_bounds__(kThreads)
    fixed_decode_streams(const u8* bytes, const u64* offsets, const u32* sizes, Code* codes,
                         u64 capacity, const u32* counts, u32* faults, u32 streams) {
  __shared__ FixedWidthDecoder<Code, kWaves>::Scratch scratch;
  const u32 s = blockIdx.x;
  if (s >= streams) return;
  const u32 fault = FixedWidthDecoder<Code, kWaves>::decode(bytes + offsets[s], sizes[s], counts[s],
                                                            codes + s * capacity, scratch);
  if (threadIdx.x == 0) faults[s] = fault;
}
