// Modules by (source, configuration, device), kernels by name within a module. Modules are unloaded
// with the last kernel that needs them, never at exit.
#include "gpu/kernel.hpp"

#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <utility>
#include <vector>

#include "gpu/context.hpp"
#include "gpu/image_cache.hpp"
#include "gpu/once_map.hpp"
#include "tamis/error.hpp"

namespace tamis::gpu {
namespace {

constexpr std::int64_t kSharedWithoutAsking = 48 << 10;

struct Module {
  const DeviceContext* device = nullptr;
  void* handle = nullptr;
  std::string name;  // of source, configuration and architecture, for messages
  KernelOrigin origin = KernelOrigin::kMemory;

  std::shared_mutex mutex;
  std::vector<std::pair<std::string, std::shared_ptr<LoadedKernel>>> kernels;

  Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  ~Module() {
    try {
      const ContextScope scope(*device);
      device->api->module_unload(handle);
    } catch (const std::exception&) {
      // The context is lost, and the module with it.
    }
  }
};

OnceMap<std::shared_ptr<Module>>& modules() {
  // Never destroyed: the driver may be gone at exit.
  static auto& map = *new OnceMap<std::shared_ptr<Module>>();
  return map;
}

// Code from another compiler or another time may be refused by this driver; then it is compiled
// here. Code compiled here and refused is an error that names both versions.
void* load_code(const DeviceContext& device, const KernelSource& source, const KernelConfig& config,
                ImageAnswer& answer) {
  const std::string& architecture = device.info.architecture;
  void* handle = nullptr;
  int status = device.api->module_load(&handle, answer.image->code.data());
  if (status != kStatusOk && answer.image->compile_seconds == 0.0) {
    answer = ImageCache::shared().compile_anew(source, config, architecture);
    status = device.api->module_load(&handle, answer.image->code.data());
  }
  if (status != kStatusOk) {
    throw Error(ErrorCode::kDevice, "the driver (" + device.info.driver + ") refuses the code of " +
                                        std::string(source.name()) + " [" + config.to_string() +
                                        "] made by " + answer.image->compiler + ": " +
                                        status_text(*device.api, status));
  }
  return handle;
}

std::shared_ptr<Module> load_module(const DeviceContext& device, const KernelSource& source,
                                    const KernelConfig& config) {
  ImageAnswer answer = ImageCache::shared().get(source, config, device.info.architecture);
  const ContextScope scope(device);
  void* handle = load_code(device, source, config, answer);
  auto module = std::make_shared<Module>();
  module->device = &device;
  module->handle = handle;
  module->origin = answer.origin;
  module->name =
      std::string(source.name()) + " [" + config.to_string() + "] for " + device.info.architecture;
  return module;
}

}  // namespace

struct LoadedKernel {
  const DeviceContext* device = nullptr;
  void* function = nullptr;
  std::string name;
  KernelOrigin origin = KernelOrigin::kMemory;
  int registers = 0;
  int max_threads = 0;
  int shared_bytes = 0;
  int local_bytes = 0;
  bool knows_parameters = false;
  std::vector<std::size_t> parameter_sizes;
  std::atomic<std::int64_t> shared_limit{kSharedWithoutAsking};
};

namespace {

std::vector<std::size_t> parameter_sizes(const DriverApi& api, void* function) {
  std::vector<std::size_t> sizes;
  std::size_t offset = 0;
  std::size_t size = 0;
  while (api.function_parameter(function, sizes.size(), &offset, &size) == kStatusOk) {
    sizes.push_back(size);
  }
  return sizes;
}

std::shared_ptr<LoadedKernel> load_kernel(const Module& module, const std::string& entry) {
  const DeviceContext& device = *module.device;
  const DriverApi& api = *device.api;
  const ContextScope scope(device);
  auto kernel = std::make_shared<LoadedKernel>();
  kernel->device = &device;
  kernel->name = entry + " of " + module.name;
  kernel->origin = module.origin;
  check(api, api.module_function(&kernel->function, module.handle, entry.c_str()),
        "find the kernel " + kernel->name);
  const auto attribute = [&](FunctionAttribute which) {
    int value = 0;
    check(api, api.function_attribute(&value, which, kernel->function),
          "ask for an attribute of " + kernel->name);
    return value;
  };
  kernel->registers = attribute(kRegisters);
  kernel->max_threads = attribute(kMaxThreadsPerBlock);
  kernel->shared_bytes = attribute(kSharedBytes);
  kernel->local_bytes = attribute(kLocalBytes);
  if (api.function_parameter != nullptr) {
    kernel->knows_parameters = true;
    kernel->parameter_sizes = parameter_sizes(api, kernel->function);
  }
  return kernel;
}

std::shared_ptr<LoadedKernel> find_kernel(Module& module, std::string_view entry) {
  for (const auto& [name, kernel] : module.kernels) {
    if (name == entry) return kernel;
  }
  return nullptr;
}

// A pointer to the kernel that owns a share of its module.
std::shared_ptr<LoadedKernel> kernel_of(const std::shared_ptr<Module>& module,
                                        std::string_view entry) {
  {
    const std::shared_lock lock(module->mutex);
    if (const auto kernel = find_kernel(*module, entry)) return {module, kernel.get()};
  }
  const std::unique_lock lock(module->mutex);
  auto kernel = find_kernel(*module, entry);
  if (!kernel) {
    kernel = load_kernel(*module, std::string(entry));
    module->kernels.emplace_back(entry, kernel);
  }
  return {module, kernel.get()};
}

void check_arguments(const LoadedKernel& kernel, const std::size_t* sizes, std::size_t count) {
  const std::vector<std::size_t>& expected = kernel.parameter_sizes;
  if (count != expected.size()) {
    throw Error(ErrorCode::kInvalidArgument, std::to_string(count) + " arguments for " +
                                                 kernel.name + ", which takes " +
                                                 std::to_string(expected.size()));
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (sizes[i] == expected[i]) continue;
    throw Error(ErrorCode::kInvalidArgument, "argument " + std::to_string(i) + " of " +
                                                 kernel.name + " has " + std::to_string(sizes[i]) +
                                                 " bytes, expected " + std::to_string(expected[i]));
  }
}

// The highest amount asked for so far stays in force; it costs nothing to kernels that use less.
void allow_shared_bytes(LoadedKernel& kernel, std::int64_t shared_bytes) {
  if (shared_bytes <= kernel.shared_limit.load(std::memory_order_acquire)) return;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (shared_bytes <= kernel.shared_limit.load(std::memory_order_acquire)) return;
  check(*kernel.device->api,
        kernel.device->api->function_set_attribute(kernel.function, kMaxDynamicSharedBytes,
                                                   static_cast<int>(shared_bytes)),
        "allow " + std::to_string(shared_bytes) + " bytes of shared memory to " + kernel.name +
            ", where a block of " + kernel.device->info.name + " has " +
            std::to_string(kernel.device->info.shared_bytes_per_block));
  kernel.shared_limit.store(shared_bytes, std::memory_order_release);
}

std::string shape_text(const LaunchShape& shape) {
  const auto text = [](const Dim3& d) {
    return std::to_string(d.x) + "x" + std::to_string(d.y) + "x" + std::to_string(d.z);
  };
  return "grid " + text(shape.grid) + ", block " + text(shape.block) + ", " +
         std::to_string(shape.shared_bytes) + " bytes of shared memory";
}

// Sizes are 64-bit everywhere but in the driver.
void require_representable(const LoadedKernel& kernel, const LaunchShape& shape) {
  constexpr std::int64_t kMost = 0x7fffffff;
  for (const std::int64_t size : {shape.grid.x, shape.grid.y, shape.grid.z, shape.block.x,
                                  shape.block.y, shape.block.z, shape.shared_bytes}) {
    if (size >= 0 && size <= kMost) continue;
    throw Error(ErrorCode::kInvalidArgument,
                "cannot launch " + kernel.name + " with " + shape_text(shape));
  }
}

}  // namespace

void Kernel::launch_with(const Stream& stream, const LaunchShape& shape,
                         const void* const* arguments, const std::size_t* sizes,
                         std::size_t count) const {
  LoadedKernel& kernel = *loaded_;
  if (kernel.knows_parameters) check_arguments(kernel, sizes, count);
  require_representable(kernel, shape);
  if (shape.grid.x == 0 || shape.grid.y == 0 || shape.grid.z == 0) return;
  const DriverApi& api = *kernel.device->api;
  if (stream.state()->device != kernel.device) {
    throw Error(ErrorCode::kInvalidArgument, "the stream belongs to another device than the " +
                                                 std::string("kernel ") + kernel.name);
  }
  const ContextScope scope(*kernel.device);
  allow_shared_bytes(kernel, shape.shared_bytes);
  const auto u = [](std::int64_t size) { return static_cast<unsigned>(size); };
  const int status =
      api.launch(kernel.function, u(shape.grid.x), u(shape.grid.y), u(shape.grid.z),
                 u(shape.block.x), u(shape.block.y), u(shape.block.z), u(shape.shared_bytes),
                 stream.native_handle(), const_cast<void**>(arguments), nullptr);  // read only
  if (status != kStatusOk) {
    check(api, status, "launch " + kernel.name + " with " + shape_text(shape));
  }
}

KernelOrigin Kernel::origin() const noexcept { return loaded_->origin; }
int Kernel::registers() const noexcept { return loaded_->registers; }
std::int64_t Kernel::static_shared_bytes() const noexcept { return loaded_->shared_bytes; }
std::int64_t Kernel::local_bytes() const noexcept { return loaded_->local_bytes; }
int Kernel::max_threads_per_block() const noexcept { return loaded_->max_threads; }

int Kernel::resident_blocks(std::int64_t block_threads, std::int64_t shared_bytes) const {
  const DriverApi& api = *loaded_->device->api;
  const ContextScope scope(*loaded_->device);
  allow_shared_bytes(*loaded_, shared_bytes);
  int blocks = 0;
  check(api,
        api.function_occupancy(&blocks, loaded_->function, static_cast<int>(block_threads),
                               static_cast<std::size_t>(shared_bytes)),
        "ask how many blocks of " + loaded_->name + " fit");
  return blocks;
}

Kernel get_kernel(const Device& device, const KernelSource& source, const KernelConfig& config,
                  std::string_view entry) {
  const DeviceContext& context = device.context();
  const auto answer = modules().get({source.hash(), config, context.id},
                                    [&] { return load_module(context, source, config); });
  return Kernel(kernel_of(answer.value, entry));
}

void forget_kernels() {
  modules().clear();
  ImageCache::shared().clear_memory();
}

}  // namespace tamis::gpu
