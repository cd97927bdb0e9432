// Machine code of kernels, from the nearest source that has it: this process, the prebuilt table,
// the disk, the run-time compiler. Knows no device, so it works and is tested on any machine.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "gpu/disk_cache.hpp"
#include "gpu/kernel_source.hpp"
#include "gpu/once_map.hpp"
#include "gpu/prebuilt.hpp"
#include "gpu/runtime_compiler.hpp"
#include "tamis/kernels.hpp"

namespace tamis::gpu {

struct KernelImage {
  std::vector<std::byte> code;
  std::string architecture;  // it may be an older one that runs on that asked for
  std::string compiler;      // identity; empty for prebuilt code
  double compile_seconds = 0.0;
  std::string remark;  // a damaged file that was replaced, or why nothing was kept on disk
};

/// Code together with where this request found it.
struct ImageAnswer {
  std::shared_ptr<const KernelImage> image;
  KernelOrigin origin = KernelOrigin::kMemory;
};

class ImageCache {
 public:
  using FindCompiler = std::function<CompilerFinding(DeviceKind)>;
  struct Sources {
    DiskCache disk{""};
    std::span<const PrebuiltKernel> prebuilt;
    FindCompiler find_compiler;
  };

  explicit ImageCache(Sources sources) : sources_(std::move(sources)) {}
  /// The cache of this process, with the default folder.
  static ImageCache& shared();

  /// Throws Error(kInvalidArgument) for a name that is no architecture, Error(kUnavailable) when no
  /// source has the code and there is no compiler, and what RuntimeCompiler::compile() throws.
  ImageAnswer get(const KernelSource& source, const KernelConfig& config,
                  std::string_view architecture);
  /// Compiles although code is at hand, because a driver refused that, and replaces it.
  ImageAnswer compile_anew(const KernelSource& source, const KernelConfig& config,
                           std::string_view architecture);

  KernelStatistics statistics() const;
  const DiskCache& disk() const noexcept { return sources_.disk; }
  /// Forgets what is in memory; for programs that try thousands of configurations.
  void clear_memory() { images_.clear(); }

 private:
  using ImagePointer = std::shared_ptr<const KernelImage>;
  struct Request {
    const KernelSource& source;
    const KernelConfig& config;
    std::string_view architecture;
  };

  ImageAnswer find_or_compile(const Request& request);
  ImagePointer find_prebuilt(const Request& request, std::string_view architecture) const;
  ImageAnswer compile(const Request& request, const CompilerFinding& finding, std::string remark);
  [[noreturn]] void throw_unavailable(const Request& request, const std::string& problem) const;

  Sources sources_;
  OnceMap<ImagePointer> images_;
  std::atomic<std::int64_t> from_memory_{0};
  std::atomic<std::int64_t> from_disk_{0};
  std::atomic<std::int64_t> from_prebuilt_{0};
  std::atomic<std::int64_t> compiled_{0};
  std::atomic<std::int64_t> damaged_files_{0};
  std::atomic<std::int64_t> compile_us_{0};
};

}  // namespace tamis::gpu
