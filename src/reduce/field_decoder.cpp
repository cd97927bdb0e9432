// Order of decoding: bit maps, anchors, the chunks that the selection touches; then what is stored
// apart from the codes: signs, zeros, fill and patches.
#include "reduce/field_decoder.hpp"

#include <bit>
#include <cstring>
#include <string>

#include "codec/mask_codec.hpp"
#include "core/checksum.hpp"
#include "reduce/anchors.hpp"
#include "reduce/field_sections.hpp"
#include "reduce/selection_rows.hpp"
#include "reduce/value_bits.hpp"
#include "tamis/error.hpp"

namespace tamis::reduce {

namespace {

template <typename T>
class FieldDecoder {
 public:
  FieldDecoder(const ContainerReader& container, const Header& header, const Selection& selection,
               const DecompressOptions& options, T* out)
      : container_(container),
        header_(header),
        selection_(selection),
        options_(options),
        selected_(header.info.shape, selection),
        folded_(fold_extents(header.info.shape)),
        count_(header.info.shape.element_count()),
        out_(out) {}

  void run() {
    if (header_.stored_raw) {
      copy_raw();
      return;
    }
    read_bit_maps();
    if (header_.map.wide) {
      decode<std::int64_t>();
    } else {
      decode<std::int32_t>();
    }
    finish_values();
  }

 private:
  void copy_raw() {
    const auto raw = container_.section("raw");
    if (selection_.everything) {
      std::memcpy(out_, raw.data(), raw.size());
      return;
    }
    selected_.each([&](std::int64_t linear, std::int64_t to) {
      std::memcpy(out_ + to, raw.data() + static_cast<std::size_t>(linear) * sizeof(T), sizeof(T));
    });
  }

  void read_bit_map(const char* name, BitMap& bits) {
    if (!container_.has(name)) return;
    bits = BitMap(count_);
    codec::decode_mask(container_.section(name),
                       {folded_.begin(), static_cast<std::size_t>(folded_.rank())}, bits.words(),
                       options_.threads);
  }

  void read_bit_maps() {
    if (header_.info.fill_value) read_bit_map("mask", fill_);
    read_bit_map("zeros", zeros_);
    read_bit_map("signs", signs_);
    if (fill_.count() > 0 || zeros_.count() > 0) {
      voids_ = fill_.count() > 0 ? fill_ : zeros_;
      if (fill_.count() > 0 && zeros_.count() > 0) voids_.merge(zeros_);
    }
  }

  const BitMap* voids() const { return voids_.count() > 0 ? &voids_ : nullptr; }

  template <typename I>
  void decode() {
    NumberMap map = header_.map;
    if (map.kind == MapKind::kPalette) {
      map.palette = read_palette(container_.section("palette"), map.dtype);
    }
    const Grid grid(folded_, header_.plan);
    const BlobTable table(grid);
    const auto data = container_.section_unverified("data");
    const std::vector<BlobEntry> entries =
        read_index(container_.section("index"), table, data.size());
    const std::vector<I> anchors = decode_anchors<I>(grid, map.step, container_.section("anchors"));
    SelectionRows<T, I> rows(map, voids(), selected_, selection_.everything, out_);
    if (selection_.step >= grid.tile()) {
      take_anchors(grid, anchors, rows);
      return;
    }
    GridDecoding how;
    how.step = map.step;
    how.threads = options_.threads;
    how.coarse_only = selection_.step > 1;
    how.progress = options_.progress;
    if (!selection_.everything) how.wanted = wanted_tiles(grid);
    how.blob = [&](std::int64_t chunk, int blob) {
      const BlobEntry& e = entries[static_cast<std::size_t>(table.slot(chunk, blob))];
      const auto bytes = data.subspan(e.offset, e.size);
      if (e.size != 0 && static_cast<std::uint32_t>(xxh3_64(bytes)) != e.checksum) {
        throw Error(ErrorCode::kCorrupt,
                    "chunk " + std::to_string(chunk) + ", part " + std::to_string(blob) +
                        ": checksum differs; the bytes were changed after writing");
      }
      return bytes;
    };
    decode_grid<I>(grid, how, anchors, rows);
  }

  // A preview this coarse needs anchors alone.
  template <typename I>
  void take_anchors(const Grid& grid, const std::vector<I>& anchors, SelectionRows<T, I>& rows) {
    for (std::int64_t t = 0; t < grid.tile_count(); ++t) {
      rows.accept_row(grid.tile_at(t).origin, 1, 1, &anchors[static_cast<std::size_t>(t)]);
    }
  }

  std::vector<bool> wanted_tiles(const Grid& grid) const {
    std::vector<bool> wanted(static_cast<std::size_t>(grid.tile_count()));
    // Tiles are found through their nodes' coordinates in the user's shape, whose slow axes may
    // have been folded: a tile is wanted when any selected node lies in it.
    const Extents tile_strides = grid.tile_grid().contiguous_strides();
    const Extents strides = folded_.contiguous_strides();
    selected_.each([&](std::int64_t linear, std::int64_t) {
      std::int64_t index = 0;
      for (int d = 0; d < folded_.rank(); ++d) {
        const std::int64_t x = linear / strides[d];
        linear -= x * strides[d];
        const bool active = (grid.plan().active_mask >> d & 1U) != 0;
        index += (active ? x / grid.tile() : x) * tile_strides[d];
      }
      wanted[static_cast<std::size_t>(index)] = true;
    });
    return wanted;
  }

