// Allocation in the order of streams, from a pool of our own: the default pool's settings belong to
// the application.
#include "gpu/memory.hpp"

#include <algorithm>
#include <utility>

#include "gpu/context.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

void require_size(std::int64_t size_bytes) {
  if (size_bytes < 0) {
    throw Error(ErrorCode::kInvalidArgument,
                "a size of " + std::to_string(size_bytes) + " bytes; expected 0 or more");
  }
}

std::string allocation_text(std::int64_t size_bytes, const DeviceInfo& info) {
  return "get " + std::to_string(size_bytes) + " bytes of " + info.name;
}

void* allocate(std::int64_t size_bytes, const Stream& stream) {
  const gpu::DeviceContext& device = *stream.state()->device;
  const gpu::ContextScope scope(device);
  if (gpu::is_capturing(stream)) {
    throw Error(ErrorCode::kInvalidArgument,
                "memory is asked for while the stream is captured; get it before");
  }
  void* data = nullptr;
  const auto size = static_cast<std::size_t>(size_bytes);
  const int status = device.pool != nullptr ? device.api->allocate_async(&data, size, device.pool,
                                                                         stream.native_handle())
                                            : device.api->allocate(&data, size);
  gpu::check(*device.api, status, allocation_text(size_bytes, device.info));
  return data;
}

}  // namespace

Buffer::Buffer(std::int64_t size_bytes, const Stream& stream) : size_bytes_(size_bytes) {
  require_size(size_bytes);
  if (size_bytes == 0) return;
  data_ = allocate(size_bytes, stream);
  stream_ = stream.state();
}

Buffer::Buffer(Buffer&& other) noexcept
    : stream_(std::move(other.stream_)),
      data_(std::exchange(other.data_, nullptr)),
      size_bytes_(std::exchange(other.size_bytes_, 0)) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  if (this != &other) {
    release();
    stream_ = std::move(other.stream_);
    data_ = std::exchange(other.data_, nullptr);
    size_bytes_ = std::exchange(other.size_bytes_, 0);
  }
  return *this;
}

Buffer::~Buffer() { release(); }

void Buffer::release() noexcept {
  if (data_ == nullptr) return;
  try {
    const gpu::DeviceContext& device = *stream_->device;
    const gpu::ContextScope scope(device);
    if (device.pool != nullptr) {
      device.api->release_async(data_, stream_->handle);
    } else {
      device.api->stream_synchronize(stream_->handle);
      device.api->release(data_);
    }
  } catch (const std::exception&) {
    // The context is lost; so is the memory.
  }
  data_ = nullptr;
}

void copy_bytes(void* to, const void* from, std::int64_t size_bytes, const Stream& stream) {
  require_size(size_bytes);
  if (size_bytes == 0) return;
  const gpu::ContextScope scope(*stream.state()->device);
  const gpu::DriverApi& api = gpu::api_of(stream);
  gpu::check(api,
             api.copy_async(to, from, static_cast<std::size_t>(size_bytes), stream.native_handle()),
             "copy " + std::to_string(size_bytes) + " bytes");
}

void fill_bytes(void* to, std::uint8_t value, std::int64_t size_bytes, const Stream& stream) {
  require_size(size_bytes);
  if (size_bytes == 0) return;
  const gpu::ContextScope scope(*stream.state()->device);
  const gpu::DriverApi& api = gpu::api_of(stream);
  gpu::check(
      api, api.fill_async(to, value, static_cast<std::size_t>(size_bytes), stream.native_handle()),
      "fill " + std::to_string(size_bytes) + " bytes");
}

namespace gpu {

PinnedBuffer::PinnedBuffer(std::int64_t size_bytes, const Device& device)
    : device_(&device.context()), size_bytes_(size_bytes) {
  require_size(size_bytes);
  if (size_bytes == 0) return;
  const ContextScope scope(*device_);
  check(*device_->api, device_->api->allocate_host(&data_, static_cast<std::size_t>(size_bytes), 0),
        "get " + std::to_string(size_bytes) + " bytes of pinned host memory");
}

PinnedBuffer::PinnedBuffer(PinnedBuffer&& other) noexcept
    : device_(other.device_),
      data_(std::exchange(other.data_, nullptr)),
      size_bytes_(std::exchange(other.size_bytes_, 0)) {}

PinnedBuffer& PinnedBuffer::operator=(PinnedBuffer&& other) noexcept {
  if (this != &other) {
    release();
    device_ = other.device_;
    data_ = std::exchange(other.data_, nullptr);
    size_bytes_ = std::exchange(other.size_bytes_, 0);
  }
  return *this;
}

PinnedBuffer::~PinnedBuffer() { release(); }

void PinnedBuffer::release() noexcept {
  if (data_ == nullptr) return;
  try {
    const ContextScope scope(*device_);
    device_->api->release_host(data_);
  } catch (const std::exception&) {
  }
  data_ = nullptr;
}

void Workspace::reset(std::int64_t size_bytes) {
  require_size(size_bytes);
  used_ = 0;
  if (size_bytes <= buffer_.size_bytes()) return;
  const std::int64_t wanted =
      aligned(std::max(size_bytes, buffer_.size_bytes() + buffer_.size_bytes() / 2));
  // Given back first: both at once might not fit.
  if (buffer_.data() != nullptr && !is_capturing(stream_)) buffer_ = Buffer();
  buffer_ = Buffer(wanted, stream_);
  ++allocation_count_;
}

void* Workspace::take_bytes(std::int64_t size) {
  if (size < 0 || size > buffer_.size_bytes() - used_) {
    throw Error(ErrorCode::kInvalidArgument,
                "the workspace has " + std::to_string(buffer_.size_bytes() - used_) + " of " +
                    std::to_string(buffer_.size_bytes()) + " bytes left, " + std::to_string(size) +
                    " are asked for");
  }
  void* data = static_cast<char*>(buffer_.data()) + used_;
  used_ += size;
  return data;
}

}  // namespace gpu
}  // namespace tamis
