// Fixed-width streams decoded by a block or a wave; takes and refuses what codec/fixed_width.cpp
// does. Each wave sums up all widths for itself, a segment a lane, so that waves need not wait for
// each other.
#pragma once

#include "codec/device/byte_planes.cuh"
#include "codec/device/code_pieces.cuh"
#include "codec/device/stream_fault.hpp"
#include "codec/device/wave_team.cuh"

namespace tamis::device {

/// For blocks of exactly kWaves waves; with one wave, any wave of a block by itself.
template <typename I, int kWaves>
struct FixedWidthDecoder {
  using Team = WaveTeam<kWaves>;

  struct Scratch {
    alignas(16) u32 exchange[kWaves][kSegmentWords];
  };

  /// Decodes a stream of `count` codes from `size` bytes of any alignment; only the words that
  /// hold them are read. Returns 0 or a StreamFault, in all threads; the codes of a faulty stream
  /// are anything. Faster where `codes` is a multiple of 16 bytes. No barrier at the end.
  static TAMIS_DEVICE u32 decode(const u8* bytes, u32 size, u32 count, I* codes, Scratch& scratch) {
    const int wave = Team::wave();
    size = wave_uniform(size);
    count = wave_uniform(count);
    const u32 segments = ceil_div<u32>(count, kSegmentCodes);
    if (size == 0) {
      for (u32 s = static_cast<u32>(wave); s < segments; s += kWaves) {
        store_zeros(codes + s * kSegmentCodes, left(count, s));
      }
      return codec::kStreamFine;
    }
    if (size > codec::kMostStreamBytes) return codec::kStreamTooLong;
    if (size < segments) return codec::kStreamEnds;
    const u32 groups = ceil_div<u32>(count, kGroupCodes);
    u32 present = 0;
    for (u32 s = static_cast<u32>(lane_id()); s < segments; s += kWave) {
      present += static_cast<u32>(count_ones(u32{bytes[s]}));
    }
    present = wave_sum(present);
    if (groups % 8 != 0 && bytes[segments - 1] >> (groups % 8) != 0) {
      return codec::kStreamSpareFlags;
    }
    if (size - segments < present) return codec::kStreamEnds;
    Parts parts = {bytes, bytes + segments, segments + present};
    for (u32 first = 0; first < segments; first += kWave) {
      const Chunk chunk = Chunk::read(parts, first, segments, count);
      if (wave_any(chunk.bad)) return codec::kStreamWidth;
      if (size - parts.planes_at < chunk.total_bytes) return codec::kStreamEnds;
      for (u32 i = static_cast<u32>(wave); i < kWave && first + i < segments; i += kWaves) {
        const int lane = static_cast<int>(i);
        decode_segment(bytes, shuffle(chunk.widths, lane),
                       parts.planes_at + shuffle(chunk.bytes, lane), left(count, first + i),
                       scratch.exchange[wave], codes + (first + i) * kSegmentCodes);
      }
      parts.widths += chunk.total_groups;
      parts.planes_at += chunk.total_bytes;
    }
    return parts.planes_at == size ? codec::kStreamFine : codec::kStreamLeftOver;
  }

 private:
  static TAMIS_DEVICE int left(u32 count, u32 segment) {
    return static_cast<int>(min_of<u32>(count - segment * kSegmentCodes, kSegmentCodes));
  }

  /// Of the stream: flags, and what is not yet used of the widths and planes.
  struct Parts {
    const u8* flags;
    const u8* widths;
    u32 planes_at;
  };

  /// A segment a lane: the widths of its groups, a byte each, and the plane bytes of the segments
  /// before.
  struct Chunk {
    u64 widths;
    u32 bytes;
    u32 total_groups;
    u32 total_bytes;
    bool bad;

