// Each grid is encoded like a field whose values are lattice integers; its reconstructed nodes are
// the anchors of the next finer one. Rounding the base needs no chain: a multiple of the step
// before a node changes nothing about its nearest one.
#include "reduce/device_anchors.hpp"

#include <algorithm>
#include <cstring>

#include "core/byte_io.hpp"
#include "reduce/anchors.hpp"

namespace tamis::reduce {

namespace {

using device::CodecReport;

// Bytes of a grid's blobs that are fetched before their number is known.
std::int64_t first_fetch(const DeviceGridCodec& grid, std::int64_t nodes) {
  return std::min(grid.framed_room(), 2 * nodes + 4096);
}

}  // namespace

DeviceAnchors::DeviceAnchors(const Grid& finest, int lattice_bytes, const Device& device)
    : lattice_bytes_(lattice_bytes),
      finest_count_(finest.tile_count()),
      base_count_(finest.tile_count()),
      finest_(finest, 0, lattice_bytes, Mode::kDefault),
      sent_(device) {
  for (const Grid& grid : coarser_grids(finest)) {
    grids_.push_back(std::make_unique<DeviceGridCodec>(grid, 0, lattice_bytes, Mode::kDefault));
    base_count_ = grid.tile_count();
  }
}

std::int64_t DeviceAnchors::table_bytes() const {
  std::int64_t size = 0;
  for (const auto& grid : grids_) size += grid->table_bytes();
  return size;
}

void DeviceAnchors::take_tables(gpu::Workspace& workspace) {
  for (const auto& grid : grids_) grid->take_tables(workspace);
}

std::int64_t DeviceAnchors::workspace_bytes() const {
  using gpu::Workspace;
  std::int64_t size = Workspace::bytes<std::byte>(finest_count_ * lattice_bytes_);
  for (const auto& grid : grids_) {
    size += grid->workspace_bytes(0) + Workspace::bytes<std::byte>(grid->framed_room()) +
            Workspace::bytes<std::byte>(grid->grid().tile_count() * lattice_bytes_);
  }
  return size;
}

void DeviceAnchors::take(gpu::Workspace& workspace) {
  nodes_.assign(1, workspace.take<std::byte>(finest_count_ * lattice_bytes_));
  for (const auto& grid : grids_) {
    grid->take(workspace, 0);
    grid->blobs().framed = 1;
    grid->blobs().data = workspace.take<unsigned char>(grid->framed_room());
    grid->blobs().data_room = grid->framed_room();
    nodes_.push_back(workspace.take<std::byte>(grid->grid().tile_count() * lattice_bytes_));
  }
}

void DeviceAnchors::encode(const NumberMap& map, void* decoded, const Stream& stream) {
  step_ = map.step;
  for (std::size_t g = 0; g < grids_.size(); ++g) {
    DeviceGridCodec& grid = *grids_[g];
    grid.set_map(map, nullptr);
    grid.cells().source = nodes_[g];
    grid.cells().target = g == 0 ? decoded : grids_[g - 1]->anchors();
    fill_bytes(grid.predictors(), static_cast<std::uint8_t>(Predictor::kLinearAveraged),
               grid.grid().tile_count(), stream);
    fill_bytes(grid.cells().report, 0, sizeof(CodecReport), stream);
    grid.gather_anchors(nodes_[g + 1], stream);
    grid.count_codes(stream);
  }
  finest_.set_map(map, nullptr);
  finest_.round_nodes(nodes_.back(), grids_.empty() ? decoded : grids_.back()->anchors(),
                      base_count_, stream);
  for (std::size_t g = grids_.size(); g-- > 0;) grids_[g]->encode_cells(stream);
}

void DeviceAnchors::send(PinnedArea& area, const Stream& stream) {
  const auto count = static_cast<std::int64_t>(grids_.size());
  const std::int64_t base_bytes = base_count_ * lattice_bytes_;
  const auto nodes_of = [&](std::size_t g) {
    return g == 0 ? finest_count_ : grids_[g - 1]->grid().tile_count();
  };
  std::int64_t size = count * std::int64_t{sizeof(CodecReport)} + base_bytes;
  for (std::size_t g = 0; g < grids_.size(); ++g) size += first_fetch(*grids_[g], nodes_of(g));
  auto* reports =
      static_cast<CodecReport*>(static_cast<void*>(area.get<std::byte>(size, stream.device())));
  auto* at = reinterpret_cast<std::byte*>(reports + count);
  reports_ = reports;
  base_ = at;
  copy_bytes(at, nodes_.back(), base_bytes, stream);
  at += base_bytes;
  blobs_.clear();
  for (std::size_t g = 0; g < grids_.size(); ++g) {
    const DeviceGridCodec& grid = *grids_[g];
    grid.encode_streams(stream);
    grid.write_blobs(stream);
    blobs_.push_back({at, first_fetch(grid, nodes_of(g))});
    copy_bytes(at, grid.blobs().data, blobs_.back().size, stream);
    copy_bytes(reports + g, grid.cells().report, sizeof(CodecReport), stream);
    at += blobs_.back().size;
  }
  sent_.record(stream);
}

template <typename I>
void DeviceAnchors::write_base(std::vector<std::byte>& out) const {
  std::vector<I> nodes(static_cast<std::size_t>(base_count_));
  std::memcpy(nodes.data(), base_, nodes.size() * sizeof(I));
  encode_anchor_base(nodes, step_, out);
}

std::vector<std::byte> DeviceAnchors::receive(const Stream& stream) const {
  sent_.synchronize();
  std::vector<std::byte> section;
  if (lattice_bytes_ == 8) {
    write_base<std::int64_t>(section);
  } else {
    write_base<std::int32_t>(section);
  }
  ByteWriter writer(section);
  for (std::size_t g = grids_.size(); g-- > 0;) {
    const auto size = static_cast<std::int64_t>(reports_[g].data_bytes);
    if (size <= blobs_[g].size) {
      writer.bytes({blobs_[g].first, static_cast<std::size_t>(size)});
      continue;
    }
    std::vector<std::byte> all(static_cast<std::size_t>(size));
    copy_bytes(all.data(), grids_[g]->blobs().data, size, stream);
    stream.synchronize();
    writer.bytes(all);
  }
  return section;
}

}  // namespace tamis::reduce
