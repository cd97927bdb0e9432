// Encoding and decoding of one grid on a device, given its anchors: the launches, in order, and the
// scratch memory between them.
#pragma once

#include <cstdint>
#include <string>

#include "gpu/kernel.hpp"
#include "reduce/device_grid.hpp"
#include "reduce/device_kernels.hpp"
#include "reduce/number_map.hpp"
#include "tamis/reduce.hpp"

namespace tamis::reduce {

class DeviceGridCodec {
 public:
  enum class Use : std::uint8_t { kEncode, kDecode };
  /// `value_bytes` of the nodes, 0 when they are lattice integers. A decoder for `ratio` takes what
  /// all modes wrote, the others refuse rANS by kFaultNoModels.
  DeviceGridCodec(const Grid& grid, int value_bytes, int lattice_bytes, Mode mode,
                  Use use = Use::kEncode);

  /// Scratch memory, tables included.
  std::int64_t workspace_bytes(std::int64_t patch_room) const;
  /// Takes all of it; pointers of cells() and blobs() are set but those of source, target, data.
  void take(gpu::Workspace& workspace, std::int64_t patch_room);

  device::CellArgs& cells() { return cells_; }
  device::BlobArgs& blobs() { return blobs_; }
  const DeviceGrid& grid() const { return grid_; }
  void set_map(const NumberMap& map, const double* device_palette);

  /// The table of tiles, which all other kernels need.
  void list_tiles(const Stream& stream) const;
  /// Lattice values of the anchors; the report must have been cleared.
  void gather_anchors(void* anchors, const Stream& stream) const;
  /// From anchors() and predictors to blobs, index and report.
  void encode(const Stream& stream) const;
  /// From blobs (sizes, places and checksums set) to the target.
  void decode(const Stream& stream) const;
  /// Writes the first `count` patches of cells() over the target.
  void apply_patches(std::int64_t count, const Stream& stream) const;

  void* anchors() const { return anchors_; }
  unsigned char* predictors() const { return blobs_.predictors_out; }

 private:
  gpu::Kernel kernel(const Stream& stream, CodecFamily family, std::string_view entry) const;
  void launch_cells(const Stream& stream, CodecFamily family, std::string_view verb) const;
  void launch_per_item(const Stream& stream, CodecFamily family, std::string_view entry,
                       std::int64_t items) const;
  std::int64_t stream_words(int stream) const;
  std::int64_t model_bytes() const;
  void take_models(gpu::Workspace& workspace);
  void encode_models(const Stream& stream) const;
  void launch_coded(const Stream& stream, const std::string& cells) const;

  DeviceGrid grid_;
  CodecVariant variant_;
  Mode mode_;
  Use use_;
  device::CellArgs cells_{};
  device::BlobArgs blobs_{};
  void* anchors_ = nullptr;
};

}  // namespace tamis::reduce
