// Devices: found and described once a process, opened once each.
#include "tamis/device.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "gpu/context.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace gpu {
namespace {

constexpr std::int64_t kPoolKeepLimit = std::int64_t{2} << 30;

std::vector<DeviceInfo> devices_of(const DriverApi& api) {
  int count = 0;
  const int status = api.device_count(&count);
  if (status == kStatusNoDevice) return {};
  check(api, status, "count the devices");
  std::vector<DeviceInfo> infos(static_cast<std::size_t>(std::max(count, 0)));
  for (int i = 0; i < count; ++i) {
    DeviceInfo& info = infos[static_cast<std::size_t>(i)];
    info.kind = api.kind;
    info.ordinal = i;
    info.driver = api.version;
    check(api, api.device_describe(i, &info), "describe device " + std::to_string(i));
  }
  return infos;
}

std::string device_id(DeviceKind kind, int ordinal) {
  return std::string(device_kind_name(kind)) + ":" + std::to_string(ordinal);
}

[[noreturn]] void throw_no_device(DeviceKind kind, int ordinal, const std::string& why) {
  throw Error(ErrorCode::kUnavailable, "no device " + device_id(kind, ordinal) + ": " + why);
}

// Freed memory stays with the pool up to a limit, so that steady work asks the driver for none and
// other libraries still find some.
std::unique_ptr<const DeviceContext> open_context(DeviceKind kind, int ordinal) {
  const DriverFinding& driver = shared_driver(kind);
  if (driver.api == nullptr) throw_no_device(kind, ordinal, driver.problem);
  const std::vector<DeviceInfo> infos = devices_of(*driver.api);
  if (ordinal < 0 || ordinal >= static_cast<int>(infos.size())) {
    throw_no_device(kind, ordinal, "there are " + std::to_string(infos.size()));
  }
  auto device = std::make_unique<DeviceContext>();
  device->api = driver.api;
  device->info = infos[static_cast<std::size_t>(ordinal)];
  device->id = device_id(kind, ordinal);
  check(*driver.api, driver.api->context_retain(&device->context, ordinal),
        "open " + device->info.name);
  const ContextScope scope(*device);
  const std::int64_t keep = std::min(device->info.memory_bytes / 8, kPoolKeepLimit);
  check(*driver.api,
        driver.api->pool_create(&device->pool, ordinal, static_cast<std::size_t>(keep)),
        "make a memory pool on " + device->info.name);
  return device;
}

const DeviceContext& shared_context(DeviceKind kind, int ordinal) {
  static std::mutex mutex;
  // Never destroyed: static objects of others may still hold buffers.
  static auto& contexts =
      *new std::map<std::pair<DeviceKind, int>, std::unique_ptr<const DeviceContext>>();
  const std::lock_guard lock(mutex);
  auto& context = contexts[{kind, ordinal}];
  if (!context) context = open_context(kind, ordinal);
  return *context;
}

}  // namespace

ContextScope::ContextScope(const DeviceContext& device) : api_(*device.api) {
  check(api_, api_.context_current(&previous_), "find the current context");
  if (previous_ == device.context) return;
  check(api_, api_.context_set(device.context), "make " + device.info.name + " current");
  changed_ = true;
}

ContextScope::~ContextScope() {
  if (changed_) api_.context_set(previous_);
}

}  // namespace gpu

std::vector<DeviceInfo> list_devices() {
  std::vector<DeviceInfo> all;
  for (const DeviceKind kind : {DeviceKind::kCuda, DeviceKind::kHip}) {
    const gpu::DriverFinding& driver = gpu::shared_driver(kind);
    if (driver.api == nullptr) continue;
    const std::vector<DeviceInfo> infos = gpu::devices_of(*driver.api);
    all.insert(all.end(), infos.begin(), infos.end());
  }
  return all;
}

Device Device::open(DeviceKind kind, int ordinal) {
  return Device(gpu::shared_context(kind, ordinal));
}

Device Device::first() {
  const std::vector<DeviceInfo> infos = list_devices();
  if (!infos.empty()) return open(infos.front().kind, infos.front().ordinal);
  std::string why;
  for (const DeviceKind kind : {DeviceKind::kCuda, DeviceKind::kHip}) {
    const gpu::DriverFinding& driver = gpu::shared_driver(kind);
    why += std::string(why.empty() ? "" : "; ") + device_kind_name(kind) + ": " +
           (driver.api != nullptr ? "the driver sees no device" : driver.problem);
  }
  throw Error(ErrorCode::kUnavailable, "no GPU: " + why);
}

const DeviceInfo& Device::info() const noexcept { return context_->info; }

void Device::synchronize() const {
  const gpu::ContextScope scope(*context_);
  gpu::check(*context_->api, context_->api->context_synchronize(),
             "finish the work on " + context_->info.name);
}

}  // namespace tamis
