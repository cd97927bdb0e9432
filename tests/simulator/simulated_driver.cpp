// The driver of the simulated GPU: those functions of libcuda that src/gpu/cuda_driver.cpp asks
// for.
#include <cstring>

#include "simulator/driver_call.hpp"

using namespace tamis::simt;  // NOLINT: the functions below can be in no namespace

namespace {

int g_pool;

}  // namespace

/// For tests: as after a reset.
SIMULATED_API void simulated_gpu_recover() { Locked()->recover(); }

// --- the device and its context ------------------------------------------------------------------
SIMULATED_API int cuInit(unsigned) { return kOk; }
SIMULATED_API int cuDriverGetVersion(int* version) {
  *version = 13000;
  return kOk;
}
SIMULATED_API int cuDeviceGetCount(int* count) {
  *count = 1;
  return kOk;
}
SIMULATED_API int cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return ordinal == 0 ? kOk : kInvalidValue;
}
SIMULATED_API int cuDeviceGetName(char* name, int size, int) {
  std::strncpy(name, "Tamis simulator", static_cast<std::size_t>(size));
  return kOk;
}
SIMULATED_API int cuDeviceTotalMem_v2(std::size_t* bytes, int) {
  *bytes = kDeviceMemory;
  return kOk;
}
SIMULATED_API int cuDeviceGetAttribute(int* value, int attribute, int) {
  switch (attribute) {
    case 1:  // threads per block
      *value = static_cast<int>(kMaxThreads);
      return kOk;
    case 10:  // lanes of a warp
      *value = 32;
      return kOk;
    case 16:
      *value = kMultiprocessors;
      return kOk;
    case 38:  // bytes of L2
      *value = 4 << 20;
      return kOk;
    case 75:  // compute capability 9.0
      *value = 9;
      return kOk;
    case 76:
      *value = 0;
      return kOk;
    case 97:  // shared memory that a block may ask for
      *value = static_cast<int>(kMaxDynamicShared);
      return kOk;
    case 115:  // memory pools
      *value = 1;
      return kOk;
    default:
      return kInvalidValue;
  }
}
SIMULATED_API int cuDevicePrimaryCtxRetain(void** context, int) {
  *context = SimulatedDevice::get().context();
  return kOk;
}
SIMULATED_API int cuCtxGetCurrent(void** context) {
  *context = t_current_context;
  return kOk;
}
SIMULATED_API int cuCtxSetCurrent(void* context) {
  t_current_context = context;
  return kOk;
}
SIMULATED_API int cuCtxSynchronize() { return finish_stream(Locked(), nullptr); }
SIMULATED_API int cuGetErrorName(int status, const char** name) {
  switch (status) {
    case kInvalidValue:
      *name = "CUDA_ERROR_INVALID_VALUE";
      break;
    case kOutOfMemory:
      *name = "CUDA_ERROR_OUT_OF_MEMORY";
      break;
    case kInvalidImage:
      *name = "CUDA_ERROR_INVALID_IMAGE";
      break;
    case kInvalidContext:
      *name = "CUDA_ERROR_INVALID_CONTEXT";
      break;
    case kNotFound:
      *name = "CUDA_ERROR_NOT_FOUND";
      break;
    case kIllegalAddress:
      *name = "CUDA_ERROR_ILLEGAL_ADDRESS";
      break;
    case kOutOfResources:
      *name = "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES";
      break;
    case kLaunchTimeout:
      *name = "CUDA_ERROR_LAUNCH_TIMEOUT";
      break;
    case kAssertFailed:
      *name = "CUDA_ERROR_ASSERT";
      break;
    case kLaunchFailed:
      *name = "CUDA_ERROR_LAUNCH_FAILED";
      break;
    case kCaptureUnsupported:
      *name = "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED";
      break;
    default:
      *name = "CUDA_ERROR_UNKNOWN";
  }
  return kOk;
}
SIMULATED_API int cuGetErrorString(int status, const char** text) {
  *text = Locked()->text_of(status);
  return kOk;
}

