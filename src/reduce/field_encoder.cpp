// The order of decisions: bound, masks, number map and plan (by sample encodings), predictors,
// encoding; then patches. A mean-square bound repeats the encoding until it is met closely.
#include "reduce/field_encoder.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "codec/mask_codec.hpp"
#include "core/checksum.hpp"
#include "core/threads.hpp"
#include "reduce/anchors.hpp"
#include "reduce/field_sections.hpp"
#include "reduce/map_choice.hpp"
#include "reduce/plan_search.hpp"

namespace tamis::reduce {

namespace {

constexpr std::int64_t kPatchLimitShare = 8;  // more patches than n / 8: not worth coding
constexpr std::int64_t kSampleRows = 65;
constexpr std::int64_t kSampleElements = 32768;

template <typename T>
std::uint64_t bits_of(T value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

/// The bit maps of a field and the patches that they need.
struct FieldMasks {
  BitMap fill;
  BitMap zeros;
  BitMap signs;
  BitMap voids;  // fill or zero: points without a code
  bool any_voids = false;
  bool any_zeros = false;
  bool any_signs = false;
  std::vector<Patch> patches;  // masked points whose bits are not the fill's
};

template <typename T>
FieldMasks find_masks(FieldSource<T>& source, const FieldScan<T>& scan, bool logarithm) {
  FieldMasks masks;
  const bool fill = scan.masked_count > 0;
  masks.any_zeros = logarithm && scan.may_have_zeros;
  masks.any_signs = logarithm && scan.has_negative;
  masks.any_voids = fill || masks.any_zeros;
  if (!masks.any_voids && !masks.any_signs) return masks;
  if (fill) masks.fill = BitMap(source.count());
  if (masks.any_zeros) masks.zeros = BitMap(source.count());
  if (masks.any_signs) masks.signs = BitMap(source.count());
  source.pieces()([&](std::int64_t first, std::int64_t count, const T* data) {
    for (std::int64_t i = 0; i < count; ++i) {
      if (fill && is_fill(data[i], *scan.fill)) {
        masks.fill.set(first + i);
        if (bits_of(data[i]) != bits_of(*scan.fill)) {
          masks.patches.push_back({first + i, bits_of(data[i])});
        }
        continue;
      }
      if (masks.any_zeros && data[i] == 0) masks.zeros.set(first + i);
      if (masks.any_signs && std::signbit(data[i])) masks.signs.set(first + i);
    }
  });
  if (masks.any_voids) {
    masks.voids = fill ? masks.fill : masks.zeros;
    if (fill && masks.any_zeros) masks.voids.merge(masks.zeros);
  }
  return masks;
}

/// Sample windows of a field, loaded once.
template <typename T>
struct Samples {
  struct Window {
    Extents extents;
    std::int64_t begin = 0;  // linear index of its first element
    std::vector<T> copy;     // streaming sources only
    const T* data = nullptr;
  };
  std::vector<Window> windows;
};

template <typename T>
Samples<T> load_samples(FieldSource<T>& source) {
  const Extents& folded = source.folded();
  const std::int64_t rows = folded[0];
  const std::int64_t row = source.count() / rows;
  const std::int64_t height = std::max(kSampleRows, (kSampleElements + row - 1) / row + 1);
  std::vector<Grid::Range> ranges;
  if (rows <= 3 * height) {
    ranges.push_back({0, rows});
  } else {
    for (const std::int64_t sixth : {1, 3, 5}) {
      const std::int64_t begin = (rows - height) * sixth / 6 / 64 * 64;
      ranges.push_back({begin, begin + height});
    }
  }
  Samples<T> samples;
  for (const Grid::Range& range : ranges) {
    typename Samples<T>::Window window;
    window.extents = folded;
    window.extents[0] = range.size();
    window.begin = range.begin * row;
    source.load(range);
    const T* data = source.data() + (window.begin - source.begin());
    if (!source.in_memory()) window.copy.assign(data, data + range.size() * row);
    window.data = source.in_memory() ? data : nullptr;
    samples.windows.push_back(std::move(window));
  }
  for (auto& w : samples.windows) {
    if (w.data == nullptr) w.data = w.copy.data();
  }
  return samples;
}

template <typename T, typename I>
PlanChoice plan_for(const Samples<T>& samples, const NumberMap& map, const FieldMasks& masks,
                    const CompressOptions& options) {
  std::vector<std::unique_ptr<FieldRows<T, I>>> rows;
  std::vector<SampleWindow<I>> windows;
  for (const auto& w : samples.windows) {
    rows.push_back(std::make_unique<FieldRows<T, I>>(
        w.data, 0, map, masks.any_voids ? &masks.voids : nullptr, PointCheck{}));
    rows.back()->shift_voids(w.begin);
    windows.push_back({w.extents, rows.back().get()});
  }
  return search_plan<I>(windows, map.step, options.mode, options.threads);
}

struct Design {
  NumberMap map;
  PlanChoice choice;
  double bits_per_value = 0;  // estimate, palette included
};

template <typename T>
Design design_for(FieldSource<T>& source, const FieldScan<T>& scan, const PointCheck& check,
                  const FieldMasks& masks, const CompressOptions& options) {
  const Samples<T> samples = load_samples(source);
  Design best;
  double best_bits = -1;
  for (NumberMap& map : candidate_maps<T>(source.pieces(), scan, check)) {
    PlanChoice choice = map.wide ? plan_for<T, std::int64_t>(samples, map, masks, options)
                                 : plan_for<T, std::int32_t>(samples, map, masks, options);
    double bits = choice.bits_per_value * static_cast<double>(source.count());
    if (map.kind == MapKind::kPalette) {
      bits += 8.0 * static_cast<double>(write_palette(map.palette, map.dtype).size());
    }
    if (best_bits < 0 || bits < best_bits) {
      best_bits = bits;
      best = {std::move(map), std::move(choice), bits / static_cast<double>(source.count())};
    }
  }
  return best;
}

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

  // False when the patches got out of hand; what was written is then useless.
  bool run(ContainerWriter& writer, std::int64_t& patch_count) {
    std::vector<I> anchors = read_anchors();
    writer.add_section("anchors", encode_anchors(grid_, design_.map.step, anchor_voids(), anchors));
    const std::vector<Predictor> predictors = choose_predictors();
    const BlobTable table(grid_);
    std::vector<BlobEntry> entries(static_cast<std::size_t>(table.count()));
    GridEncoding how;
    how.step = design_.map.step;
    how.mode = options_.mode;
    how.threads = options_.threads;
    how.progress = options_.progress;
    if (!source_.in_memory()) how.load = [this](Grid::Range r) { load(r); };
    writer.begin_section("data");
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

 private:
  const BitMap* voids() const { return masks_.any_voids ? &masks_.voids : nullptr; }

  void load(Grid::Range range) {
    source_.load(range);
    rows_.move_window(source_.data(), source_.begin());
  }

  // Chunks of a layer; the rows above it are loaded too when tiles look across.
  template <typename Fn>
  void each_layer(std::int64_t overlap, const Fn& fn) {
    for (const Grid::Layer& layer : grid_.layers()) {
      load({layer.rows.begin, std::min(source_.folded()[0], layer.rows.end + overlap)});
      for (std::int64_t c = layer.chunks.begin; c < layer.chunks.end; ++c) fn(c);
    }
  }

  std::vector<I> read_anchors() {
    std::vector<I> anchors(static_cast<std::size_t>(grid_.tile_count()));
    each_layer(0, [&](std::int64_t c) {
      const Grid::Range tiles = grid_.chunks()[static_cast<std::size_t>(c)];
      for (std::int64_t t = tiles.begin; t < tiles.end; ++t) {
        NodeBlock node;
        node.first = grid_.tile_at(t).origin;
        rows_.read(node, &anchors[static_cast<std::size_t>(t)]);
      }
    });
    return anchors;
  }

  BitMap anchor_voids() const {
    BitMap result(grid_.tile_count());
    if (!masks_.any_voids) return result;
    for (std::int64_t t = 0; t < grid_.tile_count(); ++t) {
      if (masks_.voids.get(grid_.tile_at(t).origin)) result.set(t);
    }
    return result;
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
        for (std::int64_t t = tiles.begin; t < tiles.end; ++t) {
          result[static_cast<std::size_t>(t)] = chooser->choose(t, rows_);
        }
      });
    };
    if (source_.in_memory()) {
      run({0, static_cast<std::int64_t>(grid_.chunks().size())});
    } else {
      for (const Grid::Layer& layer : grid_.layers()) {
        load({layer.rows.begin, std::min(source_.folded()[0], layer.rows.end + 1)});
        run(layer.chunks);
      }
    }
    return result;
  }

