// Events: points in the order of a stream, to wait for and to measure device time with.
#pragma once

#include "tamis/device.hpp"

namespace tamis::gpu {

class Event {
 public:
  /// Throws Error(kDevice).
  explicit Event(const Device& device);
  Event(Event&& other) noexcept;
  Event& operator=(Event&& other) noexcept;
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event();

  /// Marks the end of the work given to the stream so far.
  void record(const Stream& stream);
  /// Makes the stream's later work wait for the recorded point.
  void make_wait(const Stream& stream) const;
  /// Waits on the host.
  void synchronize() const;
  /// Device time from `start` to this event, in microseconds (resolution about 0.5). Both must have
  /// been reached, else Error(kDevice).
  double elapsed_us(const Event& start) const;

 private:
  void release() noexcept;

  const DeviceContext* device_ = nullptr;
  void* handle_ = nullptr;
};

}  // namespace tamis::gpu
