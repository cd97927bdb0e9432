// Formatting. Locale-independent by construction (snprintf in the "C" locale, which main keeps).
#include "summary_text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace tamis::cli {
namespace {

std::string with_unit(double value, const char* unit) {
  const int decimals = value < 10.0 ? 2 : value < 100.0 ? 1 : 0;
  char text[64];
  std::snprintf(text, sizeof(text), "%.*f %s", decimals, value, unit);
  return text;
}

double bits_per_value(const reduce::Info& info) {
  const std::int64_t count = info.shape.element_count();
  return count > 0 ? 8.0 * static_cast<double>(info.compressed_bytes) / static_cast<double>(count)
                   : 0.0;
}

double ratio_of(const reduce::Info& info) {
  return info.compressed_bytes > 0
             ? static_cast<double>(info.raw_bytes) / static_cast<double>(info.compressed_bytes)
             : 0.0;
}

// The bound and the error in the same terms: pointwise relative ones are compared as such.
double bound_in_force(const reduce::Info& info) {
  return info.bound.kind == reduce::BoundKind::kPointwiseRelative ? info.bound.value
                                                                  : info.absolute_bound;
}

std::string share_of_bound(double error, double bound) {
  if (!(bound > 0.0)) return "";
  // Beyond that, the digits of a percentage say nothing.
  if (error > 1000.0 * bound) return "over 1000 times the bound";
  return format_percent(error, bound) + " of the bound";
}

}  // namespace

std::string format_number(double value, int digits) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  char text[64];
  std::snprintf(text, sizeof(text), "%.*g", digits, value);
  return text;
}

std::string format_bytes(std::int64_t bytes) {
  if (bytes < 1000) return std::to_string(bytes) + " B";
  double value = static_cast<double>(bytes);
  const char* unit = "B";
  for (const char* larger : {"kB", "MB", "GB", "TB", "PB"}) {
    if (value < 999.5) break;
    value /= 1000.0;
    unit = larger;
  }
  return with_unit(value, unit);
}

std::string format_speed(std::int64_t bytes, double seconds) {
  if (!(seconds > 1e-7) || bytes == 0) return "-";
  return format_bytes(static_cast<std::int64_t>(static_cast<double>(bytes) / seconds)) + "/s";
}

std::string format_seconds(double seconds) {
  if (seconds < 1.0) return with_unit(seconds * 1e3, "ms");
  return with_unit(seconds, "s");
}

std::string format_percent(double part, double whole) {
  if (!(whole > 0.0)) return "-";
  double percent = 100.0 * part / whole;
  if (percent < 100.0) percent = std::min(percent, 99.9);
  char text[64];
  std::snprintf(text, sizeof(text), "%.1f %%", percent);
  return text;
}

std::string format_summary(const std::string& heading, const std::vector<SummaryRow>& rows,
                           bool colour) {
  std::size_t name_width = 0;
  std::size_t value_width = 0;
  for (const SummaryRow& row : rows) {
    name_width = std::max(name_width, row.name.size());
    if (!row.remark.empty()) value_width = std::max(value_width, row.value.size());
  }
  std::string text = (colour ? "\x1b[1m" + heading + "\x1b[0m" : heading) + "\n";
  for (const SummaryRow& row : rows) {
    std::string line =
        "  " + row.name + std::string(name_width - row.name.size() + 2, ' ') + row.value;
    if (!row.remark.empty()) {
      line += std::string(value_width - row.value.size() + 2, ' ') + row.remark;
    }
    text += line + "\n";
  }
  return text;
}

std::string describe_bound(const reduce::Bound& bound) {
  std::string text = reduce::bound_kind_name(bound.kind);
  if (bound.kind != reduce::BoundKind::kLossless) text += " " + format_number(bound.value, 12);
  if (bound.kind == reduce::BoundKind::kPsnr) text += " dB";
  return text;
}

