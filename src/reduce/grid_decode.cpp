// Decoder of one grid. Which bundles of which rank are needed follows from the wanted tiles: a cell
// needs the cells that bound it, which the tile itself and its upper neighbours own.
#include <algorithm>
#include <bit>
#include <memory>
#include <string>

#include "codec/bit_stream.hpp"
#include "core/threads.hpp"
#include "reduce/grid_codec.hpp"
#include "reduce/stream_blob.hpp"
#include "tamis/error.hpp"

namespace tamis::reduce {

namespace {

void decode_predictors(std::span<const std::byte> bytes, std::span<Predictor> out) {
  const auto fail = [](const std::string& what) {
    throw Error(ErrorCode::kCorrupt, "predictors of a chunk: " + what);
  };
  if (bytes.empty()) fail("no bytes");
  const int first = static_cast<int>(bytes[0]);
  if (first < kPredictorCount) {
    if (bytes.size() != 1) fail("bytes are left over");
    std::fill(out.begin(), out.end(), static_cast<Predictor>(first));
    return;
  }
  if (first != 8) fail("unknown predictor " + std::to_string(first));
  codec::BitReader bits(bytes.subspan(1));
  for (Predictor& p : out) {
    const std::uint64_t value = bits.get(3);
    if (value >= kPredictorCount) fail("unknown predictor " + std::to_string(value));
    p = static_cast<Predictor>(value);
  }
  bits.expect_end();
}

template <typename I>
class GridDecoder {
 public:
  GridDecoder(const Grid& grid, const GridDecoding& how, std::span<const I> anchors,
              LatticeRows<I>& rows)
      : grid_(grid),
        how_(how),
        rows_(rows),
        skeleton_(grid),
        predictors_(static_cast<std::size_t>(grid.tile_count())),
        threads_(resolve_threads(how.threads)),
        workers_(static_cast<std::size_t>(threads_)) {
    for (std::int64_t t = 0; t < grid.tile_count(); ++t) *skeleton_.cell(t, 0) = anchors[t];
    find_needed();
  }

  void run() {
    const auto& chunks = grid_.chunks();
    for (std::size_t c = 0; c < chunks.size(); ++c) {
      if (!chunk_needed(static_cast<std::int64_t>(c), 1)) continue;
      decode_predictors(how_.blob(static_cast<std::int64_t>(c), 0),
                        std::span(predictors_)
                            .subspan(static_cast<std::size_t>(chunks[c].begin),
                                     static_cast<std::size_t>(chunks[c].size())));
    }
    for (int rank = 1; rank <= grid_.active_count(); ++rank) {
      std::vector<std::int64_t> needed;
      for (std::size_t c = 0; c < chunks.size(); ++c) {
        if (chunk_needed(static_cast<std::int64_t>(c), rank)) {
          needed.push_back(static_cast<std::int64_t>(c));
        }
      }
      each_part({0, static_cast<std::int64_t>(needed.size())}, threads_, how_.progress != nullptr,
                [&](Grid::Range part) {
                  parallel_for(part.size(), threads_, [&](std::int64_t i, int worker) {
                    decode_chunk(needed[static_cast<std::size_t>(part.begin + i)], rank, worker);
                  });
                  if (!how_.progress) return;
                  const double done =
                      static_cast<double>(part.end) / static_cast<double>(needed.size());
                  how_.progress((rank - 1 + done) / grid_.active_count());
                });
    }
  }

 private:
  struct Worker {
    explicit Worker(const Grid& grid)
        : work(grid.active_count(), grid.tile()), readers(2, codec::RansReader(model, {})) {}
    CellWorkspace<I> work;
    codec::RansModel model;  // what an unused reader points to
    std::vector<codec::RansReader> readers;
    std::vector<I> buffers[2];
  };

  Worker& worker(int index) {
    auto& slot = workers_[static_cast<std::size_t>(index)];
    if (!slot) slot = std::make_unique<Worker>(grid_);
    return *slot;
  }

