// Smooth stand-ins for points without a value. The decoder never sees them; they only have to make
// the points around them predictable, so the encoder fills each cell on its own.
#pragma once

#include <cstdint>
#include <vector>

namespace tamis::reduce {

/// Fills a box of up to three axes by pull and push (averages of known points at ever coarser
/// levels, handed back down and smoothed); in integers, so that all devices agree.
class VoidFiller {
 public:
  /// `values` and `known` are natural arrays of side `side`; `nodes` are the counts of plane, line
  /// and row. Entries with known = 0 are replaced. With nothing known they become 0.
  template <typename I>
  void fill(I* values, const std::uint8_t* known, const int nodes[3], int side);

 private:
  struct Level {
    int n[3];
    std::vector<std::int64_t> value;
    std::vector<std::uint8_t> known;
    std::int64_t at(int z, int y, int x) const { return (std::int64_t{z} * n[1] + y) * n[2] + x; }
  };

  static void pull(const Level& fine, Level& coarse);
  void push(const Level& coarse, Level& fine);
  void smooth(Level& level);

  std::vector<Level> levels_;
  std::vector<std::int64_t> next_;
};

}  // namespace tamis::reduce
