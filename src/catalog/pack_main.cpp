// tamis_pack, run during the build: compiles every shipped kernel for the given architectures with
// the run-time compiler and writes the table of prebuilt kernels as C++.
//   tamis_pack OUTPUT.cpp ARCHITECTURE...
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <string>
#include <vector>

#include "catalog/shipped_kernels.hpp"
#include "gpu/architecture.hpp"
#include "gpu/compile_options.hpp"
#include "gpu/runtime_compiler.hpp"
#include "tamis/error.hpp"

namespace tamis::catalog {
namespace {

// Words, because compilers read them several times as quickly as single bytes.
std::string code_text(const std::vector<std::byte>& code, std::size_t index) {
  const std::size_t words = (code.size() + 7) / 8;
  std::string text = "alignas(16) constexpr std::uint64_t kCode" + std::to_string(index) + "[" +
                     std::to_string(words) + "] = {";
  for (std::size_t i = 0; i < words; ++i) {
    std::uint64_t word = 0;
    std::memcpy(&word, code.data() + 8 * i, std::min<std::size_t>(8, code.size() - 8 * i));
    char digits[24];
    std::snprintf(digits, sizeof digits, "0x%llx,", static_cast<unsigned long long>(word));
    text += (i % 6 == 0 ? "\n    " : " ") + std::string(digits);
  }
  return text + "};\n\n";
}

std::string entry_text(const gpu::KernelSpec& spec, const std::string& architecture,
                       std::size_t code_size, std::size_t index) {
  const auto key = gpu::content_key(*spec.source, gpu::compile_options(architecture, spec.config));
  return "    {{" + std::to_string(key.low) + "u, " + std::to_string(key.high) + "u}, \"" +
         architecture + "\", \"" + spec.name + "\", code(kCode" + std::to_string(index) + ", " +
         std::to_string(code_size) + ")},\n";
}

std::string table_text(const std::vector<std::string>& architectures) {
  std::string codes;
  std::string entries;
  std::string compilers;
  std::size_t index = 0;
  for (const std::string& architecture : architectures) {
    const auto& finding = gpu::shared_compiler(gpu::architecture_kind(architecture));
    if (!finding.compiler) throw Error(ErrorCode::kUnavailable, finding.problem);
    compilers += " " + architecture + " by " + finding.compiler->identity() + ";";
    for (const gpu::KernelSpec& spec : shipped_kernels()) {
      const auto code = finding.compiler->compile(*spec.source, spec.config, architecture);
      codes += code_text(code, index);
      entries += entry_text(spec, architecture, code.size(), index);
      std::printf("%s for %s: %zu bytes\n", spec.name.c_str(), architecture.c_str(), code.size());
      ++index;
    }
  }
  return "// Made by tamis_pack:" + compilers +
         "\n#include <cstdint>\n\n#include \"gpu/prebuilt.hpp\"\n\nnamespace tamis::gpu {\n"
         "namespace {\n\n" +
         codes +
         "std::span<const std::byte> code(std::span<const std::uint64_t> words, "
         "std::size_t size) {\n  return std::as_bytes(words).first(size);\n}\n\n"
         "}  // namespace\n\nstd::span<const PrebuiltKernel> prebuilt_kernels() noexcept {\n"
         "  static const PrebuiltKernel kKernels[] = {\n" +
         entries + "  };\n  return kKernels;\n}\n\n}  // namespace tamis::gpu\n";
}

int run(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: tamis_pack OUTPUT.cpp ARCHITECTURE...\n");
    return 2;
  }
  const std::string text = table_text({argv + 2, argv + argc});
  std::ofstream file(argv[1], std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (!file) throw Error(ErrorCode::kIo, std::string("cannot write ") + argv[1]);
  return 0;
}

}  // namespace
}  // namespace tamis::catalog

int main(int argc, char** argv) {
  try {
    return tamis::catalog::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tamis_pack: %s\n", error.what());
    return 1;
  }
}
