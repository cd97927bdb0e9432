// Encoder of one grid: cells by rising rank, so that every boundary is reconstructed before what it
// bounds; within a rank all chunks are independent.
#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <optional>

#include "codec/bit_stream.hpp"
#include "core/threads.hpp"
#include "reduce/chunk_layout.hpp"
#include "reduce/grid_codec.hpp"
#include "reduce/stream_blob.hpp"

namespace tamis::reduce {

namespace {

// One byte when a chunk's tiles agree, else 8 and three bits a tile.
std::vector<std::byte> encode_predictors(std::span<const Predictor> predictors) {
  std::vector<std::byte> out;
  const bool uniform = std::all_of(predictors.begin(), predictors.end(),
                                   [&](Predictor p) { return p == predictors[0]; });
  if (uniform) {
    out.push_back(static_cast<std::byte>(predictors[0]));
    return out;
  }
  out.push_back(std::byte{8});
  codec::BitWriter bits(out);
  for (const Predictor p : predictors) bits.put(static_cast<std::uint64_t>(p), 3);
  bits.flush();
  return out;
}

using BlobPair = std::array<std::vector<std::byte>, 2>;

// Takes the blobs of chunks in any order and hands them on in order, as soon as it can.
class OrderedBlobs {
 public:
  OrderedBlobs(Grid::Range chunks, std::function<void(std::int64_t, BlobPair&)> emit)
      : chunks_(chunks), emit_(std::move(emit)), next_(chunks.begin) {
    waiting_.resize(static_cast<std::size_t>(chunks.size()));
  }

  void put(std::int64_t chunk, BlobPair pair) {
    const std::lock_guard lock(mutex_);
    waiting_[static_cast<std::size_t>(chunk - chunks_.begin)] = std::move(pair);
    while (next_ < chunks_.end) {
      auto& slot = waiting_[static_cast<std::size_t>(next_ - chunks_.begin)];
      if (!slot) return;
      BlobPair blobs = std::move(*slot);
      slot.reset();  // when emitting fails, nothing is emitted any more
      emit_(next_, blobs);
      ++next_;
    }
  }

 private:
  Grid::Range chunks_;
  std::function<void(std::int64_t, BlobPair&)> emit_;
  std::int64_t next_;
  std::mutex mutex_;
  std::vector<std::optional<BlobPair>> waiting_;
};

template <typename I>
class GridEncoder {
 public:
  GridEncoder(const Grid& grid, const GridEncoding& how, std::span<const Predictor> predictors,
              LatticeRows<I>& rows)
      : grid_(grid),
        how_(how),
        predictors_(predictors),
        rows_(rows),
        skeleton_(grid),
        threads_(resolve_threads(how.threads)),
        with_contexts_(how.mode == Mode::kRatio),
        workers_(static_cast<std::size_t>(threads_)) {}

  void set_anchors(std::span<const I> anchors) {
    for (std::int64_t t = 0; t < grid_.tile_count(); ++t) *skeleton_.cell(t, 0) = anchors[t];
  }

  // Cells of one rank in one chunk; fills the blobs of its streams.
  void encode_chunk(std::int64_t chunk, int rank, int worker, std::vector<std::byte>* blobs) {
    Worker& w = this->worker(worker);
    const bool interior = rank == grid_.active_count();
    w.layout.plan(grid_, grid_.chunks()[static_cast<std::size_t>(chunk)], rank, predictors_, rows_,
                  w.scratch.valid, [](std::int64_t) { return true; });
    for (int s = 0; s < 2; ++s) {
      w.streams[s].resize(w.layout.size(s), with_contexts_);
      w.streams[s].bundle_ends = w.layout.bundle_ends(s);
    }
    w.layout.each_group(w.batch.lanes(), false, [&](std::span<const CellJob* const> group) {
      encode_group(group, interior, w);
    });
    blobs[0] = encode_stream(how_.mode, w.streams[0]);
    if (interior) blobs[1] = encode_stream(how_.mode, w.streams[1]);
  }

  int threads() const { return threads_; }

 private:
  struct Worker {
    explicit Worker(const Grid& grid)
        : batch(grid.active_count(), grid.tile()), scratch(grid.active_count(), grid.tile()) {}
    ChunkLayout layout;
    CellBatch<I> batch;
    CellScratch<I> scratch;
    RunBuffer<I> run;
    StreamCodes<I> streams[2];
  };

  Worker& worker(int index) {
    auto& slot = workers_[static_cast<std::size_t>(index)];
    if (!slot) slot = std::make_unique<Worker>(grid_);
    return *slot;
  }