// --- memory
// ----------------------------------------------------------------------------------------
SIMULATED_API int cuMemPoolCreate(void** pool, const void*) {
  *pool = &g_pool;
  return kOk;
}
SIMULATED_API int cuMemPoolSetAttribute(void*, int, void*) { return kOk; }
SIMULATED_API int cuMemAlloc_v2(void** data, std::size_t size) {
  const Locked device;
  const int problem = device.problem();
  return problem != kOk ? problem : device->allocate(data, size, true);
}
SIMULATED_API int cuMemFree_v2(void* data) {
  const Locked device;
  const int problem = finish_stream(device, nullptr);
  return problem != kOk ? problem : device->release(data);
}
SIMULATED_API int cuMemAllocFromPoolAsync(void** data, std::size_t size, void*, void*) {
  return cuMemAlloc_v2(data, size);
}
SIMULATED_API int cuMemFreeAsync(void* data, void* stream) {
  const Locked device;
  if (const int problem = device.problem()) return problem;
  if (!device->is_device(data)) {
    return device->refuse(kInvalidValue, "released is what is no memory of the device");
  }
  return device->give(stream_of(stream), [data]() -> std::optional<Failure> {
    const int status = SimulatedDevice::get().release(data);
    if (status == kOk) return std::nullopt;
    return Failure{status, "memory is released twice"};
  });
}
SIMULATED_API int cuMemHostAlloc(void** data, std::size_t size, unsigned) {
  const Locked device;
  const int problem = device.problem();
  return problem != kOk ? problem : device->allocate(data, size, false);
}
SIMULATED_API int cuMemFreeHost(void* data) { return cuMemFree_v2(data); }
SIMULATED_API int cuMemcpyAsync(void* to, const void* from, std::size_t size, void* stream) {
  const Locked device;
  int status = device.problem();
  if (status == kOk) status = device->check_range(to, size, "a copy");
  if (status == kOk) status = device->check_range(from, size, "a copy");
  if (status != kOk) return status;
  SimulatedStream& on = stream_of(stream);
  if (device->is_known(from) || on.capture) {
    status = device->give(on, [to, from, size]() -> std::optional<Failure> {
      std::memmove(to, from, size);
      return std::nullopt;
    });
  } else {
    // Pageable memory of the host is staged before the call returns.
    const auto* bytes = static_cast<const char*>(from);
    status = device->give(on, [to, staged = std::vector<char>(bytes, bytes + size)]() {
      std::memcpy(to, staged.data(), staged.size());
      return std::optional<Failure>();
    });
  }
  // To pageable memory: when the call returns the bytes are there.
  return status != kOk || device->is_known(to) || on.capture ? status : device->finish();
}
SIMULATED_API int cuMemsetD8Async(void* to, unsigned char value, std::size_t count, void* stream) {
  const Locked device;
  int status = device.problem();
  if (status == kOk) status = device->check_range(to, count, "a fill");
  if (status != kOk) return status;
  if (!device->is_device(to)) return device->refuse(kInvalidValue, "a fill of no device memory");
  return device->give(stream_of(stream), [to, value, count]() {
    std::memset(to, value, count);
    return std::optional<Failure>();
  });
}
SIMULATED_API int cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  const Locked device;
  *free = kDeviceMemory - device->used();
  *total = kDeviceMemory;
  return kOk;
}

// --- streams and events
// ------------------------------------------------------------------------------
SIMULATED_API int cuStreamCreate(void** stream, unsigned) {
  const Locked device;
  if (const int problem = device.problem()) return problem;
  *stream = new SimulatedStream();
  return kOk;
}
SIMULATED_API int cuStreamDestroy_v2(void* stream) {
  delete static_cast<SimulatedStream*>(stream);  // what it was given runs all the same
  return kOk;
}
SIMULATED_API int cuStreamSynchronize(void* stream) { return finish_stream(Locked(), stream); }
SIMULATED_API int cuStreamIsCapturing(void* stream, int* status) {
  const Locked device;
  *status = stream_of(stream).capture ? 1 : 0;
  return device->sticky();
}

namespace {

using EventHandle = std::shared_ptr<SimulatedEvent>;
EventHandle& event_of(void* handle) { return *static_cast<EventHandle*>(handle); }

}  // namespace

SIMULATED_API int cuEventCreate(void** event, unsigned) {
  if (const int problem = Locked().problem()) return problem;
  *event = new EventHandle(std::make_shared<SimulatedEvent>());
  return kOk;
}
SIMULATED_API int cuEventDestroy_v2(void* event) {
  delete static_cast<EventHandle*>(event);
  return kOk;
}
SIMULATED_API int cuEventRecord(void* event, void* stream) {
  const Locked device;
  if (const int problem = device.problem()) return problem;
  const EventHandle handle = event_of(event);
  SimulatedStream& on = stream_of(stream);
  handle->capture = on.capture;
  handle->done = false;
  return device->give(on, [handle]() {
    handle->done = true;
    handle->time = std::chrono::steady_clock::now();
    return std::optional<Failure>();
  });
}
// The queue keeps the order by itself; but who waits for captured work is captured too.
SIMULATED_API int cuStreamWaitEvent(void* stream, void* event, unsigned) {
  const Locked device;
  const std::shared_ptr<WorkGraph> capture = event_of(event)->capture.lock();
  if (capture && capture->open) stream_of(stream).capture = capture;
  return device.problem();
}
SIMULATED_API int cuEventSynchronize(void*) { return finish_stream(Locked(), nullptr); }
SIMULATED_API int cuEventElapsedTime(float* milliseconds, void* start, void* stop) {
  const Locked device;
  if (const int problem = device.problem()) return problem;
  const SimulatedEvent& from = *event_of(start);
  const SimulatedEvent& to = *event_of(stop);
  if (!from.done || !to.done) return device->refuse(kNotReady, "an event has not happened yet");
  *milliseconds = std::chrono::duration<float, std::milli>(to.time - from.time).count();
  return kOk;
}
