// Slab-wise work: each slab is a box of full rows, and measured differences of slabs combine to
// that of the field (maxima as maxima, squares weighted by the points they cover).
#include "field_check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "console.hpp"
#include "summary_text.hpp"

namespace tamis::cli {
namespace {

constexpr std::int64_t kRowAlignment = 64;

template <typename Value>
std::int64_t count_measured(const Value* values, std::int64_t count, const reduce::Info& info) {
  std::int64_t measured = 0;
  const double fill = info.fill_value.value_or(std::numeric_limits<double>::quiet_NaN());
  for (std::int64_t i = 0; i < count; ++i) {
    const double value = static_cast<double>(values[i]);
    measured += static_cast<std::int64_t>(std::isfinite(value) && value != fill);
  }
  return measured;
}

std::int64_t count_measured(const Tensor& slab, const reduce::Info& info) {
  return slab.dtype() == DType::kF32
             ? count_measured(static_cast<const float*>(slab.data()), slab.element_count(), info)
             : count_measured(static_cast<const double*>(slab.data()), slab.element_count(), info);
}

class DifferenceSum {
 public:
  void add(const reduce::Difference& part, std::int64_t measured, std::int64_t first_element) {
    total_.max_abs_error = std::max(total_.max_abs_error, part.max_abs_error);
    total_.max_pointwise_relative =
        std::max(total_.max_pointwise_relative, part.max_pointwise_relative);
    if (part.first_violation >= 0 && total_.first_violation < 0) {
      total_.first_violation = first_element + part.first_violation;
    }
    total_.violations += part.violations;
    parts_.emplace_back(part.rms_error, measured);
  }

  reduce::Difference finish(const reduce::Info& info) {
    total_.range = info.max_value - info.min_value;
    // Relative to the largest, so that no square overflows or vanishes.
    double largest = 0.0;
    std::int64_t measured = 0;
    for (const auto& [rms, count] : parts_) {
      largest = std::max(largest, rms);
      measured += count;
    }
    double squares = 0.0;
    for (const auto& [rms, count] : parts_) {
      if (largest > 0.0) squares += rms / largest * (rms / largest) * static_cast<double>(count);
    }
    total_.rms_error =
        measured > 0 ? largest * std::sqrt(squares / static_cast<double>(measured)) : 0.0;
    total_.psnr = total_.rms_error > 0.0 ? 20.0 * std::log10(total_.range / total_.rms_error)
                                         : std::numeric_limits<double>::infinity();
    return total_;
  }

