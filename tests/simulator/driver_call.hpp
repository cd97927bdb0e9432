// What every function of the simulated driver begins with: the device, locked, and whether anything
// can be asked of it.
#pragma once

#include "simulator/simulated_device.hpp"

#define SIMULATED_API extern "C" __attribute__((visibility("default")))

namespace tamis::simt {

inline thread_local void* t_current_context = nullptr;

class Locked {
 public:
  Locked() : lock_(SimulatedDevice::get().mutex()) {}
  SimulatedDevice* operator->() const { return &SimulatedDevice::get(); }
  SimulatedDevice& operator*() const { return SimulatedDevice::get(); }
  /// The status of a call that must fail now.
  int problem() const {
    SimulatedDevice& device = SimulatedDevice::get();
    if (device.sticky() != kOk) return device.sticky();
    return t_current_context == device.context()
               ? kOk
               : device.refuse(kInvalidContext, "no context is current");
  }

 private:
  std::lock_guard<std::recursive_mutex> lock_;
};

inline SimulatedStream& stream_of(void* handle) {
  SimulatedStream& stream = handle == nullptr ? SimulatedDevice::get().null_stream
                                              : *static_cast<SimulatedStream*>(handle);
  // A capture that it only took part in ends elsewhere.
  if (stream.capture && !stream.capture->open) stream.capture = nullptr;
  return stream;
}

inline int finish_stream(const Locked& device, void* stream) {
  if (const int problem = device.problem()) return problem;
  if (stream_of(stream).capture) {
    return device->refuse(kCaptureUnsupported, "the stream is being captured");
  }
  return device->finish();
}

}  // namespace tamis::simt
