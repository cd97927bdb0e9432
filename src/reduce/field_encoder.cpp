// The order of decisions: bound, masks, number map and plan (by sample encodings), predictors,
// encoding; then patches. A mean-square bound repeats the encoding until it is met closely.
#include "reduce/field_encoder.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "codec/mask_codec.hpp"
#include "reduce/exact_rounding.hpp"
#include "reduce/value_bits.hpp"

namespace tamis::reduce {

namespace {

/// More patches than n / 8 are not worth coding.
constexpr std::int64_t kPatchLimitShare = 8;

/// The encoder of a field: holds what all attempts share.
template <typename T>
class FieldEncoder {
 public:
  FieldEncoder(FieldBackend<T>& field, const Extents& shape, const CompressOptions& options)
      : field_(field), options_(options) {
    scan_ = field.scan(options);
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
    info.raw_bytes = field.count() * static_cast<std::int64_t>(sizeof(T));
  }

  Info run(const ByteSink& sink, const std::function<void()>& rewind) {
    if (field_.count() == 0) {
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
    if (!std::isfinite(r)) return std::numeric_limits<double>::max();
    // What rounding added is taken back, so that bounds are never too wide.
    const bool too_large = difference_error(scan_.max_value, scan_.min_value) < 0;
    return too_large ? std::nextafter(r, 0.0) : r;
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
        e = product_rounded_down(b.value, range());
        break;
      case BoundKind::kPointwiseRelative:
        e = b.value;
        break;
      // Errors spread evenly over [-e, e] have this mean square.
      case BoundKind::kPsnr:
        e = range() * std::pow(10.0, -b.value / 20) * std::sqrt(3.0);
        if (e < std::numeric_limits<double>::min()) e = 0;  // too coarsely rounded to be of use
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
    masks_ = field_.masks(scan_, logarithm);
    design_ = field_.design(scan_, check_, masks_, options_);
    if (design_.map.kind != MapKind::kLogarithm && logarithm) {
      masks_ = field_.masks(scan_, false);
    }
    header_.map = design_.map;
    header_.plan = design_.choice.plan;
    header_.info.number_map = map_kind_name(design_.map.kind);
  }

  // An encoding in which each point has bound `bound`; returns the root of the mean square error,
  // or nothing when it has to be stored raw.
  std::optional<double> attempt(const ByteSink& sink, Info& info) {
    ContainerWriter writer(sink);
    EncodeRequest request{options_, check_, design_, masks_};
    if (may_give_up_) {
      request.patch_limit = std::max<std::int64_t>(64, field_.count() / kPatchLimitShare);
    }
    if (check_.kind == PointCheck::Kind::kAbsolute) request.error_scale = measure_scale_;
    const EncodeOutcome outcome = field_.encode(writer, request);
    if (!outcome.complete) return std::nullopt;
    header_.info.exact_count = outcome.patch_count;
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
    return std::sqrt(outcome.squared_errors / n) * measure_scale_;
  }

  std::int64_t raw_size_limit() const { return header_.info.raw_bytes; }
  std::span<const std::int64_t> mask_shape() const {
    const Extents& folded = field_.folded();
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
        sure_patches > field_.count() / (2 * kPatchLimitShare)) {
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
    field_.write_raw(writer);
    writer.finish(header_.to_json());
    return finish(writer);
  }

  // Errors are rarely spread as evenly as assumed: widen the bound while there is room, and narrow
  // it until the mean square holds.
  Info run_psnr(double bound, const ByteSink& sink, const std::function<void()>& rewind) {
    const double target = range() * std::pow(10.0, -options_.bound.value / 20);
    const double allowed = target * (1 - 1e-6);
    double good = 0;
    double bad = std::numeric_limits<double>::infinity();
    for (int round = 0; round < 8; ++round) {
      prepare(bound);
      measure_scale_ = bound;
      Info info;
      const auto rms = attempt([](std::span<const std::byte>) {}, info);
      if (!rms) break;
      if (*rms <= allowed) {
        good = bound;
        if (*rms >= 0.975 * allowed || round >= 4) break;
      } else {
        bad = bound;
        if (good > 0 && round >= 4) break;
      }
      bound *= *rms > 0 ? 0.99 * (allowed / *rms) : 4.0;
      if (good > 0 && !(bound > good && bound < bad)) bound = std::sqrt(good) * std::sqrt(bad);
      bound = std::min(bound, range());
      if (bound == good) break;
    }
    if (good == 0) good = target;  // each point within it bounds the mean
    if (check_.bound != good) prepare(good);
    measure_scale_ = 0;
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

  FieldBackend<T>& field_;
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
Info encode_field(FieldBackend<T>& field, const Extents& shape, const CompressOptions& options,
                  const ByteSink& sink, const std::function<void()>& rewind) {
  return FieldEncoder<T>(field, shape, options).run(sink, rewind);
}

template Info encode_field(FieldBackend<float>&, const Extents&, const CompressOptions&,
                           const ByteSink&, const std::function<void()>&);
template Info encode_field(FieldBackend<double>&, const Extents&, const CompressOptions&,
                           const ByteSink&, const std::function<void()>&);

}  // namespace tamis::reduce