 private:
  reduce::Difference total_;
  std::vector<std::pair<double, std::int64_t>> parts_;  // root mean square, points
};

reduce::Box rows_of(const reduce::Box& box, const RowRange& rows) {
  reduce::Box part = box;
  part.origin[0] = rows.first;
  part.extent[0] = rows.count;
  return part;
}

reduce::Box whole_field(const Extents& shape) { return {Extents::filled(shape.rank(), 0), shape}; }

CheckResult check_in_slabs(std::span<const std::byte> container, const reduce::Info& info,
                           Field& field, std::int64_t budget, int threads,
                           const std::function<void(double)>& progress) {
  const std::int64_t row_bytes = row_elements(info.shape) * dtype_bytes(info.dtype);
  CheckResult result;
  DifferenceSum sum;
  each_piece(0, info.shape[0], row_bytes, budget / 4, [&](const RowRange& rows) {
    reduce::DecompressOptions options;
    options.threads = threads;
    options.box = rows_of(whole_field(info.shape), rows);
    const Stopwatch stopwatch;
    const Tensor decoded = reduce::decompress(container, options);
    result.decompress_seconds += stopwatch.seconds();
    Tensor original(info.dtype, decoded.shape());
    field.read_rows(rows.first, rows.count, original.data());
    reduce::Info slab_info = info;
    slab_info.shape = decoded.shape();
    // A PSNR is promised for the field, not for each slab; keeps_promise() judges the sum.
    if (info.bound.kind == reduce::BoundKind::kPsnr) {
      slab_info.bound.value = -std::numeric_limits<double>::infinity();
    }
    const Tensor& read_only = original;
    sum.add(reduce::compare(read_only.view(), decoded.view(), slab_info, threads),
            count_measured(original, info), rows.first * row_elements(info.shape));
    if (progress) {
      progress(static_cast<double>(rows.first + rows.count) / static_cast<double>(info.shape[0]));
    }
  });
  result.difference = sum.finish(info);
  return result;
}

}  // namespace

void each_piece(std::int64_t first, std::int64_t rows, std::int64_t row_bytes,
                std::int64_t piece_bytes, const std::function<void(const RowRange&)>& fn) {
  std::int64_t step = std::clamp<std::int64_t>(piece_bytes / std::max<std::int64_t>(row_bytes, 1),
                                               1, std::max<std::int64_t>(rows, 1));
  for (std::int64_t alignment = kRowAlignment; alignment > 1; alignment /= 2) {
    if (step >= alignment) {
      step -= step % alignment;
      break;
    }
  }
  const std::int64_t end = first + rows;
  for (std::int64_t at = first; at < end;) {
    // Ends fall on multiples of the step, whatever the first row.
    const std::int64_t next = std::min(end, (at / step + 1) * step);
    fn({at, next - at});
    at = next;
  }
}

void decode_rows(std::span<const std::byte> container, const reduce::Info& info,
                 const reduce::DecompressOptions& options, std::int64_t budget,
                 const WriteRows& write) {
  const Extents shape = reduce::decompressed_shape(info, options);
  const std::int64_t row_bytes = row_elements(shape) * dtype_bytes(info.dtype);
  const std::int64_t bytes = shape.element_count() * dtype_bytes(info.dtype);
  // Slabs of a preview would need rows at multiples of its step; previews are small anyway.
  if (bytes <= budget / 2 || options.level > 0 || shape[0] < 2) {
    const Tensor decoded = reduce::decompress(container, options);
    write(0, shape[0], decoded.data());
    return;
  }
  const reduce::Box box = options.box.value_or(whole_field(info.shape));
  each_piece(box.origin[0], box.extent[0], row_bytes, budget / 4, [&](const RowRange& rows) {
    reduce::DecompressOptions part = options;
    part.box = rows_of(box, rows);
    part.progress = {};
    const Tensor decoded = reduce::decompress(container, part);
    write(rows.first - box.origin[0], rows.count, decoded.data());
    if (options.progress) {
      options.progress(static_cast<double>(rows.first + rows.count - box.origin[0]) /
                       static_cast<double>(box.extent[0]));
    }
  });
}

CheckResult check_field(std::span<const std::byte> container, const reduce::Info& info,
                        Field& field, std::int64_t budget, int threads,
                        const std::function<void(double)>& progress) {
  if (info.raw_bytes > budget / 3 && info.shape[0] > 1) {
    return check_in_slabs(container, info, field, budget, threads, progress);
  }
  CheckResult result;
  const Stopwatch stopwatch;
  reduce::DecompressOptions options;
  options.threads = threads;
  options.progress = progress;
  Tensor decoded = reduce::decompress(container, options);
  result.decompress_seconds = stopwatch.seconds();
  const Tensor& read_only = decoded;
  result.difference = reduce::compare(load_field(field), read_only.view(), info, threads);
  result.decoded = std::move(decoded);
  return result;
}

bool keeps_promise(const reduce::Info& info, const reduce::Difference& difference) {
  if (difference.violations > 0) return false;
  // Every comparison with a NaN is false: a PSNR that cannot be computed (no finite value) passes.
  return info.bound.kind != reduce::BoundKind::kPsnr || !(difference.psnr < info.bound.value);
}

std::string describe_violation(const reduce::Info& info, const reduce::Difference& difference) {
  // A broken PSNR is counted as a violation without a place.
  if (info.bound.kind == reduce::BoundKind::kPsnr && difference.first_violation < 0) {
    return "the PSNR is " + format_number(difference.psnr, 8) + " dB, the bound asks for " +
           format_number(info.bound.value, 8);
  }
  const bool pointwise = info.bound.kind == reduce::BoundKind::kPointwiseRelative;
  return format_count(difference.violations) + " of " + format_count(info.shape.element_count()) +
         " points break the bound " + describe_bound(info.bound) + ": largest " +
         (pointwise ? "relative error " : "error ") +
         format_number(pointwise ? difference.max_pointwise_relative : difference.max_abs_error,
                       9) +
         (pointwise || info.absolute_bound == 0.0
              ? ""
              : ", bound " + format_number(info.absolute_bound, 9)) +
         ", first at element " + std::to_string(difference.first_violation) + ", index " +
         format_index(difference.first_violation, info.shape);
}

}  // namespace tamis::cli
