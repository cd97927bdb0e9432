// Rice streams decoded by one wave each, which takes and refuses exactly what codec/rice.cpp does.
// Segments follow each other without an index, so a wave does one after the other; a device has
// enough streams to be busy.
#pragma once

#include "codec/device/bit_walk.cuh"
#include "codec/device/rice_dense_decode.cuh"
#include "codec/device/rice_layout.cuh"
#include "codec/device/rice_list_decode.cuh"
#include "codec/device/stream_fault.hpp"

namespace tamis::device {

template <typename I>
struct RiceDecoder {
  /// Of one wave.
  struct Scratch {
    BitWindow window;
    DenseScratch dense;
    u16 positions[kSegmentCodes];
  };

  /// Decodes a stream of `count` codes from `size` bytes of any alignment; only the words that
  /// hold them are read. Returns 0 or a StreamFault, in all lanes; the codes of a faulty stream are
  /// anything. Faster where `codes` is a multiple of 16 bytes.
  static TAMIS_DEVICE u32 decode(const u8* bytes, u32 size, u32 count, I* codes, Scratch& scratch) {
    size = wave_uniform(size);
    count = wave_uniform(count);
    if (size == 0) {
      for (u32 at = 0; at < count; at += kSegmentCodes) store_zeros(codes + at, left(count, at));
      return codec::kStreamFine;
    }
    if (size > codec::kMostStreamBytes) return codec::kStreamTooLong;
    sync_wave();  // the scratch may be in use for another stream
    fill_scatter_table(scratch.dense.scatter);
    u32 at = 0;
    BitWalk walk(scratch.window, bytes, size, at);
    for (u32 first = 0; first < count; first += kSegmentCodes) {
      const StreamFault fault =
          decode_segment(walk, scratch, left(count, first), at, codes + first);
      if (fault != codec::kStreamFine) return fault;
      if (at > walk.end) return codec::kStreamEnds;
    }
    if (walk.end - at >= 8 || walk.get(at) != 0) return codec::kStreamLeftOver;
    return codec::kStreamFine;
  }

 private:
  static TAMIS_DEVICE int left(u32 count, u32 at) {
    return static_cast<int>(min_of<u32>(count - at, kSegmentCodes));
  }

  static TAMIS_DEVICE StreamFault decode_segment(BitWalk& walk, Scratch& scratch, int n, u32& at,
                                                 I* codes) {
    walk.focus(at, 64);
    const u32 bits = wave_uniform(walk.peek(at));
    const int head = static_cast<int>(bits & 15);
    at += kHeadBits;
    if (head == kZeroHead) {
      store_zeros(codes, n);
      return codec::kStreamFine;
    }
    if (head == kDenseHead) {
      DenseDecoder<I> dense{walk, scratch.dense};
      return dense.decode(n, at, codes);
    }
    if (head > kSparseHeads) return codec::kStreamKind;
    ListDecoder<I> list{walk, scratch.positions};
    at += kCountBits;
    const int count = static_cast<int>((bits >> kHeadBits) & ((1u << kCountBits) - 1)) + 1;
    return list.decode(n, count, static_cast<u32>(head - 1), at, codes);
  }
};

}  // namespace tamis::device
