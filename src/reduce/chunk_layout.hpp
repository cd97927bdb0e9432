// The cells of one rank in a chunk, in stream order: where the codes of each lie, and which of them
// can share a batch. Encoder and decoder lay a chunk out alike.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "reduce/grid_codec.hpp"

namespace tamis::reduce {

struct CellJob {
  Grid::Tile tile;
  int mask = 0;  // its free axes
  CellShape shape;
  Predictor predictor = Predictor::kLinear;
  bool masked = false;
  bool wanted = true;  // decoder: the nodes of its tile are to be handed out
  int bundle = 0;
  int turn = 0;  // among the cells of its bundle
  /// Codes, and where they begin: in streams 0 and 1 for an interior, both in stream 0 otherwise.
  std::int64_t coarse_at = 0;
  std::int64_t fine_at = 0;
  std::int64_t coarse = 0;
  std::int64_t fine = 0;
};

class ChunkLayout {
 public:
  /// Cells of `rank` of the tiles. `tile_needed` leaves out whole bundles.
  template <typename I, typename Needed>
  void plan(const Grid& grid, Grid::Range tiles, int rank, std::span<const Predictor> predictors,
            const LatticeRows<I>& rows, std::vector<std::uint8_t>& valid, const Needed& needed) {
    start(Grid::bundles_in(tiles), rank == grid.active_count());
    for (std::int64_t t = tiles.begin; t < tiles.end; ++t) {
      const auto bundle = static_cast<int>((t - tiles.begin) / kBundleTiles);
      if (needed(t)) {
        const Grid::Tile tile = grid.tile_at(t);
        each_mask(grid, rank, [&](int mask) {
          CellJob job;
          job.tile = tile;
          job.mask = mask;
          job.shape = grid.cell_shape(tile, mask);
          job.predictor = predictors[static_cast<std::size_t>(t)];
          job.bundle = bundle;
          if (job.shape.open_count() > 0) {
            job.masked = rows.read_valid(open_block(grid, tile, mask), valid.data());
          }
          add(job, valid);
        });
      }
      end_tile(bundle);
    }
  }

  std::span<CellJob> jobs() { return jobs_; }
  /// End of each bundle in a stream.
  const std::vector<std::int64_t>& bundle_ends(int stream) const { return ends_[stream]; }
  std::int64_t size(int stream) const { return ends_[stream].empty() ? 0 : ends_[stream].back(); }
  Grid::Range bundle(int stream, int index) const;

  /// fn(jobs) for groups of at most `lanes` that have shape, rule and mask in common. With
  /// `in_turn` no cell comes before an earlier one of its bundle, nor shares a group with it.
  template <typename Fn>
  void each_group(int lanes, bool in_turn, const Fn& fn) {
    sort(in_turn);
    std::vector<const CellJob*> group;
    std::uint64_t key = 0;
    for (const Sorted& next : order_) {
      if (!group.empty() && (static_cast<int>(group.size()) == lanes || next.key != key)) {
        fn(std::span<const CellJob* const>(group));
        group.clear();
      }
      key = next.key;
      group.push_back(next.job);
    }
    if (!group.empty()) fn(std::span<const CellJob* const>(group));
  }

 private:
  template <typename Fn>
  static void each_mask(const Grid& grid, int rank, const Fn& fn) {
    for (int mask = 1; mask <= grid.full_mask(); ++mask) {
      if (std::popcount(static_cast<unsigned>(mask)) == rank) fn(mask);
    }
  }

  void start(std::int64_t bundles, bool interior);
  void add(CellJob job, std::vector<std::uint8_t>& valid);
  void end_tile(int bundle);
  void sort(bool in_turn);

  bool interior_ = false;
  std::vector<CellJob> jobs_;
  std::vector<std::int64_t> ends_[2];
  std::int64_t at_[2] = {};
  int turn_ = 0;
  int bundle_ = 0;
  struct Sorted {
    std::uint64_t key;  // equal for cells that may share a group
    const CellJob* job;
  };
  std::vector<Sorted> order_;
};

}  // namespace tamis::reduce
