// A shared library that answers as NVIDIA's driver and as NVRTC would, for tests on machines
// without a GPU: memory is host memory, work happens at once, kernels only note their launch.
// Variables of the environment make it old, empty or refusing:
//   FAKE_DRIVER_VERSION (default 13000)   FAKE_NVRTC_MAJOR (12)   FAKE_DEVICES (1)
//   FAKE_REFUSES: a word in an image that makes loading it fail
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "support/fake_cuda_driver.hpp"

#define FAKE_API extern "C" __attribute__((visibility("default")))

namespace {

constexpr int kOk = 0;
constexpr int kInvalidValue = 1;
constexpr int kNoDevice = 100;
constexpr int kInvalidImage = 200;
constexpr int kNotFound = 500;

FakeDriverCounts g_counts;
thread_local void* g_current = nullptr;
int g_context;
int g_pool;

int variable(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoi(text);
}

struct FakeModule {
  std::string text;
};

}  // namespace

FAKE_API FakeDriverCounts* fake_driver_counts() { return &g_counts; }

FAKE_API int cuInit(unsigned) { return variable("FAKE_DEVICES", 1) == 0 ? kNoDevice : kOk; }
FAKE_API int cuDriverGetVersion(int* version) {
  *version = variable("FAKE_DRIVER_VERSION", 13000);
  return kOk;
}
FAKE_API int cuDeviceGetCount(int* count) {
  *count = variable("FAKE_DEVICES", 1);
  return kOk;
}
FAKE_API int cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return kOk;
}
FAKE_API int cuDeviceGetName(char* name, int size, int) {
  std::strncpy(name, "Fake GPU", static_cast<std::size_t>(size));
  return kOk;
}
FAKE_API int cuDeviceTotalMem_v2(std::size_t* bytes, int) {
  *bytes = std::size_t{1} << 30;
  return kOk;
}
FAKE_API int cuDeviceGetAttribute(int* value, int attribute, int) {
  switch (attribute) {
    case 75:
      *value = 9;
      break;
    case 76:
      *value = 0;
      break;
    case 10:
      *value = 32;
      break;
    case 97:
      *value = 227 << 10;
      break;
    case 115:
      *value = variable("FAKE_POOLS", 1);
      break;
    default:
      *value = 100;
  }
  return kOk;
}
FAKE_API int cuDevicePrimaryCtxRetain(void** context, int) {
  *context = &g_context;
  return kOk;
}
FAKE_API int cuCtxGetCurrent(void** context) {
  *context = g_current;
  return kOk;
}
FAKE_API int cuCtxSetCurrent(void* context) {
  g_current = context;
  return kOk;
}
FAKE_API int cuCtxSynchronize() { return kOk; }
FAKE_API int cuGetErrorName(int status, const char** name) {
  *name = status == kInvalidValue ? "FAKE_INVALID_VALUE" : "FAKE_ERROR";
  return kOk;
}
FAKE_API int cuGetErrorString(int, const char** text) {
  *text = "as the fake driver says";
  return kOk;
}

FAKE_API int cuMemPoolCreate(void** pool, const void*) {
  *pool = &g_pool;
  return kOk;
}
FAKE_API int cuMemPoolSetAttribute(void*, int, void*) { return kOk; }
FAKE_API int cuMemAlloc_v2(void** data, std::size_t size) {
  if (g_current != &g_context) return kInvalidValue;  // a real driver needs a context too
  if (size > (std::size_t{1} << 30)) return 2;
  *data = std::malloc(size);
  ++g_counts.allocations;
  ++g_counts.live_allocations;
  return kOk;
}
FAKE_API int cuMemFree_v2(void* data) {
  if (g_current != &g_context) return kInvalidValue;
  std::free(data);
  --g_counts.live_allocations;
  return kOk;
}
FAKE_API int cuMemAllocFromPoolAsync(void** data, std::size_t size, void*, void*) {
  return cuMemAlloc_v2(data, size);
}
FAKE_API int cuMemFreeAsync(void* data, void*) { return cuMemFree_v2(data); }
FAKE_API int cuMemHostAlloc(void** data, std::size_t size, unsigned) {
  return cuMemAlloc_v2(data, size);
}
FAKE_API int cuMemFreeHost(void* data) { return cuMemFree_v2(data); }
FAKE_API int cuMemcpyAsync(void* to, const void* from, std::size_t size, void*) {
  std::memmove(to, from, size);
  return kOk;
}
FAKE_API int cuMemsetD8Async(void* to, unsigned char value, std::size_t count, void*) {
  std::memset(to, value, count);
  return kOk;
}
FAKE_API int cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  *free = *total = std::size_t{1} << 30;
  return kOk;
}

FAKE_API int cuStreamCreate(void** stream, unsigned) {
  *stream = std::malloc(1);
  ++g_counts.live_streams;
  return kOk;
}
FAKE_API int cuStreamDestroy_v2(void* stream) {
  std::free(stream);
  --g_counts.live_streams;
  return kOk;
}
FAKE_API int cuStreamSynchronize(void*) { return kOk; }
FAKE_API int cuStreamWaitEvent(void*, void*, unsigned) { return kOk; }
FAKE_API int cuStreamIsCapturing(void*, int* status) {
  *status = g_counts.capturing;
  return kOk;
}
FAKE_API int cuEventCreate(void** event, unsigned) {
  *event = std::malloc(1);
  return kOk;
}
FAKE_API int cuEventDestroy_v2(void* event) {
  std::free(event);
  return kOk;
}
FAKE_API int cuEventRecord(void*, void*) { return kOk; }
FAKE_API int cuEventSynchronize(void*) { return kOk; }
FAKE_API int cuEventElapsedTime(float* milliseconds, void*, void*) {
  *milliseconds = 1.5f;
  return kOk;
}

