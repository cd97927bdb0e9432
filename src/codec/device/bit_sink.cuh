// Bits that the lanes of a wave put together: in a buffer in shared memory, in any order, or in
// registers, one piece after the other.
#pragma once

#include "codec/device/byte_planes.cuh"
#include "gpu/device/warp.cuh"

namespace tamis::device {

/// A buffer in shared memory; positions count from begin(). What is not written must have been
/// cleared.
class BitSink {
 public:
#if defined(TAMIS_GPU_CUDA) && !defined(TAMIS_GPU_SIM)
  // Positions are addresses in shared memory, in bits: a word's address is then a shift and a mask
  // away, and the compiler does not make the buffer's address anew each time.
  TAMIS_DEVICE explicit BitSink(u32* words)
      : begin_(8 * static_cast<u32>(__cvta_generic_to_shared(words))) {}
  TAMIS_DEVICE u32 begin() const { return begin_; }

  /// Up to 32 bits. Lanes whose bits are all zero keep away: those that meet at a word wait for
  /// each other.
  TAMIS_DEVICE void put(u32 at, u32 bits) const {
    asm volatile(
        "{ .reg .pred some; setp.ne.u32 some, %2, 0; @some red.shared.or.b32 [%0], %2;\n"
        "setp.ne.u32 some, %1, 0; @some red.shared.or.b32 [%0+4], %1; }"
        :
        : "r"((at >> 3) & ~3u), "r"(funnel_left(bits, 0, at)), "r"(funnel_left(0, bits, at))
        : "memory");
  }
  /// A 1 if `one`.
  TAMIS_DEVICE void put_bit(u32 at, bool one) const {
    asm volatile("{ .reg .pred some; setp.ne.u32 some, %2, 0; @some red.shared.or.b32 [%0], %1; }"
                 :
                 : "r"((at >> 3) & ~3u), "r"(1u << (at & 31)), "r"(one ? 1u : 0u)
                 : "memory");
  }

 private:
  u32 begin_;
#else
  TAMIS_DEVICE explicit BitSink(u32* words) : words_(words) {}
  TAMIS_DEVICE u32 begin() const { return 0; }

  TAMIS_DEVICE void put(u32 at, u32 bits) const {
    const u32 low = funnel_left(0, bits, at);
    const u32 high = funnel_left(bits, 0, at);
    if (low != 0) atomicOr(words_ + at / 32, low);
    if (high != 0) atomicOr(words_ + at / 32 + 1, high);
  }
  TAMIS_DEVICE void put_bit(u32 at, bool one) const {
    if (one) atomicOr(words_ + at / 32, 1u << (at & 31));
  }

 private:
  u32* words_;
#endif

 public:
  /// A code in full.
  TAMIS_DEVICE void put_code(u32 at, u32 u) const { put(at, u); }
  TAMIS_DEVICE void put_code(u32 at, u64 u) const {
    put(at, static_cast<u32>(u));
    put(at + 32, static_cast<u32>(u >> 32));
  }
};

/// Clears what `bits` bits from the start of `words` take, and a word behind them. All lanes call.
TAMIS_DEVICE void clear_words(u32* words, u32 bits) {
  const u32 count = ceil_div(bits, 32u) + 1;
#pragma unroll 1
  for (u32 i = static_cast<u32>(lane_id()); i < count; i += kWave) words[i] = 0;
  sync_wave();
}

/// Bits that all lanes know, gathered in registers: each lane keeps a word, the first lane the
/// first.
struct WaveBits {
  static constexpr u32 kRoom = 32 * kWave;

  u32 word = 0;
  u32 at = 0;  // where the next piece goes

  /// Up to 32 bits.
  TAMIS_DEVICE void put(u32 bits, u32 count) {
    const u32 from_word = at - 32 * static_cast<u32>(lane_id());
    word |= shift_left(bits, from_word) | shift_right(bits, 0 - from_word);
    at += count;
  }
  /// A bit a lane of the first `count`.
  TAMIS_DEVICE void put_lanes(LaneMask bits, u32 count) {
    if (kWave <= 32 || count <= 32) {
      put(static_cast<u32>(bits), count);
    } else {
      put(static_cast<u32>(bits), 32);
      put(static_cast<u32>(u64{bits} >> 32), count - 32);
    }
  }
};

/// The same for any number of bits: the first lane puts them into a cleared buffer.
struct FirstLaneBits {
  BitSink sink;
  u32 at;

  TAMIS_DEVICE void put(u32 bits, u32 count) {
    if (lane_id() == 0) sink.put(at, bits);
    at += count;
  }
  TAMIS_DEVICE void put_lanes(LaneMask bits, u32 count) {
    if (kWave <= 32 || count <= 32) {
      put(static_cast<u32>(bits), count);
    } else {
      put(static_cast<u32>(bits), 32);
      put(static_cast<u32>(u64{bits} >> 32), count - 32);
    }
  }
};

}  // namespace tamis::device
