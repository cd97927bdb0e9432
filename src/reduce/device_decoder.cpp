// Order of decoding: small sections on the host, then blobs, streams and cells on the device, then
// what is stored apart from the codes.
#include "reduce/device_decoder.hpp"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>

#include "reduce/anchors.hpp"
#include "reduce/device_grid_codec.hpp"
#include "reduce/field_decoder.hpp"
#include "reduce/field_sections.hpp"
#include "tamis/error.hpp"

namespace tamis::reduce {

namespace {

constexpr std::int64_t kFirstFetch = std::int64_t{1} << 16;  // most directories are smaller

bool stays(const std::string& name) { return name == "data" || name == "raw"; }

template <typename T>
void upload(void* to, const std::vector<T>& from, const Stream& stream) {
  if (from.empty()) return;
  copy_bytes(to, from.data(), static_cast<std::int64_t>(from.size() * sizeof(T)), stream);
}

[[noreturn]] void throw_fault(std::uint64_t fault, const Grid& grid) {
  const auto where = static_cast<std::int64_t>(fault >> 8);
  const int kind = static_cast<int>(fault & 255);
  std::string what;
  if (kind >= device::kFaultStream) {
    what = "bundle " + std::to_string(where) + ": its stream of codes is damaged (" +
           std::to_string(kind - device::kFaultStream) + ")";
  } else {
    what =
        "blob " + std::to_string(where) + " of " + std::to_string(BlobTable(grid).count()) + ": " +
        (kind == device::kFaultChecksum ? "checksum differs; the bytes were changed after writing"
         : kind == device::kFaultPredictors ? "its predictors are damaged"
         : kind == device::kFaultTables     ? "its tables are damaged"
                                            : "its head is damaged");
  }
  throw Error(ErrorCode::kCorrupt, what);
}

template <typename T>
class DeviceFieldDecoder {
 public:
  DeviceFieldDecoder(const DeviceContainer& container, gpu::Workspace& workspace, PinnedArea& area,
                     T* out)
      : container_(container),
        area_(area),
        reader_(container.reader()),
        header_(container.header()),
        workspace_(workspace),
        stream_(workspace.stream()),
        out_(out) {}

  template <typename I>
  void run() {
    map_ = header_.map;
    if (map_.kind == MapKind::kPalette) {
      map_.palette = read_palette(reader_.section("palette"), map_.dtype);
    }
    const Grid grid(fold_extents(header_.info.shape), header_.plan);
    std::vector<device::PatchEntry> patches;
    if (reader_.has("patches")) {
      for (const Patch& p : read_patches(reader_.section("patches"), sizeof(T),
                                         header_.info.shape.element_count())) {
        patches.push_back({p.index, p.bits});
      }
    }
    const Places places = place_blobs(grid);
    std::uint64_t fault = decode_as<I>(header_.info.mode, grid, places, patches);
    if ((fault & 255) == device::kFaultNoModels) {  // any mode may have such blobs
      fault = decode_as<I>(Mode::kRatio, grid, places, patches);
    }
    if (fault != 0) throw_fault(fault, grid);
  }

 private:
  struct Places {
    std::vector<std::uint64_t> sizes;
    std::vector<std::uint64_t> at;
    std::vector<std::uint32_t> checksums;
  };

  // Returns the first fault; 0 when all is well.
  template <typename I>
  std::uint64_t decode_as(Mode mode, const Grid& grid, const Places& places,
                          const std::vector<device::PatchEntry>& patches) {
    DeviceGridCodec codec(grid, sizeof(T), sizeof(I), mode, DeviceGridCodec::Use::kDecode);
    const auto patch_count = static_cast<std::int64_t>(patches.size());
    const auto palette_size = static_cast<std::int64_t>(map_.palette.size());
    workspace_.reset(codec.table_bytes() + codec.workspace_bytes(patch_count) +
                     gpu::Workspace::bytes<double>(palette_size));
    codec.take_tables(workspace_);
    codec.take(workspace_, patch_count);
    double* palette = workspace_.take<double>(palette_size);
    upload(palette, map_.palette, stream_);
    codec.set_map(map_, palette);
    codec.cells().target = out_;
    fill_bytes(codec.cells().report, 0, sizeof(device::CodecReport), stream_);
    upload(codec.blobs().blob_sizes, places.sizes, stream_);
    upload(codec.blobs().blob_at, places.at, stream_);
    upload(codec.blobs().checksums, places.checksums, stream_);
    codec.blobs().data =
        reinterpret_cast<unsigned char*>(const_cast<std::byte*>(container_.device_section("data")));
    upload(codec.cells().patches, patches, stream_);
    codec.decode_streams(stream_);
    // The host decodes the anchors, which are few, while the device is at the codes.
    const std::vector<I> anchors = decode_anchors<I>(grid, map_.step, reader_.section("anchors"));
    // Pinned: a copy from ordinary memory would wait for the device first.
    I* pinned = area_.get<I>(static_cast<std::int64_t>(anchors.size()), stream_.device());
    std::copy(anchors.begin(), anchors.end(), pinned);
    copy_bytes(codec.anchors(), pinned, static_cast<std::int64_t>(anchors.size() * sizeof(I)),
               stream_);
    codec.decode_cells(stream_);
    codec.apply_patches(patch_count, stream_);
    device::CodecReport report{};
    copy_bytes(&report, codec.cells().report, sizeof report, stream_);
    stream_.synchronize();
    return report.fault;
  }