  // Signs, zeros and fill where they are selected.
  void finish_values() {
    const T fill = value_of<T>(header_.fill_bits);
    if (selection_.everything) {
      signs_.each_set([&](std::int64_t i) { out_[i] = -out_[i]; });
      zeros_.each_set(
          [&](std::int64_t i) { out_[i] = signs_.count() > 0 && signs_.get(i) ? -T{0} : T{0}; });
      fill_.each_set([&](std::int64_t i) { out_[i] = fill; });
    } else if (fill_.count() > 0 || zeros_.count() > 0 || signs_.count() > 0) {
      selected_.each([&](std::int64_t linear, std::int64_t to) {
        if (fill_.count() > 0 && fill_.get(linear)) {
          out_[to] = fill;
          return;
        }
        if (zeros_.count() > 0 && zeros_.get(linear)) out_[to] = 0;
        if (signs_.count() > 0 && signs_.get(linear)) out_[to] = -out_[to];
      });
    }
    if (!container_.has("patches")) return;
    for (const Patch& p : read_patches(container_.section("patches"), sizeof(T), count_)) {
      const std::int64_t to = selection_.everything ? p.index : selected_.find(p.index);
      if (to >= 0) out_[to] = value_of<T>(p.bits);
    }
  }

  const ContainerReader& container_;
  const Header& header_;
  const Selection& selection_;
  const DecompressOptions& options_;
  SelectionMap selected_;
  Extents folded_;
  std::int64_t count_;
  T* out_;
  BitMap fill_;
  BitMap zeros_;
  BitMap signs_;
  BitMap voids_;
};

}  // namespace

Selection select(const Extents& shape, const DecompressOptions& options) {
  if (options.level < 0 || options.level >= count_levels(shape)) {
    throw Error(ErrorCode::kInvalidArgument, "level " + std::to_string(options.level) +
                                                 " of a field of shape " + shape.to_string() +
                                                 "; expected 0 to " +
                                                 std::to_string(count_levels(shape) - 1));
  }
  Selection s;
  s.step = std::int64_t{1} << options.level;
  s.origin = Extents::filled(shape.rank(), 0);
  s.extent = shape;
  s.everything = !options.box && options.level == 0;
  if (options.box) {
    const Box& box = *options.box;
    const auto fail = [&](const std::string& what) {
      throw Error(ErrorCode::kInvalidArgument, "box at " + box.origin.to_string() + " of " +
                                                   box.extent.to_string() + ": " + what +
                                                   "; the field is " + shape.to_string());
    };
    if (box.origin.rank() != shape.rank() || box.extent.rank() != shape.rank()) {
      fail("it needs " + std::to_string(shape.rank()) + " axes");
    }
    for (int d = 0; d < shape.rank(); ++d) {
      if (box.origin[d] < 0 || box.extent[d] < 0 || box.origin[d] > shape[d] ||
          box.extent[d] > shape[d] - box.origin[d]) {
        fail("it leaves the field along axis " + std::to_string(d));
      }
    }
    s.origin = box.origin;
    s.extent = box.extent;
  }
  for (int d = 0; d < shape.rank(); ++d) {
    const std::int64_t end = s.origin[d] + s.extent[d];
    s.origin[d] = (s.origin[d] + s.step - 1) / s.step * s.step;
    s.extent[d] = s.origin[d] < end ? (end - s.origin[d] + s.step - 1) / s.step : 0;
  }
  return s;
}

void check_promise(const ContainerReader& container, const Header& header) {
  if (header.info.raw_bytes == 0) return;
  if (header.stored_raw) {
    const auto size = static_cast<std::int64_t>(container.section_unverified("raw").size());
    if (size != header.info.raw_bytes) {
      throw Error(ErrorCode::kCorrupt, "raw section: " + std::to_string(size) +
                                           " bytes; the header promises " +
                                           std::to_string(header.info.raw_bytes));
    }
    return;
  }
  const std::int64_t chunks = Grid::count_chunks(fold_extents(header.info.shape), header.plan);
  const auto size = static_cast<std::int64_t>(container.section_unverified("index").size());
  if (chunks > size) {
    throw Error(ErrorCode::kCorrupt, "index: " + std::to_string(size) + " bytes for " +
                                         std::to_string(chunks) + " chunks");
  }
}

void decode_field(const ContainerReader& container, const Header& header,
                  const Selection& selection, const DecompressOptions& options, void* out) {
  if (selection.extent.element_count() == 0) return;
  if (header.info.dtype == DType::kF32) {
    FieldDecoder<float>(container, header, selection, options, static_cast<float*>(out)).run();
  } else {
    FieldDecoder<double>(container, header, selection, options, static_cast<double*>(out)).run();
  }
}

}  // namespace tamis::reduce
