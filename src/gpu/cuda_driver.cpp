// NVIDIA's driver, libcuda.so.1. Names with _v2 are the versions for 64-bit addresses, which the
// vendor's header picks by macros; names without it never had another version.
#include <string>

#include "gpu/architecture.hpp"
#include "gpu/driver_api.hpp"
#include "gpu/dynamic_library.hpp"
#include "gpu/library_search.hpp"

namespace tamis::gpu {
namespace {

constexpr int kOldestVersion = 12000;  // CUDA 12.0: major * 1000 + minor * 10

/// Numbers of cuDeviceGetAttribute().
enum CudaAttribute : int {
  kAttributeMaxThreadsPerBlock = 1,
  kAttributeWarpSize = 10,
  kAttributeMultiprocessors = 16,
  kAttributeL2Bytes = 38,
  kAttributeMajor = 75,
  kAttributeMinor = 76,
  kAttributeSharedBytesOptIn = 97,
  kAttributeMemoryPools = 115,
};

// Functions that take part in adapters only.
struct RawCuda {
  int (*init)(unsigned flags);
  int (*driver_version)(int* version);
  int (*device_get)(int* device, int ordinal);
  int (*device_name)(char* name, int size, int device);
  int (*device_memory)(std::size_t* bytes, int device);
  int (*device_attribute)(int* value, int attribute, int device);
  int (*primary_context_retain)(void** context, int device);
  int (*error_name)(int status, const char** name);
  int (*error_text)(int status, const char** text);
  int (*pool_create)(void** pool, const PoolProperties* properties);
  int (*pool_set_attribute)(void* pool, int attribute, void* value);
};
RawCuda g_raw;

const char* error_name(int status) {
  const char* name = nullptr;
  return g_raw.error_name(status, &name) == kStatusOk ? name : nullptr;
}

const char* error_text(int status) {
  const char* text = nullptr;
  return g_raw.error_text(status, &text) == kStatusOk ? text : nullptr;
}

int device_describe(int ordinal, DeviceInfo* info) {
  int device = 0;
  int status = g_raw.device_get(&device, ordinal);
  if (status != kStatusOk) return status;
  char name[256] = {};
  std::size_t memory = 0;
  status = g_raw.device_name(name, sizeof name - 1, device);
  if (status == kStatusOk) status = g_raw.device_memory(&memory, device);
  const auto attribute = [&](CudaAttribute which) {
    int value = 0;
    if (status == kStatusOk) status = g_raw.device_attribute(&value, which, device);
    return value;
  };
  const int major = attribute(kAttributeMajor);
  const int minor = attribute(kAttributeMinor);
  info->name = name;
  info->architecture = cuda_architecture(major, minor);
  info->multiprocessors = attribute(kAttributeMultiprocessors);
  info->wave_size = attribute(kAttributeWarpSize);
  info->max_threads_per_block = attribute(kAttributeMaxThreadsPerBlock);
  info->memory_bytes = static_cast<std::int64_t>(memory);
  info->l2_bytes = attribute(kAttributeL2Bytes);
  info->shared_bytes_per_block = attribute(kAttributeSharedBytesOptIn);
  return status;
}

// The primary context is the one that the CUDA runtime uses too, so memory and streams of an
// application mix with ours. It is never released: at exit the driver may be gone before us.
int context_retain(void** context, int ordinal) {
  int device = 0;
  const int status = g_raw.device_get(&device, ordinal);
  return status != kStatusOk ? status : g_raw.primary_context_retain(context, device);
}

int pool_create(void** pool, int ordinal, std::size_t keep_bytes) {
  *pool = nullptr;
  int device = 0;
  int supported = 0;
  int status = g_raw.device_get(&device, ordinal);
  if (status == kStatusOk) {
    status = g_raw.device_attribute(&supported, kAttributeMemoryPools, device);
  }
  if (status != kStatusOk || supported == 0) return status;
  PoolProperties properties;
  properties.location_id = ordinal;
  status = g_raw.pool_create(pool, &properties);
  unsigned long long keep = keep_bytes;
  return status != kStatusOk ? status : g_raw.pool_set_attribute(*pool, kPoolKeepBytes, &keep);
}

// The name of the first function that is missing, or null.
const char* find_raw_functions(const DynamicLibrary& library) {
  const char* missing = nullptr;
  const auto need = [&](const char* name, auto& function) {
    if (!library.get(name, function) && missing == nullptr) missing = name;
  };
  need("cuInit", g_raw.init);
  need("cuDeviceGet", g_raw.device_get);
  need("cuDeviceGetName", g_raw.device_name);
  need("cuDeviceTotalMem_v2", g_raw.device_memory);
  need("cuDeviceGetAttribute", g_raw.device_attribute);
  need("cuDevicePrimaryCtxRetain", g_raw.primary_context_retain);
  need("cuGetErrorName", g_raw.error_name);
  need("cuGetErrorString", g_raw.error_text);
  need("cuMemPoolCreate", g_raw.pool_create);
  need("cuMemPoolSetAttribute", g_raw.pool_set_attribute);
  return missing;
}

const char* find_functions(const DynamicLibrary& library, DriverApi& api) {
  const char* missing = nullptr;
  const auto need = [&](const char* name, auto& function) {
    if (!library.get(name, function) && missing == nullptr) missing = name;
  };
  need("cuDeviceGetCount", api.device_count);
  need("cuCtxGetCurrent", api.context_current);
  need("cuCtxSetCurrent", api.context_set);
  need("cuCtxSynchronize", api.context_synchronize);
  need("cuMemAllocFromPoolAsync", api.allocate_async);
  need("cuMemFreeAsync", api.release_async);
  need("cuMemAlloc_v2", api.allocate);
  need("cuMemFree_v2", api.release);
  need("cuMemHostAlloc", api.allocate_host);
  need("cuMemFreeHost", api.release_host);
  need("cuMemcpyAsync", api.copy_async);
  need("cuMemsetD8Async", api.fill_async);
  need("cuMemGetInfo_v2", api.memory_info);
  need("cuStreamCreate", api.stream_create);
  need("cuStreamDestroy_v2", api.stream_destroy);
  need("cuStreamSynchronize", api.stream_synchronize);
  need("cuStreamWaitEvent", api.stream_wait_event);
  need("cuStreamIsCapturing", api.stream_is_capturing);
  need("cuEventCreate", api.event_create);
  need("cuEventDestroy_v2", api.event_destroy);
  need("cuEventRecord", api.event_record);
  need("cuEventSynchronize", api.event_synchronize);
  need("cuEventElapsedTime", api.event_elapsed_ms);
  need("cuModuleLoadData", api.module_load);
  need("cuModuleUnload", api.module_unload);
  need("cuModuleGetFunction", api.module_function);
  need("cuFuncGetAttribute", api.function_attribute);
  need("cuFuncSetAttribute", api.function_set_attribute);
  need("cuOccupancyMaxActiveBlocksPerMultiprocessor", api.function_occupancy);
  need("cuLaunchKernel", api.launch);
  need("cuStreamBeginCapture_v2", api.capture_begin);
  need("cuStreamEndCapture", api.capture_end);
  need("cuGraphInstantiateWithFlags", api.graph_instantiate);
  need("cuGraphLaunch", api.graph_launch);
  need("cuGraphDestroy", api.graph_destroy);
  need("cuGraphExecDestroy", api.executable_destroy);
  library.get("cuFuncGetParamInfo", api.function_parameter);  // CUDA 12.4 and newer
  return missing;
}

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}  // namespace

DriverFinding load_cuda_driver() {
  DriverFinding finding;
  std::string tried;
  const auto library = DynamicLibrary::open(cuda_driver_candidates(), tried);
  if (!library) {
    finding.problem = "no NVIDIA driver (" + tried + "; " + kCudaDriverVariable + " names another)";
    return finding;
  }
  finding.path = library->path();
  int version = 0;
  if (!library->get("cuDriverGetVersion", g_raw.driver_version) ||
      g_raw.driver_version(&version) != kStatusOk) {
    finding.problem = library->path() + " is not an NVIDIA driver: it does not tell its version";
    return finding;
  }
  finding.version = version_text(version);
  if (version < kOldestVersion) {
    finding.problem = "the NVIDIA driver " + library->path() + " is of CUDA " + finding.version +
                      ", too old: " + version_text(kOldestVersion) + " or newer is needed";
    return finding;
  }
  static DriverApi api;
  const char* missing = find_raw_functions(*library);
  if (missing == nullptr) missing = find_functions(*library, api);
  if (missing != nullptr) {
    finding.problem = "the NVIDIA driver " + library->path() + " lacks " + missing;
    return finding;
  }
  api.error_name = error_name;
  api.error_text = error_text;
  api.device_describe = device_describe;
  api.context_retain = context_retain;
  api.pool_create = pool_create;
  api.kind = DeviceKind::kCuda;
  api.version = finding.version;
  api.version_major = version / 1000;
  api.path = library->path();
  const int status = g_raw.init(0);
  if (status != kStatusOk) {
    finding.problem = "the NVIDIA driver " + library->path() +
                      " does not start or finds no GPU: " + status_text(api, status);
    return finding;
  }
  finding.api = &api;
  return finding;
}

}  // namespace tamis::gpu
