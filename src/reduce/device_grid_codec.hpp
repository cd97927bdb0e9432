// Encoding and decoding of one grid on a device, given its anchors: the launches, in order, and the
// scratch memory between them.
#pragma once

#include <cstdint>
#include <string>

#include "gpu/kernel.hpp"
#include "reduce/device_grid.hpp"
#include "reduce/device_kernels.hpp"
#include "reduce/device_lattice.hpp"
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

  /// Tables of the grid, which may serve many fields: made in the order of the workspace's
  /// stream.
  std::int64_t table_bytes() const { return grid_.table_bytes(); }
  void take_tables(gpu::Workspace& workspace);
  /// Scratch memory besides.
  std::int64_t workspace_bytes(std::int64_t patch_room) const;
  /// Takes all of it, the tables having been taken; pointers of cells() and blobs() are set but
  /// those of source, target, data.
  void take(gpu::Workspace& workspace, std::int64_t patch_room);

  device::CellArgs& cells() { return cells_; }
  const device::CellArgs& cells() const { return cells_; }
  device::BlobArgs& blobs() { return blobs_; }
  const device::BlobArgs& blobs() const { return blobs_; }
  const DeviceGrid& grid() const { return grid_; }
  /// Most bytes of framed blobs.
  std::int64_t framed_room() const;
  /// Most bytes of the index.
  std::int64_t index_room() const { return grid_.blob_count() * 14; }
  int lattice_bytes() const { return variant_.lattice_bytes; }
  void set_map(const NumberMap& map, const double* device_palette) {
    cells_.lattice = lattice_args(map, variant_.lattice_bytes, device_palette);
  }
  const device::LatticeArgs& lattice() const { return cells_.lattice; }

  /// Lattice values of the anchors.
  void gather_anchors(void* anchors, const Stream& stream) const;
  /// From predictors() to the places of all codes.
  void count_codes(const Stream& stream) const;
  /// From anchors() and the counted codes to codes; in a grid of anchors also to the target.
  void encode_cells(const Stream& stream) const;
  /// From codes to streams, and the places and sizes of blobs.
  void encode_streams(const Stream& stream) const;
  /// From there to the blobs, whose data must now be set, the index and the report.
  void write_blobs(const Stream& stream) const;
  /// From blobs (sizes, places and checksums set) to codes, as far as they need no contexts.
  void decode_streams(const Stream& stream) const;
  /// From there and anchors() to the target.
  void decode_cells(const Stream& stream) const;
  /// Writes the first `count` patches of cells() over the target.
  void apply_patches(std::int64_t count, const Stream& stream) const;

  void* anchors() const { return anchors_; }
  unsigned char* predictors() const { return blobs_.predictors_out; }

  /// Nearest multiples of the step of `count` lattice values.
  void round_nodes(const void* nodes, void* rounded, std::int64_t count,
                   const Stream& stream) const;

 private:
  gpu::Kernel kernel(const Stream& stream, CodecFamily family, std::string_view entry) const;
  std::int64_t word_room() const;  // 32-bit words of all streams
  void launch_cells(const Stream& stream, CodecFamily family, std::string_view verb) const;
  void launch_blobs(const Stream& stream, std::string_view entry, std::int64_t blocks) const;
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
