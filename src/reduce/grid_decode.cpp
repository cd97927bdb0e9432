// Decoder of one grid. Which bundles of which rank are needed follows from the wanted tiles: a cell
// needs the cells that bound it, which the tile itself and its upper neighbours own.
#include <algorithm>
#include <memory>
#include <string>

#include "codec/bit_stream.hpp"
#include "core/threads.hpp"
#include "reduce/chunk_layout.hpp"
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
        : batch(grid.active_count(), grid.tile()),
          valid(static_cast<std::size_t>(natural_nodes(grid.active_count(), grid.tile()) +
                                         kRowSlack)) {}
    ChunkLayout layout;
    CellBatch<I> batch;
    std::vector<std::uint8_t> valid;
    RunBuffer<I> run;
    std::vector<I> codes[2];
    std::vector<codec::RansReader> readers[2];  // of each bundle, where codes are streamed
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

  void decode_chunk(std::int64_t chunk, int rank, int worker_index) {
    Worker& w = worker(worker_index);
    const Grid::Range tiles = grid_.chunks()[static_cast<std::size_t>(chunk)];
    const bool interior = rank == grid_.active_count();
    const bool skip_fine = interior && how_.coarse_only && !any_lorenzo(tiles);
    const int streams = interior && !skip_fine ? 2 : 1;
    w.layout.plan(grid_, tiles, rank, predictors_, rows_, w.valid,
                  [&](std::int64_t t) { return tile_needed(t, rank); });
    if (!how_.wanted.empty()) {
      for (CellJob& job : w.layout.jobs()) {
        job.wanted = how_.wanted[static_cast<std::size_t>(job.tile.index)];
      }
    }
    std::vector<StreamBlob<I>> blobs;
    for (int s = 0; s < streams; ++s) {
      blobs.emplace_back(how_.blob(chunk, rank + s), Grid::bundles_in(tiles));
    }
    bool streamed = false;
    for (int s = 0; s < streams; ++s) {
      open_stream(blobs[static_cast<std::size_t>(s)], s, tiles, rank, w);
      streamed = streamed || !w.readers[s].empty();
    }
    if (skip_fine) w.readers[1].clear();
    w.layout.each_group(w.batch.lanes(), streamed, [&](std::span<const CellJob* const> group) {
      decode_group(group, interior, skip_fine, w);
    });
    for (int s = 0; s < streams; ++s) {
      for (const codec::RansReader& reader : w.readers[s]) reader.expect_end();
    }
  }

  // Decodes the needed bundles of a stream, or gets their decoders ready.
  void open_stream(const StreamBlob<I>& blob, int stream, const Grid::Range& tiles, int rank,
                   Worker& w) const {
    w.readers[stream].clear();
    std::vector<I>& codes = w.codes[stream];
    const auto room = static_cast<std::size_t>(w.layout.size(stream) + kRowSlack);
    if (!blob.streamed() && codes.size() < room) codes.resize(room);
    for (std::int64_t b = 0; b < Grid::bundles_in(tiles); ++b) {
      const auto bundle = static_cast<int>(b);
      const Grid::Range range = w.layout.bundle(stream, bundle);
      const bool needed = tile_needed(tiles.begin + b * kBundleTiles, rank);
      if (blob.streamed()) {
        w.readers[stream].push_back(blob.reader(bundle, needed));
      } else if (needed) {
        blob.decode(bundle, range.size(), codes.data() + range.begin);
      }
    }
  }

  bool any_lorenzo(const Grid::Range& tiles) const {
    const auto first = predictors_.begin();
    return std::find(first + tiles.begin, first + tiles.end, Predictor::kLorenzo) !=
           first + tiles.end;
  }

  void decode_group(std::span<const CellJob* const> group, bool interior, bool skip_fine,
                    Worker& w) {
    const CellJob& any = *group.front();
    const int used = static_cast<int>(group.size());
    const int lanes = w.batch.lanes();
    I* values = w.batch.values();
    Grid::Tile tiles[kMaxLanes];
    NodeBlock blocks[kMaxLanes];
    CellSource<I> sources[kMaxLanes];
    for (int l = 0; l < used; ++l) {
      const CellJob& job = *group[static_cast<std::size_t>(l)];
      tiles[l] = job.tile;
      blocks[l] = owned_block(grid_, job.tile);
      sources[l].coarse = source(job, 0, job.coarse_at, w);
      sources[l].fine =
          skip_fine ? sources[l].coarse : source(job, interior ? 1 : 0, job.fine_at, w);
      if (any.masked) load_valid(job, l, w);
    }
    const std::span<const Grid::Tile> all(tiles, group.size());
    skeleton_.read_boundary(all, any.mask, values, lanes);
    CodingOptions options;
    options.masked = any.masked;
    options.coarse_only = skip_fine;
    decode_cells<I>(w.batch, any.shape, grid_.cell_rule(any.predictor, how_.step, any.mask),
                    options, std::span(sources, group.size()));
    if (!interior) {
      skeleton_.store(all, any.mask, values, lanes);
    } else if (any.wanted) {
      hand_out<I>({blocks, group.size()}, w.batch, w.run, rows_);
    }
  }

  CodeSource<I> source(const CellJob& job, int stream, std::int64_t at, Worker& w) const {
    if (!w.readers[stream].empty()) {
      return {nullptr, &w.readers[stream][static_cast<std::size_t>(job.bundle)]};
    }
    return {w.codes[stream].data() + at, nullptr};
  }

  void load_valid(const CellJob& job, int lane, Worker& w) const {
    const NodeBlock block = open_block(grid_, job.tile, job.mask);
    rows_.read_valid(block, w.valid.data());
    give_coarse_codes(job.shape, job.predictor, w.valid);
    put_lane(block, w.valid, w.batch.lanes(), lane, w.batch.valid());
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