FAKE_API int cuModuleLoadData(void** module, const void* image) {
  const char* refused = std::getenv("FAKE_REFUSES");
  const std::string text(static_cast<const char*>(image));
  if (refused != nullptr && text.find(refused) != std::string::npos) return kInvalidImage;
  *module = new FakeModule{text};
  ++g_counts.module_loads;
  ++g_counts.live_modules;
  return kOk;
}
FAKE_API int cuModuleUnload(void* module) {
  delete static_cast<FakeModule*>(module);
  --g_counts.live_modules;
  return kOk;
}
FAKE_API int cuModuleGetFunction(void** function, void* module, const char* name) {
  if (static_cast<FakeModule*>(module)->text.find(name) == std::string::npos) return kNotFound;
  *function = module;
  return kOk;
}
FAKE_API int cuFuncGetAttribute(int* value, int attribute, void*) {
  *value = 10 * attribute;
  return kOk;
}
FAKE_API int cuFuncSetAttribute(void*, int, int value) {
  g_counts.shared_limit = value;
  return value > (227 << 10) ? kInvalidValue : kOk;
}
// Every fake kernel takes a pointer and an int.
FAKE_API int cuFuncGetParamInfo(void*, std::size_t index, std::size_t* offset, std::size_t* size) {
  if (index > 1) return kInvalidValue;
  *offset = 8 * index;
  *size = index == 0 ? 8 : 4;
  return kOk;
}
FAKE_API int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void*, int threads,
                                                         std::size_t) {
  *blocks = 2048 / threads;
  return kOk;
}
FAKE_API int cuLaunchKernel(void*, unsigned grid_x, unsigned, unsigned, unsigned block_x, unsigned,
                            unsigned, unsigned shared_bytes, void* stream, void** arguments,
                            void**) {
  if (block_x > 1024) return kInvalidValue;
  g_counts.launches += 1;
  g_counts.last_grid = grid_x;
  g_counts.last_shared_bytes = shared_bytes;
  g_counts.last_stream = stream;
  std::memcpy(&g_counts.last_pointer, arguments[0], sizeof(void*));
  std::memcpy(&g_counts.last_number, arguments[1], sizeof(int));
  return kOk;
}

FAKE_API int cuStreamBeginCapture_v2(void*, int) {
  g_counts.capturing = 1;
  return kOk;
}
FAKE_API int cuStreamEndCapture(void*, void** graph) {
  g_counts.capturing = 0;
  *graph = std::malloc(1);
  ++g_counts.live_graphs;
  return kOk;
}
FAKE_API int cuGraphInstantiateWithFlags(void** executable, void*, unsigned long long) {
  *executable = std::malloc(1);
  ++g_counts.live_graphs;
  return kOk;
}
FAKE_API int cuGraphLaunch(void*, void*) {
  ++g_counts.graph_launches;
  return kOk;
}
FAKE_API int cuGraphDestroy(void* graph) {
  std::free(graph);
  --g_counts.live_graphs;
  return kOk;
}
FAKE_API int cuGraphExecDestroy(void* executable) { return cuGraphDestroy(executable); }

// NVRTC: what it compiles is the text itself, after its options. "syntax error" is refused.
namespace {
struct FakeProgram {
  std::string text;
  std::string code;
  std::string log;
};
}  // namespace

FAKE_API int nvrtcVersion(int* major, int* minor) {
  *major = variable("FAKE_NVRTC_MAJOR", 12);
  *minor = 4;
  return kOk;
}
FAKE_API const char* nvrtcGetErrorString(int) { return "fake compiler error"; }
FAKE_API int nvrtcCreateProgram(void** program, const char* text, const char*, int,
                                const char* const*, const char* const*) {
  *program = new FakeProgram{text, "", ""};
  return kOk;
}
FAKE_API int nvrtcDestroyProgram(void** program) {
  delete static_cast<FakeProgram*>(*program);
  return kOk;
}
FAKE_API int nvrtcCompileProgram(void* program, int option_count, const char* const* options) {
  auto* p = static_cast<FakeProgram*>(program);
  if (p->text.find("syntax error") != std::string::npos) {
    p->log = "here is a syntax error";
    return 6;
  }
  for (int i = 0; i < option_count; ++i) p->code += std::string(options[i]) + " ";
  p->code += p->text;
  ++g_counts.compilations;
  return kOk;
}
FAKE_API int nvrtcGetProgramLogSize(void* program, std::size_t* size) {
  *size = static_cast<FakeProgram*>(program)->log.size() + 1;
  return kOk;
}
FAKE_API int nvrtcGetProgramLog(void* program, char* text) {
  std::strcpy(text, static_cast<FakeProgram*>(program)->log.c_str());
  return kOk;
}
FAKE_API int nvrtcGetCUBINSize(void* program, std::size_t* size) {
  *size = static_cast<FakeProgram*>(program)->code.size() + 1;
  return kOk;
}
FAKE_API int nvrtcGetCUBIN(void* program, char* code) {
  std::strcpy(code, static_cast<FakeProgram*>(program)->code.c_str());
  return kOk;
}
