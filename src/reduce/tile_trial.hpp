// Trial encodings of single tiles, taken as closed cells whose boundary is exact: what plans and
// predictors are judged by.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "core/array.hpp"
#include "reduce/code_price.hpp"
#include "reduce/grid_codec.hpp"

namespace tamis::reduce {

/// A tile with its far faces, voids filled.
template <typename I>
struct ClosedTile {
  CellShape shape;
  bool masked = false;
  Array<I> values;
  std::vector<std::uint8_t> valid;  // when masked

  /// With `slice` a quarter of the tile is taken.
  void load(const Grid& grid, Grid::Tile tile, bool slice, const LatticeRows<I>& rows,
            VoidFiller& filler);
};

/// Codes of one tile.
template <typename I>
struct TrialCodes {
  const I* coarse;
  const I* fine;
  const std::uint8_t* coarse_contexts;
  const std::uint8_t* fine_contexts;
  std::int64_t coarse_count;
  std::int64_t fine_count;

  double teach(CodePricer& pricer) const {
    return pricer.learn(coarse, coarse_contexts, coarse_count) +
           pricer.learn(fine, fine_contexts, fine_count);
  }
  double price(const CodePricer& pricer) const {
    return pricer.price(coarse, coarse_contexts, coarse_count) +
           pricer.price(fine, fine_contexts, fine_count);
  }
};

template <typename I>
class TileTrial {
 public:
  TileTrial(int max_rank, int tile);

  /// fn(index of a tile, its codes), in no particular order.
  template <typename Fn>
  void encode(std::span<const ClosedTile<I>> tiles, const CellRule& rule, bool contexts,
              const Fn& fn) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < tiles.size(); ++i) {
      if (tiles[i].shape.open_count() > 0) order.push_back(i);
    }
    const auto key = [&](std::size_t i) {
      const CellShape& s = tiles[i].shape;
      return std::tuple(tiles[i].masked, s.slice, s.nodes[0], s.nodes[1], s.nodes[2]);
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
    const auto lanes = static_cast<std::size_t>(batch_.lanes());
    for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
      while (end < order.size() && end - begin < lanes && key(order[end]) == key(order[begin])) {
        ++end;
      }
      const std::span<const std::size_t> group(order.data() + begin, end - begin);
      run(tiles, group, rule, contexts);
      for (std::size_t l = 0; l < group.size(); ++l) fn(group[l], codes(l));
    }
  }

 private:
  void run(std::span<const ClosedTile<I>> tiles, std::span<const std::size_t> group,
           const CellRule& rule, bool contexts);
  TrialCodes<I> codes(std::size_t lane) const;

  CellBatch<I> batch_;
  std::int64_t room_;             // codes of a part of a lane
  Array<I> codes_;                // (lane, part, code)
  Array<std::uint8_t> contexts_;  // same
  CodeSink<I> sinks_[kMaxLanes];
  std::vector<std::uint8_t> valid_;
};

}  // namespace tamis::reduce