  // needed_[rank][tile] for all tiles of each bundle that holds a needed tile.
  void find_needed() {
    const int ranks = grid_.active_count();
    needed_.resize(static_cast<std::size_t>(ranks) + 1);
    if (how_.wanted.empty()) return;
    std::vector<bool> tiles = how_.wanted;
    for (int rank = ranks; rank >= 1; --rank) {
      for (const Grid::Range& chunk : grid_.chunks()) {
        for (std::int64_t first = chunk.begin; first < chunk.end; first += kBundleTiles) {
          const std::int64_t end = std::min(chunk.end, first + kBundleTiles);
          const bool any =
              std::find(tiles.begin() + first, tiles.begin() + end, true) != tiles.begin() + end;
          if (any) std::fill(tiles.begin() + first, tiles.begin() + end, true);
        }
      }
      needed_[static_cast<std::size_t>(rank)] = tiles;
      std::vector<bool> below = tiles;
      for (std::int64_t t = 0; t < grid_.tile_count(); ++t) {
        if (!tiles[static_cast<std::size_t>(t)]) continue;
        grid_.each_upper_neighbour(grid_.tile_at(t), [&](std::int64_t owner) {
          below[static_cast<std::size_t>(owner)] = true;
        });
      }
      tiles = std::move(below);
    }
  }

  bool tile_needed(std::int64_t tile, int rank) const {
    const auto& tiles = needed_[static_cast<std::size_t>(rank)];
    return tiles.empty() || tiles[static_cast<std::size_t>(tile)];
  }

  bool chunk_needed(std::int64_t chunk, int rank) const {
    const Grid::Range& range = grid_.chunks()[static_cast<std::size_t>(chunk)];
    for (std::int64_t t = range.begin; t < range.end; t += kBundleTiles) {
      if (tile_needed(t, rank)) return true;
    }
    return false;
  }

  bool lorenzo(std::int64_t tile) const {
    return predictors_[static_cast<std::size_t>(tile)] == Predictor::kLorenzo;
  }

  // Codes of a cell in the coarse and the fine part.
  struct CellCodes {
    std::int64_t coarse = 0;
    std::int64_t fine = 0;
  };

  bool load_cell_valid(const Grid::Tile& tile, int mask, CellWorkspace<I>& work) const {
    if (!rows_.read_valid(open_block(grid_, tile, mask), work.valid.data())) return false;
    give_coarse_codes(grid_.cell_shape(tile, mask),
                      predictors_[static_cast<std::size_t>(tile.index)], work.valid);
    return true;
  }

  CellCodes count_codes(const Grid::Tile& tile, int mask, CellWorkspace<I>& work, bool& masked) {
    const CellShape shape = grid_.cell_shape(tile, mask);
    CellCodes codes;
    masked = false;
    if (shape.open_count() == 0) return codes;
    masked = load_cell_valid(tile, mask, work);
    const std::int64_t all = masked ? count_valid(shape, work, false) : shape.open_count();
    if (!lorenzo(tile.index)) {
      codes.coarse =
          masked ? count_valid(shape, work, true) : shape.open_count() - shape.fine_count();
    }
    codes.fine = all - codes.coarse;
    return codes;
  }

  template <typename Fn>
  void each_cell(const Grid::Tile& tile, int rank, const Fn& fn) const {
    for (int mask = 1; mask <= grid_.full_mask(); ++mask) {
      if (std::popcount(static_cast<unsigned>(mask)) == rank) fn(tile, mask);
    }
  }

  void decode_chunk(std::int64_t chunk, int rank, int worker_index) {
    Worker& w = worker(worker_index);
    const Grid::Range tiles = grid_.chunks()[static_cast<std::size_t>(chunk)];
    const bool interior = rank == grid_.active_count();
    const StreamBlob<I> first(how_.blob(chunk, rank), Grid::bundles_in(tiles));
    const bool skip_fine = interior && how_.coarse_only && !any_lorenzo(tiles);
    const StreamBlob<I> second(
        interior && !skip_fine ? how_.blob(chunk, rank + 1) : std::span<const std::byte>(),
        Grid::bundles_in(tiles));
    for (std::int64_t b = 0; b < Grid::bundles_in(tiles); ++b) {
      const std::int64_t begin = tiles.begin + b * kBundleTiles;
      if (!tile_needed(begin, rank)) continue;
      decode_bundle({begin, std::min(tiles.end, begin + kBundleTiles)}, b, rank, skip_fine, first,
                    second, w);
    }
  }

  bool any_lorenzo(const Grid::Range& tiles) const {
    for (std::int64_t t = tiles.begin; t < tiles.end; ++t) {
      if (lorenzo(t)) return true;
    }
    return false;
  }

