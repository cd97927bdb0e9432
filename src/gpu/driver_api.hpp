// The driver of a GPU vendor as one plain table of functions with neutral names, filled by dlopen:
// the rest of the layer does not know CUDA from HIP. Both vendors' drivers share their conventions
// (status 0 is success, handles are pointers, the same codes for what is used here), so most
// entries are the driver's own functions; where signatures differ, a small adapter stands in.
#pragma once

#include <cstddef>
#include <string>

#include "tamis/device.hpp"

namespace tamis::gpu {

inline constexpr int kStatusOk = 0;
inline constexpr int kStatusOutOfMemory = 2;
inline constexpr int kStatusNoDevice = 100;

/// Numbers of cuFuncGetAttribute() and hipFuncGetAttribute().
enum FunctionAttribute : int {
  kMaxThreadsPerBlock = 0,
  kSharedBytes = 1,
  kLocalBytes = 3,
  kRegisters = 4,
  kMaxDynamicSharedBytes = 8,
};

inline constexpr unsigned kStreamNonBlocking = 1;
inline constexpr int kCaptureThreadLocal = 1;
inline constexpr int kCaptureNone = 0;

struct DriverApi {
  DeviceKind kind = DeviceKind::kCuda;
  std::string version;  // of the driver's interface, "13.0"
  int version_major = 0;
  std::string path;

  const char* (*error_name)(int status) = nullptr;
  const char* (*error_text)(int status) = nullptr;

  // Devices and contexts. `context_set` makes a context current for the calling thread.
  int (*device_count)(int* count) = nullptr;
  /// Fills all of DeviceInfo but kind, ordinal and driver.
  int (*device_describe)(int ordinal, DeviceInfo* info) = nullptr;
  int (*context_retain)(void** context, int ordinal) = nullptr;
  int (*context_current)(void** context) = nullptr;
  int (*context_set)(void* context) = nullptr;
  int (*context_synchronize)() = nullptr;

  // Memory. A pool is made once a device; `pool_create` gives null where pools are not supported,
  // and then `allocate` and `release` serve instead of the stream-ordered pair.
  int (*pool_create)(void** pool, int ordinal, std::size_t keep_bytes) = nullptr;
  int (*allocate_async)(void** data, std::size_t size, void* pool, void* stream) = nullptr;
  int (*release_async)(void* data, void* stream) = nullptr;
  int (*allocate)(void** data, std::size_t size) = nullptr;
  int (*release)(void* data) = nullptr;
  int (*allocate_host)(void** data, std::size_t size, unsigned flags) = nullptr;
  int (*release_host)(void* data) = nullptr;
  int (*copy_async)(void* to, const void* from, std::size_t size, void* stream) = nullptr;
  int (*fill_async)(void* to, unsigned char value, std::size_t count, void* stream) = nullptr;
  int (*memory_info)(std::size_t* free, std::size_t* total) = nullptr;

  // Streams and events.
  int (*stream_create)(void** stream, unsigned flags) = nullptr;
  int (*stream_destroy)(void* stream) = nullptr;
  int (*stream_synchronize)(void* stream) = nullptr;
  int (*stream_wait_event)(void* stream, void* event, unsigned flags) = nullptr;
  int (*stream_is_capturing)(void* stream, int* status) = nullptr;
  int (*event_create)(void** event, unsigned flags) = nullptr;
  int (*event_destroy)(void* event) = nullptr;
  int (*event_record)(void* event, void* stream) = nullptr;
  int (*event_synchronize)(void* event) = nullptr;
  int (*event_elapsed_ms)(float* milliseconds, void* start, void* stop) = nullptr;

  // Modules and kernels.
  int (*module_load)(void** module, const void* image) = nullptr;
  int (*module_unload)(void* module) = nullptr;
  int (*module_function)(void** function, void* module, const char* name) = nullptr;
  int (*function_attribute)(int* value, int attribute, void* function) = nullptr;
  int (*function_set_attribute)(void* function, int attribute, int value) = nullptr;
  int (*function_occupancy)(int* blocks, void* function, int block_threads,
                            std::size_t shared_bytes) = nullptr;
  /// Offset and size of a parameter; fails beyond the last. Null where the driver cannot tell.
  int (*function_parameter)(void* function, std::size_t index, std::size_t* offset,
                            std::size_t* size) = nullptr;
  int (*launch)(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                unsigned block_y, unsigned block_z, unsigned shared_bytes, void* stream,
                void** arguments, void** extra) = nullptr;

  // Graphs.
  int (*capture_begin)(void* stream, int mode) = nullptr;
  int (*capture_end)(void* stream, void** graph) = nullptr;
  int (*graph_instantiate)(void** executable, void* graph, unsigned long long flags) = nullptr;
  int (*graph_launch)(void* executable, void* stream) = nullptr;
  int (*graph_destroy)(void* graph) = nullptr;
  int (*executable_destroy)(void* executable) = nullptr;
};

/// What both drivers want to know of a pool; they share the layout of this record.
struct PoolProperties {
  int allocation_type = 1;  // pinned: the only one there is
  int handle_types = 0;     // not shared with other processes
  int location_type = 1;    // a device
  int location_id = 0;
  void* security = nullptr;
  std::size_t max_bytes = 0;  // as much as there is
  unsigned char reserved[56] = {};
};
static_assert(sizeof(PoolProperties) == 88, "the drivers' record has 88 bytes");
inline constexpr int kPoolKeepBytes = 4;  // attribute: freed memory that is kept for later

/// A driver, or why there is none.
struct DriverFinding {
  const DriverApi* api = nullptr;
  std::string version;  // also of a driver that is too old
  std::string path;
  std::string problem;
};

/// Looks for the driver now; shared_driver() does it once a process.
DriverFinding load_driver(DeviceKind kind);
const DriverFinding& shared_driver(DeviceKind kind);

DriverFinding load_cuda_driver();
DriverFinding load_hip_driver();

/// Throws Error(kDevice), or kOutOfMemory, for a status other than success: "cannot <action>:
/// <name>: <text>".
void check(const DriverApi& api, int status, const std::string& action);
/// "<name>: <text>".
std::string status_text(const DriverApi& api, int status);

}  // namespace tamis::gpu
