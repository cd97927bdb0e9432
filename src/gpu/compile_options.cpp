// Compiler options and keys.
#include "gpu/compile_options.hpp"

#include <span>

#include "core/byte_io.hpp"
#include "gpu/architecture.hpp"

namespace tamis::gpu {
namespace {

void add_text(ByteWriter& writer, std::string_view text) {
  writer.u64(text.size());
  writer.bytes(std::as_bytes(std::span(text.data(), text.size())));
}

}  // namespace

std::vector<std::string> compile_options(std::string_view architecture,
                                         const KernelConfig& config) {
  std::vector<std::string> options;
  const std::string name(architecture);
  const std::string wave = std::to_string(architecture_wave_size(architecture));
  if (architecture_kind(architecture) == DeviceKind::kCuda) {
    options = {"-arch=" + name,   "--std=c++17",      "--fmad=false",      "--ftz=false",
               "--prec-div=true", "--prec-sqrt=true", "-DTAMIS_GPU_CUDA=1"};
  } else {
    options = {"--offload-arch=" + name, "-std=c++17", "-O3", "-ffp-contract=off",
               "-DTAMIS_GPU_HIP=1"};
  }
  options.push_back("-DTAMIS_WAVE=" + wave);
  for (const auto& [macro, value] : config.entries()) {
    options.push_back("-D" + macro + "=" + value);
  }
  return options;
}

Hash128 content_key(const KernelSource& source, const std::vector<std::string>& options) {
  std::vector<std::byte> bytes;
  ByteWriter writer(bytes);
  writer.u32(kKernelFormat);
  writer.u64(source.hash().low);
  writer.u64(source.hash().high);
  for (const std::string& option : options) add_text(writer, option);
  return xxh3_128(bytes);
}

Hash128 image_key(const Hash128& content, std::string_view compiler) {
  std::vector<std::byte> bytes;
  ByteWriter writer(bytes);
  writer.u64(content.low);
  writer.u64(content.high);
  add_text(writer, compiler);
  return xxh3_128(bytes);
}

std::string key_text(const Hash128& key) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::uint64_t half : {key.high, key.low}) {
    for (int shift = 60; shift >= 0; shift -= 4) text += kDigits[(half >> shift) & 15];
  }
  return text;
}

}  // namespace tamis::gpu
