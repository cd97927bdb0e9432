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
    BitRing ring;
    alignas(16) u32 exchange[kSegmentWords];
    u16 positions[kSegmentCodes];
  };

  /// Decodes a stream of `count` codes from `size` bytes of any alignment; only the words that
  /// hold them are read. Returns 0 or a StreamFault, in all lanes; the codes of a faulty stream are
  /// anything. Faster where `codes` is a multiple of 16 bytes.
  static TAMIS_DEVICE u32 decode(const u8* bytes, u32 size, u32 count, I* codes, Scratch& scratch) {
    if (size == 0) {
      for (u32 at = 0; at < count; at += kSegmentCodes) store_zeros(codes + at, left(count, at));
      return codec::kStreamFine;
    }
    if (size > codec::kMostStreamBytes) return codec::kStreamTooLong;
    BitWalk walk;
    sync_wave();  // the ring may be that of another stream
    u32 at = walk.open(bytes, size);
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
    const int head = static_cast<int>(walk.get(at) & 15);
    at += kHeadBits;
    if (head == kZeroHead) {
      store_zeros(codes, n);
      return codec::kStreamFine;
    }
    if (head == kDenseHead) {
      DenseDecoder<I> dense{walk, scratch.ring};
      return dense.decode(n, at, scratch.exchange, codes);
    }
    if (head > kSparseHeads) return codec::kStreamKind;
    ListDecoder<I> list{walk, scratch.ring, scratch.positions};
    return list.decode(n, static_cast<u32>(head - 1), at, codes);
  }
};

}  // namespace tamis::device
