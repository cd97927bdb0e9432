// A grid as the kernels see it: its numbers, its tables in device memory, and how much scratch
// memory its coding takes.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "gpu/memory.hpp"
#include "reduce/device/grid_args.hpp"
#include "reduce/grid.hpp"

namespace tamis::reduce {

/// Elements behind the codes of a grid that kernels may read.
inline constexpr std::int64_t kCodeSlack = 512;

class DeviceGrid {
 public:
  /// Throws Error(kUnsupported) for a grid of 2^31 tiles or more.
  explicit DeviceGrid(const Grid& grid);

  /// Takes the tables from the workspace and copies them in the order of its stream.
  void take(gpu::Workspace& workspace);
  std::int64_t table_bytes() const;

  /// The pointers in it are set by take().
  const device::GridArgs& args() const { return args_; }
  int axes() const { return args_.axes; }
  int stream_count() const { return args_.axes + 1; }
  std::int64_t blob_count() const { return args_.chunk_count * (args_.axes + 2); }
  std::int64_t tile_count() const { return args_.tile_count; }
  std::int64_t node_count() const;
  std::int64_t bundle_count() const { return args_.bundle_count; }
  std::int64_t chunk_count() const { return args_.chunk_count; }
  /// Lattice integers of all planes.
  std::int64_t plane_values() const { return plane_values_; }
  /// Codes of all streams, with slack behind them.
  std::int64_t code_values() const { return code_values_; }

 private:
  void set_planes(const Grid& grid);
  void set_tables(const Grid& grid);
  void set_rooms(const Grid& grid);

  device::GridArgs args_{};
  std::int64_t plane_values_ = 0;
  std::int64_t code_values_ = 0;
  std::vector<device::BundleRange> bundles_;
  std::vector<device::ChunkRange> chunks_;
};

}  // namespace tamis::reduce
