// One encoding of a field with everything decided: anchors, predictors of the tiles, data, index,
// patches.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/checksum.hpp"
#include "core/container.hpp"
#include "core/threads.hpp"
#include "reduce/anchors.hpp"
#include "reduce/field_design.hpp"
#include "reduce/field_sections.hpp"

namespace tamis::reduce {

/// One encoding of the field with everything decided.
template <typename T, typename I>
class Attempt {
 public:
  Attempt(FieldSource<T>& source, const CompressOptions& options, const PointCheck& check,
          const Design& design, const FieldMasks& masks)
      : source_(source),
        options_(options),
        design_(design),
        masks_(masks),
        grid_(source.folded(), design.choice.plan),
        rows_(source.data(), source.begin(), design.map, voids(), check) {}

  FieldRows<T, I>& rows() { return rows_; }
  const Grid& grid() const { return grid_; }

  // False when the patches got out of hand; what was written is then useless.
  bool run(ContainerWriter& writer, std::int64_t& patch_count) {
    std::vector<I> anchors = read_anchors();
    writer.add_section("anchors", encode_anchors(grid_, design_.map.step, anchors));
    const std::vector<Predictor> predictors = choose_predictors();
    const BlobTable table(grid_);
    std::vector<BlobEntry> entries(static_cast<std::size_t>(table.count()));
    GridEncoding how;
    how.step = design_.map.step;
    how.mode = options_.mode;
    how.threads = options_.threads;
    how.progress = options_.progress;
    if (!source_.in_memory()) how.load = [this](Grid::Range r) { load(r); };
    writer.begin_section("data", Checks::kInParts);  // the index has a checksum a blob
    encode_grid<I>(grid_, how, predictors, anchors, rows_,
                   [&](std::int64_t chunk, int blob, std::vector<std::byte> bytes) {
                     BlobEntry& e = entries[static_cast<std::size_t>(table.slot(chunk, blob))];
                     e.size = bytes.size();
                     e.checksum = static_cast<std::uint32_t>(xxh3_64(bytes));
                     writer.append(bytes);
                   });
    writer.end_section();
    if (rows_.over_limit()) return false;
    writer.add_section("index", write_index(table, entries));
    if (design_.map.kind == MapKind::kPalette) {
      writer.add_section("palette", write_palette(design_.map.palette, design_.map.dtype));
    }
    std::vector<Patch> patches = rows_.take_patches();
    patches.insert(patches.end(), masks_.patches.begin(), masks_.patches.end());
    std::sort(patches.begin(), patches.end(),
              [](const Patch& a, const Patch& b) { return a.index < b.index; });
    patch_count = static_cast<std::int64_t>(patches.size());
    if (!patches.empty()) writer.add_section("patches", write_patches(patches, sizeof(T)));
    return true;
  }

  std::vector<Predictor> choose_predictors() {
    const std::vector<RankedPredictor>& candidates = design_.choice.ranking;
    std::vector<Predictor> result(static_cast<std::size_t>(grid_.tile_count()),
                                  candidates[0].predictor);
    if (candidates.size() < 2) return result;
    const int threads = resolve_threads(options_.threads);
    std::vector<std::unique_ptr<PredictorChooser<I>>> choosers(static_cast<std::size_t>(threads));
    const auto run = [&](Grid::Range chunks) {
      parallel_for(chunks.size(), threads, [&](std::int64_t i, int worker) {
        auto& chooser = choosers[static_cast<std::size_t>(worker)];
        if (!chooser) {
          chooser = std::make_unique<PredictorChooser<I>>(grid_, design_.map.step, candidates);
        }
        const Grid::Range tiles = grid_.chunks()[static_cast<std::size_t>(chunks.begin + i)];
        chooser->choose(tiles.begin, rows_,
                        std::span(result).subspan(static_cast<std::size_t>(tiles.begin),
                                                  static_cast<std::size_t>(tiles.size())));
      });
    };
    each_window(1, run);
    return result;
  }

 private:
  const BitMap* voids() const { return masks_.any_voids ? &masks_.voids : nullptr; }

  void load(Grid::Range range) {
    source_.load(range);
    rows_.move_window(source_.data(), source_.begin());
  }

  // fn(chunks) for everything at once in memory, and layer by layer from a stream, with `overlap`
  // rows beyond the layer where tiles look across.
  template <typename Fn>
  void each_window(std::int64_t overlap, const Fn& fn) {
    if (source_.in_memory()) {
      fn(Grid::Range{0, static_cast<std::int64_t>(grid_.chunks().size())});
      return;
    }
    for (const Grid::Layer& layer : grid_.layers()) {
      load({layer.rows.begin, std::min(source_.folded()[0], layer.rows.end + overlap)});
      fn(layer.chunks);
    }
  }

  // A masked anchor stands for the mean of its tile, or else for the anchor before it.
  std::vector<I> read_anchors() {
    std::vector<I> anchors(static_cast<std::size_t>(grid_.tile_count()));
    CellScratch<I> work(grid_.active_count(), grid_.tile());
    I last = 0;
    each_window(0, [&](Grid::Range chunks) {
      const Grid::Range tiles{grid_.chunks()[static_cast<std::size_t>(chunks.begin)].begin,
                              grid_.chunks()[static_cast<std::size_t>(chunks.end - 1)].end};
      for (std::int64_t t = tiles.begin; t < tiles.end; ++t) {
        const Grid::Tile tile = grid_.tile_at(t);
        I& anchor = anchors[static_cast<std::size_t>(t)];
        if (masks_.any_voids && masks_.voids.get(tile.origin)) {
          anchor = tile_mean(tile, last, work);
        } else {
          NodeBlock node;
          node.first = tile.origin;
          rows_.read(node, &anchor);
        }
        last = anchor;
      }
    });
    return anchors;
  }

  I tile_mean(const Grid::Tile& tile, I otherwise, CellScratch<I>& work) const {
    const NodeBlock block = owned_block(grid_, tile);
    rows_.read(block, work.input.data());
    rows_.read_valid(block, work.valid.data());
    // Shifted values keep the differences and the sum of a tile's wide integers in range.
    constexpr int kShift = sizeof(I) == 8 ? 14 : 0;
    std::int64_t count = 0;
    std::int64_t offsets = 0;
    I first = otherwise;
    block.each_row([&](std::int64_t, std::int64_t natural) {
      for (int i = 0; i < block.count[2]; ++i) {
        if (work.valid[static_cast<std::size_t>(natural + i)] == 0) continue;
        const I value = work.input[static_cast<std::size_t>(natural + i)];
        if (count++ == 0) first = value;
        offsets += (std::int64_t{value} >> kShift) - (std::int64_t{first} >> kShift);
      }
    });
    return count == 0 ? otherwise
                      : wrap_add(first, wrap_mul(static_cast<I>(offsets / count), I{1} << kShift));
  }

  FieldSource<T>& source_;
  const CompressOptions& options_;
  const Design& design_;
  const FieldMasks& masks_;
  Grid grid_;
  FieldRows<T, I> rows_;
};

}  // namespace tamis::reduce
