// Pinned host memory that grows and is kept.
#pragma once

#include <cstdint>

#include "gpu/memory.hpp"

namespace tamis::reduce {

class PinnedArea {
 public:
  /// At least `count` elements. What lay there is lost when the area grows, and must not be in use
  /// by the device.
  template <typename T>
  T* get(std::int64_t count, const Device& device) {
    const std::int64_t size = count * static_cast<std::int64_t>(sizeof(T));
    if (size > buffer_.size_bytes()) buffer_ = gpu::PinnedBuffer(size + size / 2, device);
    return buffer_.as<T>();
  }

 private:
  gpu::PinnedBuffer buffer_;
};

}  // namespace tamis::reduce
