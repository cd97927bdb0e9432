// The kernels of the device codec: their texts and configurations.
#pragma once

#include <cstdint>
#include <vector>

#include "gpu/kernel_source.hpp"

namespace tamis::reduce {

/// What a family of kernels is compiled for.
struct CodecVariant {
  int axes = 3;           // active ones
  int value_bytes = 4;    // of the field; 0 where nodes are lattice integers (grids of anchors)
  int lattice_bytes = 4;  // of a lattice integer
  bool contexts = false;  // of codes, for rANS
  int teams = 4;          // bundles that a block decodes at a time, of coded cells
};

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

/// Threads of a block.
int block_threads(CodecFamily family, const CodecVariant& variant);

const gpu::KernelSource& codec_source(CodecFamily family);
gpu::KernelConfig codec_config(CodecFamily family, const CodecVariant& variant);

/// All that is shipped.
std::vector<gpu::KernelSpec> codec_kernels();

}  // namespace tamis::reduce
