// The mask stream: a form byte, a table of block sizes, and the blocks. Blocks are coded one by
// one, in as many parallel phases as there are slabs that later blocks look at.
#include "codec/mask_codec.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "codec/mask_block.hpp"
#include "codec/mask_geometry.hpp"
#include "core/byte_io.hpp"
#include "core/threads.hpp"
#include "tamis/error.hpp"

namespace tamis::codec {
namespace {

enum Form : std::uint8_t { kAllZeros = 0, kAllOnes = 1, kBlocks = 2 };
// An entry of the block table; from kFirstSize on it is kFirstSize + the payload's size.
enum Entry : std::uint64_t { kZeros = 0, kOnes = 1, kRaw = 2, kFirstSize = 3 };

struct Block {
  std::uint64_t entry = kZeros;
  std::span<const std::byte> payload;
};

std::uint64_t last_word_mask(std::int64_t points) noexcept {
  return ~std::uint64_t{0} >> (-points & 63);
}

std::int64_t raw_bytes(const MaskGeometry& geometry, std::int64_t block) noexcept {
  return (geometry.block_points(block) + 7) / 8;
}

void check_words(std::span<const std::uint64_t> bits, std::int64_t points) {
  const std::int64_t words = (points + 63) / 64;
  if (static_cast<std::int64_t>(bits.size()) < words) {
    throw Error(ErrorCode::kInvalidArgument, "mask of " + std::to_string(bits.size()) +
                                                 " words, expected " + std::to_string(words));
  }
}

// --- encoding ------------------------------------------------------------------------------------

struct EncodedBlock {
  std::uint64_t entry = kZeros;
  std::vector<std::byte> payload;
};

EncodedBlock encode_block(const MaskGeometry& geometry, MaskBlockPointers blocks,
                          std::int64_t block) {
  const std::span<const std::uint64_t> words(blocks[block],
                                             static_cast<std::size_t>(geometry.block_words(block)));
  const auto body = words.first(words.size() - 1);
  const std::uint64_t last = last_word_mask(geometry.block_points(block));
  for (const bool value : {false, true}) {
    const std::uint64_t word = value ? ~std::uint64_t{0} : 0;
    if (words.back() == (word & last) &&
        std::all_of(body.begin(), body.end(), [word](std::uint64_t w) { return w == word; })) {
      return {value ? kOnes : kZeros, {}};
    }
  }
  std::vector<std::byte> payload = encode_mask_block(geometry, blocks, block);
  const auto raw = static_cast<std::size_t>(raw_bytes(geometry, block));
  if (payload.size() < raw) return {kFirstSize + payload.size(), std::move(payload)};
  const auto bytes = std::as_bytes(words).first(raw);
  return {kRaw, {bytes.begin(), bytes.end()}};
}

// --- decoding ------------------------------------------------------------------------------------

// Reads the table; every block's payload is a part of `bytes`.
std::vector<Block> parse_blocks(const MaskGeometry& geometry, ByteReader& reader) {
  // An entry takes a byte or more, so that few bytes cannot ask for a long table.
  if (reader.remaining() < static_cast<std::uint64_t>(geometry.block_count)) {
    throw Error(ErrorCode::kCorrupt, "mask: the block table is cut short");
  }
  std::vector<Block> blocks(static_cast<std::size_t>(geometry.block_count));
  for (Block& block : blocks) block.entry = reader.varint();
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const std::uint64_t entry = blocks[b].entry;
    const auto raw = static_cast<std::uint64_t>(raw_bytes(geometry, static_cast<std::int64_t>(b)));
    if (entry >= kFirstSize + raw) {
      throw Error(ErrorCode::kCorrupt, "mask: block " + std::to_string(b) + " is too long");
    }
    if (entry == kRaw) blocks[b].payload = reader.bytes(raw);
    if (entry >= kFirstSize) blocks[b].payload = reader.bytes(entry - kFirstSize);
  }
  reader.expect_end();
  return blocks;
}

void decode_block(const MaskGeometry& geometry, MaskBlockPointers pointers, std::int64_t block,
                  const Block& coded, std::uint64_t* words) {
  const std::int64_t count = geometry.block_words(block);
  const std::uint64_t last = last_word_mask(geometry.block_points(block));
  switch (coded.entry) {
    case kZeros:
    case kOnes:
      std::fill_n(words, count, coded.entry == kOnes ? ~std::uint64_t{0} : 0);
      words[count - 1] &= last;
      break;
    case kRaw:
      words[count - 1] = 0;
      std::memcpy(words, coded.payload.data(), coded.payload.size());
      if ((words[count - 1] & ~last) != 0) {
        throw Error(ErrorCode::kCorrupt, "mask: bits behind the last point");
      }
      break;
    default:
      decode_mask_block(geometry, pointers, block, coded.payload, words);
  }
}

// Decodes the chosen blocks (ascending, closed under references) to where `words` says. Phase by
// phase: a block looks at no other of its own phase.
void decode_blocks(const MaskGeometry& geometry, std::span<const Block> blocks,
                   std::span<const std::int64_t> chosen, std::span<std::uint64_t* const> words,
                   int threads) {
  const std::vector<const std::uint64_t*> pointers(words.begin(), words.end());
  std::size_t done = 0;
  for (int axis = 1; axis <= geometry.axis_count + 1; ++axis) {
    const std::int64_t end =
        axis <= geometry.axis_count ? geometry.slab_blocks(axis) : geometry.block_count;
    const auto stop = std::lower_bound(chosen.begin(), chosen.end(), end) - chosen.begin();
    parallel_for(stop - static_cast<std::int64_t>(done), threads, [&](std::int64_t item, int) {
      const std::int64_t block = chosen[done + static_cast<std::size_t>(item)];
      decode_block(geometry, pointers, block, blocks[block], words[block]);
    });
    done = static_cast<std::size_t>(stop);
  }
}

// Reads the form and settles the masks that need no blocks; true when `bits` are done.
bool decode_uniform(const MaskGeometry& geometry, ByteReader& reader, std::int64_t count,
                    std::span<std::uint64_t> bits) {
  if (geometry.point_count == 0) {
    reader.expect_end();
    return true;
  }
  const std::uint8_t form = reader.u8();
  if (form == kBlocks) return false;
  if (form > kBlocks) throw Error(ErrorCode::kCorrupt, "mask: form " + std::to_string(form));
  reader.expect_end();
  if (count > 0) {
    const auto words = bits.first(static_cast<std::size_t>((count + 63) / 64));
    std::fill(words.begin(), words.end(), form == kAllOnes ? ~std::uint64_t{0} : 0);
    words.back() &= last_word_mask(count);
  }
  return true;
}

// Blocks that hold the points, and all that these look at, ascending.
std::vector<std::int64_t> choose_blocks(const MaskGeometry& geometry, std::span<const Block> blocks,
                                        std::int64_t first, std::int64_t count) {
  std::vector<bool> needed(blocks.size());
  const std::int64_t last = (first + count - 1) / kMaskBlockPoints;
  for (std::int64_t b = first / kMaskBlockPoints; b <= last; ++b) needed[b] = true;
  std::vector<std::int64_t> chosen;
  // References point downwards, so that one descending pass finds them all.
  for (std::int64_t b = last; b >= 0; --b) {
    if (!needed[b]) continue;
    chosen.push_back(b);
    if (blocks[b].entry < kFirstSize) continue;
    const int axis = mask_block_axis(geometry, blocks[b].payload);
    for_each_reference_block(geometry, b, axis, [&](std::int64_t r) { needed[r] = true; });
  }
  std::reverse(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace

std::vector<std::byte> encode_mask(std::span<const std::uint64_t> bits,
                                   std::span<const std::int64_t> shape, int threads) {
  const MaskGeometry geometry(shape);
  check_words(bits, geometry.point_count);
  if (geometry.block_count == 0) return {};

  std::vector<const std::uint64_t*> pointers;
  for (std::int64_t b = 0; b < geometry.block_count; ++b) {
    pointers.push_back(bits.data() + b * kMaskBlockWords);
  }
  // The caller's bits behind the last point must not reach the bytes.
  const std::uint64_t* const last_block = pointers.back();
  std::vector<std::uint64_t> tail(last_block,
                                  last_block + geometry.block_words(geometry.block_count - 1));
  tail.back() &= last_word_mask(geometry.point_count);
  pointers.back() = tail.data();

  std::vector<EncodedBlock> blocks(static_cast<std::size_t>(geometry.block_count));
  parallel_for(geometry.block_count, threads,
               [&](std::int64_t b, int) { blocks[b] = encode_block(geometry, pointers, b); });

  std::vector<std::byte> bytes;
  ByteWriter writer(bytes);
  const bool same = std::all_of(blocks.begin(), blocks.end(), [&](const EncodedBlock& block) {
    return block.entry == blocks[0].entry;
  });
  if (same && blocks[0].entry <= kOnes) {
    writer.u8(blocks[0].entry == kOnes ? kAllOnes : kAllZeros);
    return bytes;
  }
  writer.u8(kBlocks);
  for (const EncodedBlock& block : blocks) writer.varint(block.entry);
  for (const EncodedBlock& block : blocks) writer.bytes(block.payload);
  return bytes;
}

void decode_mask(std::span<const std::byte> bytes, std::span<const std::int64_t> shape,
                 std::span<std::uint64_t> bits, int threads) {
  const MaskGeometry geometry(shape);
  check_words(bits, geometry.point_count);
  ByteReader reader(bytes, "mask");
  if (decode_uniform(geometry, reader, geometry.point_count, bits)) return;
  const std::vector<Block> blocks = parse_blocks(geometry, reader);
  std::vector<std::int64_t> chosen;
  std::vector<std::uint64_t*> words;
  for (std::int64_t b = 0; b < geometry.block_count; ++b) {
    chosen.push_back(b);
    words.push_back(bits.data() + b * kMaskBlockWords);
  }
  decode_blocks(geometry, blocks, chosen, words, threads);
}

void decode_mask_range(std::span<const std::byte> bytes, std::span<const std::int64_t> shape,
                       std::int64_t first, std::int64_t count, std::span<std::uint64_t> bits,
                       int threads) {
  const MaskGeometry geometry(shape);
  if (first < 0 || count < 0 || first > geometry.point_count ||
      count > geometry.point_count - first) {
    throw Error(ErrorCode::kInvalidArgument, "mask points " + std::to_string(first) + " and " +
                                                 std::to_string(count) + " more, of " +
                                                 std::to_string(geometry.point_count));
  }
  check_words(bits, count);
  ByteReader reader(bytes, "mask");
  if (decode_uniform(geometry, reader, count, bits)) return;
  const std::vector<Block> blocks = parse_blocks(geometry, reader);
  if (count == 0) return;

  const std::vector<std::int64_t> chosen = choose_blocks(geometry, blocks, first, count);
  std::vector<std::vector<std::uint64_t>> storage(chosen.size());
  std::vector<std::uint64_t*> words(blocks.size(), nullptr);
  for (std::size_t k = 0; k < chosen.size(); ++k) {
    storage[k].resize(static_cast<std::size_t>(geometry.block_words(chosen[k])));
    words[chosen[k]] = storage[k].data();
  }
  decode_blocks(geometry, blocks, chosen, words, threads);

  const auto out = bits.first(static_cast<std::size_t>((count + 63) / 64));
  out.back() = 0;
  for (std::int64_t done = 0; done < count;) {
    const std::int64_t point = first + done;
    const std::int64_t block = point / kMaskBlockPoints;
    const std::int64_t in_block = point % kMaskBlockPoints;
    const std::int64_t run = std::min(count - done, geometry.block_points(block) - in_block);
    copy_bits(words[block], in_block, out.data(), done, run);
    done += run;
  }
}

}  // namespace tamis::codec
