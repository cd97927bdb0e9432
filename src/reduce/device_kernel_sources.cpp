// Each family is compiled for what it depends on and nothing else, so that variants share code.
#include "reduce/device_kernels.hpp"

#include <array>

#include "gpu/source_file.hpp"

namespace tamis::reduce {

std::span<const gpu::SourceFile> codec_files() noexcept;  // embedded: src/reduce/CMakeLists.txt

namespace {

struct Family {
  const char* file;
  int threads;
  // What its text depends on.
  bool axes;
  bool value;
  bool lattice;
  bool contexts;
  bool teams = false;  // `threads` are those of a team
};

constexpr std::array<Family, 12> kFamilies = {{
    {"reduce/device/encode_cells.cu", 128, true, true, true, true},
    {"reduce/device/decode_cells.cu", 128, true, true, true, false},
    {"reduce/device/grid_tables.cu", 128, true, true, true, false},
    {"reduce/device/write_blobs.cu", 256, true, false, false, false},
    {"reduce/device/open_blobs.cu", 256, true, false, false, false},
    {"reduce/device/bundle_streams.cu", 256, true, false, true, false},
    {"reduce/device/finish_values.cu", 256, false, true, false, false},
    {"reduce/device/field_scan.cu", 256, false, true, false, false},
    {"reduce/device/trial_cells.cu", 128, true, true, true, false},
    {"reduce/device/coded_streams.cu", 512, true, false, true, false},
    {"reduce/device/decode_coded_cells.cu", 128, true, true, true, false, true},
    {"reduce/device/coded_trials.cu", 128, true, true, true, false},
}};

const Family& family_of(CodecFamily family) { return kFamilies[static_cast<std::size_t>(family)]; }

}  // namespace

const gpu::KernelSource& codec_source(CodecFamily family) {
  static const auto kSources = [] {
    std::vector<gpu::KernelSource> sources;
    std::vector<gpu::SourceFile> headers;
    for (const gpu::SourceFile& f : codec_files()) {
      if (!f.name.ends_with(".cu")) headers.push_back(f);
    }
    for (const Family& listed : kFamilies) {
      for (const gpu::SourceFile& f : codec_files()) {
        if (f.name == listed.file) sources.emplace_back(f, headers);
      }
    }
    return sources;
  }();
  return kSources[static_cast<std::size_t>(family)];
}

gpu::KernelConfig codec_config(CodecFamily family, const CodecVariant& variant) {
  const Family& f = family_of(family);
  gpu::KernelConfig config{{"TAMIS_THREADS", block_threads(family, variant)}};
  if (f.teams) config.set("TAMIS_TEAMS", variant.teams);
  if (f.axes) config.set("TAMIS_AXES", variant.axes);
  if (f.value) config.set("TAMIS_VALUE", variant.value_bytes);
  if (f.lattice) config.set("TAMIS_LATTICE", variant.lattice_bytes);
  if (f.contexts) config.set("TAMIS_CONTEXTS", variant.contexts ? 1 : 0);
  return config;
}

int block_threads(CodecFamily family, const CodecVariant& variant) {
  const Family& f = family_of(family);
  return f.teams ? f.threads * variant.teams : f.threads;
}

std::vector<gpu::KernelSpec> codec_kernels() {
  std::vector<gpu::KernelSpec> all;
  for (std::size_t i = 0; i < kFamilies.size(); ++i) {
    const auto family = static_cast<CodecFamily>(i);
    for (int axes = kFamilies[i].axes ? 1 : 3; axes <= 3; ++axes) {
      CodecVariant variant;
      variant.axes = axes;
      const auto add = [&] {
        all.push_back(
            {std::string(kFamilies[i].file), &codec_source(family), codec_config(family, variant)});
      };
      add();
      // Those of grids of anchors.
      if (family != CodecFamily::kEncodeCells && family != CodecFamily::kGridTables) continue;
      variant.value_bytes = 0;
      add();
    }
  }
  return all;
}

}  // namespace tamis::reduce
