// Whole tiles where time does not count; slices otherwise, more of them the larger the field.
#include "reduce/sample_tiles.hpp"

#include <algorithm>
#include <bit>

namespace tamis::reduce {

namespace {

constexpr std::int64_t kSampleRows = 65;
constexpr std::int64_t kSampleElements = 32768;

constexpr std::int64_t kThoroughTiles = 48;
constexpr std::int64_t kLeastTiles = 32;
constexpr std::int64_t kSmallField = 128;  // in tiles
constexpr std::int64_t kLeastSlices = 32;
constexpr std::int64_t kMostSlices = 96;
constexpr std::int64_t kTilesPerSlice = 16;

// The s-th of `wanted` tiles among `count`: even steps, and in each a place that steps by the
// golden ratio. Even places alone may all lie in one column of the tile grid.
std::int64_t scattered(std::int64_t s, std::int64_t wanted, std::int64_t count) {
  const std::int64_t begin = s * count / wanted;
  const std::int64_t end = (s + 1) * count / wanted;
  const std::uint32_t turn = static_cast<std::uint32_t>(s + 1) * 2654435769U;  // 2^32 / 1.618...
  return begin + static_cast<std::int64_t>(
                     std::uint64_t{turn} * static_cast<std::uint64_t>(end - begin) >> 32);
}

}  // namespace

GridPlan plan_with_last(std::uint32_t active_mask, int last) {
  GridPlan plan;
  plan.active_mask = active_mask;
  int next = 0;
  for (int k = std::popcount(active_mask) - 1; k >= 0; --k) {
    if (k != last) plan.order[static_cast<std::size_t>(next++)] = static_cast<std::uint8_t>(k);
  }
  plan.order[static_cast<std::size_t>(next)] = static_cast<std::uint8_t>(last);
  return plan;
}

std::vector<Grid::Range> sample_rows(const Extents& folded) {
  const std::int64_t rows = folded[0];
  const std::int64_t row = folded.element_count() / rows;
  const std::int64_t height = std::max(kSampleRows, (kSampleElements + row - 1) / row + 1);
  if (rows <= 3 * height) return {{0, rows}};
  std::vector<Grid::Range> ranges;
  for (const std::int64_t sixth : {1, 3, 5}) {
    const std::int64_t begin = (rows - height) * sixth / 6 / 64 * 64;
    ranges.push_back({begin, begin + height});
  }
  return ranges;
}

SamplePlan::SamplePlan(std::vector<Extents> windows, std::int64_t count, Mode mode)
    : windows_(std::move(windows)) {
  constexpr std::int64_t kTileNodes = 4096;
  const bool thorough = mode == Mode::kRatio;
  const std::int64_t tiles = count / kTileNodes;
  whole_ = thorough || tiles < kSmallField;
  wanted_ = thorough ? kThoroughTiles
            : whole_ ? kLeastTiles
                     : std::clamp(tiles / kTilesPerSlice, kLeastSlices, kMostSlices);
}

SampleTiles SamplePlan::tiles(std::uint32_t active_mask) const {
  SampleTiles out;
  std::int64_t tiles = 0;
  std::int64_t nodes = 0;
  for (std::size_t w = 0; w < windows_.size(); ++w) {
    const Grid& grid = out.grids.emplace_back(windows_[w], plan_with_last(active_mask, 0));
    tiles += grid.tile_count();
    nodes += grid.node_count();
    const std::int64_t share = wanted_ / static_cast<std::int64_t>(windows_.size());
    const std::int64_t count = std::min(share, grid.tile_count());
    for (std::int64_t s = 0; s < count; ++s) {
      out.tiles.push_back({w, grid.tile_at(scattered(s, count, grid.tile_count()))});
    }
  }
  out.anchors = static_cast<double>(tiles) / static_cast<double>(nodes);
  return out;
}

}  // namespace tamis::reduce