    static TAMIS_DEVICE Chunk read(const Parts& parts, u32 first, u32 segments, u32 count) {
      const u32 mine = first + static_cast<u32>(lane_id());
      Chunk chunk;
      const u32 flags = mine < segments ? u32{parts.flags[mine]} : 0;
      const u32 present = static_cast<u32>(count_ones(flags));
      const u32 through = wave_inclusive_sum(present);
      chunk.total_groups = shuffle(through, kWave - 1);
      chunk.bad = false;
      chunk.widths = 0;
      u32 bytes = 0;
      for (u32 rest = flags, i = through - present; rest != 0; rest &= rest - 1, ++i) {
        const u32 width = parts.widths[i];
        const u32 in_segment = static_cast<u32>(lowest_one(rest));
        const u32 group = mine * kSegmentGroups + in_segment;
        const u32 codes = min_of<u32>(count - group * kGroupCodes, kGroupCodes);
        chunk.bad = chunk.bad || width < 1 || width > CodeTraits<I>::kBits;
        chunk.widths |= u64{width} << (8 * in_segment);
        bytes += width * ((codes + 7) / 8);
      }
      const u32 bytes_through = wave_inclusive_sum(bytes);
      chunk.bytes = bytes_through - bytes;
      chunk.total_bytes = shuffle(bytes_through, kWave - 1);
      return chunk;
    }
  };

  /// Planes of the lane's piece, the first of them at a byte of any alignment.
  struct PlaneReader {
    const u32* words;
    u32 shift;
    const u8* bytes;
    u32 stride;
    int width;
    int codes;
    bool whole;

    TAMIS_DEVICE u32 operator()(int plane) const {
      if (plane >= width) return 0;
      if (whole) {  // planes are two words apart, and a second word is read only for bits in it
        const u32* word = words + 2 * plane;
        u32 bits = word[0] >> shift;
        if (shift == 24) bits |= word[1] << 8;
        return bits & 0xffff;
      }
      const u8* at = bytes + static_cast<u32>(plane) * stride;
      u32 bits = codes > 0 ? at[0] : 0;
      if (codes > 8) bits |= static_cast<u32>(at[1]) << 8;
      return bits;
    }
  };

  static TAMIS_DEVICE void decode_segment(const u8* bytes, u64 widths, u32 at, int n, u32* exchange,
                                          I* codes) {
    if (widths == 0) {
      store_zeros(codes, n);
      return;
    }
    const PieceShape shape = PieceShape::of(n);
    const u32 four = static_cast<u32>(shape.group < 4 ? widths : widths >> 32);
    const u32 width = shape.group_codes > 0 ? (four >> (8 * (shape.group & 3))) & 0xff : 0;
    const u32 stride = static_cast<u32>(shape.group_codes + 7) / 8;
    u32 total = 0;
    const u32 before = segment_prefix(width * stride, total);
    const bool wide = wave_any(width > 8);
    u32 words[kPieceWords] = {};
    if (n == kSegmentCodes && !wide) {
      stage(bytes + at, total, exchange);
      const u8* piece = reinterpret_cast<const u8*>(exchange) + before + 2 * shape.in_group;
      u32 plane[8];
#pragma unroll
      for (u32 b = 0; b < 8; ++b) {
        plane[b] = 0;
        if (b < width) plane[b] = *reinterpret_cast<const u16*>(piece + kGroupCodes / 8 * b);
      }
#pragma unroll
      for (int b = 0; b < 8; b += 2) words[b / 2] = plane[b] | (plane[b + 1] << 16);
      planes_to_bytes(words);
      store_bytes(words, n, exchange, codes);
      return;
    }
    const u8* piece = bytes + at + before + 2 * shape.in_group;
    const u32 skipped = static_cast<u32>(reinterpret_cast<u64>(piece) & 3);
    const PlaneReader planes = {reinterpret_cast<const u32*>(piece - skipped),
                                8 * skipped,
                                piece,
                                stride,
                                static_cast<int>(width),
                                shape.codes,
                                n == kSegmentCodes};
    store_planes(shape, words, 0, static_cast<int>(width), planes, codes);
  }

  /// Copies `size` bytes to the start of `exchange`, which has room for them: a multiple of 4, not
  /// 0. Only the words that hold them are read.
  static TAMIS_DEVICE void stage(const u8* bytes, u32 size, u32* exchange) {
    const u32 skipped = static_cast<u32>(reinterpret_cast<u64>(bytes) & 3);
    const u32* words = reinterpret_cast<const u32*>(bytes - skipped);
    const u32 last = (skipped + size - 1) / 4;
    sync_wave();  // an earlier segment may still be read there
#pragma unroll 1
    for (u32 i = static_cast<u32>(lane_id()); i < size / 4; i += kWave) {
      exchange[i] = funnel_right(words[i], words[min_of(i + 1, last)], 8 * skipped);
    }
    sync_wave();
  }
};

}  // namespace tamis::device
