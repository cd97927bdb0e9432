// gpu_status(): what drivers, compilers, cache and prebuilt table say about themselves.
#include <algorithm>

#include "gpu/driver_api.hpp"
#include "gpu/image_cache.hpp"
#include "gpu/prebuilt.hpp"
#include "gpu/runtime_compiler.hpp"
#include "tamis/error.hpp"
#include "tamis/kernels.hpp"

namespace tamis {
namespace {

DriverStatus driver_status(DeviceKind kind) {
  const gpu::DriverFinding& finding = gpu::shared_driver(kind);
  return {kind, finding.api != nullptr, finding.version, finding.path, finding.problem};
}

CompilerStatus compiler_status(DeviceKind kind) {
  const gpu::CompilerFinding& finding = gpu::shared_compiler(kind);
  CompilerStatus status;
  status.kind = kind;
  status.name = kind == DeviceKind::kCuda ? "NVRTC" : "hipRTC";
  status.usable = finding.compiler != nullptr;
  status.version = finding.version;
  status.path = finding.path;
  status.problem = finding.problem;
  if (finding.compiler) status.architectures = finding.compiler->architectures();
  return status;
}

std::vector<PrebuiltStatus> prebuilt_status() {
  std::vector<PrebuiltStatus> all;
  for (const gpu::PrebuiltKernel& kernel : gpu::prebuilt_kernels()) {
    auto at = std::find_if(all.begin(), all.end(), [&](const PrebuiltStatus& status) {
      return status.architecture == kernel.architecture;
    });
    if (at == all.end()) {
      all.push_back({std::string(kernel.architecture), 0, 0});
      at = all.end() - 1;
    }
    ++at->kernels;
    at->size_bytes += static_cast<std::int64_t>(kernel.code.size());
  }
  return all;
}

}  // namespace

GpuStatus gpu_status() {
  GpuStatus status;
  for (const DeviceKind kind : {DeviceKind::kCuda, DeviceKind::kHip}) {
    status.drivers.push_back(driver_status(kind));
    status.compilers.push_back(compiler_status(kind));
  }
  try {
    status.devices = list_devices();
  } catch (const Error& error) {
    // A driver that is there but fails is a finding too.
    status.drivers.front().problem = error.what();
  }
  const gpu::DiskCache& disk = gpu::ImageCache::shared().disk();
  const gpu::DiskCache::Usage usage = disk.usage();
  status.cache = {disk.folder(), usage.problem.empty(), usage.problem, usage.files,
                  usage.size_bytes};
  status.prebuilt = prebuilt_status();
  return status;
}

}  // namespace tamis
