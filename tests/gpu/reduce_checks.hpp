// What gpu_reduce consists of: identity with the host, and times.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tamis/device_reduce.hpp"

namespace tamis::gpu_test {

/// Compresses and decompresses on host and device and compares. Throws std::runtime_error with
/// what differed.
class IdentityCheck {
 public:
  explicit IdentityCheck(const Stream& stream)
      : stream_(stream), compressor_(stream), decompressor_(stream) {}

  /// A contiguous field in host memory.
  void run(const ConstTensorView& field, const std::string& what,
           const reduce::CompressOptions& options);
  /// Fields of all kinds with at most `limit` points, in all modes, by all kinds of bounds.
  void run_made(std::int64_t limit, int rounds, unsigned seed);

  /// Fields that Lorenzo prediction suits.
  void run_sums(unsigned seed);

  int count() const { return count_; }
  /// Of these, encodings that the host did.
  int on_host() const { return on_host_; }
  /// The most often that the host waited in one of the others.
  int most_waits() const { return most_waits_; }

 private:
  Stream stream_;
  reduce::DeviceCompressor compressor_;
  reduce::DeviceDecompressor decompressor_;
  int count_ = 0;
  int on_host_ = 0;
  int most_waits_ = 0;
};

/// Changes containers behind the checksums' back, and compares what host and device make of them.
class HostileCheck {
 public:
  explicit HostileCheck(const Stream& stream) : stream_(stream), decompressor_(stream) {}

  /// So many changes of each of some containers. Throws std::runtime_error with what differed.
  void run(int changes, unsigned seed);

  int count() const { return count_; }
  int accepted() const { return accepted_; }

 private:
  void compare(const std::vector<std::byte>& container, std::int64_t raw, const std::string& what);

  Stream stream_;
  reduce::DeviceDecompressor decompressor_;
  int count_ = 0;
  int accepted_ = 0;
};

/// Times compression and decompression of made fields, prints a line each and, unless `path` is
/// empty, writes the figures there. `large` adds fields of up to 8 GiB.
void time_reduction(const Stream& stream, int repeats, bool large, const std::string& path);

/// Checks identity with every launch parameter of the tunables whose ids contain `only` changed by
/// itself, and with `repeats` times each. Returns the number of configurations; throws
/// std::runtime_error with what differed.
int check_launches(const Stream& stream, const std::string& only, int repeats,
                   const std::string& path);

}  // namespace tamis::gpu_test
