// What the checks of gpu_self_test share: the device under test, arrays on it, and comparison with
// a reference that names the first difference.
#pragma once

#include <cstdint>
#include <cstdio>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "gpu/kernel.hpp"
#include "gpu/self_test_kernels.hpp"
#include "tamis/device.hpp"

namespace tamis::gpu_test {

struct Check {
  const char* name;
  /// Throws on failure; returns a remark, e.g. a measured time, or nothing.
  std::string (*run)(const Device& device, const Stream& stream);
};

std::vector<Check> scan_checks();
std::vector<Check> bit_and_copy_checks();
std::vector<Check> field_scan_checks();
std::vector<Check> hash_checks();
std::vector<Check> runtime_checks();
/// Leaves the context unusable, so it comes last.
std::string check_fault(const Device& device, const Stream& stream);

inline void require(bool condition, const std::string& message) {
  if (!condition) throw std::runtime_error(message);
}

template <typename T>
void require_equal(std::span<const T> actual, std::span<const T> expected,
                   const std::string& what) {
  require(actual.size() == expected.size(), what + ": sizes differ");
  for (std::size_t i = 0; i < actual.size(); ++i) {
    if (actual[i] == expected[i]) continue;
    throw std::runtime_error(what + ": element " + std::to_string(i) + " of " +
                             std::to_string(actual.size()) + " is " + std::to_string(actual[i]) +
                             ", expected " + std::to_string(expected[i]));
  }
}

/// An array on the device. Fresh ones are poisoned, so that what a kernel leaves out shows.
template <typename T>
class DeviceArray {
 public:
  DeviceArray(std::size_t count, const Stream& stream)
      : count_(count),
        stream_(stream),
        buffer_(static_cast<std::int64_t>(count * sizeof(T)), stream) {
    fill_bytes(buffer_.data(), 0xab, buffer_.size_bytes(), stream_);
  }
  DeviceArray(const std::vector<T>& values, const Stream& stream)
      : DeviceArray(values.size(), stream) {
    copy_bytes(buffer_.data(), values.data(), buffer_.size_bytes(), stream_);
    stream_.synchronize();
  }
  T* data() const { return buffer_.as<T>(); }
  std::vector<T> download() const {
    std::vector<T> values(count_);
    copy_bytes(values.data(), buffer_.data(), buffer_.size_bytes(), stream_);
    stream_.synchronize();
    return values;
  }

 private:
  std::size_t count_;
  Stream stream_;
  Buffer buffer_;
};

/// For simulated devices: arrays of thousands instead of millions.
inline bool g_small = false;

/// Around waves, blocks and tiles.
inline std::span<const std::size_t> array_sizes() {
  static constexpr std::size_t kSizes[] = {
      1, 2, 31, 32, 33, 63, 64, 65, 255, 256, 257, 1000, 4096, 65537, (1u << 20) + 7};
  return std::span(kSizes).first(std::size(kSizes) - (g_small ? 2 : 0));
}

inline std::vector<std::uint64_t> random_words(std::size_t count, std::uint64_t seed,
                                               std::uint64_t mask = ~std::uint64_t{0}) {
  std::mt19937_64 engine(seed + count);
  std::vector<std::uint64_t> words(count);
  for (std::uint64_t& word : words) word = engine() & mask;
  return words;
}

inline std::vector<std::uint32_t> narrow(const std::vector<std::uint64_t>& words) {
  std::vector<std::uint32_t> result;
  for (const std::uint64_t word : words) result.push_back(static_cast<std::uint32_t>(word));
  return result;
}

inline gpu::Kernel self_test_kernel(const Device& device, const char* entry,
                                    std::int64_t threads = gpu::kSelfTestThreads,
                                    std::int64_t items = gpu::kSelfTestItems) {
  return gpu::get_kernel(device, gpu::self_test_source(), gpu::self_test_config(threads, items),
                         entry);
}

/// Blocks of `threads` for that many elements.
inline gpu::LaunchShape shape_for(std::size_t count, std::int64_t threads = gpu::kSelfTestThreads) {
  return {{(static_cast<std::int64_t>(count) + threads - 1) / threads, 1, 1}, {threads, 1, 1}};
}

}  // namespace tamis::gpu_test
