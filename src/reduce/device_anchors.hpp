// The coarser grids of a field on the device: the section that encode_anchors() makes on the host,
// in two steps, so that the field is encoded from the reconstructed anchors while their own codes
// are still on their way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "gpu/event.hpp"
#include "gpu/memory.hpp"
#include "reduce/device_grid_codec.hpp"
#include "reduce/pinned_area.hpp"

namespace tamis::reduce {

class DeviceAnchors {
 public:
  DeviceAnchors(const Grid& finest, int lattice_bytes, const Device& device);

  /// Tables of the grids, which may serve many fields.
  std::int64_t table_bytes() const;
  void take_tables(gpu::Workspace& workspace);
  /// Scratch memory besides.
  std::int64_t workspace_bytes() const;
  void take(gpu::Workspace& workspace);

  /// Where the lattice values of the finest grid's anchors have to lie.
  void* nodes() const { return nodes_.front(); }
  /// From nodes() to `decoded`: what the decoder will see.
  void encode(const NumberMap& map, void* decoded, const Stream& stream);
  /// Then the codes, on their way to the host.
  void send(PinnedArea& area, const Stream& stream);
  /// Waits until they are there. Returns the section.
  std::vector<std::byte> receive(const Stream& stream) const;

 private:
  template <typename I>
  void write_base(std::vector<std::byte>& out) const;

  int lattice_bytes_;
  std::int64_t finest_count_;
  std::int64_t base_count_;  // nodes of the coarsest grid's anchors
  std::int64_t step_ = 1;
  std::vector<std::unique_ptr<DeviceGridCodec>> grids_;  // from the finest of them on
  std::vector<void*> nodes_;                             // of each grid, then the base
  DeviceGridCodec finest_;                               // lends its kernels
  gpu::Event sent_;
  // On the host: reports, base, then the beginning of each grid's blobs.
  const device::CodecReport* reports_ = nullptr;
  const std::byte* base_ = nullptr;
  struct Arrival {
    const std::byte* first;
    std::int64_t size;
  };
  std::vector<Arrival> blobs_;
};

}  // namespace tamis::reduce
