// The order of launches; see reduce/device/*.cu for what each does.
#include "reduce/device_grid_codec.hpp"

#include <algorithm>
#include <string>

#include "reduce/device/rans_rooms.hpp"
#include "reduce/device_tunables.hpp"

namespace tamis::reduce {

namespace {

using device::BlobArgs;
using device::CellArgs;

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace

DeviceGridCodec::DeviceGridCodec(const Grid& grid, int value_bytes, int lattice_bytes, Mode mode,
                                 Use use)
    : grid_(grid), mode_(mode), use_(use) {
  variant_.axes = grid.active_count();
  variant_.value_bytes = value_bytes;
  variant_.lattice_bytes = lattice_bytes;
  variant_.contexts = mode == Mode::kRatio && use == Use::kEncode;
}

// Words that encoding a bundle's stream may write to: rice_room_words(), fixed_room_words() and
// rans_room() of codec/device, where the reasons are.
std::int64_t DeviceGridCodec::stream_words(int stream) const {
  if (use_ == Use::kDecode) return 0;
  const std::int64_t codes = grid_.args().code_room[stream];
  const bool narrow = variant_.lattice_bytes == 4;
  const std::int64_t rice = ceil_div(codes, 512) * (narrow ? 531 : 1079) + 1;
  const std::int64_t rans = mode_ == Mode::kRatio ? codes * (narrow ? 4 : 7) / 3 + 64 : 0;
  return std::max(rice, rans);
}

// What rANS takes besides codes, contexts and words.
std::int64_t DeviceGridCodec::model_bytes() const {
  if (mode_ != Mode::kRatio) return 0;
  using gpu::Workspace;
  const std::int64_t blobs = grid_.stream_count() * grid_.chunk_count();
  if (use_ == Use::kDecode) {
    return Workspace::bytes<unsigned>(blobs * device::rans_decoder_room()) +
           2 * Workspace::bytes<unsigned>(blobs) + Workspace::bytes<unsigned long long>(blobs);
  }
  const int lattice = variant_.lattice_bytes;
  return Workspace::bytes<unsigned>(blobs * device::rans_symbol_room(lattice)) +
         2 * Workspace::bytes<unsigned>(blobs) +
         Workspace::bytes<unsigned char>(blobs * device::rans_table_room(lattice)) +
         Workspace::bytes<unsigned>(grid_.stream_count() * grid_.bundle_count());
}

void DeviceGridCodec::take_models(gpu::Workspace& workspace) {
  if (mode_ != Mode::kRatio) return;
  const std::int64_t blobs = grid_.stream_count() * grid_.chunk_count();
  const int lattice = variant_.lattice_bytes;
  blobs_.model_room =
      use_ == Use::kDecode ? device::rans_decoder_room() : device::rans_symbol_room(lattice);
  blobs_.models = workspace.take<unsigned>(blobs * blobs_.model_room);
  blobs_.model_sizes = workspace.take<unsigned>(blobs);
  blobs_.table_sizes = workspace.take<unsigned>(blobs);
  if (use_ == Use::kDecode) {
    blobs_.table_at = workspace.take<unsigned long long>(blobs);
    cells_.coders = blobs_.coders;
    return;
  }
  blobs_.table_room = device::rans_table_room(lattice);
  blobs_.tables = workspace.take<unsigned char>(blobs * blobs_.table_room);
  blobs_.rice_sizes = workspace.take<unsigned>(grid_.stream_count() * grid_.bundle_count());
}

std::int64_t DeviceGridCodec::workspace_bytes(std::int64_t patch_room) const {
  using gpu::Workspace;
  const std::int64_t streams = grid_.stream_count();
  const std::int64_t bundles = grid_.bundle_count();
  const std::int64_t blobs = grid_.blob_count();
  return Workspace::bytes<std::byte>(grid_.plane_values() * 8) +
         Workspace::bytes<std::byte>(grid_.tile_count() * 8) +
         Workspace::bytes<std::byte>(grid_.tile_count()) +
         Workspace::bytes<unsigned>(grid_.tile_count() << variant_.axes) +
         3 * Workspace::bytes<unsigned long long>(streams * bundles) +
         Workspace::bytes<std::byte>(grid_.code_values() * variant_.lattice_bytes) +
         Workspace::bytes<std::byte>(variant_.contexts ? grid_.code_values() : 0) +
         Workspace::bytes<unsigned>(word_room()) + model_bytes() +
         3 * Workspace::bytes<unsigned long long>(blobs + 1) +
         Workspace::bytes<std::byte>(index_room()) +
         Workspace::bytes<std::byte>(streams * grid_.chunk_count()) +
         Workspace::bytes<device::PatchEntry>(patch_room) +
         Workspace::bytes<device::CodecReport>(1);
}

std::int64_t DeviceGridCodec::word_room() const {
  std::int64_t words = 0;
  for (int s = 0; s < grid_.stream_count(); ++s) words += stream_words(s);
  return words * grid_.bundle_count();
}

std::int64_t DeviceGridCodec::framed_room() const {
  // A frame, the coder, the sizes of a chunk's bundles; or the predictors of its tiles.
  constexpr std::int64_t kHeadBytes = 10 + 1 + kChunkTiles / kBundleTiles * 5 + kChunkTiles * 3 / 8;
  return 4 * word_room() + grid_.blob_count() * kHeadBytes;
}

void DeviceGridCodec::take(gpu::Workspace& workspace, std::int64_t patch_room) {
  using U64 = unsigned long long;
  const std::int64_t streams = grid_.stream_count();
  const std::int64_t bundles = grid_.bundle_count();
  const std::int64_t blobs = grid_.blob_count();
  const int lattice = variant_.lattice_bytes;
  cells_.planes = workspace.take<std::byte>(grid_.plane_values() * lattice);
  anchors_ = workspace.take<std::byte>(grid_.tile_count() * lattice);
  cells_.anchors = anchors_;
  blobs_.predictors_out = workspace.take<unsigned char>(grid_.tile_count());
  cells_.predictors = blobs_.predictors_out;
  cells_.cell_at = workspace.take<unsigned>(grid_.tile_count() << variant_.axes);
  cells_.counts = workspace.take<unsigned>(streams * bundles);
  cells_.codes = workspace.take<std::byte>(grid_.code_values() * lattice);
  if (variant_.contexts) cells_.contexts = workspace.take<unsigned char>(grid_.code_values());
  cells_.patches = workspace.take<device::PatchEntry>(patch_room);
  cells_.patch_room = patch_room;
  cells_.report = workspace.take<device::CodecReport>(1);

  blobs_.codes = cells_.codes;
  blobs_.counts = cells_.counts;
  blobs_.predictors = cells_.predictors;
  blobs_.coder = mode_ == Mode::kFast      ? device::kFixedWidthCoder
                 : mode_ == Mode::kDefault ? device::kRiceCoder
                                           : device::kRansCoder;
  std::int64_t words = 0;
  for (int s = 0; s < streams; ++s) {
    blobs_.words_at[s] = words;
    blobs_.word_room[s] = stream_words(s);
    words += blobs_.word_room[s] * bundles;
  }
  blobs_.words = workspace.take<unsigned>(words);
  blobs_.stream_sizes = workspace.take<unsigned>(streams * bundles);
  blobs_.stream_at = workspace.take<U64>(streams * bundles);
  blobs_.blob_sizes = workspace.take<U64>(blobs + 1);
  blobs_.blob_at = workspace.take<U64>(blobs + 1);
  blobs_.checksums = workspace.take<unsigned>(blobs);
  blobs_.index = workspace.take<unsigned char>(index_room());
  blobs_.coders = workspace.take<unsigned char>(streams * grid_.chunk_count());
  take_models(workspace);
  blobs_.report = cells_.report;
}

gpu::Kernel DeviceGridCodec::kernel(const Stream& stream, CodecFamily family,
                                    std::string_view entry) const {
  return gpu::get_kernel(stream.device(), codec_source(family), codec_config(family, variant_),
                         entry);
}

void DeviceGridCodec::launch_per_item(const Stream& stream, CodecFamily family,
                                      std::string_view entry, std::int64_t items) const {
  const std::int64_t threads = block_threads(family, variant_);
  kernel(stream, family, entry).launch(stream, {{ceil_div(items, threads)}, {threads}}, cells_);
}

void DeviceGridCodec::take_tables(gpu::Workspace& workspace) {
  choose_launches(variant_, workspace.stream().device().info().name, grid_.node_count());
  grid_.take(workspace);
  cells_.grid = grid_.args();
  blobs_.grid = grid_.args();
  launch_per_item(workspace.stream(), CodecFamily::kGridTables, "list_tiles", grid_.tile_count());
}

void DeviceGridCodec::gather_anchors(void* anchors, const Stream& stream) const {
  const std::int64_t threads = block_threads(CodecFamily::kGridTables, variant_);
  kernel(stream, CodecFamily::kGridTables, "gather_anchors")
      .launch(stream, {{ceil_div(grid_.tile_count(), threads)}, {threads}}, cells_, anchors);
}

void DeviceGridCodec::round_nodes(const void* nodes, void* rounded, std::int64_t count,
                                  const Stream& stream) const {
  const std::int64_t threads = block_threads(CodecFamily::kGridTables, variant_);
  kernel(stream, CodecFamily::kGridTables, "round_nodes")
      .launch(stream, {{ceil_div(count, threads)}, {threads}}, cells_, nodes, rounded,
              static_cast<std::uint64_t>(count));
}

// Lower ranks must be complete before the next one begins, whatever the coders of their blobs.
void DeviceGridCodec::launch_cells(const Stream& stream, CodecFamily family,
                                   std::string_view verb) const {
  const std::int64_t threads = block_threads(family, variant_);
  const bool coded = family == CodecFamily::kDecodeCells && mode_ == Mode::kRatio;
  const std::int64_t waves = threads / stream.device().info().wave_size;
  const std::int64_t turns = grid_.bundle_count() * kBundleTiles;
  const auto entry = [&](const char* cells) {
    return kernel(stream, family, std::string(verb) + cells);
  };
  const auto in_parts = [&](const char* cells, std::int64_t blocks) {
    for (const int part : {0, 1}) {
      entry(cells).launch(stream, {{blocks}, {threads}}, cells_, part);
    }
    if (coded) launch_coded(stream, cells);
  };
  if (grid_.axes() >= 2) {
    const std::int64_t edges_a_block = grid_.axes() == 3 ? threads : waves;
    entry("_edges").launch(stream, {{ceil_div(turns * grid_.axes(), edges_a_block)}, {threads}},
                           cells_);
    if (coded) launch_coded(stream, "_edges");
  }
  if (grid_.axes() >= 3) in_parts("_faces", ceil_div(turns * grid_.axes(), waves));
  in_parts("_interiors", turns);
}

// As many bundles of a chunk a block as its shared memory allows.
void DeviceGridCodec::launch_coded(const Stream& stream, const std::string& cells) const {
  const int axes = grid_.axes();
  const int rank = cells == "_edges" ? 1 : cells == "_faces" ? 2 : axes;
  const int slot_bytes = std::max(variant_.value_bytes, variant_.lattice_bytes);
  const DeviceInfo& info = stream.device().info();
  constexpr CodecFamily kFamily = CodecFamily::kCodedCells;
  CodecVariant variant = variant_;
  int& most = variant.launch(kFamily).teams;
  const auto teams = [&] {
    return rank == axes ? most : device::low_rank_teams(most, info.wave_size);
  };
  const auto bytes = [&] { return device::coded_cell_bytes(rank, axes, slot_bytes, teams()); };
  while (most > 1 && bytes() > info.shared_bytes_per_block) most /= 2;
  const std::int64_t blocks = grid_.chunk_count() * ceil_div(device::kBundlesPerChunk, teams());
  gpu::get_kernel(stream.device(), codec_source(kFamily), codec_config(kFamily, variant),
                  "decode_coded" + cells)
      .launch(stream, {{blocks}, {block_threads(kFamily, variant)}, bytes()}, cells_, blobs_);
}

void DeviceGridCodec::count_codes(const Stream& stream) const {
  launch_per_item(stream, CodecFamily::kGridTables, "count_codes",
                  grid_.bundle_count() * kBundleTiles);
}

void DeviceGridCodec::encode_cells(const Stream& stream) const {
  launch_per_item(stream, CodecFamily::kGridTables, "place_anchors", grid_.tile_count());
  launch_cells(stream, CodecFamily::kEncodeCells, "encode");
}

void DeviceGridCodec::encode_streams(const Stream& stream) const {
  if (mode_ == Mode::kRatio) encode_models(stream);
  const std::int64_t stream_threads = block_threads(CodecFamily::kBundleStreams, variant_);
  kernel(stream, CodecFamily::kBundleStreams,
         mode_ == Mode::kFast ? "encode_fixed_width" : "encode_rice")
      .launch(stream, {{grid_.bundle_count() * grid_.stream_count()}, {stream_threads}}, blobs_);
  const std::int64_t threads = block_threads(CodecFamily::kWriteBlobs, variant_);
  const std::int64_t waves = threads / stream.device().info().wave_size;
  launch_blobs(stream, "size_blobs", ceil_div(grid_.blob_count(), waves));
  launch_blobs(stream, "place_blobs", 1);
}

void DeviceGridCodec::write_blobs(const Stream& stream) const {
  const std::int64_t waves =
      block_threads(CodecFamily::kWriteBlobs, variant_) / stream.device().info().wave_size;
  launch_blobs(stream, "write_heads", ceil_div(grid_.blob_count(), waves));
  launch_blobs(stream, "copy_streams", grid_.bundle_count() * grid_.stream_count());
  if (blobs_.framed != 0) return;
  launch_blobs(stream, "hash_blobs", grid_.blob_count());
  launch_blobs(stream, "write_index", 1);
}

void DeviceGridCodec::launch_blobs(const Stream& stream, std::string_view entry,
                                   std::int64_t blocks) const {
  const std::int64_t threads = block_threads(CodecFamily::kWriteBlobs, variant_);
  kernel(stream, CodecFamily::kWriteBlobs, entry).launch(stream, {{blocks}, {threads}}, blobs_);
}

// Streams of the blobs that rANS suits, and the choice of these.
void DeviceGridCodec::encode_models(const Stream& stream) const {
  constexpr CodecFamily kFamily = CodecFamily::kCodedStreams;
  const std::int64_t threads = block_threads(kFamily, variant_);
  const std::int64_t blobs = grid_.stream_count() * grid_.chunk_count();
  kernel(stream, kFamily, "build_models")
      .launch(stream, {{blobs}, {threads}, device::rans_build_bytes(variant_.lattice_bytes)},
              blobs_, cells_.contexts);
  kernel(stream, kFamily, "encode_coded_streams")
      .launch(stream, {{blobs}, {threads}}, blobs_, cells_.contexts);
  const std::int64_t stream_threads = block_threads(CodecFamily::kBundleStreams, variant_);
  kernel(stream, CodecFamily::kBundleStreams, "price_streams")
      .launch(stream, {{grid_.bundle_count() * grid_.stream_count()}, {stream_threads}}, blobs_);
  kernel(stream, kFamily, "choose_coders")
      .launch(stream, {{ceil_div(blobs, threads)}, {threads}}, blobs_);
}

void DeviceGridCodec::decode_streams(const Stream& stream) const {
  const std::int64_t threads = block_threads(CodecFamily::kOpenBlobs, variant_);
  kernel(stream, CodecFamily::kOpenBlobs, "open_blobs")
      .launch(stream, {{grid_.blob_count()}, {threads}}, blobs_);
  const std::int64_t wave_size = stream.device().info().wave_size;
  if (mode_ == Mode::kRatio) {
    const std::int64_t table_threads = block_threads(CodecFamily::kCodedStreams, variant_);
    const std::int64_t streams = grid_.stream_count() * grid_.chunk_count();
    kernel(stream, CodecFamily::kCodedStreams, "read_tables")
        .launch(stream, {{ceil_div(streams, table_threads / wave_size)}, {table_threads}}, blobs_);
  }
  count_codes(stream);
  const std::int64_t stream_threads = block_threads(CodecFamily::kBundleStreams, variant_);
  const std::int64_t blocks =
      ceil_div(grid_.bundle_count() * grid_.stream_count(), stream_threads / wave_size);
  // Each takes the streams of its coder; which these are only the device knows.
  for (const char* entry : {"decode_rice", "decode_fixed_width"}) {
    kernel(stream, CodecFamily::kBundleStreams, entry)
        .launch(stream, {{blocks}, {stream_threads}}, blobs_);
  }
}

void DeviceGridCodec::decode_cells(const Stream& stream) const {
  launch_per_item(stream, CodecFamily::kGridTables, "place_anchors", grid_.tile_count());
  launch_cells(stream, CodecFamily::kDecodeCells, "decode");
}

void DeviceGridCodec::apply_patches(std::int64_t count, const Stream& stream) const {
  const std::int64_t threads = block_threads(CodecFamily::kFinishValues, variant_);
  kernel(stream, CodecFamily::kFinishValues, "apply_patches")
      .launch(stream, {{ceil_div(count, threads)}, {threads}}, cells_.target, cells_.patches,
              static_cast<std::uint64_t>(count));
}

}  // namespace tamis::reduce