  void decode_bundle(const Grid::Range& tiles, std::int64_t bundle, int rank, bool skip_fine,
                     const StreamBlob<I>& first, const StreamBlob<I>& second, Worker& w) {
    const bool interior = rank == grid_.active_count();
    CellCodes total;
    for (std::int64_t t = tiles.begin; t < tiles.end; ++t) {
      each_cell(grid_.tile_at(t), rank, [&](const Grid::Tile& tile, int mask) {
        bool masked;
        const CellCodes codes = count_codes(tile, mask, w.work, masked);
        total.coarse += codes.coarse;
        total.fine += codes.fine;
      });
    }
    if (!interior) {
      const std::int64_t count = total.coarse + total.fine;
      CodeSource<I> source = first.open(bundle, count, w.buffers[0], w.readers[0]);
      for (std::int64_t t = tiles.begin; t < tiles.end; ++t) {
        each_cell(grid_.tile_at(t), rank, [&](const Grid::Tile& tile, int mask) {
          decode_skeleton(tile, mask, source, w);
        });
      }
      first.finish(source, count, w.buffers[0]);
      return;
    }
    CodeSource<I> coarse = first.open(bundle, total.coarse, w.buffers[0], w.readers[0]);
    CodeSource<I> fine;
    if (!skip_fine) fine = second.open(bundle, total.fine, w.buffers[1], w.readers[1]);
    for (std::int64_t t = tiles.begin; t < tiles.end; ++t) {
      decode_interior(grid_.tile_at(t), skip_fine, coarse, fine, w);
    }
    first.finish(coarse, total.coarse, w.buffers[0]);
    if (!skip_fine) second.finish(fine, total.fine, w.buffers[1]);
  }

  // The coarse codes of a skeleton cell precede its fine ones in the same stream.
  void decode_skeleton(const Grid::Tile& tile, int mask, CodeSource<I>& source, Worker& w) {
    const CellShape shape = grid_.cell_shape(tile, mask);
    bool masked;
    const CellCodes codes = count_codes(tile, mask, w.work, masked);
    if (shape.open_count() == 0) return;
    skeleton_.read_boundary(tile, mask, w.work.values);
    const CellRule rule =
        grid_.cell_rule(predictors_[static_cast<std::size_t>(tile.index)], how_.step, mask);
    if (source.decoded != nullptr) {
      CodeSource<I> coarse = source;
      CodeSource<I> fine = source;
      fine.decoded += codes.coarse;
      decode_cell(w.work, shape, rule, masked, false, coarse, fine);
      source.decoded += codes.coarse + codes.fine;
    } else {
      decode_cell(w.work, shape, rule, masked, false, source, source);
    }
    skeleton_.store(tile, mask, w.work.values);
  }

  void decode_interior(const Grid::Tile& tile, bool skip_fine, CodeSource<I>& coarse,
                       CodeSource<I>& fine, Worker& w) {
    const int mask = grid_.full_mask();
    const CellShape shape = grid_.cell_shape(tile, mask);
    rows_.prefetch(owned_block(grid_, tile));
    skeleton_.read_boundary(tile, mask, w.work.values);
    if (shape.open_count() > 0) {
      const bool masked = load_cell_valid(tile, mask, w.work);
      const CellRule rule =
          grid_.cell_rule(predictors_[static_cast<std::size_t>(tile.index)], how_.step, mask);
      decode_cell(w.work, shape, rule, masked, skip_fine, coarse, fine);
    }
    if (how_.wanted.empty() || how_.wanted[static_cast<std::size_t>(tile.index)]) {
      rows_.accept(owned_block(grid_, tile), w.work.values.data());
    }
  }

  const Grid& grid_;
  const GridDecoding& how_;
  LatticeRows<I>& rows_;
  Skeleton<I> skeleton_;
  std::vector<Predictor> predictors_;
  int threads_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::vector<bool>> needed_;
};

}  // namespace

template <typename I>
void decode_grid(const Grid& grid, const GridDecoding& how, std::span<const I> anchors,
                 LatticeRows<I>& rows) {
  GridDecoder<I>(grid, how, anchors, rows).run();
}

template void decode_grid(const Grid&, const GridDecoding&, std::span<const std::int32_t>,
                          LatticeRows<std::int32_t>&);
template void decode_grid(const Grid&, const GridDecoding&, std::span<const std::int64_t>,
                          LatticeRows<std::int64_t>&);

}  // namespace tamis::reduce
