// A container that is put together in device memory: bytes of the host are collected and copied in
// few pieces, what kernels write is left out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tamis/device.hpp"
#include "tamis/error.hpp"

namespace tamis::reduce {

class DeviceOutput {
 public:
  DeviceOutput(void* out, std::int64_t capacity, const Stream& stream)
      : out_(static_cast<std::byte*>(out)), capacity_(capacity), stream_(stream) {}

  /// The next bytes in file order.
  void append(std::span<const std::byte> bytes) {
    pending_.insert(pending_.end(), bytes.begin(), bytes.end());
  }
  /// Kernels write, or have written, the next `size` bytes.
  void skip(std::int64_t size) {
    flush();
    require(at_ + size);
    at_ += size;
  }
  /// Copies what was collected, in the order of the stream.
  void flush() {
    if (pending_.empty()) return;
    const auto size = static_cast<std::int64_t>(pending_.size());
    require(at_ + size);
    copy_bytes(out_ + at_, pending_.data(), size, stream_);
    stream_.synchronize();  // the bytes are about to be overwritten
    at_ += size;
    pending_.clear();
  }
  void restart() {
    at_ = 0;
    pending_.clear();
  }

  /// Where the next byte goes.
  std::int64_t position() const { return at_ + static_cast<std::int64_t>(pending_.size()); }
  std::byte* next() const { return out_ + position(); }
  std::int64_t room() const { return capacity_ - position(); }

 private:
  void require(std::int64_t size) const {
    if (size <= capacity_) return;
    throw Error(ErrorCode::kInvalidArgument,
                "compress: the container needs " + std::to_string(size) +
                    " bytes or more; the output has room for " + std::to_string(capacity_));
  }

  std::byte* out_;
  std::int64_t capacity_;
  Stream stream_;
  std::int64_t at_ = 0;
  std::vector<std::byte> pending_;
};

}  // namespace tamis::reduce
