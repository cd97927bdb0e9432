// AMD's HIP library. It follows CUDA's driver API closely, with three differences: there are no
// contexts but a current device, which stands in for one here; copies name their direction; and
// the architecture's name is a member of a record whose layout changes between releases.
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/driver_api.hpp"
#include "gpu/dynamic_library.hpp"
#include "gpu/library_search.hpp"

namespace tamis::gpu {
namespace {

constexpr int kOldestMajor = 5;       // ROCm 5: hipDriverGetVersion() gives major * 10^7 + ...
constexpr int kCopyAnyDirection = 4;  // hipMemcpyDefault

/// Numbers of hipDeviceGetAttribute().
enum HipAttribute : int {
  kAttributeL2Bytes = 19,
  kAttributeMaxThreadsPerBlock = 56,
  kAttributeMultiprocessors = 63,
  kAttributeSharedBytes = 74,
  kAttributeWarpSize = 87,
  kAttributeMemoryPools = 88,
};

struct RawHip {
  int (*init)(unsigned flags);
  int (*driver_version)(int* version);
  int (*device_name)(char* name, int size, int device);
  int (*device_memory)(std::size_t* bytes, int device);
  int (*device_attribute)(int* value, int attribute, int device);
  int (*device_properties)(void* properties, int device);
  int (*device_current)(int* device);
  int (*device_set)(int device);
  int (*copy_async)(void* to, const void* from, std::size_t size, int direction, void* stream);
  int (*fill_async)(void* to, int value, std::size_t size, void* stream);
  int (*pool_create)(void** pool, const PoolProperties* properties);
  int (*pool_set_attribute)(void* pool, int attribute, void* value);
};
RawHip g_raw;

// Contexts are device ordinals plus one, so that null keeps its meaning of "none".
void* to_context(int ordinal) { return reinterpret_cast<void*>(std::intptr_t{ordinal} + 1); }
int to_ordinal(void* context) {
  return static_cast<int>(reinterpret_cast<std::intptr_t>(context) - 1);
}

int context_retain(void** context, int ordinal) {
  *context = to_context(ordinal);
  return kStatusOk;
}

int context_current(void** context) {
  int device = 0;
  const int status = g_raw.device_current(&device);
  *context = status == kStatusOk ? to_context(device) : nullptr;
  return status;
}

int context_set(void* context) {
  return context == nullptr ? kStatusOk : g_raw.device_set(to_ordinal(context));
}

// "gfx90a:sramecc+:xnack-" -> "gfx90a": code for the plain name runs with any setting of features.
// The record is searched, not addressed: its layout changes between releases, the text does not.
int find_architecture(int ordinal, std::string* architecture) {
  constexpr std::size_t kNameBytes = 256;  // the device's name comes first in every release
  std::vector<char> record(16384, '\0');
  const int status = g_raw.device_properties(record.data(), ordinal);
  if (status != kStatusOk) return status;
  const std::string_view text(record.data() + kNameBytes, record.size() - kNameBytes);
  const std::size_t begin = text.find("gfx");
  if (begin != std::string_view::npos) {
    const std::size_t end = text.find_first_not_of("0123456789abcdef", begin + 3);
    *architecture = text.substr(begin, end - begin);
  }
  return kStatusOk;
}

int device_describe(int ordinal, DeviceInfo* info) {
  char name[256] = {};
  std::size_t memory = 0;
  int status = g_raw.device_name(name, sizeof name - 1, ordinal);
  if (status == kStatusOk) status = g_raw.device_memory(&memory, ordinal);
  if (status == kStatusOk) status = find_architecture(ordinal, &info->architecture);
  const auto attribute = [&](HipAttribute which) {
    int value = 0;
    if (status == kStatusOk) status = g_raw.device_attribute(&value, which, ordinal);
    return value;
  };
  info->name = name;
  info->multiprocessors = attribute(kAttributeMultiprocessors);
  info->wave_size = attribute(kAttributeWarpSize);
  info->max_threads_per_block = attribute(kAttributeMaxThreadsPerBlock);
  info->memory_bytes = static_cast<std::int64_t>(memory);
  info->l2_bytes = attribute(kAttributeL2Bytes);
  info->shared_bytes_per_block = attribute(kAttributeSharedBytes);
  return status;
}

int pool_create(void** pool, int ordinal, std::size_t keep_bytes) {
  *pool = nullptr;
  int supported = 0;
  int status = g_raw.device_attribute(&supported, kAttributeMemoryPools, ordinal);
  if (status != kStatusOk || supported == 0) return status;
  PoolProperties properties;
  properties.location_id = ordinal;
  status = g_raw.pool_create(pool, &properties);
  std::uint64_t keep = keep_bytes;
  return status != kStatusOk ? status : g_raw.pool_set_attribute(*pool, kPoolKeepBytes, &keep);
}

int copy_async(void* to, const void* from, std::size_t size, void* stream) {
  return g_raw.copy_async(to, from, size, kCopyAnyDirection, stream);
}

int fill_async(void* to, unsigned char value, std::size_t count, void* stream) {
  return g_raw.fill_async(to, value, count, stream);
}

// All of a compute unit's shared memory may be used without asking.
int function_set_attribute(void*, int, int) { return kStatusOk; }

const char* find_raw_functions(const DynamicLibrary& library) {
  const char* missing = nullptr;
  const auto need = [&](const char* name, auto& function) {
    if (!library.get(name, function) && missing == nullptr) missing = name;
  };
  need("hipInit", g_raw.init);
  need("hipDeviceGetName", g_raw.device_name);
  need("hipDeviceTotalMem", g_raw.device_memory);
  need("hipDeviceGetAttribute", g_raw.device_attribute);
  // ROCm 6 renamed the function whose record it changed.
  if (!library.get("hipGetDevicePropertiesR0600", g_raw.device_properties)) {
    need("hipGetDeviceProperties", g_raw.device_properties);
  }
  need("hipGetDevice", g_raw.device_current);
  need("hipSetDevice", g_raw.device_set);
  need("hipMemcpyAsync", g_raw.copy_async);
  need("hipMemsetAsync", g_raw.fill_async);
  need("hipMemPoolCreate", g_raw.pool_create);
  need("hipMemPoolSetAttribute", g_raw.pool_set_attribute);
  return missing;
}

const char* find_functions(const DynamicLibrary& library, DriverApi& api) {
  const char* missing = nullptr;
  const auto need = [&](const char* name, auto& function) {
    if (!library.get(name, function) && missing == nullptr) missing = name;
  };
  need("hipGetErrorName", api.error_name);
  need("hipGetErrorString", api.error_text);
  need("hipGetDeviceCount", api.device_count);
  need("hipDeviceSynchronize", api.context_synchronize);
  need("hipMallocFromPoolAsync", api.allocate_async);
  need("hipFreeAsync", api.release_async);
  need("hipMalloc", api.allocate);
  need("hipFree", api.release);
  need("hipHostMalloc", api.allocate_host);
  need("hipHostFree", api.release_host);
  need("hipMemGetInfo", api.memory_info);
  need("hipStreamCreateWithFlags", api.stream_create);
  need("hipStreamDestroy", api.stream_destroy);
  need("hipStreamSynchronize", api.stream_synchronize);
  need("hipStreamWaitEvent", api.stream_wait_event);
  need("hipStreamIsCapturing", api.stream_is_capturing);
  need("hipEventCreateWithFlags", api.event_create);
  need("hipEventDestroy", api.event_destroy);
  need("hipEventRecord", api.event_record);
  need("hipEventSynchronize", api.event_synchronize);
  need("hipEventElapsedTime", api.event_elapsed_ms);
  need("hipModuleLoadData", api.module_load);
  need("hipModuleUnload", api.module_unload);
  need("hipModuleGetFunction", api.module_function);
  need("hipFuncGetAttribute", api.function_attribute);
  need("hipModuleOccupancyMaxActiveBlocksPerMultiprocessor", api.function_occupancy);
  need("hipModuleLaunchKernel", api.launch);
  need("hipStreamBeginCapture", api.capture_begin);
  need("hipStreamEndCapture", api.capture_end);
  need("hipGraphInstantiateWithFlags", api.graph_instantiate);
  need("hipGraphLaunch", api.graph_launch);
  need("hipGraphDestroy", api.graph_destroy);
  need("hipGraphExecDestroy", api.executable_destroy);
  return missing;
}

// 50221153 -> "5.2.21153".
std::string version_text(int version) {
  return std::to_string(version / 10'000'000) + "." + std::to_string(version / 100'000 % 100) +
         "." + std::to_string(version % 100'000);
}

}  // namespace

DriverFinding load_hip_driver() {
  DriverFinding finding;
  std::string tried;
  const auto library = DynamicLibrary::open(hip_candidates(), tried);
  if (!library) {
    finding.problem = "no HIP library (" + tried + "; " + kHipVariable + " names another)";
    return finding;
  }
  finding.path = library->path();
  int version = 0;
  static DriverApi api;
  const char* missing = find_raw_functions(*library);
  if (missing == nullptr) missing = find_functions(*library, api);
  if (missing != nullptr) {
    finding.problem = "the HIP library " + library->path() + " lacks " + missing;
    return finding;
  }
  // The version is asked first: starting fails on machines without an AMD GPU.
  if (library->get("hipDriverGetVersion", g_raw.driver_version) &&
      g_raw.driver_version(&version) == kStatusOk) {
    finding.version = version_text(version);
  }
  const int status = g_raw.init(0);
  if (status != kStatusOk) {
    finding.problem = "the HIP library " + library->path() +
                      " does not start or finds no GPU: " + status_text(api, status);
    return finding;
  }
  if (version / 10'000'000 < kOldestMajor) {
    finding.problem = "the HIP library " + library->path() + " is of version " + finding.version +
                      ", too old: " + std::to_string(kOldestMajor) + ".0 or newer is needed";
    return finding;
  }
  api.context_retain = context_retain;
  api.context_current = context_current;
  api.context_set = context_set;
  api.device_describe = device_describe;
  api.pool_create = pool_create;
  api.copy_async = copy_async;
  api.fill_async = fill_async;
  api.function_set_attribute = function_set_attribute;
  api.kind = DeviceKind::kHip;
  api.version = finding.version;
  api.version_major = version / 10'000'000;
  api.path = library->path();
  finding.api = &api;
  return finding;
}

}  // namespace tamis::gpu
