// Encodes with everything decided: anchors, cells, streams and blobs on the device; the small
// sections around them on the host.
#include "reduce/device_backend.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "reduce/anchors.hpp"
#include "reduce/field_attempt.hpp"
#include "reduce/field_sections.hpp"

namespace tamis::reduce {

namespace {

template <typename T>
std::vector<T> download(const T* data, std::int64_t count, const Stream& stream) {
  std::vector<T> copy(static_cast<std::size_t>(count));
  copy_bytes(copy.data(), data, count * static_cast<std::int64_t>(sizeof(T)), stream);
  stream.synchronize();
  return copy;
}

// Half the distance of the floats around `magnitude` and somewhat beyond.
template <typename T>
double half_ulp_near(double magnitude) {
  const T value = static_cast<T>(magnitude * 1.01);
  return 0.5 * (static_cast<double>(std::nextafter(value, std::numeric_limits<T>::infinity())) -
                static_cast<double>(value));
}

}  // namespace

template <typename T>
DeviceBackend<T>::DeviceBackend(const T* data, const Extents& shape, gpu::Workspace& workspace,
                                DeviceOutput& output)
    : data_(data),
      workspace_(workspace),
      output_(output),
      copy_(download(data, shape.element_count(), workspace.stream())),
      source_(copy_.data(), shape),
      host_(source_) {}

template <typename T>
EncodeOutcome DeviceBackend<T>::encode(ContainerWriter& writer, const EncodeRequest& request) {
  if (request.masks.any_voids || request.error_scale > 0) {
    return host_.encode(writer, request);
  }
  return request.design.map.wide ? encode_as<std::int64_t>(writer, request)
                                 : encode_as<std::int32_t>(writer, request);
}

// Which values need no care, and which errors no exact comparison.
template <typename T>
void DeviceBackend<T>::set_check(DeviceGridCodec& codec, const EncodeRequest& request) const {
  device::CellArgs& cells = codec.cells();
  device::LatticeArgs& lattice = cells.lattice;
  const PointCheck& check = request.check;
  cells.check = check.kind == PointCheck::Kind::kAbsolute    ? device::kCheckAbsolute
                : check.kind == PointCheck::Kind::kPointwise ? device::kCheckPointwise
                                                             : device::kCheckExact;
  cells.bound = check.bound;
  lattice.low = 1;
  lattice.high = -1;
  const NumberMap& map = request.design.map;
  if (!map.is_affine() || check.kind != PointCheck::Kind::kAbsolute) return;
  const double limit = map.wide ? 0x1p57 : 0x1p28;
  const double inverse = 1.0 / map.unit;
  const auto fits = [&](T value) {
    return std::fabs((static_cast<double>(value) - map.offset) * inverse) < limit;
  };
  const double reach = limit * map.unit * (1 - 0x1p-20);
  T low = static_cast<T>(map.offset - reach);
  T high = static_cast<T>(map.offset + reach);
  for (int i = 0; i < 4 && !fits(low); ++i) low = std::nextafter(low, T{0});
  for (int i = 0; i < 4 && !fits(high); ++i) high = std::nextafter(high, T{0});
  if (!fits(low) || !fits(high)) return;
  lattice.low = static_cast<double>(low);
  lattice.high = static_cast<double>(high);
  const double magnitude = scan_.max_magnitude + check.bound;
  const bool near_infinity =
      !(magnitude < 0.5 * static_cast<double>(std::numeric_limits<T>::max()));
  const double rounding = sizeof(T) == 8 ? 0.0 : half_ulp_near<T>(magnitude);
  lattice.safe_bound = near_infinity ? -1.0 : (check.bound - rounding) * (1 - 0x1p-50);
}

// Encodes the anchors, which are few, on the host; the device gets them as decoded.
template <typename T>
template <typename I>
std::vector<std::byte> DeviceBackend<T>::place_anchors(DeviceGridCodec& codec, const Grid& grid,
                                                       std::int64_t step) {
  const Stream& stream = workspace_.stream();
  codec.gather_anchors(codec.anchors(), stream);
  std::vector<I> anchors =
      download(static_cast<const I*>(codec.anchors()), grid.tile_count(), stream);
  std::vector<std::byte> section = encode_anchors(grid, step, anchors);
  copy_bytes(codec.anchors(), anchors.data(), static_cast<std::int64_t>(anchors.size() * sizeof(I)),
             stream);
  stream.synchronize();
  return section;
}

template <typename T>
template <typename I>
EncodeOutcome DeviceBackend<T>::encode_as(ContainerWriter& writer, const EncodeRequest& request) {
  const Stream& stream = workspace_.stream();
  const NumberMap& map = request.design.map;
  Attempt<T, I> attempt(source_, request.options, request.check, request.design, request.masks);
  const Grid& grid = attempt.grid();
  DeviceGridCodec codec(grid, sizeof(T), sizeof(I), request.options.mode);
  const std::vector<Predictor> predictors = attempt.choose_predictors();
  std::vector<std::byte> anchors;
  device::CodecReport report{};
  for (;;) {
    prepare(codec, request);
    anchors = place_anchors<I>(codec, grid, map.step);
    copy_bytes(codec.predictors(), predictors.data(), static_cast<std::int64_t>(predictors.size()),
               stream);
    const auto before = static_cast<std::int64_t>(anchors.size());
    codec.blobs().data = reinterpret_cast<unsigned char*>(output_.next() + before);
    codec.blobs().data_room = output_.room() - before;
    codec.encode(stream);
    report = download(codec.cells().report, 1, stream).front();
    const auto found = static_cast<std::int64_t>(report.patches);
    if (found > request.patch_limit) return {};
    if (found <= patch_room_) break;
    patch_room_ = found;  // once more, with room for all of them
  }
  writer.add_section("anchors", anchors);
  writer.begin_section("data", Checks::kInParts);
  writer.append_elsewhere(report.data_bytes);
  output_.skip(static_cast<std::int64_t>(report.data_bytes));
  writer.end_section();
  const auto index =
      download(codec.blobs().index, static_cast<std::int64_t>(report.index_bytes), stream);
  writer.add_section("index", std::as_bytes(std::span(index)));
  if (map.kind == MapKind::kPalette) {
    writer.add_section("palette", write_palette(map.palette, map.dtype));
  }
  std::vector<Patch> patches = request.masks.patches;
  for (const device::PatchEntry& p :
       download(codec.cells().patches, static_cast<std::int64_t>(report.patches), stream)) {
    patches.push_back({p.index, p.bits});
  }
  std::sort(patches.begin(), patches.end(),
            [](const Patch& a, const Patch& b) { return a.index < b.index; });
  if (!patches.empty()) writer.add_section("patches", write_patches(patches, sizeof(T)));
  return {true, static_cast<std::int64_t>(patches.size()), 0};
}

// Scratch memory, number map and check of an encoding.
template <typename T>
void DeviceBackend<T>::prepare(DeviceGridCodec& codec, const EncodeRequest& request) {
  const Stream& stream = workspace_.stream();
  const NumberMap& map = request.design.map;
  const auto palette_size = static_cast<std::int64_t>(map.palette.size());
  workspace_.reset(codec.workspace_bytes(patch_room_) +
                   gpu::Workspace::bytes<double>(palette_size));
  codec.take(workspace_, patch_room_);
  double* palette = workspace_.take<double>(palette_size);
  if (palette_size > 0) copy_bytes(palette, map.palette.data(), palette_size * 8, stream);
  codec.set_map(map, palette);
  set_check(codec, request);
  codec.cells().source = data_;
  fill_bytes(codec.cells().report, 0, sizeof(device::CodecReport), stream);
  codec.list_tiles(stream);
}

template class DeviceBackend<float>;
template class DeviceBackend<double>;

}  // namespace tamis::reduce
