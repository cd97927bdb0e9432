// Layout of planes and codes; see reduce/device/grid_args.hpp.
#include "reduce/device_grid.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "tamis/error.hpp"

namespace tamis::reduce {

namespace {

constexpr std::int64_t kMostTiles = INT32_MAX;
constexpr std::int64_t kCodeAlignment = 16;  // codes: streams begin at whole 64-byte pieces

}  // namespace

DeviceGrid::DeviceGrid(const Grid& grid) {
  static_assert(device::kTilesPerBundle == kBundleTiles && device::kMostActive == kMaxCellRank &&
                device::kBundlesPerChunk * kBundleTiles == kChunkTiles);
  if (grid.tile_count() > kMostTiles) {
    throw Error(ErrorCode::kUnsupported, "a grid of " + std::to_string(grid.tile_count()) +
                                             " tiles on a device; at most " +
                                             std::to_string(kMostTiles));
  }
  const Extents strides = grid.extents().contiguous_strides();
  args_.rank = grid.extents().rank();
  args_.axes = grid.active_count();
  args_.tile_count = grid.tile_count();
  long long batch = 1;
  for (int d = device::kMostAxes - 1; d >= 0; --d) {
    const bool exists = d < args_.rank;
    const bool active = exists && (grid.plan().active_mask >> d & 1U) != 0;
    args_.extents[d] = exists ? grid.extents()[d] : 1;
    args_.strides[d] = exists ? strides[d] : 0;
    args_.tiles[d] = exists ? grid.tile_grid()[d] : 1;
    args_.batch_stride[d] = active || !exists ? 0 : batch;
    if (!active && exists) batch *= grid.extents()[d];
  }
  for (int k = 0; k < args_.axes; ++k) {
    args_.active[k] = grid.active_axis(k);
    args_.order[k] = grid.plan().order[static_cast<std::size_t>(k)];
  }
  set_planes(grid);
  set_tables(grid);
  set_rooms(grid);
}

std::int64_t DeviceGrid::node_count() const {
  std::int64_t count = 1;
  for (int d = 0; d < args_.rank; ++d) count *= args_.extents[d];
  return count;
}

void DeviceGrid::set_planes(const Grid& grid) {
  long long batches = 1;
  for (int d = 0; d < args_.rank; ++d) {
    if ((grid.plan().active_mask >> d & 1U) == 0) batches *= args_.extents[d];
  }
  long long at = 0;
  for (int k = 0; k < args_.axes; ++k) {
    long long stride = 1;
    for (int j = args_.axes - 1; j >= 0; --j) {
      args_.plane_stride[k][j] = j == k ? 0 : stride;
      if (j != k) stride *= args_.extents[args_.active[j]];
    }
    args_.plane_at[k] = at;
    args_.plane_tile[k] = stride;
    args_.plane_batch[k] = stride * args_.tiles[args_.active[k]];
    at += args_.plane_batch[k] * batches;
  }
  plane_values_ = at;
}

void DeviceGrid::set_tables(const Grid& grid) {
  for (const Grid::Range& chunk : grid.chunks()) {
    device::ChunkRange range{};
    range.first_bundle = static_cast<long long>(bundles_.size());
    range.first_tile = chunk.begin;
    range.bundles = static_cast<int>(Grid::bundles_in(chunk));
    range.tiles = static_cast<int>(chunk.size());
    for (std::int64_t t = chunk.begin; t < chunk.end; t += kBundleTiles) {
      bundles_.push_back({t, static_cast<int>(std::min<std::int64_t>(kBundleTiles, chunk.end - t)),
                          static_cast<int>(chunks_.size())});
    }
    chunks_.push_back(range);
  }
  args_.bundle_count = static_cast<long long>(bundles_.size());
  args_.chunk_count = static_cast<long long>(chunks_.size());
}

void DeviceGrid::set_rooms(const Grid& grid) {
  const int full = grid.full_mask();
  std::array<std::int64_t, device::kMostStreams> room{};
  for (int mask = 1; mask <= full; ++mask) {
    std::int64_t open = 1;
    std::int64_t coarse = 1;
    for (int k = 0; k < args_.axes; ++k) {
      if ((mask >> k & 1) == 0) continue;
      const std::int64_t points =
          std::min<std::int64_t>(args_.extents[args_.active[k]], grid.tile()) - 1;
      open *= points;
      coarse *= points / 2;
    }
    const auto rank = static_cast<std::size_t>(std::popcount(static_cast<unsigned>(mask)));
    // A Lorenzo tile counts all points of its interior as fine.
    room[rank - 1] += mask == full ? coarse : open;
    if (mask == full) room[rank] += open;
  }
  std::int64_t at = 0;
  for (int s = 0; s < stream_count(); ++s) {
    const std::int64_t codes = room[static_cast<std::size_t>(s)] * kBundleTiles;
    args_.code_room[s] = (codes + kCodeAlignment - 1) / kCodeAlignment * kCodeAlignment;
    args_.codes_at[s] = at;
    at += args_.code_room[s] * args_.bundle_count;
  }
  code_values_ = at + kCodeSlack;
}

std::int64_t DeviceGrid::table_bytes() const {
  return gpu::Workspace::bytes<device::BundleRange>(args_.bundle_count) +
         gpu::Workspace::bytes<device::ChunkRange>(args_.chunk_count) +
         gpu::Workspace::bytes<device::TileEntry>(args_.tile_count);
}

void DeviceGrid::take(gpu::Workspace& workspace) {
  auto* bundles = workspace.take<device::BundleRange>(args_.bundle_count);
  auto* chunks = workspace.take<device::ChunkRange>(args_.chunk_count);
  const auto copy = [&](auto* to, const auto& from) {
    copy_bytes(to, from.data(), static_cast<std::int64_t>(from.size() * sizeof(from[0])),
               workspace.stream());
  };
  copy(bundles, bundles_);
  copy(chunks, chunks_);
  args_.bundles = bundles;
  args_.chunks = chunks;
  args_.entries = workspace.take<device::TileEntry>(args_.tile_count);
}

}  // namespace tamis::reduce
