// What gpu_reduce consists of: identity with the host, and times.
#pragma once

#include <string>

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

  int count() const { return count_; }

 private:
  Stream stream_;
  reduce::DeviceCompressor compressor_;
  reduce::DeviceDecompressor decompressor_;
  int count_ = 0;
};

}  // namespace tamis::gpu_test