std::vector<SummaryRow> describe_info(const reduce::Info& info, const std::string& fill_origin) {
  std::vector<SummaryRow> rows;
  rows.push_back({"shape", info.shape.to_string(), "slowest first"});
  rows.push_back(
      {"type", dtype_name(info.dtype),
       format_bytes(info.raw_bytes) + ", " + format_count(info.shape.element_count()) + " values"});
  if (std::isnan(info.min_value)) {
    rows.push_back({"range", "none", "no finite unmasked value"});
  } else {
    rows.push_back(
        {"range", format_number(info.min_value) + " .. " + format_number(info.max_value), ""});
  }
  std::string in_force;
  if (info.bound.kind == reduce::BoundKind::kRelative ||
      info.bound.kind == reduce::BoundKind::kPsnr) {
    in_force = "absolute bound in force " + format_number(info.absolute_bound);
  }
  rows.push_back({"bound", describe_bound(info.bound), in_force});
  if (info.fill_value) {
    const std::string origin = info.fill_detected    ? "detected"
                               : fill_origin.empty() ? "declared"
                                                     : fill_origin;
    rows.push_back({"fill", format_number(*info.fill_value),
                    origin + ", " + format_count(info.masked_count) + " points, " +
                        format_percent(static_cast<double>(info.masked_count),
                                       static_cast<double>(info.shape.element_count()))});
  }
  if (info.nonfinite_count > 0) {
    rows.push_back({"non-finite", format_count(info.nonfinite_count), "NaN or infinite points"});
  }
  rows.push_back({"mode", reduce::mode_name(info.mode), ""});
  rows.push_back({"ratio", format_number(ratio_of(info), 4),
                  format_number(bits_per_value(info), 3) + " bits a value"});
  return rows;
}

std::vector<SummaryRow> describe_difference(const reduce::Info& info,
                                            const reduce::Difference& difference) {
  std::vector<SummaryRow> rows;
  const bool pointwise = info.bound.kind == reduce::BoundKind::kPointwiseRelative;
  const double error = pointwise ? difference.max_pointwise_relative : difference.max_abs_error;
  rows.push_back({pointwise ? "max rel error" : "max error", format_number(error),
                  share_of_bound(error, bound_in_force(info))});
  rows.push_back({"PSNR",
                  format_number(difference.psnr, 5) + (std::isinf(difference.psnr) ? "" : " dB"),
                  "rms error " + format_number(difference.rms_error, 4)});
  return rows;
}

nlohmann::ordered_json number_json(double value) {
  if (std::isfinite(value)) return value;
  return format_number(value);
}

nlohmann::ordered_json shape_json(const Extents& shape) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const std::int64_t size : shape) list.push_back(size);
  return list;
}

nlohmann::ordered_json info_json(const reduce::Info& info) {
  nlohmann::ordered_json json;
  json["dtype"] = dtype_name(info.dtype);
  json["shape"] = shape_json(info.shape);
  json["bound"] = {{"kind", reduce::bound_kind_name(info.bound.kind)},
                   {"value", number_json(info.bound.value)},
                   {"absolute", number_json(info.absolute_bound)}};
  json["mode"] = reduce::mode_name(info.mode);
  json["min"] = number_json(info.min_value);
  json["max"] = number_json(info.max_value);
  if (info.fill_value) {
    json["fill"] = {{"value", number_json(*info.fill_value)},
                    {"detected", info.fill_detected},
                    {"count", info.masked_count}};
  } else {
    json["fill"] = nullptr;
  }
  json["nonfinite_count"] = info.nonfinite_count;
  json["exact_count"] = info.exact_count;
  json["raw_bytes"] = info.raw_bytes;
  json["compressed_bytes"] = info.compressed_bytes;
  json["ratio"] = number_json(ratio_of(info));
  json["bits_per_value"] = number_json(bits_per_value(info));
  json["format_version"] = info.format_version;
  json["level_count"] = info.level_count;
  json["number_map"] = info.number_map;
  return json;
}

nlohmann::ordered_json difference_json(const reduce::Difference& difference) {
  nlohmann::ordered_json json;
  json["max_abs_error"] = number_json(difference.max_abs_error);
  json["max_pointwise_relative"] = number_json(difference.max_pointwise_relative);
  json["rms_error"] = number_json(difference.rms_error);
  json["psnr_db"] = number_json(difference.psnr);
  json["range"] = number_json(difference.range);
  json["violations"] = difference.violations;
  json["first_violation"] = difference.first_violation;
  return json;
}

}  // namespace tamis::cli