  FieldSource<T>& source_;
  const CompressOptions& options_;
  const Design& design_;
  const FieldMasks& masks_;
  Grid grid_;
  FieldRows<T, I> rows_;
};

/// The encoder of a field: holds what all attempts share.
template <typename T>
class FieldEncoder {
 public:
  FieldEncoder(FieldSource<T>& source, const Extents& shape, const CompressOptions& options)
      : source_(source), options_(options) {
    scan_ = scan_field<T>(source.pieces(), source.count(), options);
    Info& info = header_.info;
    info.dtype = sizeof(T) == 4 ? DType::kF32 : DType::kF64;
    info.shape = shape;
    info.bound = options.bound;
    info.mode = options.mode;
    info.min_value = scan_.min_value;
    info.max_value = scan_.max_value;
    info.nonfinite_count = scan_.nonfinite_count;
    if (scan_.fill) {
      info.fill_value = static_cast<double>(*scan_.fill);
      info.fill_detected = scan_.fill_detected;
      info.masked_count = scan_.masked_count;
      header_.fill_bits = bits_of(*scan_.fill);
    }
    info.raw_bytes = source.count() * static_cast<std::int64_t>(sizeof(T));
  }

  Info run(const ByteSink& sink, const std::function<void()>& rewind) {
    if (source_.count() == 0) {
      ContainerWriter writer(sink);
      writer.finish(header_.to_json());
      return finish(writer);
    }
    const double bound = pointwise_bound();
    if (options_.bound.kind == BoundKind::kPsnr && bound > 0) return run_psnr(bound, sink, rewind);
    prepare(bound);
    return write(sink, rewind);
  }

