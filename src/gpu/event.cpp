// Events are thin: one handle each.
#include "gpu/event.hpp"

#include <utility>

#include "gpu/context.hpp"

namespace tamis::gpu {

Event::Event(const Device& device) : device_(&device.context()) {
  const ContextScope scope(*device_);
  check(*device_->api, device_->api->event_create(&handle_, 0), "make an event");
}

Event::Event(Event&& other) noexcept
    : device_(other.device_), handle_(std::exchange(other.handle_, nullptr)) {}

Event& Event::operator=(Event&& other) noexcept {
  if (this != &other) {
    release();
    device_ = other.device_;
    handle_ = std::exchange(other.handle_, nullptr);
  }
  return *this;
}

Event::~Event() { release(); }

void Event::release() noexcept {
  if (handle_ == nullptr) return;
  try {
    const ContextScope scope(*device_);
    device_->api->event_destroy(handle_);
  } catch (const std::exception&) {
    // The context is lost, and the event with it.
  }
  handle_ = nullptr;
}

void Event::record(const Stream& stream) {
  const ContextScope scope(*device_);
  check(*device_->api, device_->api->event_record(handle_, stream.native_handle()),
        "record an event");
}

void Event::make_wait(const Stream& stream) const {
  const ContextScope scope(*device_);
  check(*device_->api, device_->api->stream_wait_event(stream.native_handle(), handle_, 0),
        "make a stream wait");
}

void Event::synchronize() const {
  const ContextScope scope(*device_);
  check(*device_->api, device_->api->event_synchronize(handle_), "wait for an event");
}

double Event::elapsed_us(const Event& start) const {
  const ContextScope scope(*device_);
  float milliseconds = 0;
  check(*device_->api, device_->api->event_elapsed_ms(&milliseconds, start.handle_, handle_),
        "measure the time between events");
  return static_cast<double>(milliseconds) * 1e3;
}

}  // namespace tamis::gpu
