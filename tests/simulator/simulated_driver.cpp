// The driver of the simulated GPU: those functions of libcuda that src/gpu/cuda_driver.cpp asks
// for.
#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "simulator/simulated_device.hpp"
#include "simulator/simulated_image.hpp"

#define SIMULATED_API extern "C" __attribute__((visibility("default")))

using namespace tamis::simt;  // NOLINT: the functions below can be in no namespace

namespace {

int g_context;
int g_pool;
thread_local void* t_current = nullptr;

/// The device, locked.
class Locked {
 public:
  Locked() : lock_(SimulatedDevice::get().mutex()) {}
  SimulatedDevice* operator->() const { return &SimulatedDevice::get(); }
  SimulatedDevice& operator*() const { return SimulatedDevice::get(); }
  /// Why nothing can be asked of it now.
  int problem() const {
    if (SimulatedDevice::get().sticky() != kOk) return SimulatedDevice::get().sticky();
    return t_current == &g_context
               ? kOk
               : SimulatedDevice::get().refuse(kInvalidContext, "no context is current");
  }

 private:
  std::lock_guard<std::recursive_mutex> lock_;
};

SimulatedStream& stream_of(void* handle) {
  return handle == nullptr ? SimulatedDevice::get().null_stream
                           : *static_cast<SimulatedStream*>(handle);
}

int finish_stream(const Locked& device, void* stream) {
  if (const int problem = device.problem()) return problem;
  if (stream_of(stream).capture) {
    return device->refuse(kCaptureUnsupported, "the stream is being captured");
  }
  return device->finish();
}

}  // namespace

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
  *context = &g_context;
  return kOk;
}
SIMULATED_API int cuCtxGetCurrent(void** context) {
  *context = t_current;
  return kOk;
}
SIMULATED_API int cuCtxSetCurrent(void* context) {
  t_current = context;
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
  *event = new EventHandle(std::make_shared<SimulatedEvent>());
  return Locked().problem();
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
  if (event_of(event)->capture) stream_of(stream).capture = event_of(event)->capture;
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

// --- modules and kernels
// -------------------------------------------------------------------------------
SIMULATED_API int cuModuleLoadData(void** module, const void* image) {
  const Locked device;
  if (const int problem = device.problem()) return problem;
  const char* text = static_cast<const char*>(image);
  const std::size_t magic = std::strlen(kImageMagic);
  if (std::strncmp(text, kImageMagic, magic) != 0) {
    return device->refuse(kInvalidImage, "the code is not for the simulator");
  }
  const std::string path(text + magic, std::strcspn(text + magic, "\n"));
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return device->refuse(kInvalidImage, ::dlerror());
  const void* link = ::dlsym(library, "tamis_module_link");
  if (link == nullptr) return device->refuse(kInvalidImage, path + " holds no kernels");
  auto loaded = std::make_unique<SimulatedModule>();
  loaded->library = library;
  loaded->link = *static_cast<const ModuleLink*>(link);
  *module = loaded.release();
  return kOk;
}
SIMULATED_API int cuModuleUnload(void* module) {
  const Locked device;
  device->finish();
  const std::unique_ptr<SimulatedModule> mine(static_cast<SimulatedModule*>(module));
  ::dlclose(mine->library);
  return device->sticky();
}
SIMULATED_API int cuModuleGetFunction(void** function, void* module, const char* name) {
  const Locked device;
  if (const int problem = device.problem()) return problem;
  auto* owner = static_cast<SimulatedModule*>(module);
  const void* entry = ::dlsym(owner->library, (std::string("tamis_kernel_") + name).c_str());
  if (entry == nullptr) {
    return device->refuse(kNotFound, std::string("there is no kernel ") + name);
  }
  owner->functions.push_back(std::make_unique<SimulatedFunction>());
  SimulatedFunction& made = *owner->functions.back();
  made.module = owner;
  made.entry = static_cast<const KernelEntry*>(entry);
  made.name = name;
  *function = &made;
  return kOk;
}
SIMULATED_API int cuFuncGetAttribute(int* value, int attribute, void* function) {
  const auto& of = *static_cast<SimulatedFunction*>(function);
  switch (attribute) {
    case 0:  // threads per block
      *value = static_cast<int>(of.entry->max_threads);
      return kOk;
    case 1:  // static shared memory, of all kernels of the module
      *value = static_cast<int>(of.module->static_shared());
      return kOk;
    case 3:  // local memory
      *value = 0;
      return kOk;
    case 4:  // registers
      *value = 32;
      return kOk;
    case 8:
      *value = static_cast<int>(of.dynamic_limit);
      return kOk;
    default:
      return kInvalidValue;
  }
}
SIMULATED_API int cuFuncSetAttribute(void* function, int attribute, int value) {
  const Locked device;
  if (attribute != 8 || value < 0 || value > static_cast<int>(kMaxDynamicShared)) {
    return device->refuse(kInvalidValue, "no such attribute or value of a kernel");
  }
  static_cast<SimulatedFunction*>(function)->dynamic_limit = static_cast<unsigned>(value);
  return kOk;
}
SIMULATED_API int cuFuncGetParamInfo(void* function, std::size_t index, std::size_t* offset,
                                     std::size_t* size) {
  const KernelEntry& entry = *static_cast<SimulatedFunction*>(function)->entry;
  if (index >= entry.count) return kInvalidValue;
  *offset = 0;
  for (std::size_t i = 0; i < index; ++i) *offset += (entry.sizes[i] + 7) / 8 * 8;
  *size = entry.sizes[index];
  return kOk;
}
SIMULATED_API int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void*, int threads,
                                                              std::size_t shared_bytes) {
  const Locked device;
  if (threads <= 0) return device->refuse(kInvalidValue, "no threads in a block");
  const int by_shared = static_cast<int>((228u << 10) / (shared_bytes + 1024));
  *blocks = std::min({2048 / threads, by_shared, 32});
  return kOk;
}