 private:
  double range() const {
    if (!(scan_.min_value < scan_.max_value)) return 0;
    const double r = scan_.max_value - scan_.min_value;
    return std::isfinite(r) ? r : std::numeric_limits<double>::max();
  }

  // The bound on each point's error; 0 asks for exact values.
  double pointwise_bound() const {
    const Bound& b = options_.bound;
    double e = 0;
    switch (b.kind) {
      case BoundKind::kAbsolute:
        e = b.value;
        break;
      case BoundKind::kRelative:
        e = b.value * range();
        break;
      case BoundKind::kPointwiseRelative:
        e = b.value;
        break;
      // Errors spread evenly over [-e, e] have this mean square.
      case BoundKind::kPsnr:
        e = range() * std::pow(10.0, -b.value / 20) * std::sqrt(3.0);
        break;
      case BoundKind::kLossless:
        e = 0;
        break;
    }
    return std::min(e, std::numeric_limits<double>::max());
  }

  void prepare(double bound) {
    check_ = {};
    if (bound > 0) {
      const bool pointwise = options_.bound.kind == BoundKind::kPointwiseRelative;
      check_.kind = pointwise ? PointCheck::Kind::kPointwise : PointCheck::Kind::kAbsolute;
      check_.bound = bound;
      if (!pointwise) header_.info.absolute_bound = bound;
    } else {
      header_.info.absolute_bound = 0;
    }
    const bool logarithm = check_.kind == PointCheck::Kind::kPointwise;
    masks_ = find_masks(source_, scan_, logarithm);
    design_ = design_for(source_, scan_, check_, masks_, options_);
    if (design_.map.kind != MapKind::kLogarithm && logarithm)
      masks_ = find_masks(source_, scan_, false);
    header_.map = design_.map;
    header_.plan = design_.choice.plan;
    header_.info.number_map = map_kind_name(design_.map.kind);
  }

  // An encoding in which each point has bound `bound`; returns the mean square error, or nothing
  // when it has to be stored raw.
  std::optional<double> attempt(const ByteSink& sink, Info& info) {
    return design_.map.wide ? attempt_as<std::int64_t>(sink, info)
                            : attempt_as<std::int32_t>(sink, info);
  }

  template <typename I>
  std::optional<double> attempt_as(const ByteSink& sink, Info& info) {
    ContainerWriter writer(sink);
    Attempt<T, I> attempt(source_, options_, check_, design_, masks_);
    if (may_give_up_) {
      attempt.rows().set_patch_limit(
          std::max<std::int64_t>(64, source_.count() / kPatchLimitShare));
    }
    if (check_.kind == PointCheck::Kind::kAbsolute) attempt.rows().measure_errors(measure_scale_);
    header_.info.exact_count = 0;
    if (!attempt.run(writer, header_.info.exact_count)) return std::nullopt;
    const auto add_mask = [&](const char* name, const BitMap& bits) {
      writer.add_section(name, codec::encode_mask(bits.words(), mask_shape(), options_.threads));
    };
    if (scan_.masked_count > 0) add_mask("mask", masks_.fill);
    if (masks_.any_zeros) add_mask("zeros", masks_.zeros);
    if (masks_.any_signs) add_mask("signs", masks_.signs);
    header_.stored_raw = false;
    writer.finish(header_.to_json());
    info = finish(writer);
    if (info.compressed_bytes > raw_size_limit()) return std::nullopt;
    const double n = static_cast<double>(std::max<std::int64_t>(1, scan_.finite_count));
    return attempt.rows().squared_errors() / n * measure_scale_ * measure_scale_;
  }

