// NVRTC and hipRTC behind one interface. Neither needs a device: code for any architecture that the
// compiler knows can be made on any machine.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/kernel_source.hpp"
#include "tamis/device.hpp"

namespace tamis::gpu {

struct RtcApi;  // the compiler's functions

class RuntimeCompiler {
 public:
  DeviceKind kind() const noexcept { return kind_; }
  /// "NVRTC" or "hipRTC".
  const char* name() const noexcept { return kind_ == DeviceKind::kCuda ? "NVRTC" : "hipRTC"; }
  const std::string& version() const noexcept { return version_; }
  const std::string& path() const noexcept { return path_; }
  /// Part of the key of what it makes. Version numbers do not tell patch releases apart (and ROCm 5
  /// says 9.0 throughout), so file name and size belong to it.
  const std::string& identity() const noexcept { return identity_; }
  /// What it can compile for; empty when it does not say.
  const std::vector<std::string>& architectures() const noexcept { return architectures_; }
  bool supports(std::string_view architecture) const;

  /// Machine code for `architecture`, one of compile_options(). Throws Error(kUnsupported) when the
  /// compiler does not know the architecture and Error(kDevice) with its log when it refuses the
  /// text. Safe to call from several threads.
  std::vector<std::byte> compile(const KernelSource& source, const KernelConfig& config,
                                 std::string_view architecture) const;

 private:
  friend struct CompilerLoader;
  DeviceKind kind_ = DeviceKind::kCuda;
  std::string version_;
  std::string path_;
  std::string identity_;
  std::vector<std::string> architectures_;
  std::shared_ptr<const RtcApi> api_;
};

/// A compiler, or why there is none.
struct CompilerFinding {
  std::shared_ptr<const RuntimeCompiler> compiler;
  std::string version;  // also of a compiler that is too old
  std::string path;
  std::string problem;
};

/// Looks for the compiler now; shared_compiler() does it once a process.
CompilerFinding load_compiler(DeviceKind kind);
const CompilerFinding& shared_compiler(DeviceKind kind);

}  // namespace tamis::gpu
