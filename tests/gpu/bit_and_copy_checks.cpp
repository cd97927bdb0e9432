// Bit operations and copies of the device headers against plain host versions, on random data and
// awkward sizes.
#include <algorithm>
#include <bit>

#include "check_list.hpp"

namespace tamis::gpu_test {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

u64 extract_reference(u64 value, u64 mask) {
  u64 result = 0;
  for (int to = 0; mask != 0; mask &= mask - 1, ++to) {
    result |= ((value >> std::countr_zero(mask)) & 1) << to;
  }
  return result;
}

u64 deposit_reference(u64 value, u64 mask) {
  u64 result = 0;
  for (; mask != 0; mask &= mask - 1, value >>= 1) result |= (value & 1) << std::countr_zero(mask);
  return result;
}

u64 low_bits(u64 count) { return count >= 64 ? ~u64{0} : (u64{1} << count) - 1; }

// Row i of the transposed matrix that holds it; rows beyond the end are 0.
u32 transposed(const std::vector<u32>& rows, std::size_t i) {
  const std::size_t first = i / 32 * 32;
  u32 column = 0;
  for (std::size_t k = 0; k < 32 && first + k < rows.size(); ++k) {
    column |= (rows[first + k] >> (i % 32) & 1) << k;
  }
  return column;
}

// Masks of all densities, and the extremes.
std::vector<u64> random_masks(std::size_t n) {
  std::vector<u64> masks = random_words(n, 9);
  const std::vector<u64> more = random_words(n, 10);
  for (std::size_t i = 0; i < n; ++i) {
    if (i % 5 == 1) masks[i] &= more[i] & (more[i] >> 7);
    if (i % 5 == 2) masks[i] |= more[i] | (more[i] << 9);
    if (i % 5 == 3) masks[i] = i % 2 == 0 ? 0 : ~u64{0};
  }
  return masks;
}

std::string check_bits_32(const Device& device, const Stream& stream) {
  const gpu::Kernel kernel = self_test_kernel(device, "bit_operations_32");
  for (const std::size_t n : array_sizes()) {
    const std::vector<u32> values = narrow(random_words(n, 8));
    const std::vector<u32> masks = narrow(random_masks(n));
    std::vector<u32> expected(8 * n);
    for (std::size_t i = 0; i < n; ++i) {
      const u32 v = values[i];
      const u32 m = masks[i];
      const u32 rows[] = {transposed(values, i),
                          static_cast<u32>(extract_reference(v, m)),
                          static_cast<u32>(deposit_reference(v, m)),
                          static_cast<u32>(std::bit_width(v)),
                          static_cast<u32>(std::bit_width(m)) - 1,
                          m == 0 ? ~u32{0} : static_cast<u32>(std::countr_zero(m)),
                          static_cast<u32>(std::popcount(m & low_bits(v % 33))),
                          std::clamp<u32>(v / (m | 1) + (v % (m | 1) != 0), 1, 1000)};
      for (std::size_t row = 0; row < 8; ++row) expected[row * n + i] = rows[row];
    }
    const DeviceArray<u32> in(values, stream);
    const DeviceArray<u32> mask_in(masks, stream);
    const DeviceArray<u32> out(8 * n, stream);
    kernel.launch(stream, shape_for(n), in.data(), mask_in.data(), out.data(), u64{n});
    require_equal<u32>(out.download(), expected, "n " + std::to_string(n));
  }
  return "";
}

std::string check_bits_64(const Device& device, const Stream& stream) {
  const gpu::Kernel kernel = self_test_kernel(device, "bit_operations_64");
  for (const std::size_t n : array_sizes()) {
    const std::vector<u64> values = random_words(n, 11);
    const std::vector<u64> masks = random_masks(n);
    std::vector<u64> expected(6 * n);
    for (std::size_t i = 0; i < n; ++i) {
      const u64 v = values[i];
      const u64 m = masks[i];
      const u64 rows[] = {extract_reference(v, m),
                          deposit_reference(v, m),
                          static_cast<u64>(std::bit_width(v)),
                          static_cast<u64>(std::bit_width(m)) - 1,
                          m == 0 ? ~u64{0} : static_cast<u64>(std::countr_zero(m)),
                          static_cast<u64>(std::popcount(m & low_bits(v % 65)))};
      for (std::size_t row = 0; row < 6; ++row) expected[row * n + i] = rows[row];
    }
    const DeviceArray<u64> in(values, stream);
    const DeviceArray<u64> mask_in(masks, stream);
    const DeviceArray<u64> out(6 * n, stream);
    kernel.launch(stream, shape_for(n), in.data(), mask_in.data(), out.data(), u64{n});
    require_equal<u64>(out.download(), expected, "n " + std::to_string(n));
  }
  return "";
}

// All pairs of alignments and sizes around multiples of 16; bytes between segments stay poisoned.
std::string check_copy_segments(const Device& device, const Stream& stream) {
  constexpr std::int64_t kRoom = 5000;
  std::vector<std::int64_t> from;
  std::vector<std::int64_t> to;
  std::vector<std::int64_t> sizes;
  for (std::int64_t a = 0; a < 17; ++a) {
    for (std::int64_t b = 0; b < 17; ++b) {
      for (const std::int64_t size : {0, 1, 15, 16, 17, 31, 33, 4900}) {
        const auto at = static_cast<std::int64_t>(from.size()) * kRoom;
        from.push_back(at + a);
        to.push_back(at + b);
        sizes.push_back(size);
      }
    }
  }
  const std::size_t bytes = from.size() * static_cast<std::size_t>(kRoom);
  std::vector<std::uint8_t> source(bytes);
  for (std::size_t i = 0; i < bytes; ++i) source[i] = static_cast<std::uint8_t>(i * 31 + i / 256);
  std::vector<std::uint8_t> expected(bytes, 0xab);
  for (std::size_t s = 0; s < from.size(); ++s) {
    std::copy_n(source.begin() + from[s], sizes[s], expected.begin() + to[s]);
  }
  const DeviceArray<std::uint8_t> in(source, stream);
  const DeviceArray<std::uint8_t> out(bytes, stream);
  const DeviceArray<std::int64_t> from_in(from, stream);
  const DeviceArray<std::int64_t> to_in(to, stream);
  const DeviceArray<std::int64_t> sizes_in(sizes, stream);
  self_test_kernel(device, "copy_segments")
      .launch(stream, {{static_cast<std::int64_t>(from.size()), 1, 1}, {128, 1, 1}}, in.data(),
              out.data(), from_in.data(), to_in.data(), sizes_in.data());
  require_equal<std::uint8_t>(out.download(), expected, "copied bytes");
  return std::to_string(from.size()) + " segments";
}

std::string check_copy_streaming(const Device& device, const Stream& stream) {
  const gpu::Kernel kernel = self_test_kernel(device, "copy_streaming");
  for (const std::size_t n : array_sizes()) {
    const std::vector<u32> values = narrow(random_words(4 * n, 12));
    std::vector<u32> expected;
    for (const u32 value : values) expected.push_back(value + 1);
    const DeviceArray<u32> in(values, stream);
    const DeviceArray<u32> out(4 * n, stream);
    kernel.launch(stream, {{7, 1, 1}, {256, 1, 1}}, in.data(), out.data(), u64{n});
    require_equal<u32>(out.download(), expected, "n " + std::to_string(n));
  }
  return "";
}

}  // namespace

std::vector<Check> bit_and_copy_checks() {
  return {{"bit operations, 32 bits", check_bits_32},
          {"bit operations, 64 bits", check_bits_64},
          {"copies of any alignment", check_copy_segments},
          {"streaming copies", check_copy_streaming}};
}

}  // namespace tamis::gpu_test
