// GPUs, their streams and their memory, without a header of any vendor: drivers are looked for at
// run time, so one binary serves machines with and without a GPU.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tamis {

namespace gpu {
struct DeviceContext;  // internal
struct StreamState;    // internal
}  // namespace gpu

enum class DeviceKind : std::uint8_t { kCuda = 1, kHip = 2 };

/// "cuda" or "hip".
const char* device_kind_name(DeviceKind kind) noexcept;

struct DeviceInfo {
  DeviceKind kind = DeviceKind::kCuda;
  int ordinal = 0;           // position among the devices of its kind, from 0
  std::string name;          // as the driver says, e.g. "NVIDIA H200"
  std::string architecture;  // what kernels are compiled for: "sm_90a", "gfx90a"
  std::string driver;        // version of the driver's interface, e.g. "13.0"
  int multiprocessors = 0;   // compute units on AMD
  int wave_size = 0;         // threads that run in step: 32 or 64
  int max_threads_per_block = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t l2_bytes = 0;
  std::int64_t shared_bytes_per_block = 0;  // the most that a kernel may ask for
};

/// Every GPU of this machine, CUDA before HIP; empty where there is none or no usable driver
/// (gpu_status() in tamis/kernels.hpp says why).
std::vector<DeviceInfo> list_devices();

/// A GPU. Cheap to copy: all copies mean the same device, which stays open until the process ends.
class Device {
 public:
  /// Throws Error(kUnavailable) when there is no such device or no usable driver, saying what was
  /// tried, and Error(kDevice) when the driver refuses.
  static Device open(DeviceKind kind, int ordinal = 0);
  /// The first device of list_devices(). Throws Error(kUnavailable) when there is none.
  static Device first();

  const DeviceInfo& info() const noexcept;
  /// Waits for all work on this device. Throws Error(kDevice) when some of it failed.
  void synchronize() const;
  bool operator==(const Device&) const = default;

  /// Internal.
  const gpu::DeviceContext& context() const noexcept { return *context_; }
  explicit Device(const gpu::DeviceContext& context) : context_(&context) {}

 private:
  const gpu::DeviceContext* context_;
};

/// Work given to a stream runs in order. Copies mean the same stream, which is destroyed with the
/// last of them and of the buffers made on it.
class Stream {
 public:
  /// A new stream that does not wait for the default stream. Throws Error(kDevice).
  explicit Stream(const Device& device);
  /// A stream of the caller's: a CUstream, cudaStream_t or hipStream_t of `device`, null for the
  /// default stream. It must outlive this object, its copies and the buffers made on it.
  static Stream borrow(const Device& device, void* native_handle);

  Device device() const noexcept;
  void* native_handle() const noexcept;
  bool is_borrowed() const noexcept;
  /// Waits for the work given so far. Throws Error(kDevice) when some of it failed.
  void synchronize() const;

  /// Internal.
  const std::shared_ptr<gpu::StreamState>& state() const noexcept { return state_; }

 private:
  explicit Stream(std::shared_ptr<gpu::StreamState> state) : state_(std::move(state)) {}
  std::shared_ptr<gpu::StreamState> state_;
};

/// Memory of a device, 256-byte aligned, contents unspecified. It is taken and given back in the
/// order of its stream: use it there, or on streams that wait for that one, and destroy it only
/// when work elsewhere no longer needs it. Destruction does not wait.
class Buffer {
 public:
  Buffer() = default;
  /// Throws Error(kInvalidArgument) for a negative size and Error(kOutOfMemory). A size of 0 gives
  /// a null pointer. Must not happen while the stream is being captured (Error(kInvalidArgument)).
  Buffer(std::int64_t size_bytes, const Stream& stream);
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer();

  void* data() const noexcept { return data_; }
  template <typename T>
  T* as() const noexcept {
    return static_cast<T*>(data_);
  }
  std::int64_t size_bytes() const noexcept { return size_bytes_; }

 private:
  void release() noexcept;

  std::shared_ptr<gpu::StreamState> stream_;
  void* data_ = nullptr;
  std::int64_t size_bytes_ = 0;
};

/// Copies between host and device, either way, or within the device, in the order of the stream.
/// From or to ordinary host memory the call may wait for the copy; the host may read or reuse
/// memory only after synchronize(). Throws Error(kDevice).
void copy_bytes(void* to, const void* from, std::int64_t size_bytes, const Stream& stream);
/// Sets device memory to a byte, in the order of the stream. Throws Error(kDevice).
void fill_bytes(void* to, std::uint8_t value, std::int64_t size_bytes, const Stream& stream);

}  // namespace tamis
