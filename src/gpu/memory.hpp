// Memory beyond single buffers: pinned host memory, and a workspace that a family of kernels reuses
// from call to call so that steady work allocates nothing.
#pragma once

#include <cstdint>

#include "tamis/device.hpp"

namespace tamis::gpu {

/// Host memory that the device copies from and to without a detour, and asynchronously.
class PinnedBuffer {
 public:
  PinnedBuffer() = default;
  /// Throws Error(kInvalidArgument) for a negative size and Error(kOutOfMemory).
  PinnedBuffer(std::int64_t size_bytes, const Device& device);
  PinnedBuffer(PinnedBuffer&& other) noexcept;
  PinnedBuffer& operator=(PinnedBuffer&& other) noexcept;
  PinnedBuffer(const PinnedBuffer&) = delete;
  PinnedBuffer& operator=(const PinnedBuffer&) = delete;
  ~PinnedBuffer();

  void* data() const noexcept { return data_; }
  template <typename T>
  T* as() const noexcept {
    return static_cast<T*>(data_);
  }
  std::int64_t size_bytes() const noexcept { return size_bytes_; }

 private:
  void release() noexcept;

  const DeviceContext* device_ = nullptr;
  void* data_ = nullptr;
  std::int64_t size_bytes_ = 0;
};

/// Scratch memory of one stream, handed out front to back:
///   workspace.reset(Workspace::bytes<u32>(n) + Workspace::bytes<u64>(m));
///   u32* a = workspace.take<u32>(n);
///   u64* b = workspace.take<u64>(m);
/// Not for several threads at a time. What was taken before a reset() may be overwritten by work
/// given to the stream after it, never by work before it.
class Workspace {
 public:
  static constexpr std::int64_t kAlignment = 256;  // suits every access there is

  explicit Workspace(const Stream& stream) : stream_(stream) {}

  template <typename T>
  static std::int64_t bytes(std::int64_t count) {
    return aligned(count * static_cast<std::int64_t>(sizeof(T)));
  }

  /// Begins anew with at least this much memory; grows, by at least half, when there is less.
  /// Growing while the stream is captured throws Error(kInvalidArgument): a graph must not hold
  /// memory that is given back. Throws Error(kOutOfMemory).
  void reset(std::int64_t size_bytes);

  /// The next `count` elements. Throws Error(kInvalidArgument) when reset() got too few bytes.
  template <typename T>
  T* take(std::int64_t count) {
    return static_cast<T*>(take_bytes(bytes<T>(count)));
  }

  const Stream& stream() const noexcept { return stream_; }
  std::int64_t size_bytes() const noexcept { return buffer_.size_bytes(); }
  /// How often memory was asked of the driver; stands still in steady work.
  std::int64_t allocation_count() const noexcept { return allocation_count_; }

 private:
  static std::int64_t aligned(std::int64_t size) {
    return (size + kAlignment - 1) / kAlignment * kAlignment;
  }
  void* take_bytes(std::int64_t size);

  Stream stream_;
  Buffer buffer_;
  std::int64_t used_ = 0;
  std::int64_t allocation_count_ = 0;
};

}  // namespace tamis::gpu
