// Each family is compiled for what it depends on and nothing else, so that variants share code.
#include "reduce/device_kernels.hpp"

#include <array>

#include "gpu/source_file.hpp"

namespace tamis::reduce {

std::span<const gpu::SourceFile> codec_files() noexcept;  // embedded: src/reduce/CMakeLists.txt

namespace {

struct Family {
  const char* file;
  // What its text depends on, beside the launch.
  bool axes;
  bool value;
  bool lattice;
  bool contexts;
};

constexpr std::array<Family, kCodecFamilies> kFamilies = {{
    {"reduce/device/encode_cells.cu", true, true, true, true},
    {"reduce/device/decode_cells.cu", true, true, true, false},
    {"reduce/device/grid_tables.cu", true, true, true, false},
    {"reduce/device/write_blobs.cu", true, false, false, false},
    {"reduce/device/open_blobs.cu", true, false, false, false},
    {"reduce/device/bundle_streams.cu", true, false, true, false},
    {"reduce/device/finish_values.cu", false, true, false, false},
    {"reduce/device/field_scan.cu", false, true, false, false},
    {"reduce/device/trial_cells.cu", true, true, true, false},
    {"reduce/device/coded_streams.cu", true, false, true, false},
    {"reduce/device/decode_coded_cells.cu", true, true, true, false},
    {"reduce/device/coded_trials.cu", true, true, true, false},
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
  const FamilyLaunch& launch = variant.launch(family);
  gpu::KernelConfig config{{"TAMIS_THREADS", block_threads(family, variant)}};
  if (launch.face_blocks > 0) config.set("TAMIS_FACE_BLOCKS", launch.face_blocks);
  if (launch.interior_blocks > 0) config.set("TAMIS_INTERIOR_BLOCKS", launch.interior_blocks);
  if (launch.teams > 0) config.set("TAMIS_TEAMS", launch.teams);
  if (f.axes) config.set("TAMIS_AXES", variant.axes);
  if (f.value) config.set("TAMIS_VALUE", variant.value_bytes);
  if (f.lattice) config.set("TAMIS_LATTICE", variant.lattice_bytes);
  if (f.contexts) config.set("TAMIS_CONTEXTS", variant.contexts ? 1 : 0);
  return config;
}

int block_threads(CodecFamily family, const CodecVariant& variant) {
  const FamilyLaunch& launch = variant.launch(family);
  return launch.teams > 0 ? launch.threads * launch.teams : launch.threads;
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
