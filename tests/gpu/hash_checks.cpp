// XXH3 by a block against the host's: every size class, every alignment, blocks of one and of
// several waves; and how long the blobs of a large field take.
#include <span>

#include "check_list.hpp"
#include "core/checksum.hpp"
#include "gpu/event.hpp"

namespace tamis::gpu_test {
namespace {

using u64 = std::uint64_t;

struct Runs {
  std::vector<u64> offset;
  std::vector<u64> size;
  void add(u64 at, u64 bytes) {
    offset.push_back(at);
    size.push_back(bytes);
  }
};

// One block a run, each run once with `items` 1; returns the time in microseconds.
double hash_and_compare(const Device& device, const Stream& stream, const std::vector<u64>& words,
                        const Runs& runs, std::int64_t threads, std::int64_t items) {
  const auto bytes = std::as_bytes(std::span(words));
  std::vector<u64> expected;
  for (std::size_t i = 0; i < runs.size.size(); ++i) {
    expected.push_back(xxh3_64(bytes.subspan(runs.offset[i], runs.size[i])));
  }
  const DeviceArray<u64> in(words, stream);
  const DeviceArray<u64> offset(runs.offset, stream);
  const DeviceArray<u64> size(runs.size, stream);
  const DeviceArray<u64> out(expected.size(), stream);
  const gpu::Kernel kernel = self_test_kernel(device, "hash_runs", threads, items);
  const gpu::LaunchShape shape = {{static_cast<std::int64_t>(expected.size()), 1, 1},
                                  {threads, 1, 1}};
  gpu::Event start(device);
  gpu::Event stop(device);
  start.record(stream);
  kernel.launch(stream, shape, in.data(), offset.data(), size.data(), out.data());
  stop.record(stream);
  const std::vector<u64> found = out.download();
  for (std::size_t i = 0; i < found.size(); ++i) {
    require(found[i] == expected[i], std::to_string(runs.size[i]) + " bytes at " +
                                         std::to_string(runs.offset[i]) + ", " +
                                         std::to_string(threads) + " threads");
  }
  return stop.elapsed_us(start);
}

std::string check_hash_sizes(const Device& device, const Stream& stream) {
  const std::vector<u64> words = random_words(2000, 11);
  Runs runs;
  for (u64 size = 0; size <= 2100; ++size) runs.add(16 * (size % 9) + size * 7 % 16, size);
  for (u64 size = 0; size <= 300; ++size) runs.add(size * 5 % 16 + 1, size);
  for (const u64 size : {u64{3000}, u64{4096}, u64{8192}, u64{8193}, u64{9300}, u64{12345}}) {
    for (u64 at = 0; at < 17; ++at) runs.add(at, size);
  }
  for (const std::int64_t waves : {1, 2, 8}) {
    hash_and_compare(device, stream, words, runs, waves * device.info().wave_size, 2);
  }
  return "";
}

// Several rounds, and sizes on both sides of the ends of rounds and blocks.
std::string check_hash_rounds(const Device& device, const Stream& stream) {
  const std::vector<u64> words = random_words(50000, 12);
  Runs runs;
  for (const u64 blocks : {u64{8}, u64{56}, u64{57}, u64{112}, u64{240}, u64{300}}) {
    for (const u64 more : {u64{0}, u64{1}, u64{63}, u64{64}, u64{65}, u64{1023}}) {
      runs.add(blocks % 5 * 3, 1024 * blocks + more);
    }
  }
  for (const std::int64_t waves : {1, 4, 8}) {
    hash_and_compare(device, stream, words, runs, waves * device.info().wave_size, 2);
  }
  return "";
}

std::string check_hash_times(const Device& device, const Stream& stream) {
  Runs blobs;
  u64 at = 3;
  for (u64 i = 0; i < 256; ++i) {
    blobs.add(at, 50000 + 4099 * (i % 37));
    at += blobs.size.back();
  }
  const std::vector<u64> words = random_words(at / 8 + 1, 13);
  Runs large;
  large.add(5, 2 << 20);
  const std::int64_t threads = 8 * device.info().wave_size;
  double many = 0;
  double one = 0;
  for (int repeat = 0; repeat < 2; ++repeat) {
    many = hash_and_compare(device, stream, words, blobs, threads, 1);
    one = hash_and_compare(device, stream, words, large, threads, 1);
  }
  return "256 blobs of 50 to 200 KB in " + std::to_string(static_cast<int>(many)) +
         " us, one of 2 MiB in " + std::to_string(static_cast<int>(one)) + " us";
}

}  // namespace

std::vector<Check> hash_checks() {
  return {{"XXH3, all sizes", check_hash_sizes},
          {"XXH3, several rounds", check_hash_rounds},
          {"XXH3, blobs of a field", check_hash_times}};
}

}  // namespace tamis::gpu_test
