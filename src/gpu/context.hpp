// What stands behind Device and Stream: the driver's table, the context and the memory pool of a
// device. Contexts live until the process ends, because at exit the driver may be gone before us.
#pragma once

#include <memory>
#include <string>

#include "gpu/driver_api.hpp"
#include "tamis/device.hpp"

namespace tamis::gpu {

struct DeviceContext {
  const DriverApi* api = nullptr;
  DeviceInfo info;
  std::string id;  // "cuda:0"
  void* context = nullptr;
  void* pool = nullptr;  // null where the driver has no stream-ordered memory
};

/// Makes a device's context current for this thread, and on destruction that which was before:
/// an application's own choice of device survives our calls.
class ContextScope {
 public:
  explicit ContextScope(const DeviceContext& device);
  ~ContextScope();
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;

 private:
  const DriverApi& api_;
  void* previous_ = nullptr;
  bool changed_ = false;
};

struct StreamState {
  const DeviceContext* device = nullptr;
  void* handle = nullptr;
  bool borrowed = false;

  StreamState(const DeviceContext& on, void* stream, bool is_borrowed)
      : device(&on), handle(stream), borrowed(is_borrowed) {}
  StreamState(const StreamState&) = delete;
  StreamState& operator=(const StreamState&) = delete;
  ~StreamState();
};

inline const DriverApi& api_of(const Stream& stream) { return *stream.state()->device->api; }

/// Whether work on the stream is being recorded. Throws Error(kDevice).
bool is_capturing(const Stream& stream);

}  // namespace tamis::gpu
