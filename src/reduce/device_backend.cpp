// The host waits for the scan, for the trials, for the anchors while the device encodes the field,
// and for the end of it. The sections around the data are its work as well.
#include "reduce/device_backend.hpp"

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>

#include "reduce/device_scan.hpp"
#include "reduce/device_trial.hpp"
#include "reduce/field_sections.hpp"

namespace tamis::reduce {

namespace {

constexpr std::int64_t kPieceElements = std::int64_t{1} << 20;
// Fetched with the report, before it is known how many there are.
constexpr std::int64_t kFirstPatches = 1024;
constexpr std::int64_t kFirstIndexBytes = std::int64_t{1} << 18;

}  // namespace

template <typename T>
DeviceBackend<T>::DeviceBackend(const T* data, const Extents& shape, DeviceSession& session,
                                DeviceOutput& output)
    : data_(data),
      shape_(shape),
      folded_(fold_extents(shape)),
      session_(session),
      output_(output) {}

template <typename T>
FieldScan<T> DeviceBackend<T>::scan(const CompressOptions& options) {
  ScannedField<T> found = scan_field_on_device(data_, count(), options, session_);
  scan_ = found.scan;
  sample_ = std::move(found.sample);
  return scan_;
}

template <typename T>
FieldMasks DeviceBackend<T>::masks(const FieldScan<T>& scan, bool logarithm) {
  if (!may_have_masks(scan, logarithm)) return FieldMasks();
  session_.report.masks_on_host = true;
  if (scan.masked_count > 0) return on_host().masks(scan, logarithm);
  return find_masks<T>(pieces(), count(), scan, logarithm);
}

template <typename T>
Design DeviceBackend<T>::design(const FieldScan<T>& scan, const PointCheck& check,
                                const FieldMasks& masks, const CompressOptions& options) {
  if (masks.any_voids) {
    session_.report.design_on_host = true;
    return on_host().design(scan, check, masks, options);
  }
  const TrialField field{data_, sizeof(T)};
  DeviceSamples& samples = session_.samples(folded_, options.mode);
  std::vector<std::unique_ptr<DeviceTrialPricer>> pricers;
  const auto start = [&](const NumberMap& map) {
    TrialMemory& memory = session_.trials(pricers.size());
    pricers.push_back(
        std::make_unique<DeviceTrialPricer>(field, map, options.mode, samples, memory, session_));
  };
  const std::vector<NumberMap> derived = derived_maps(scan, check);
  for (const NumberMap& map : derived) start(map);
  // The device is at work; its results come after those of the data's own map, if there is one.
  const std::optional<NumberMap> own = own_map<T>(sample_, pieces(), scan, check);
  DesignContest contest(count());
  if (own) {
    start(*own);
    contest.enter(*own, search_plan(*pricers.back(), options.mode));
  }
  for (std::size_t i = 0; i < derived.size(); ++i) {
    contest.enter(derived[i], search_plan(*pricers[i], options.mode));
  }
  return contest.winner();
}

template <typename T>
EncodeOutcome DeviceBackend<T>::encode(ContainerWriter& writer, const EncodeRequest& request) {
  // Squared errors are not added up by kernels.
  if (request.masks.any_voids || request.error_scale > 0) {
    session_.report.encoded_on_host = true;
    return on_host().encode(writer, request);
  }
  const NumberMap& map = request.design.map;
  const Grid grid(folded_, request.design.choice.plan);
  DeviceCodecs& codecs = session_.codecs(grid, sizeof(T), map.wide ? 8 : 4, request.options.mode);
  std::vector<std::byte> anchors;
  Results results{};
  for (;;) {
    anchors = encode_field(codecs, request);
    results = fetch_results(codecs.field);
    const auto found = static_cast<std::int64_t>(results.report.patches);
    if (found > request.patch_limit) return {};
    if (found <= session_.patch_room) break;
    session_.patch_room = found;  // once more, with room for all of them
  }
  const device::CodecReport& report = results.report;
  writer.add_section("anchors", anchors);
  writer.begin_section("data", Checks::kInParts);
  writer.append_elsewhere(report.data_bytes);
  output_.skip(static_cast<std::int64_t>(report.data_bytes));
  writer.end_section();
  writer.add_section("index", std::as_bytes(std::span(results.index, report.index_bytes)));
  if (map.kind == MapKind::kPalette) {
    writer.add_section("palette", write_palette(map.palette, map.dtype));
  }
  std::vector<Patch> patches = request.masks.patches;
  for (const device::PatchEntry& p : std::span(results.patches, report.patches)) {
    patches.push_back({p.index, p.bits});
  }
  std::sort(patches.begin(), patches.end(),
            [](const Patch& a, const Patch& b) { return a.index < b.index; });
  if (!patches.empty()) writer.add_section("patches", write_patches(patches, sizeof(T)));
  return {true, static_cast<std::int64_t>(patches.size()), 0};
}

// Everything up to the blobs in the output. Their place follows from the size of the section of
// anchors, which the host gets while the device is busy with the field.
template <typename T>
std::vector<std::byte> DeviceBackend<T>::encode_field(DeviceCodecs& codecs,
                                                      const EncodeRequest& request) {
  const Stream& stream = session_.stream();
  DeviceGridCodec& field = codecs.field;
  DeviceAnchors& anchors = codecs.anchors;
  prepare(codecs, request);
  field.gather_anchors(anchors.nodes(), stream);
  anchors.encode(request.design.map, field.anchors(), stream);
  set_predictors(field, request);
  field.count_codes(stream);
  field.encode_cells(stream);
  anchors.send(session_.anchors, stream);
  field.encode_streams(stream);
  std::vector<std::byte> section = anchors.receive(stream);
  ++session_.report.waits;
  const auto before = static_cast<std::int64_t>(section.size());
  field.blobs().data = reinterpret_cast<unsigned char*>(output_.next() + before);
  field.blobs().data_room = output_.room() - before;
  field.write_blobs(stream);
  return section;
}

// Scratch memory, number map and check of an encoding.
template <typename T>
void DeviceBackend<T>::prepare(DeviceCodecs& codecs, const EncodeRequest& request) {
  DeviceGridCodec& codec = codecs.field;
  const Stream& stream = session_.stream();
  gpu::Workspace& workspace = session_.workspace;
  const NumberMap& map = request.design.map;
  const auto palette_size = static_cast<std::int64_t>(map.palette.size());
  workspace.reset(codec.workspace_bytes(session_.patch_room) + codecs.anchors.workspace_bytes() +
                  gpu::Workspace::bytes<double>(palette_size));
  codec.take(workspace, session_.patch_room);
  codecs.anchors.take(workspace);
  double* palette = workspace.take<double>(palette_size);
  if (palette_size > 0) copy_bytes(palette, map.palette.data(), palette_size * 8, stream);
  codec.set_map(map, palette);
  device::CellArgs& cells = codec.cells();
  set_plain_range<T>(map, request.check, scan_.max_magnitude, cells.lattice);
  cells.check = check_kind(request.check);
  cells.bound = request.check.bound;
  cells.source = data_;
  fill_bytes(cells.report, 0, sizeof(device::CodecReport), stream);
}

template <typename T>
void DeviceBackend<T>::set_predictors(DeviceGridCodec& codec, const EncodeRequest& request) {
  const std::vector<RankedPredictor>& ranking = request.design.choice.ranking;
  if (ranking.size() == 1) {
    fill_bytes(codec.predictors(), static_cast<std::uint8_t>(ranking.front().predictor),
               codec.grid().tile_count(), session_.stream());
    return;
  }
  choose_predictors_on_device({data_, sizeof(T)}, codec, request.options.mode, ranking,
                              codec.predictors(), session_.trials(0), session_);
}

template <typename T>
typename DeviceBackend<T>::Results DeviceBackend<T>::fetch_results(const DeviceGridCodec& codec) {
  using device::CodecReport;
  using device::PatchEntry;
  const Stream& stream = session_.stream();
  const device::CellArgs& cells = codec.cells();
  const device::BlobArgs& blobs = codec.blobs();
  const std::int64_t index_room = codec.index_room();
  const std::int64_t patch_room = session_.patch_room;
  auto* report = session_.results.get<CodecReport>(1, stream.device());
  const auto place = [&](std::int64_t patches) {
    // Report, patches, index.
    const std::int64_t size =
        std::int64_t{sizeof(CodecReport)} + patches * std::int64_t{sizeof(PatchEntry)} + index_room;
    report = static_cast<CodecReport*>(
        static_cast<void*>(session_.results.get<std::byte>(size, stream.device())));
    auto* first = reinterpret_cast<PatchEntry*>(report + 1);
    return std::pair(first, reinterpret_cast<unsigned char*>(first + patches));
  };
  const std::int64_t first_patches = std::min(kFirstPatches, patch_room);
  const std::int64_t first_index = std::min(kFirstIndexBytes, index_room);
  auto [patches, index] = place(first_patches);
  copy_bytes(patches, cells.patches, first_patches * std::int64_t{sizeof(PatchEntry)}, stream);
  copy_bytes(index, blobs.index, first_index, stream);
  copy_bytes(report, cells.report, sizeof(CodecReport), stream);
  session_.wait();
  const CodecReport found = *report;
  const auto patch_count = static_cast<std::int64_t>(found.patches);
  const auto index_bytes = static_cast<std::int64_t>(found.index_bytes);
  const bool all_patches = patch_count <= first_patches || patch_count > patch_room;
  if (!all_patches || index_bytes > first_index) {
    const std::int64_t more = all_patches ? first_patches : patch_count;
    std::tie(patches, index) = place(more);
    copy_bytes(patches, cells.patches, more * std::int64_t{sizeof(PatchEntry)}, stream);
    copy_bytes(index, blobs.index, index_bytes, stream);
    session_.wait();
  }
  return {found, index, patches};
}

template <typename T>
void DeviceBackend<T>::write_raw(ContainerWriter& writer) {
  session_.report.stored_by_host = true;
  if (copy_) {
    copy_->backend.write_raw(writer);
    return;
  }
  writer.begin_section("raw");
  pieces()([&](std::int64_t, std::int64_t count, const T* data) {
    writer.append(std::as_bytes(std::span<const T>(data, static_cast<std::size_t>(count))));
    return true;
  });
  writer.end_section();
}

template <typename T>
EachPiece<T> DeviceBackend<T>::pieces() {
  return [this](const std::function<bool(std::int64_t, std::int64_t, const T*)>& fn) {
    if (copy_) {
      copy_->source.pieces()(fn);
      return;
    }
    const Stream& stream = session_.stream();
    const std::int64_t most = std::min(kPieceElements, count());
    for (std::int64_t at = 0; at < count(); at += most) {
      const std::int64_t size = std::min(most, count() - at);
      T* piece = session_.pieces.get<T>(most, stream.device());
      copy_bytes(piece, data_ + at, size * std::int64_t{sizeof(T)}, stream);
      session_.wait();
      if (!fn(at, size, piece)) return;
    }
  };
}

template <typename T>
HostBackend<T>& DeviceBackend<T>::on_host() {
  if (!copy_) {
    std::vector<T> values(static_cast<std::size_t>(count()));
    copy_bytes(values.data(), data_, count() * std::int64_t{sizeof(T)}, session_.stream());
    session_.wait();
    copy_.emplace(std::move(values), shape_);
  }
  return copy_->backend;
}

template class DeviceBackend<float>;
template class DeviceBackend<double>;

}  // namespace tamis::reduce
