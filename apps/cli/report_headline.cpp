// The top of the report: one sentence that says whether the promise was kept, and five figures.
#include <algorithm>
#include <cmath>

#include "report_sections.hpp"
#include "report_text.hpp"

namespace tamis::cli::report {
namespace {

using reduce::BoundKind;

std::string tile(const std::string& label, const std::string& value, const std::string& unit,
                 const std::string& detail) {
  return "<div class=\"tile\"><dt>" + label + "</dt><dd><span class=\"big\">" + value + "</span>" +
         (unit.empty() ? "" : "<span class=\"unit\">" + unit + "</span>") +
         "<span class=\"detail\">" + detail + "</span></dd></div>\n";
}

// A thin bar filled to `share` of its length.
std::string gauge(double share) {
  std::string out;
  const double filled = std::isfinite(share) ? std::clamp(share, 0.0, 1.0) : 1.0;
  appendf(out, "<span class=\"gauge\" aria-hidden=\"true\"><i style=\"width:%.1f%%\"></i></span>",
          100.0 * filled);
  return out;
}

std::string error_tile(const ReportInput& in) {
  const reduce::Difference& d = in.difference;
  const std::string largest = format_quantity(d.max_abs_error, in.units, 3);
  switch (in.info.bound.kind) {
    case BoundKind::kLossless:
      return tile("Largest error", format_value(d.max_abs_error, 3), html_escape(in.units),
                  d.violations == 0 ? "every bit is the same" : "bits differ");
    case BoundKind::kPsnr: {
      const double margin = d.psnr - in.info.bound.value;
      return tile("Above what was asked", format_fixed(margin, 1), "dB",
                  "largest error " + largest);
    }
    case BoundKind::kPointwiseRelative: {
      const double share = in.info.bound.value > 0.0
                               ? d.max_pointwise_relative / in.info.bound.value
                               : (d.max_pointwise_relative > 0.0 ? HUGE_VAL : 0.0);
      return tile("Largest error", format_bound_share(share), "%",
                  gauge(share) + "of the bound, " + largest);
    }
    default: {
      const double bound = in.info.absolute_bound;
      const double share =
          bound > 0.0 ? d.max_abs_error / bound : (d.max_abs_error > 0.0 ? HUGE_VAL : 0.0);
      return tile("Largest error", format_bound_share(share), "%",
                  gauge(share) + "of the bound, " + largest);
    }
  }
}

std::string promise_kept(const ReportInput& in) {
  const reduce::Info& info = in.info;
  if (info.bound.kind != BoundKind::kLossless && in.difference.max_abs_error == 0.0) {
    return std::isnan(info.min_value) ? "No value takes part in the bound; all come back exactly."
                                      : "Every value comes back exactly.";
  }
  switch (info.bound.kind) {
    case BoundKind::kLossless:
      return "Every bit comes back.";
    case BoundKind::kPsnr:
      return "The PSNR is " + format_fixed(in.difference.psnr, 1) + "\u00A0dB, at least " +
             format_value(info.bound.value) + "\u00A0dB was asked.";
    case BoundKind::kPointwiseRelative:
      return "Every value is within " + format_value(100.0 * info.bound.value) +
             "\u00A0% of itself.";
    case BoundKind::kRelative:
      return "Every value is within ±" + format_quantity(info.absolute_bound, in.units) +
             " of the original, " + format_value(100.0 * info.bound.value) +
             "\u00A0% of the field’s range.";
    case BoundKind::kAbsolute:
      break;
  }
  return "Every value is within ±" + format_quantity(info.absolute_bound, in.units) +
         " of the original.";
}

std::string verdict(const ReportInput& in) {
  const reduce::Difference& d = in.difference;
  if (in.info.shape.element_count() == 0) {
    return "<p class=\"verdict\">The field has no points; the container holds its shape.</p>\n";
  }
  if (d.violations == 0) {
    std::string out =
        "<p class=\"verdict\"><span class=\"tick\" aria-hidden=\"true\">✓</span><span>" +
        promise_kept(in);
    if (in.info.masked_count > 0 && in.difference.max_abs_error > 0.0 &&
        in.info.bound.kind != BoundKind::kLossless) {
      out += " The " + format_count(in.info.masked_count) + " points of fill come back exactly.";
    }
    return out + "</span></p>\n";
  }
  return "<p class=\"verdict bad\"><span class=\"tick\" aria-hidden=\"true\">✕</span><span>" +
         format_count(d.violations) + (d.violations == 1 ? " point is" : " points are") +
         " outside of the bound; the first has linear index " + format_count(d.first_violation) +
         " " + format_index(d.first_violation, in.info.shape) + ".</span></p>\n";
}

}  // namespace

std::string bound_text(const reduce::Bound& bound) {
  switch (bound.kind) {
    case BoundKind::kAbsolute:
      return "absolute, " + format_value(bound.value);
    case BoundKind::kRelative:
      return "relative to the range, " + format_value(bound.value);
    case BoundKind::kPointwiseRelative:
      return "relative to each value, " + format_value(bound.value);
    case BoundKind::kPsnr:
      return "PSNR of at least " + format_value(bound.value) + "\u00A0dB";
    case BoundKind::kLossless:
      break;
  }
  return "lossless";
}

std::string headline_section(const ReportInput& in) {
  const reduce::Info& info = in.info;
  const auto raw = static_cast<double>(info.raw_bytes);
  const auto packed = static_cast<double>(info.compressed_bytes);
  const auto points = static_cast<double>(info.shape.element_count());
  const double bits = points > 0.0 ? 8.0 * packed / points : HUGE_VAL;
  const double ratio = packed > 0.0 ? raw / packed : HUGE_VAL;

  std::string out = "<section class=\"headline\" aria-label=\"Headline figures\">\n";
  out += verdict(in);
  out += "<dl class=\"tiles\">\n";
  out += tile(
      "Ratio",
      ratio >= 1000.0 ? format_count(std::llround(std::min(ratio, 1e15))) : format_figure(ratio, 3),
      "×", format_bytes(raw) + " → " + format_bytes(packed));
  out += tile("Bits per value", std::isfinite(bits) ? format_figure(bits, 3) : "–", "",
              "of " + std::to_string(8 * dtype_bytes(info.dtype)));
  out += error_tile(in);
  // Minus infinity: a constant field that comes back inexactly.
  out +=
      tile("PSNR", format_fixed(in.difference.psnr, 1), std::isinf(in.difference.psnr) ? "" : "dB",
           "rms error " + format_quantity(in.difference.rms_error, in.units, 3));
  const std::string speed = format_speed(raw, in.compress_seconds);
  const std::size_t gap = speed.find("\u00A0");
  out += tile("Speed, compressing", speed.substr(0, gap),
              gap == std::string::npos ? "" : speed.substr(gap + 2),
              format_speed(raw, in.decompress_seconds) + " decompressing");
  return out + "</dl>\n</section>\n";
}

}  // namespace tamis::cli::report