  // In file order, as the kernels number blobs.
  Places place_blobs(const Grid& grid) const {
    const BlobTable table(grid);
    const std::vector<BlobEntry> entries =
        read_index(reader_.section("index"), table, reader_.section_unverified("data").size());
    Places places;
    table.each([&](std::int64_t slot) {
      const BlobEntry& e = entries[static_cast<std::size_t>(slot)];
      places.sizes.push_back(e.size);
      places.at.push_back(e.offset);
      places.checksums.push_back(e.checksum);
    });
    return places;
  }

  const DeviceContainer& container_;
  PinnedArea& area_;
  const ContainerReader& reader_;
  const Header& header_;
  gpu::Workspace& workspace_;
  const Stream& stream_;
  T* out_;
  NumberMap map_;
};

// What has no kernels yet is decoded on the host.
bool needs_host(const DeviceContainer& container) {
  const ContainerReader& reader = container.reader();
  return container.header().stored_raw || reader.has("mask") || reader.has("zeros") ||
         reader.has("signs");
}

void decode_on_host(const DeviceContainer& container, const Stream& stream, void* out) {
  container.fetch_all(stream);
  const Info& info = container.header().info;
  const Selection selection = select(info.shape, {});
  Array<std::byte> values(info.raw_bytes);
  decode_field(container.reader(), container.header(), selection, {}, values.data());
  copy_bytes(out, values.data(), info.raw_bytes, stream);
  stream.synchronize();
}

}  // namespace

DeviceContainer::DeviceContainer(const void* container, std::int64_t size_bytes,
                                 const Stream& stream)
    : device_(static_cast<const std::byte*>(container)),
      size_(size_bytes),
      mirror_(new std::byte[static_cast<std::size_t>(size_bytes)]) {
  const std::int64_t tail = std::max<std::int64_t>(0, size_ - kFirstFetch);
  fetch(0, std::min<std::int64_t>(size_, kFrontBytes), stream);
  fetch(tail, size_, stream);
  stream.synchronize();
  constexpr auto kEnd = static_cast<std::int64_t>(kTailBytes);
  if (size_ >= kEnd) {
    std::uint32_t directory = 0;
    std::memcpy(&directory, mirror_.get() + size_ - kEnd, sizeof directory);
    const std::int64_t begin = std::max<std::int64_t>(
        0, size_ - kEnd - std::int64_t{std::min<std::uint32_t>(directory, kMaxDirectoryBytes)});
    if (begin < tail) {
      fetch(begin, tail, stream);
      stream.synchronize();
    }
  }
  reader_ = std::make_unique<ContainerReader>(
      std::span<const std::byte>(mirror_.get(), static_cast<std::size_t>(size_)));
  header_ = Header::from_json(reader_->meta());
  for (const SectionInfo& s : reader_->sections()) {
    if (stays(s.name)) continue;
    fetch(static_cast<std::int64_t>(s.offset), static_cast<std::int64_t>(s.offset + s.size),
          stream);
  }
  stream.synchronize();
}

void DeviceContainer::fetch(std::int64_t begin, std::int64_t end, const Stream& stream) const {
  if (begin < end) copy_bytes(mirror_.get() + begin, device_ + begin, end - begin, stream);
}

void DeviceContainer::fetch_all(const Stream& stream) const {
  for (const SectionInfo& s : reader_->sections()) {
    if (!stays(s.name)) continue;
    fetch(static_cast<std::int64_t>(s.offset), static_cast<std::int64_t>(s.offset + s.size),
          stream);
  }
  stream.synchronize();
}

Info DeviceContainer::info() const {
  Info info = header_.info;
  info.compressed_bytes = size_;
  for (const SectionInfo& s : reader_->sections()) {
    info.sections.push_back(s.name + ": " + std::to_string(s.size));
  }
  return info;
}

const std::byte* DeviceContainer::device_section(std::string_view name) const {
  return device_ + (reader_->section_unverified(name).data() - mirror_.get());
}

void decode_field_on_device(const DeviceContainer& container, gpu::Workspace& workspace,
                            PinnedArea& area, void* out) {
  const Header& header = container.header();
  check_promise(container.reader(), header);
  if (header.info.raw_bytes == 0) return;
  if (needs_host(container)) {
    decode_on_host(container, workspace.stream(), out);
    return;
  }
  const auto run = [&](auto* values) {
    DeviceFieldDecoder decoder(container, workspace, area, values);
    if (header.map.wide) {
      decoder.template run<std::int64_t>();
    } else {
      decoder.template run<std::int32_t>();
    }
  };
  if (header.info.dtype == DType::kF32) {
    run(static_cast<float*>(out));
  } else {
    run(static_cast<double*>(out));
  }
}

}  // namespace tamis::reduce
