// Tiles of windows become tiles of the field; slices are cut as ClosedTile::load() does.
#include "reduce/device_samples.hpp"

#include <algorithm>

namespace tamis::reduce {

namespace {

std::vector<Extents> windows_of(const Extents& folded, const std::vector<Grid::Range>& rows) {
  std::vector<Extents> windows;
  for (const Grid::Range& range : rows) {
    windows.push_back(folded);
    windows.back()[0] = range.size();
  }
  return windows;
}

}  // namespace

DeviceSamples::DeviceSamples(const Extents& folded, Mode mode)
    : folded_(folded),
      mode_(mode),
      rows_(sample_rows(folded)),
      plan_(windows_of(folded, rows_), folded.element_count(), mode) {}

const DeviceSamples::Cut& DeviceSamples::cut(std::uint32_t active_mask) {
  const auto [at, missing] = cuts_.try_emplace(active_mask);
  if (missing) at->second = make_cut(active_mask);
  return at->second;
}

DeviceSamples::Cut DeviceSamples::make_cut(std::uint32_t active_mask) const {
  const SampleTiles samples = plan_.tiles(active_mask);
  const Grid& any = samples.grids.front();
  const std::int64_t row = folded_.element_count() / folded_[0];
  Cut cut;
  cut.axes = any.active_count();
  cut.anchors = samples.anchors;
  for (int k = 0; k < cut.axes; ++k) cut.strides[k] = any.axis_stride(k);
  for (const SampleTile& s : samples.tiles) {
    device::TrialTile tile{};
    tile.origin = rows_[s.window].begin * row + s.tile.origin;
    for (int k = 0; k < cut.axes; ++k) tile.nodes[k] = s.tile.nodes[k];
    const int most = slice_nodes(any.tile());
    tile.slice = plan_.sliced() && tile.nodes[0] > most ? 1 : 0;
    if (tile.slice != 0) tile.nodes[0] = most;
    cut.tiles.push_back(tile);
  }
  return cut;
}

}  // namespace tamis::reduce
