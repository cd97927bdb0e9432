// Encoder of one grid: cells by rising rank, so that every boundary is reconstructed before what it
// bounds; within a rank all chunks are independent.
#include <algorithm>
#include <bit>
#include <memory>

#include "codec/bit_stream.hpp"
#include "core/threads.hpp"
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
    for (auto& stream : w.streams) {
      stream.count = 0;
      stream.bundle_ends.clear();
    }
    const Grid::Range tiles = grid_.chunks()[static_cast<std::size_t>(chunk)];
    for (std::int64_t first = tiles.begin; first < tiles.end; first += kBundleTiles) {
      for (std::int64_t t = first; t < std::min(tiles.end, first + kBundleTiles); ++t) {
        const Grid::Tile tile = grid_.tile_at(t);
        if (interior) {
          if (t + 1 < tiles.end) rows_.prefetch(owned_block(grid_, grid_.tile_at(t + 1)));
          encode_interior(tile, w);
        } else {
          if (t + 1 < tiles.end) prefetch_skeleton(grid_.tile_at(t + 1), rank);
          encode_skeleton(tile, rank, w);
        }
      }
      for (auto& stream : w.streams) stream.bundle_ends.push_back(stream.count);
    }
    blobs[0] = encode_stream(how_.mode, w.streams[0]);
    if (interior) blobs[1] = encode_stream(how_.mode, w.streams[1]);
  }

  int threads() const { return threads_; }

 private:
  struct Worker {
    explicit Worker(const Grid& grid) : work(grid.active_count(), grid.tile()) {}
    CellWorkspace<I> work;
    StreamCodes<I> streams[2];
  };

  Worker& worker(int index) {
    auto& slot = workers_[static_cast<std::size_t>(index)];
    if (!slot) slot = std::make_unique<Worker>(grid_);
    return *slot;
  }

  bool load(const Grid::Tile& tile, int mask, CellWorkspace<I>& work) {
    skeleton_.read_boundary(tile, mask, work.values);
    const NodeBlock block = open_block(grid_, tile, mask);
    rows_.read(block, work.input.data());
    if (!rows_.read_valid(block, work.valid.data())) return false;
    const CellShape shape = grid_.cell_shape(tile, mask);
    fill_voids(shape, work);
    give_coarse_codes(shape, predictors_[static_cast<std::size_t>(tile.index)], work.valid);
    return true;
  }

  CodeSink<I> sink(StreamCodes<I>& coarse, StreamCodes<I>& fine, std::int64_t fine_offset) const {
    CodeSink<I> s;
    s.coarse = coarse.codes.data() + coarse.count;
    s.fine = fine.codes.data() + fine.count + fine_offset;
    if (with_contexts_) {
      s.coarse_context = coarse.contexts.data() + coarse.count;
      s.fine_context = fine.contexts.data() + fine.count + fine_offset;
    }
    return s;
  }

  void encode_interior(const Grid::Tile& tile, Worker& w) {
    const int mask = grid_.full_mask();
    const CellShape shape = grid_.cell_shape(tile, mask);
    const Predictor predictor = predictors_[static_cast<std::size_t>(tile.index)];
    const std::int64_t room = shape.open_count();
    const bool masked = load(tile, mask, w.work);
    if (room > 0) {
      for (auto& stream : w.streams) stream.reserve(room, with_contexts_);
      CodeSink<I> s = sink(w.streams[0], w.streams[1], 0);
      encode_cell(w.work, shape, grid_.cell_rule(predictor, how_.step, mask), masked, s);
      w.streams[0].count = s.coarse - w.streams[0].codes.data();
      w.streams[1].count = s.fine - w.streams[1].codes.data();
    }
    rows_.accept(owned_block(grid_, tile), w.work.values.data());
  }

  void prefetch_skeleton(const Grid::Tile& tile, int rank) const {
    for (int mask = 1; mask < grid_.full_mask(); ++mask) {
      if (std::popcount(static_cast<unsigned>(mask)) == rank) {
        rows_.prefetch(open_block(grid_, tile, mask));
      }
    }
  }

  void encode_skeleton(const Grid::Tile& tile, int rank, Worker& w) {
    StreamCodes<I>& stream = w.streams[0];
    const Predictor predictor = predictors_[static_cast<std::size_t>(tile.index)];
    for (int mask = 1; mask < grid_.full_mask(); ++mask) {
      if (std::popcount(static_cast<unsigned>(mask)) != rank) continue;
      const CellShape shape = grid_.cell_shape(tile, mask);
      if (shape.open_count() == 0) continue;
      const bool masked = load(tile, mask, w.work);
      stream.reserve(shape.open_count(), with_contexts_);
      const bool lorenzo = predictor == Predictor::kLorenzo;
      std::int64_t coarse = lorenzo ? 0 : shape.open_count() - shape.fine_count();
      if (masked && !lorenzo) coarse = count_valid(shape, w.work, /*coarse_only=*/true);
      CodeSink<I> s = sink(stream, stream, coarse);
      encode_cell(w.work, shape, grid_.cell_rule(predictor, how_.step, mask), masked, s);
      stream.count = s.fine - stream.codes.data();
      skeleton_.store(tile, mask, w.work.values);
    }
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
    std::vector<std::array<std::vector<std::byte>, 2>> blobs(
        static_cast<std::size_t>(range.size()));
    parallel_for(range.size(), encoder.threads(), [&](std::int64_t i, int worker) {
      encoder.encode_chunk(range.begin + i, rank, worker,
                           blobs[static_cast<std::size_t>(i)].data());
    });
    for (std::int64_t i = 0; i < range.size(); ++i) {
      auto& pair = blobs[static_cast<std::size_t>(i)];
      emit(range.begin + i, rank, std::move(pair[0]));
      if (rank == ranks) emit(range.begin + i, rank + 1, std::move(pair[1]));
    }
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