  std::int64_t raw_size_limit() const { return header_.info.raw_bytes; }
  std::span<const std::int64_t> mask_shape() const {
    const Extents& folded = source_.folded();
    return {folded.begin(), static_cast<std::size_t>(folded.rank())};
  }

  Info write(const ByteSink& sink, const std::function<void()>& rewind) {
    Info info;
    if (rewind) {
      if (attempt(sink, info)) return info;
      rewind();
      return write_raw(sink);
    }
    // What was streamed out cannot be taken back, so a dry run comes first where the sample does
    // not promise a clear gain.
    const double raw_bits = 8.0 * sizeof(T);
    const std::int64_t sure_patches = scan_.valid_count - scan_.finite_count;
    if (design_.bits_per_value > 0.5 * raw_bits ||
        sure_patches > source_.count() / (2 * kPatchLimitShare)) {
      if (!attempt([](std::span<const std::byte>) {}, info)) return write_raw(sink);
    }
    // Where the sample misled, the container is larger than it need be, but whole.
    may_give_up_ = false;
    attempt(sink, info);
    return info;
  }

  Info write_raw(const ByteSink& sink) {
    header_.stored_raw = true;
    header_.info.number_map = "raw";
    header_.info.exact_count = 0;
    ContainerWriter writer(sink);
    writer.begin_section("raw");
    source_.pieces()([&](std::int64_t, std::int64_t count, const T* data) {
      writer.append(std::as_bytes(std::span<const T>(data, static_cast<std::size_t>(count))));
    });
    writer.end_section();
    writer.finish(header_.to_json());
    return finish(writer);
  }

  // Errors are rarely spread as evenly as assumed: widen the bound while there is room, and narrow
  // it until the mean square holds.
  Info run_psnr(double bound, const ByteSink& sink, const std::function<void()>& rewind) {
    const double target = range() * std::pow(10.0, -options_.bound.value / 20);
    const double target_square = target * target * (1 - 1e-6);
    double good = 0;
    double bad = std::numeric_limits<double>::infinity();
    for (int round = 0; round < 8; ++round) {
      prepare(bound);
      measure_scale_ = bound;
      Info info;
      const auto square = attempt([](std::span<const std::byte>) {}, info);
      if (!square) break;
      if (*square <= target_square) {
        good = bound;
        if (*square >= 0.95 * target_square || round >= 4) break;
      } else {
        bad = bound;
        if (good > 0 && round >= 4) break;
      }
      bound *= *square > 0 ? 0.99 * std::sqrt(target_square / *square) : 4.0;
      if (good > 0 && !(bound > good && bound < bad)) bound = std::sqrt(good) * std::sqrt(bad);
      bound = std::min(bound, range());
      if (bound == good) break;
    }
    if (good == 0) good = target;  // each point within it bounds the mean
    prepare(good);
    measure_scale_ = good;
    return write(sink, rewind);
  }

  Info finish(const ContainerWriter& writer) const {
    Info info = Header::from_json(header_.to_json()).info;
    info.compressed_bytes = static_cast<std::int64_t>(writer.bytes_written());
    for (const SectionInfo& s : writer.sections()) {
      info.sections.push_back(s.name + ": " + std::to_string(s.size));
    }
    return info;
  }

  FieldSource<T>& source_;
  const CompressOptions& options_;
  FieldScan<T> scan_;
  Header header_;
  PointCheck check_;
  FieldMasks masks_;
  Design design_;
  double measure_scale_ = 0;
  bool may_give_up_ = true;  // an attempt may end early, to be replaced by raw values
};

}  // namespace

template <typename T>
Info encode_field(FieldSource<T>& source, const Extents& shape, const CompressOptions& options,
                  const ByteSink& sink, const std::function<void()>& rewind) {
  return FieldEncoder<T>(source, shape, options).run(sink, rewind);
}

template Info encode_field(FieldSource<float>&, const Extents&, const CompressOptions&,
                           const ByteSink&, const std::function<void()>&);
template Info encode_field(FieldSource<double>&, const Extents&, const CompressOptions&,
                           const ByteSink&, const std::function<void()>&);

}  // namespace tamis::reduce
