// Which tiles of a field on a device plans are judged by: those of sample_tiles.hpp, with their
// places in the whole field.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "reduce/device/grid_args.hpp"
#include "reduce/sample_tiles.hpp"

namespace tamis::reduce {

class DeviceSamples {
 public:
  DeviceSamples(const Extents& folded, Mode mode);

  bool suit(const Extents& folded, Mode mode) const { return folded == folded_ && mode == mode_; }
  const SamplePlan& plan() const { return plan_; }
  const Extents& folded() const { return folded_; }

  /// The tiles when the field is cut along some axes.
  struct Cut {
    std::vector<device::TrialTile> tiles;
    long long strides[device::kMostActive] = {};  // of the active axes
    int axes = 0;
    double anchors = 0;  // share of the nodes
  };
  const Cut& cut(std::uint32_t active_mask);

 private:
  Cut make_cut(std::uint32_t active_mask) const;

  Extents folded_;
  Mode mode_;
  std::vector<Grid::Range> rows_;  // of the windows
  SamplePlan plan_;
  std::map<std::uint32_t, Cut> cuts_;
};

}  // namespace tamis::reduce
