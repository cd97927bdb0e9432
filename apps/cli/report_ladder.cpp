// Runs the ladder through the public functions of reduce, as any caller would.
#include "report_ladder.hpp"

#include <algorithm>
#include <chrono>
#include <exception>

#include "tamis/error.hpp"

namespace tamis::cli::report {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Rung run_rung(const ConstTensorView& field, const reduce::CompressOptions& options) {
  Rung rung;
  rung.mode = options.mode;
  rung.bound = options.bound.value;
  const Clock::time_point start = Clock::now();
  const reduce::CompressResult packed = reduce::compress(field, options);
  rung.compress_seconds = seconds_since(start);
  reduce::DecompressOptions back;
  back.threads = options.threads;
  const Clock::time_point middle = Clock::now();
  const Tensor decoded = reduce::decompress(packed.bytes, back);
  rung.decompress_seconds = seconds_since(middle);
  const reduce::Difference difference =
      reduce::compare(field, decoded.view(), packed.info, options.threads);
  const auto bytes = static_cast<double>(packed.info.compressed_bytes);
  const auto points = static_cast<double>(field.shape.element_count());
  rung.compressed_bytes = packed.info.compressed_bytes;
  rung.bits_per_value = 8.0 * bytes / points;
  rung.ratio = bytes > 0.0 ? points * static_cast<double>(dtype_bytes(field.dtype)) / bytes : 0.0;
  rung.psnr = difference.psnr;
  if (options.bound.kind == reduce::BoundKind::kPointwiseRelative) {
    rung.bound_used = difference.max_pointwise_relative / options.bound.value;
  } else if (packed.info.absolute_bound > 0.0) {
    rung.bound_used = difference.max_abs_error / packed.info.absolute_bound;
  }
  return rung;
}

}  // namespace

ConstTensorView centred_crop(const ConstTensorView& field, std::int64_t max_points) {
  ConstTensorView crop = field;
  while (crop.shape.element_count() > max_points) {
    int widest = 0;
    for (int d = 1; d < crop.shape.rank(); ++d) {
      if (crop.shape[d] > crop.shape[widest]) widest = d;
    }
    // At most by half at once, so that the crop keeps something of the field's proportions.
    const std::int64_t others = crop.shape.element_count() / crop.shape[widest];
    crop.shape[widest] = std::max(max_points / others, (crop.shape[widest] + 1) / 2);
  }
  std::int64_t offset = 0;
  for (int d = 0; d < crop.shape.rank(); ++d) {
    offset += (field.shape[d] - crop.shape[d]) / 2 * field.strides[d];
  }
  crop.data = static_cast<const std::byte*>(field.data) + offset * dtype_bytes(field.dtype);
  return crop;
}

Ladder climb_ladder(const ReportInput& in) {
  Ladder ladder;
  if (in.original.shape.element_count() == 0) return ladder;
  const ConstTensorView field = centred_crop(in.original, kLadderPoints);
  ladder.shape = field.shape;
  ladder.raw_bytes = field.shape.element_count() * dtype_bytes(field.dtype);
  ladder.cropped = !(field.shape == in.original.shape);
  ladder.pointwise = in.info.bound.kind == reduce::BoundKind::kPointwiseRelative;
  reduce::CompressOptions options;
  options.fill_value = in.info.fill_value;
  options.detect_fill = in.options.detect_fill;
  options.threads = in.options.threads;
  for (const reduce::Mode mode : kLadderModes) {
    for (const double bound : kLadder) {
      options.mode = mode;
      options.bound = ladder.pointwise ? reduce::Bound::pointwise_relative(bound)
                                       : reduce::Bound::relative(bound);
      try {
        ladder.rungs.push_back(run_rung(field, options));
      } catch (const std::exception&) {
        // The page is about the container that exists; a missing point on a curve must not cost it.
        continue;
      }
    }
  }
  return ladder;
}

}  // namespace tamis::cli::report
