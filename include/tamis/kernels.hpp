// Where GPU kernels come from on this machine: drivers and run-time compilers that were found, the
// cache of compiled kernels, and those that were prebuilt with the library.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tamis/device.hpp"

namespace tamis {

/// What a request for a kernel was served from.
enum class KernelOrigin : std::uint8_t {
  kMemory = 1,    // used before in this process
  kDisk = 2,      // compiled by an earlier process, in the cache folder
  kPrebuilt = 3,  // compiled when the library was built
  kCompiled = 4,  // compiled just now
};

/// "memory", "disk", "prebuilt" or "compiled".
const char* kernel_origin_name(KernelOrigin origin) noexcept;

/// Counts of this process.
struct KernelStatistics {
  std::int64_t from_memory = 0;
  std::int64_t from_disk = 0;
  std::int64_t from_prebuilt = 0;
  std::int64_t compiled = 0;
  std::int64_t damaged_files = 0;  // in the cache folder; ignored and rewritten
  double compile_seconds = 0.0;
};
KernelStatistics kernel_statistics();

struct DriverStatus {
  DeviceKind kind = DeviceKind::kCuda;
  bool usable = false;
  std::string version;
  std::string path;
  std::string problem;  // why it is not usable: what was tried, or found and expected versions
};

struct CompilerStatus {
  DeviceKind kind = DeviceKind::kCuda;
  std::string name;  // "NVRTC" or "hipRTC"
  bool usable = false;
  std::string version;
  std::string path;
  std::string problem;
  std::vector<std::string> architectures;  // what it can compile for; empty when it does not say
};

/// The folder is $TAMIS_CACHE_DIR, $XDG_CACHE_HOME/tamis or ~/.cache/tamis, and in it `kernels`.
/// It may be emptied at any time.
struct KernelCacheStatus {
  std::string folder;  // empty when there is no place for one
  bool usable = false;
  std::string problem;  // why kernels are not kept
  std::int64_t files = 0;
  std::int64_t size_bytes = 0;
};

struct PrebuiltStatus {
  std::string architecture;
  std::int64_t kernels = 0;
  std::int64_t size_bytes = 0;
};

struct GpuStatus {
  std::vector<DeviceInfo> devices;
  std::vector<DriverStatus> drivers;      // one a kind
  std::vector<CompilerStatus> compilers;  // one a kind
  KernelCacheStatus cache;
  std::vector<PrebuiltStatus> prebuilt;
};

/// Looks for everything. Absence is not an error; only Error(kOutOfMemory) and the like are thrown.
GpuStatus gpu_status();

/// One kernel text in one configuration for one architecture.
struct WarmUpStep {
  std::string kernel;         // "gpu/self_test"
  std::string configuration;  // "TAMIS_ITEMS=8 TAMIS_THREADS=256"
  std::string architecture;
  std::int64_t index = 0;  // from 0, of `count`
  std::int64_t count = 0;
  KernelOrigin origin = KernelOrigin::kMemory;
  std::int64_t size_bytes = 0;  // of machine code
  double seconds = 0.0;
  std::string problem;  // why there is no code; empty on success
  std::string remark;   // e.g. why the code could not be kept on disk
};

/// Makes the machine code of every shipped kernel available without compiling at first use, and
/// reports each step. `architectures` such as "sm_90a" or "gfx90a" need no device; when empty,
/// those of this machine's devices are taken. Returns the number of steps that failed. Throws
/// Error(kInvalidArgument) for an architecture that is none, Error(kUnavailable) when none is given
/// and there is no device.
std::int64_t warm_up_kernels(const std::vector<std::string>& architectures,
                             const std::function<void(const WarmUpStep&)>& report);

}  // namespace tamis
