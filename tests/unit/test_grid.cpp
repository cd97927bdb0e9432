// The cut of a field against brute force: tiles, chunks and layers cover it once, neighbours are
// where they should be, and the boundary of every cell is what its owners stored.
#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "reduce/grid.hpp"

namespace tamis::reduce {
namespace {

struct Cut {
  Extents extents;
  std::uint32_t mask;
};

std::vector<Cut> cuts() {
  return {{{1}, 1},
          {{4096}, 1},
          {{4097}, 1},
          {{30000}, 1},
          {{65, 64}, 3},
          {{130, 200}, 3},
          {{200, 130}, 1},
          {{200, 130}, 2},
          {{33, 18, 17}, 7},
          {{40, 16, 33}, 7},
          {{5, 70, 140}, 6},
          {{5, 70, 140}, 5},
          {{3, 4, 20, 17, 35}, 0x1c},
          {{2, 3, 2, 3, 2}, 0x15},
          {{300, 2, 2}, 6},
          {{1, 5}, 3}};
}

GridPlan plan_of(const Cut& cut) {
  GridPlan plan;
  plan.active_mask = cut.mask;
  return plan;
}

std::vector<std::int64_t> coordinates(const Extents& extents, std::int64_t linear) {
  std::vector<std::int64_t> at(static_cast<std::size_t>(extents.rank()));
  for (int d = extents.rank() - 1; d >= 0; --d) {
    at[static_cast<std::size_t>(d)] = linear % extents[d];
    linear /= extents[d];
  }
  return at;
}

TEST(Grid, TilesOwnEachNodeOnce) {
  for (const Cut& cut : cuts()) {
    const Grid grid(cut.extents, plan_of(cut));
    SCOPED_TRACE(cut.extents.to_string() + " axes " + std::to_string(cut.mask));
    std::vector<int> owners(static_cast<std::size_t>(grid.node_count()));
    for (std::int64_t t = 0; t < grid.tile_count(); ++t) {
      const Grid::Tile tile = grid.tile_at(t);
      int count[3] = {1, 1, 1};
      std::int64_t stride[3] = {};
      for (int k = 0; k < grid.active_count(); ++k) {
        count[k] = std::min(tile.nodes[k], grid.tile());
        stride[k] = grid.axis_stride(k);
      }
      for (int a = 0; a < count[0]; ++a) {
        for (int b = 0; b < count[1]; ++b) {
          for (int c = 0; c < count[2]; ++c) {
            ++owners[static_cast<std::size_t>(tile.origin + a * stride[0] + b * stride[1] +
                                              c * stride[2])];
          }
        }
      }
    }
    for (const int n : owners) ASSERT_EQ(n, 1);
  }
}

TEST(Grid, FarNodesAndNeighboursAgree) {
  for (const Cut& cut : cuts()) {
    const Grid grid(cut.extents, plan_of(cut));
    for (std::int64_t t = 0; t < grid.tile_count(); ++t) {
      const Grid::Tile tile = grid.tile_at(t);
      for (int k = 0; k < grid.active_count(); ++k) {
        const bool has_far = tile.nodes[k] == grid.tile() + 1;
        ASSERT_EQ(has_far, tile.neighbour[k] != 0);
        if (!has_far) continue;
        // The anchor of the neighbour is our far corner along this axis.
        ASSERT_EQ(grid.tile_at(t + tile.neighbour[k]).origin,
                  tile.origin + grid.tile() * grid.axis_stride(k));
      }
      std::set<std::int64_t> upper;
      grid.each_upper_neighbour(tile, [&](std::int64_t index) { upper.insert(index); });
      std::set<std::int64_t> expected;
      const auto own = coordinates(grid.tile_grid(), t);
      for (std::int64_t other = t; other < grid.tile_count(); ++other) {
        const auto at = coordinates(grid.tile_grid(), other);
        bool touches = true;
        for (std::size_t d = 0; d < at.size(); ++d) {
          const std::int64_t far = at[d] - own[d];
          touches &= far == 0 || (far == 1 && (cut.mask >> d & 1) != 0);
        }
        if (touches) expected.insert(other);
      }
      ASSERT_EQ(upper, expected) << cut.extents.to_string() << " tile " << t;
      if (t > 300) break;
    }
  }
}

TEST(Grid, ChunksAndLayersTileTheTiles) {
  for (const Cut& cut : cuts()) {
    const Grid grid(cut.extents, plan_of(cut));
    SCOPED_TRACE(cut.extents.to_string() + " axes " + std::to_string(cut.mask));
    std::int64_t next = 0;
    for (const Grid::Range& chunk : grid.chunks()) {
      EXPECT_EQ(chunk.begin, next);
      EXPECT_GT(chunk.size(), 0);
      EXPECT_LE(chunk.size(), kChunkTiles);
      next = chunk.end;
    }
    EXPECT_EQ(next, grid.tile_count());
    EXPECT_EQ(Grid::count_chunks(cut.extents, plan_of(cut)),
              static_cast<std::int64_t>(grid.chunks().size()));
    std::int64_t row = 0;
    std::int64_t chunk = 0;
    for (const Grid::Layer& layer : grid.layers()) {
      EXPECT_EQ(layer.rows.begin, row);
      EXPECT_EQ(layer.chunks.begin, chunk);
      // The tiles of a layer's chunks lie in its rows.
      const std::int64_t row_nodes = grid.node_count() / cut.extents[0];
      for (std::int64_t c = layer.chunks.begin; c < layer.chunks.end; ++c) {
        const Grid::Range& tiles = grid.chunks()[static_cast<std::size_t>(c)];
        EXPECT_GE(grid.tile_at(tiles.begin).origin / row_nodes, layer.rows.begin);
        EXPECT_LT(grid.tile_at(tiles.end - 1).origin / row_nodes, layer.rows.end);
      }
      row = layer.rows.end;
      chunk = layer.chunks.end;
    }
    EXPECT_EQ(row, cut.extents[0]);
    EXPECT_EQ(chunk, static_cast<std::int64_t>(grid.chunks().size()));
  }
}

TEST(Grid, CountsChunksOfHugeFields) {
  GridPlan plan;
  // Lines: 2^38 tiles in layers of 64.
  EXPECT_EQ(Grid::count_chunks({std::int64_t{1} << 50}, {1, {0, 1, 2}}), std::int64_t{1} << 32);
  plan.active_mask = 2;
  EXPECT_GT(Grid::count_chunks({std::int64_t{1} << 58, 2}, plan), std::int64_t{1} << 50);
  EXPECT_EQ(Grid::count_chunks({0, 5}, plan), 0);
}

TEST(Grid, CoarserGridsEndAtOneNode) {
  for (const Cut& cut : cuts()) {
    const Grid grid(cut.extents, plan_of(cut));
    const std::vector<Grid> coarser = coarser_grids(grid);
    const Grid* last = &grid;
    for (const Grid& g : coarser) {
      EXPECT_EQ(g.extents(), last->tile_grid());
      last = &g;
    }
    EXPECT_EQ(last->tile_grid(), last->extents());
  }
}

// Every node gets a value of its own, is stored through its cell, and must turn up wherever a
// boundary contains it.
template <typename I>
void expect_boundaries(const Cut& cut) {
  const Grid grid(cut.extents, plan_of(cut));
  const int rank = grid.active_count();
  const int side = grid.tile() + 1;
  std::size_t natural = 1;
  for (int k = 0; k < rank; ++k) natural *= static_cast<std::size_t>(side);
  Skeleton<I> skeleton(grid);
  // Index in natural arrays and node of local coordinates over the axes of `mask`.
  const auto locate = [&](const Grid::Tile& tile, int mask, const int* x, std::size_t& at) {
    std::int64_t node = tile.origin;
    at = 0;
    for (int k = 0; k < rank; ++k) {
      if ((mask >> k & 1) == 0) continue;
      at = at * static_cast<std::size_t>(side) + static_cast<std::size_t>(x[k]);
      node += x[k] * grid.axis_stride(k);
    }
    return static_cast<I>(node * 7 + 3);
  };
  const auto each_point = [&](const Grid::Tile& tile, int mask, const auto& fn) {
    int x[3] = {};
    int end[3] = {1, 1, 1};
    for (int k = 0; k < rank; ++k) end[k] = mask >> k & 1 ? tile.nodes[k] : 1;
    for (x[0] = 0; x[0] < end[0]; ++x[0]) {
      for (x[1] = 0; x[1] < end[1]; ++x[1]) {
        for (x[2] = 0; x[2] < end[2]; ++x[2]) {
          bool open = true;
          for (int k = 0; k < rank; ++k) {
            if (mask >> k & 1) open &= x[k] >= 1 && x[k] < std::min(tile.nodes[k], grid.tile());
          }
          std::size_t at;
          const I value = locate(tile, mask, x, at);
          fn(at, value, open);
        }
      }
    }
  };
  for (std::int64_t t = 0; t < grid.tile_count(); ++t) {
    const Grid::Tile tile = grid.tile_at(t);
    *skeleton.cell(t, 0) = static_cast<I>(tile.origin * 7 + 3);
    for (int mask = 1; mask < grid.full_mask(); ++mask) {
      std::vector<I> values(natural, I{-1});
      each_point(tile, mask, [&](std::size_t at, I value, bool open) {
        if (open) values[at] = value;
      });
      if (grid.cell_shape(tile, mask).open_count() > 0) {
        skeleton.store({&tile, 1}, mask, values.data(), 1);
      }
    }
  }
  // Two tiles of one shape side by side; the third lane stays as it was.
  constexpr std::size_t kLanes = 3;
  for (std::int64_t t = 0; t < grid.tile_count(); t += 1 + grid.tile_count() / 60) {
    std::vector<Grid::Tile> tiles{grid.tile_at(t)};
    for (std::int64_t u = 0; u < grid.tile_count() && tiles.size() < 2; ++u) {
      const Grid::Tile other = grid.tile_at(u);
      if (u != t && std::equal(other.nodes, other.nodes + 3, tiles[0].nodes)) {
        tiles.push_back(other);
      }
    }
    for (int mask = 1; mask <= grid.full_mask(); ++mask) {
      std::vector<I> values(natural * kLanes, I{-1});
      skeleton.read_boundary(tiles, mask, values.data(), static_cast<int>(kLanes));
      for (std::size_t l = 0; l < tiles.size(); ++l) {
        each_point(tiles[l], mask, [&](std::size_t at, I value, bool open) {
          ASSERT_EQ(values[at * kLanes + l], open ? I{-1} : value)
              << cut.extents.to_string() << " tile " << tiles[l].index << " mask " << mask << " at "
              << at;
          ASSERT_EQ(values[at * kLanes + 2], I{-1});
        });
      }
    }
  }
}

TEST(Skeleton, BoundariesComeBack) {
  for (const Cut& cut : cuts()) {
    expect_boundaries<std::int32_t>(cut);
    expect_boundaries<std::int64_t>(cut);
  }
}

// Boundary values take memory in proportion to the field, however thin its tiles.
TEST(Skeleton, ThinTilesTakeLittleMemory) {
  const Grid grid({5000, 2, 2, 2}, {0xe, {0, 1, 2}});
  EXPECT_EQ(grid.tile_count(), 5000);
  EXPECT_LE(Skeleton<std::int32_t>(grid).size_bytes(), grid.node_count() * 4);
}

TEST(Grid, CellRulesKeepTheOrderOfFreeAxes) {
  GridPlan plan;
  plan.active_mask = 7;
  plan.order = {2, 0, 1};
  const Grid grid({40, 40, 40}, plan);
  const CellRule full = grid.cell_rule(Predictor::kCubic, 3, 7);
  EXPECT_EQ(full.step, 3);
  EXPECT_EQ((std::vector<int>{full.axis_order[0], full.axis_order[1], full.axis_order[2]}),
            (std::vector<int>{2, 0, 1}));
  for (int mask = 1; mask < 7; ++mask) {
    const CellRule rule = grid.cell_rule(Predictor::kLinear, 1, mask);
    const int rank = std::popcount(static_cast<unsigned>(mask));
    std::vector<int> free;  // active axes of the cell, in order
    for (int k = 0; k < 3; ++k) {
      if (mask >> k & 1) free.push_back(k);
    }
    std::vector<int> expected;
    for (const int k : plan.order) {
      if (mask >> k & 1) expected.push_back(k);
    }
    std::vector<int> named;
    for (const int k : rule.axis_order) {
      if (k < rank) named.push_back(free[static_cast<std::size_t>(k)]);
    }
    EXPECT_EQ(named, expected) << mask;
  }
}

}  // namespace
}  // namespace tamis::reduce
