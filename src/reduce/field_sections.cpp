// Layouts: patches are a count, then per patch the gap to the last index as a varint and the bits;
// a palette is a count and rising differences; the index is per blob a size as a varint and, when
// the blob is not empty, four bytes of checksum.
#include "reduce/field_sections.hpp"

#include <cmath>
#include <string>

#include "core/byte_io.hpp"
#include "tamis/error.hpp"

namespace tamis::reduce {

namespace {

std::int64_t palette_bits(double value, DType dtype) {
  return dtype == DType::kF32 ? std::int64_t{ordered_bits(static_cast<float>(value))}
                              : ordered_bits(value);
}

double palette_value(std::int64_t bits, DType dtype) {
  return dtype == DType::kF32
             ? static_cast<double>(from_ordered_bits(static_cast<std::int32_t>(bits)))
             : from_ordered_bits(bits);
}

}  // namespace

std::vector<std::byte> write_patches(const std::vector<Patch>& patches, int value_bytes) {
  std::vector<std::byte> out;
  ByteWriter writer(out);
  writer.varint(patches.size());
  std::int64_t last = -1;
  for (const Patch& p : patches) {
    writer.varint(static_cast<std::uint64_t>(p.index - last - 1));
    if (value_bytes == 4) {
      writer.u32(static_cast<std::uint32_t>(p.bits));
    } else {
      writer.u64(p.bits);
    }
    last = p.index;
  }
  return out;
}

std::vector<Patch> read_patches(std::span<const std::byte> bytes, int value_bytes,
                                std::int64_t count) {
  ByteReader reader(bytes, "patches");
  const std::uint64_t n = reader.varint();
  if (n > reader.remaining() / static_cast<std::uint64_t>(value_bytes + 1)) {
    throw Error(ErrorCode::kCorrupt, "patches: " + std::to_string(n) + " of them in " +
                                         std::to_string(reader.remaining()) + " bytes");
  }
  std::vector<Patch> patches;
  patches.reserve(n);
  std::int64_t last = -1;
  for (std::uint64_t i = 0; i < n; ++i) {
    const std::uint64_t gap = reader.varint();
    if (gap >= static_cast<std::uint64_t>(count - last - 1)) {
      throw Error(ErrorCode::kCorrupt, "patches: an index lies outside of the field");
    }
    last += static_cast<std::int64_t>(gap) + 1;
    patches.push_back({last, value_bytes == 4 ? reader.u32() : reader.u64()});
  }
  reader.expect_end();
  return patches;
}

std::vector<std::byte> write_palette(const std::vector<double>& palette, DType dtype) {
  std::vector<std::byte> out;
  ByteWriter writer(out);
  writer.varint(palette.size());
  std::int64_t last = 0;
  for (std::size_t i = 0; i < palette.size(); ++i) {
    const std::int64_t bits = palette_bits(palette[i], dtype);
    if (i == 0) {
      writer.u64(static_cast<std::uint64_t>(bits));
    } else {
      writer.varint(static_cast<std::uint64_t>(bits) - static_cast<std::uint64_t>(last));
    }
    last = bits;
  }
  return out;
}

std::vector<double> read_palette(std::span<const std::byte> bytes, DType dtype) {
  ByteReader reader(bytes, "palette");
  const std::uint64_t n = reader.varint();
  if (n == 0 || n > reader.remaining()) {
    throw Error(ErrorCode::kCorrupt, "palette: " + std::to_string(n) + " entries in " +
                                         std::to_string(reader.remaining()) + " bytes");
  }
  std::vector<double> palette;
  std::uint64_t bits = reader.u64();
  for (std::uint64_t i = 0; i < n; ++i) {
    if (i > 0) bits += reader.varint();
    palette.push_back(palette_value(static_cast<std::int64_t>(bits), dtype));
  }
  reader.expect_end();
  return palette;
}

std::vector<std::byte> write_index(const BlobTable& table, const std::vector<BlobEntry>& entries) {
  std::vector<std::byte> out;
  ByteWriter writer(out);
  table.each([&](std::int64_t slot) {
    const BlobEntry& e = entries[static_cast<std::size_t>(slot)];
    writer.varint(e.size);
    if (e.size != 0) writer.u32(e.checksum);
  });
  return out;
}

std::vector<BlobEntry> read_index(std::span<const std::byte> bytes, const BlobTable& table,
                                  std::uint64_t data_size) {
  ByteReader reader(bytes, "index");
  if (static_cast<std::uint64_t>(table.count()) > reader.remaining()) {
    throw Error(ErrorCode::kCorrupt, "index: " + std::to_string(bytes.size()) + " bytes for " +
                                         std::to_string(table.count()) + " blobs");
  }
  std::vector<BlobEntry> entries(static_cast<std::size_t>(table.count()));
  std::uint64_t offset = 0;
  table.each([&](std::int64_t slot) {
    BlobEntry& e = entries[static_cast<std::size_t>(slot)];
    e.offset = offset;
    e.size = reader.varint();
    if (e.size != 0) e.checksum = reader.u32();
    if (e.size > data_size - offset) {
      throw Error(ErrorCode::kCorrupt, "index: blobs exceed the data section of " +
                                           std::to_string(data_size) + " bytes");
    }
    offset += e.size;
  });
  reader.expect_end();
  if (offset != data_size) {
    throw Error(ErrorCode::kCorrupt, "index: blobs of " + std::to_string(offset) +
                                         " bytes in a data section of " +
                                         std::to_string(data_size));
  }
  return entries;
}

}  // namespace tamis::reduce
