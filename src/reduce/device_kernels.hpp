// The kernels of the device codec: their texts and configurations.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "gpu/kernel_source.hpp"

namespace tamis::reduce {

enum class CodecFamily : std::uint8_t {
  kEncodeCells,
  kDecodeCells,
  kGridTables,
  kWriteBlobs,
  kOpenBlobs,
  kBundleStreams,
  kFinishValues,
  kFieldScan,
  kTrialCells,
  kCodedStreams,
  kCodedCells,
  kCodedTrials,
};

inline constexpr std::size_t kCodecFamilies = 12;

/// How a family is launched, and compiled for it; 0 where it has no such parameter.
struct FamilyLaunch {
  int threads = 0;  // of a block, or of a team
  int face_blocks = 0;
  int interior_blocks = 0;  // blocks that a multiprocessor is to hold
  int teams = 0;            // bundles that a block decodes at a time, of coded cells
};
/// In the order of CodecFamily.
using CodecLaunches = std::array<FamilyLaunch, kCodecFamilies>;
/// Those of the tunables' fallbacks (device_tunables.hpp).
const CodecLaunches& fallback_launches();

/// What a family of kernels is compiled for.
struct CodecVariant {
  int axes = 3;           // active ones
  int value_bytes = 4;    // of the field; 0 where nodes are lattice integers (grids of anchors)
  int lattice_bytes = 4;  // of a lattice integer
  bool contexts = false;  // of codes, for rANS
  CodecLaunches launches = fallback_launches();

  FamilyLaunch& launch(CodecFamily family) { return launches[static_cast<std::size_t>(family)]; }
  const FamilyLaunch& launch(CodecFamily family) const {
    return launches[static_cast<std::size_t>(family)];
  }
};

/// Threads of a block.
int block_threads(CodecFamily family, const CodecVariant& variant);

const gpu::KernelSource& codec_source(CodecFamily family);
gpu::KernelConfig codec_config(CodecFamily family, const CodecVariant& variant);

/// All that is shipped.
std::vector<gpu::KernelSpec> codec_kernels();

}  // namespace tamis::reduce