namespace {

/// A kernel and copies of its arguments.
struct PendingLaunch {
  Launch launch;
  const KernelEntry* entry = nullptr;
  std::vector<std::unique_ptr<std::max_align_t[]>> values;
  std::vector<void*> pointers;
};

int check_shape(SimulatedDevice& device, const SimulatedFunction& function, const Launch& launch) {
  const std::uint64_t threads = std::uint64_t{launch.block.x} * launch.block.y * launch.block.z;
  if (threads == 0 || threads > kMaxThreads || launch.grid.x == 0 || launch.grid.y == 0 ||
      launch.grid.z == 0 || launch.grid.y > 65535 || launch.grid.z > 65535) {
    return device.refuse(kInvalidValue, "no shape of a grid");
  }
  if (threads > function.entry->max_threads) {
    return device.refuse(kOutOfResources, "more threads than __launch_bounds__ allows, " +
                                              std::to_string(function.entry->max_threads));
  }
  if (launch.dynamic_bytes > function.dynamic_limit) {
    return device.refuse(kInvalidValue, "more shared memory than was allowed, " +
                                            std::to_string(function.dynamic_limit));
  }
  return kOk;
}

}  // namespace

SIMULATED_API int cuLaunchKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                 unsigned block_x, unsigned block_y, unsigned block_z,
                                 unsigned shared_bytes, void* stream, void** arguments, void**) {
  const Locked device;
  if (const int problem = device.problem()) return problem;
  const auto& of = *static_cast<SimulatedFunction*>(function);
  const auto pending = std::make_shared<PendingLaunch>();
  Launch& launch = pending->launch;
  launch.module = of.module->link;
  launch.name = of.name;
  launch.grid = {grid_x, grid_y, grid_z};
  launch.block = {block_x, block_y, block_z};
  launch.dynamic_bytes = shared_bytes;
  if (const int status = check_shape(*device, of, launch)) return status;
  pending->entry = of.entry;
  for (unsigned i = 0; i < of.entry->count; ++i) {
    const std::size_t size = of.entry->sizes[i];
    const std::size_t units = (size + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t);
    pending->values.push_back(std::make_unique<std::max_align_t[]>(units));
    pending->pointers.push_back(pending->values.back().get());
    std::memcpy(pending->pointers.back(), arguments[i], size);
  }
  launch.data = pending.get();
  launch.call = [](void* data) {
    const auto& mine = *static_cast<PendingLaunch*>(data);
    mine.entry->call(mine.pointers.data());
  };
  return device->give(stream_of(stream), [pending] { return run_grid(pending->launch); });
}

// --- graphs
// --------------------------------------------------------------------------------------------
namespace {
using GraphHandle = std::shared_ptr<WorkGraph>;
}

SIMULATED_API int cuStreamBeginCapture_v2(void* stream, int) {
  const Locked device;
  if (const int problem = device.problem()) return problem;
  SimulatedStream& on = stream_of(stream);
  if (stream == nullptr || on.capture) {
    return device->refuse(kCaptureUnsupported, "this stream cannot be captured now");
  }
  on.capture = std::make_shared<WorkGraph>();
  return kOk;
}
SIMULATED_API int cuStreamEndCapture(void* stream, void** graph) {
  const Locked device;
  SimulatedStream& on = stream_of(stream);
  *graph = nullptr;
  if (!on.capture) return device->refuse(kInvalidValue, "the stream is not being captured");
  *graph = new GraphHandle(std::move(on.capture));
  on.capture = nullptr;
  return kOk;
}
SIMULATED_API int cuGraphInstantiateWithFlags(void** executable, void* graph, unsigned long long) {
  *executable = new GraphHandle(*static_cast<GraphHandle*>(graph));
  return kOk;
}
SIMULATED_API int cuGraphLaunch(void* executable, void* stream) {
  const Locked device;
  if (const int problem = device.problem()) return problem;
  for (const Work& work : (*static_cast<GraphHandle*>(executable))->works) {
    if (const int status = device->give(stream_of(stream), work)) return status;
  }
  return kOk;
}
SIMULATED_API int cuGraphDestroy(void* graph) {
  delete static_cast<GraphHandle*>(graph);
  return kOk;
}
SIMULATED_API int cuGraphExecDestroy(void* executable) { return cuGraphDestroy(executable); }
