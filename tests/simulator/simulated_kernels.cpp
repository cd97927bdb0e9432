// Modules, launches and graphs of the simulated driver. A module is a shared object of the
// simulated compiler; its tables tell what a launch has to know.
#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "simulator/driver_call.hpp"
#include "simulator/simulated_image.hpp"

using namespace tamis::simt;  // NOLINT: the functions below can be in no namespace

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
  on.capture->open = false;
  *graph = new GraphHandle(on.capture);
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
