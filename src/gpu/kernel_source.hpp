// The text of a kernel file with the headers that it includes, and what a shipped kernel is.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/checksum.hpp"
#include "gpu/kernel_config.hpp"
#include "gpu/source_file.hpp"

namespace tamis::gpu {

/// The headers of src/gpu/device, which every kernel may include.
std::span<const SourceFile> device_headers() noexcept;

/// Make one per file, once (a function's static constant): the constructor reads and hashes it all.
class KernelSource {
 public:
  /// `headers` are the family's own, those shared with host code among them. Texts must outlive
  /// this object. Throws Error(kInvalidArgument) when an include in quotes names none of them and
  /// no device header.
  explicit KernelSource(const SourceFile& main, std::span<const SourceFile> headers = {});

  std::string_view name() const noexcept { return main_.name; }
  std::string_view text() const noexcept { return main_.text; }
  /// Those that are included, directly or not, so that others do not enter the hash.
  const std::vector<SourceFile>& headers() const noexcept { return headers_; }
  /// Of all names and texts.
  const Hash128& hash() const noexcept { return hash_; }

 private:
  SourceFile main_;
  std::vector<SourceFile> headers_;
  Hash128 hash_;
};

/// One kernel file in one configuration that comes with Tamis. Each layer with kernels has a
/// function that lists its own; catalog/shipped_kernels.cpp joins them.
struct KernelSpec {
  std::string name;                      // "gpu/self_test"
  const KernelSource* source = nullptr;  // lives for ever
  KernelConfig config;
};

}  // namespace tamis::gpu
