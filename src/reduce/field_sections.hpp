// The small sections of a compressed field: patches, palette, bit maps and the index of blobs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "reduce/blob_table.hpp"
#include "reduce/field_rows.hpp"
#include "tamis/tensor.hpp"

namespace tamis::reduce {

/// Patches sorted by index. `value_bytes` is 4 or 8.
std::vector<std::byte> write_patches(const std::vector<Patch>& patches, int value_bytes);
/// Throws Error(kCorrupt) unless the indices rise and stay below `count`.
std::vector<Patch> read_patches(std::span<const std::byte> bytes, int value_bytes,
                                std::int64_t count);

/// A sorted palette, as differences of ordered bits.
std::vector<std::byte> write_palette(const std::vector<double>& palette, DType dtype);
std::vector<double> read_palette(std::span<const std::byte> bytes, DType dtype);

/// Sizes and checksums of the blobs in file order.
struct BlobEntry {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint32_t checksum = 0;  // low half of XXH3-64
};
std::vector<std::byte> write_index(const BlobTable& table, const std::vector<BlobEntry>& entries);
/// Offsets are computed; their end must be `data_size`. Throws Error(kCorrupt).
std::vector<BlobEntry> read_index(std::span<const std::byte> bytes, const BlobTable& table,
                                  std::uint64_t data_size);

}  // namespace tamis::reduce
