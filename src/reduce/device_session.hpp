// What work on a device keeps from call to call, so that a steady stream of fields of one shape
// allocates nothing and uploads no table twice.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "gpu/memory.hpp"
#include "reduce/device_anchors.hpp"
#include "reduce/device_grid_codec.hpp"
#include "reduce/device_samples.hpp"
#include "reduce/pinned_area.hpp"
#include "tamis/device_reduce.hpp"

namespace tamis::reduce {

/// Codecs of a grid and of its anchors.
struct DeviceCodecs {
  DeviceCodecs(const Grid& grid, int value_bytes, int lattice_bytes, Mode mode,
               const Device& device)
      : field(grid, value_bytes, lattice_bytes, mode), anchors(grid, lattice_bytes, device) {}
  DeviceGridCodec field;
  DeviceAnchors anchors;
};

/// Memory of one family of trials; several may be under way at once.
struct TrialMemory {
  explicit TrialMemory(const Stream& stream) : device(stream) {}
  gpu::Workspace device;
  PinnedArea host;
};

class DeviceSession {
 public:
  explicit DeviceSession(const Stream& stream) : workspace(stream), tables_(stream) {}

  const Stream& stream() const { return workspace.stream(); }
  /// Waits for the stream, and counts.
  void wait() {
    stream().synchronize();
    ++report.waits;
  }

  TrialMemory& trials(std::size_t index) {
    while (trials_.size() <= index) trials_.push_back(std::make_unique<TrialMemory>(stream()));
    return *trials_[index];
  }
  /// Samples of such a field, and the codecs of such a grid: those of the call before where they
  /// fit. What replaces others does so in the order of the stream.
  DeviceSamples& samples(const Extents& folded, Mode mode);
  DeviceCodecs& codecs(const Grid& grid, int value_bytes, int lattice_bytes, Mode mode);

  gpu::Workspace workspace;  // of the step at hand
  PinnedArea scan;
  PinnedArea anchors;
  PinnedArea results;
  PinnedArea output;
  PinnedArea pieces;
  std::int64_t patch_room = std::int64_t{1} << 16;
  DeviceReport report;

 private:
  struct CodecKey {
    Extents extents;
    GridPlan plan;
    int value_bytes = 0;
    int lattice_bytes = 0;
    Mode mode = Mode::kDefault;
    bool operator==(const CodecKey&) const = default;
  };
  CodecKey codec_key_;
  std::unique_ptr<DeviceCodecs> codecs_;
  gpu::Workspace tables_;  // of the codecs
  std::unique_ptr<DeviceSamples> samples_;
  std::vector<std::unique_ptr<TrialMemory>> trials_;
};

}  // namespace tamis::reduce
