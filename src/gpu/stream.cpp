// Streams: handles with shared ownership, our own or the caller's.
#include "gpu/context.hpp"
#include "tamis/device.hpp"

namespace tamis {
namespace gpu {

// Errors have no one to go to here; after a kernel has faulted every call fails anyway.
StreamState::~StreamState() {
  if (borrowed) return;
  try {
    const ContextScope scope(*device);
    device->api->stream_destroy(handle);
  } catch (const std::exception&) {
  }
}

bool is_capturing(const Stream& stream) {
  int status = kCaptureNone;
  check(api_of(stream), api_of(stream).stream_is_capturing(stream.native_handle(), &status),
        "ask whether a stream is being captured");
  return status != kCaptureNone;
}

}  // namespace gpu

Stream::Stream(const Device& device) {
  const gpu::DeviceContext& context = device.context();
  const gpu::ContextScope scope(context);
  void* handle = nullptr;
  gpu::check(*context.api, context.api->stream_create(&handle, gpu::kStreamNonBlocking),
             "make a stream on " + context.info.name);
  state_ = std::make_shared<gpu::StreamState>(context, handle, false);
}

Stream Stream::borrow(const Device& device, void* native_handle) {
  return Stream(std::make_shared<gpu::StreamState>(device.context(), native_handle, true));
}

Device Stream::device() const noexcept { return Device(*state_->device); }
void* Stream::native_handle() const noexcept { return state_->handle; }
bool Stream::is_borrowed() const noexcept { return state_->borrowed; }

void Stream::synchronize() const {
  const gpu::ContextScope scope(*state_->device);
  gpu::check(gpu::api_of(*this), gpu::api_of(*this).stream_synchronize(state_->handle),
             "finish the work on a stream of " + state_->device->info.name);
}

}  // namespace tamis
