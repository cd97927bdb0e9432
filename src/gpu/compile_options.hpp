// What the run-time compilers are told, and the keys under which their results are kept.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/checksum.hpp"
#include "gpu/kernel_config.hpp"
#include "gpu/kernel_source.hpp"

namespace tamis::gpu {

/// Counts up when the meaning of keys or of stored code changes.
inline constexpr std::uint32_t kKernelFormat = 1;

/// Options of NVRTC or hipRTC, by the architecture's kind: machine code for exactly that
/// architecture, no contraction and no fast math (results are the same bits on every device), and
/// the configuration as macros. Throws Error(kInvalidArgument) for a name that is no architecture.
std::vector<std::string> compile_options(std::string_view architecture, const KernelConfig& config);

/// Names code by all that goes into a compiler: texts, options with architecture, format.
Hash128 content_key(const KernelSource& source, const std::vector<std::string>& options);
/// Names code by the compiler too; `compiler` is RuntimeCompiler::identity().
Hash128 image_key(const Hash128& content, std::string_view compiler);

/// 32 hexadecimal digits.
std::string key_text(const Hash128& key);

}  // namespace tamis::gpu
