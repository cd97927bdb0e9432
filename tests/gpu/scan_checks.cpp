// Waves, blocks and scans of the device headers against plain host versions, on random data and
// awkward sizes.
#include <algorithm>
#include <bit>
#include <numeric>

#include "check_list.hpp"
#include "gpu/event.hpp"
#include "gpu/scan_state.hpp"

namespace tamis::gpu_test {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

// The values of a wave's lanes; those beyond the end are 0, as the kernels have it.
template <typename T>
struct Wave {
  std::vector<T> lanes;
  std::size_t lane;

  Wave(const std::vector<T>& values, std::size_t i, std::size_t wave)
      : lanes(wave), lane(i % wave) {
    const std::size_t first = i - lane;
    for (std::size_t k = 0; k < wave && first + k < values.size(); ++k)
      lanes[k] = values[first + k];
  }
  template <typename Predicate>
  u64 ballot(const Predicate& predicate) const {
    u64 mask = 0;
    for (std::size_t k = 0; k < lanes.size(); ++k) mask |= u64{predicate(lanes[k])} << k;
    return mask;
  }
  T sum_of_first(std::size_t count) const {
    return std::accumulate(lanes.begin(), lanes.begin() + static_cast<std::ptrdiff_t>(count), T{0});
  }
  T at(std::size_t k) const { return lanes[k]; }
};

std::vector<u32> expected_wave_32(const std::vector<u32>& values, std::size_t wave) {
  const std::size_t n = values.size();
  std::vector<u32> rows(15 * n);
  for (std::size_t i = 0; i < n; ++i) {
    const Wave<u32> w(values, i, wave);
    const u64 odd = w.ballot([](u32 v) { return (v & 1) != 0; });
    const u64 nine = w.ballot([](u32 v) { return v % 64 == 9; });
    const u64 same = w.ballot([&](u32 v) { return v % 5 == w.at(w.lane) % 5; });
    const u32 results[] = {w.sum_of_first(wave),
                           *std::min_element(w.lanes.begin(), w.lanes.end()),
                           *std::max_element(w.lanes.begin(), w.lanes.end()),
                           w.sum_of_first(w.lane + 1),
                           w.sum_of_first(w.lane),
                           static_cast<u32>(std::popcount(odd)),
                           static_cast<u32>(std::popcount(odd & ((u64{1} << w.lane) - 1))),
                           odd == 0 ? ~u32{0} : static_cast<u32>(std::countr_zero(odd)),
                           static_cast<u32>(std::popcount(same)),
                           w.at((w.lane * 7 + 3) % wave),
                           w.at(w.lane ^ 5),
                           w.at(w.lane >= 3 ? w.lane - 3 : w.lane),
                           w.at(w.lane + 3 < wave ? w.lane + 3 : w.lane),
                           nine != 0,
                           nine == 0};
    for (std::size_t row = 0; row < 15; ++row) rows[row * n + i] = results[row];
  }
  return rows;
}

std::string check_wave_32(const Device& device, const Stream& stream) {
  const auto wave = static_cast<std::size_t>(device.info().wave_size);
  const gpu::Kernel kernel = self_test_kernel(device, "wave_operations_32");
  for (const std::size_t n : array_sizes()) {
    const std::vector<u32> values = narrow(random_words(n, 1));
    const DeviceArray<u32> in(values, stream);
    const DeviceArray<u32> out(15 * n, stream);
    kernel.launch(stream, shape_for(n), in.data(), out.data(), u64{n});
    require_equal<u32>(out.download(), expected_wave_32(values, wave), "n " + std::to_string(n));
  }
  return "";
}

std::string check_wave_64(const Device& device, const Stream& stream) {
  const auto wave = static_cast<std::size_t>(device.info().wave_size);
  const gpu::Kernel kernel = self_test_kernel(device, "wave_operations_64");
  for (const std::size_t n : array_sizes()) {
    const std::vector<u64> values = random_words(n, 2);
    std::vector<u64> expected(6 * n);
    for (std::size_t i = 0; i < n; ++i) {
      const Wave<u64> w(values, i, wave);
      expected[i] = w.sum_of_first(wave);
      expected[n + i] = *std::max_element(w.lanes.begin(), w.lanes.end());
      expected[2 * n + i] = w.sum_of_first(w.lane + 1);
      expected[3 * n + i] = w.sum_of_first(w.lane);
      expected[4 * n + i] = w.at(w.lane ^ 1);
      expected[5 * n + i] = static_cast<u64>(
          std::popcount(w.ballot([&](u64 v) { return v % 3 == w.at(w.lane) % 3; })));
    }
    const DeviceArray<u64> in(values, stream);
    const DeviceArray<u64> out(6 * n, stream);
    kernel.launch(stream, shape_for(n), in.data(), out.data(), u64{n});
    require_equal<u64>(out.download(), expected, "n " + std::to_string(n));
  }
  return "";
}

std::string check_wave_exchange(const Device& device, const Stream& stream) {
  const auto wave = static_cast<std::size_t>(device.info().wave_size);
  const gpu::Kernel kernel = self_test_kernel(device, "wave_exchange");
  for (const std::size_t n : array_sizes()) {
    const std::vector<u32> values = narrow(random_words(n, 3));
    std::vector<u32> expected(n);
    for (std::size_t i = 0; i < n; ++i) {
      const Wave<u32> w(values, i, wave);
      expected[i] = w.at(wave - 1 - w.lane);
    }
    const DeviceArray<u32> in(values, stream);
    const DeviceArray<u32> out(n, stream);
    kernel.launch(stream, shape_for(n), in.data(), out.data(), u64{n});
    require_equal<u32>(out.download(), expected, "n " + std::to_string(n));
  }
  return "";
}

std::string check_block_sums(const Device& device, const Stream& stream) {
  for (const std::int64_t threads : {64, 256, 1024}) {
    const gpu::Kernel kernel = self_test_kernel(device, "block_sums", threads);
    const auto block = static_cast<std::size_t>(threads);
    for (const std::size_t n : array_sizes()) {
      const std::vector<u64> values = random_words(n, 4);
      std::vector<u64> expected(3 * n);
      for (std::size_t first = 0; first < n; first += block) {
        const std::size_t last = std::min(first + block, n);
        u64 sum = 0;
        for (std::size_t i = first; i < last; ++i) {
          expected[i] = sum;
          sum += values[i];
        }
        for (std::size_t i = first; i < last; ++i) expected[n + i] = expected[2 * n + i] = sum;
      }
      const DeviceArray<u64> in(values, stream);
      const DeviceArray<u64> out(3 * n, stream);
      kernel.launch(stream, shape_for(n, threads), in.data(), out.data(), u64{n});
      require_equal<u64>(out.download(), expected,
                         "n " + std::to_string(n) + ", threads " + std::to_string(threads));
    }
  }
  return "";
}

// Scans `values` `repeats` times with fresh state; returns the device time of the last in us.
double scan_and_compare(const Device& device, const Stream& stream, const std::vector<u64>& values,
                        std::int64_t threads, std::int64_t items, int repeats) {
  const std::size_t n = values.size();
  std::vector<u64> expected(n);
  std::exclusive_scan(values.begin(), values.end(), expected.begin(), u64{0});
  const gpu::Kernel kernel = self_test_kernel(device, "scan_exclusive", threads, items);
  gpu::LaunchShape shape = shape_for(n, threads * items);
  shape.block.x = threads;
  const DeviceArray<u64> in(values, stream);
  const DeviceArray<u64> state(static_cast<std::size_t>(gpu::scan_state_words(shape.grid.x)),
                               stream);
  gpu::Event start(device);
  gpu::Event stop(device);
  double us = 0;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    const DeviceArray<u64> out(n, stream);
    fill_bytes(state.data(), 0, 8 * gpu::scan_state_words(shape.grid.x), stream);
    start.record(stream);
    kernel.launch(stream, shape, in.data(), out.data(), u64{n}, state.data());
    stop.record(stream);
    require_equal<u64>(out.download(), expected,
                       "n " + std::to_string(n) + ", threads " + std::to_string(threads) +
                           ", items " + std::to_string(items) + ", run " + std::to_string(repeat));
    us = stop.elapsed_us(start);
  }
  return us;
}