  void encode_group(std::span<const CellJob* const> group, bool interior, Worker& w) {
    const CellJob& any = *group.front();
    const int used = static_cast<int>(group.size());
    const int lanes = w.batch.lanes();
    I* values = w.batch.values();
    Grid::Tile tiles[kMaxLanes];
    NodeBlock blocks[kMaxLanes];
    CodeSink<I> sinks[kMaxLanes];
    for (int l = 0; l < used; ++l) {
      tiles[l] = group[static_cast<std::size_t>(l)]->tile;
      blocks[l] = open_block(grid_, tiles[l], any.mask);
      sinks[l] = sink(*group[static_cast<std::size_t>(l)], interior, w);
    }
    const std::span<const Grid::Tile> all(tiles, group.size());
    skeleton_.read_boundary(all, any.mask, values, lanes);
    if (any.masked) {
      for (int l = 0; l < used; ++l) load_masked(*group[static_cast<std::size_t>(l)], l, w);
    } else if (any.shape.open_count() > 0) {
      each_run(std::span<const NodeBlock>(blocks, group.size()),
               [&](const RowRun& run, std::int64_t natural) {
                 rows_.read_run(run, w.run.data());
                 rows_to_lanes<I>(w.run.rows(), used, run.count, values + natural * lanes);
               });
    }
    CodingOptions options;
    options.masked = any.masked;
    options.contexts = with_contexts_;
    encode_cells<I>(w.batch, any.shape, grid_.cell_rule(any.predictor, how_.step, any.mask),
                    options, std::span(sinks, group.size()));
    if (!interior) {
      skeleton_.store(all, any.mask, values, lanes);
      return;
    }
    for (int l = 0; l < used; ++l) blocks[l] = owned_block(grid_, tiles[l]);
    hand_out<I>({blocks, group.size()}, w.batch, w.run, rows_);
  }

  CodeSink<I> sink(const CellJob& job, bool interior, Worker& w) const {
    StreamCodes<I>& coarse = w.streams[0];
    StreamCodes<I>& fine = w.streams[interior ? 1 : 0];
    CodeSink<I> s;
    s.coarse = coarse.codes.data() + job.coarse_at;
    s.fine = fine.codes.data() + job.fine_at;
    if (with_contexts_) {
      s.coarse_context = coarse.contexts.data() + job.coarse_at;
      s.fine_context = fine.contexts.data() + job.fine_at;
    }
    return s;
  }

  // Voids are filled in one cell at a time.
  void load_masked(const CellJob& job, int lane, Worker& w) {
    CellScratch<I>& scratch = w.scratch;
    skeleton_.read_boundary({&job.tile, 1}, job.mask, scratch.values.data(), 1);
    const NodeBlock block = open_block(grid_, job.tile, job.mask);
    rows_.read(block, scratch.input.data());
    rows_.read_valid(block, scratch.valid.data());
    fill_voids(job.shape, scratch);
    give_coarse_codes(job.shape, job.predictor, scratch.valid);
    put_lane(block, scratch.input, w.batch.lanes(), lane, w.batch.values());
    put_lane(block, scratch.valid, w.batch.lanes(), lane, w.batch.valid());
  }

  const Grid& grid_;
  const GridEncoding& how_;
  std::span<const Predictor> predictors_;
  LatticeRows<I>& rows_;
  Skeleton<I> skeleton_;
  int threads_;
  bool with_contexts_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace

template <typename I>
void encode_grid(
    const Grid& grid, const GridEncoding& how, std::span<const Predictor> predictors,
    std::span<const I> anchors, LatticeRows<I>& rows,
    const std::function<void(std::int64_t chunk, int blob, std::vector<std::byte>)>& emit) {
  const auto& chunks = grid.chunks();
  for (std::size_t c = 0; c < chunks.size(); ++c) {
    emit(static_cast<std::int64_t>(c), 0,
         encode_predictors(predictors.subspan(static_cast<std::size_t>(chunks[c].begin),
                                              static_cast<std::size_t>(chunks[c].size()))));
  }
  GridEncoder<I> encoder(grid, how, predictors, rows);
  encoder.set_anchors(anchors);
  const int ranks = grid.active_count();
  const auto run = [&](Grid::Range range, int rank) {
    OrderedBlobs ready(range, [&](std::int64_t chunk, BlobPair& pair) {
      emit(chunk, rank, std::move(pair[0]));
      if (rank == ranks) emit(chunk, rank + 1, std::move(pair[1]));
    });
    parallel_for(range.size(), encoder.threads(), [&](std::int64_t i, int worker) {
      BlobPair pair;
      encoder.encode_chunk(range.begin + i, rank, worker, pair.data());
      ready.put(range.begin + i, std::move(pair));
    });
  };
  // A streaming source gets a layer at a time. In memory the window is everything, cut only so that
  // progress can be told.
  std::vector<Grid::Layer> windows = grid.layers();
  if (!how.load)
    windows = {{{0, grid.extents()[0]}, {0, static_cast<std::int64_t>(chunks.size())}}};
  for (int rank = 1; rank <= ranks; ++rank) {
    for (const Grid::Layer& window : windows) {
      if (how.load) how.load(window.rows);
      each_part(window.chunks, encoder.threads(), how.progress != nullptr, [&](Grid::Range part) {
        run(part, rank);
        if (!how.progress) return;
        const double done = static_cast<double>(part.end) / static_cast<double>(chunks.size());
        how.progress((rank - 1 + done) / ranks);
      });
    }
  }
}

template void encode_grid(const Grid&, const GridEncoding&, std::span<const Predictor>,
                          std::span<const std::int32_t>, LatticeRows<std::int32_t>&,
                          const std::function<void(std::int64_t, int, std::vector<std::byte>)>&);
template void encode_grid(const Grid&, const GridEncoding&, std::span<const Predictor>,
                          std::span<const std::int64_t>, LatticeRows<std::int64_t>&,
                          const std::function<void(std::int64_t, int, std::vector<std::byte>)>&);

}  // namespace tamis::reduce