std::string check_scan_sizes(const Device& device, const Stream& stream) {
  for (const std::size_t n : array_sizes()) {
    scan_and_compare(device, stream, random_words(n, 5, (u64{1} << 40) - 1), 256, 8, 2);
  }
  return "";
}

// Small tiles make many blocks wait for each other.
std::string check_scan_many_tiles(const Device& device, const Stream& stream) {
  const std::size_t n = g_small ? 4103 : (1u << 20) + 7;
  scan_and_compare(device, stream, random_words(n, 6, 0xffffffff), 64, 1, 30);
  scan_and_compare(device, stream, std::vector<u64>(n, (u64{1} << 62) / n), 64, 1, 3);
  return std::to_string((n + 63) / 64) + " tiles";
}

std::string check_scan_large(const Device& device, const Stream& stream) {
  const std::size_t n = g_small ? 65541 : (1u << 25) + 5;
  const double us = scan_and_compare(device, stream, random_words(n, 7, 0xffffffff), 256, 8, 3);
  return std::to_string(static_cast<int>(us)) + " us, " +
         std::to_string(static_cast<int>(static_cast<double>(16 * n) / us * 1e-3)) + " GB/s";
}

}  // namespace

std::vector<Check> scan_checks() {
  return {{"wave operations, 32 bits", check_wave_32},
          {"wave operations, 64 bits", check_wave_64},
          {"sync_wave", check_wave_exchange},
          {"block scan", check_block_sums},
          {"look-back scan, awkward sizes", check_scan_sizes},
          {"look-back scan, many tiles", check_scan_many_tiles},
          {"look-back scan, large", check_scan_large}};
}

}  // namespace tamis::gpu_test
