// Numbers and tables for people, and the JSON objects that say the same to programs.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "report_text.hpp"
#include "tamis/reduce.hpp"

namespace tamis::cli {

/// Shortest of "%.6g" style; "nan" and "inf" spelt out.
std::string format_number(double value, int digits = 6);
/// "4.15 MB" (powers of 1000). Plain ASCII, unlike the report's namesake.
std::string format_bytes(std::int64_t bytes);
/// "33.8 MB/s" or "1.20 GB/s"; "-" when the time is too short to say.
std::string format_speed(std::int64_t bytes, double seconds);
/// "1,234,567".
using report::format_count;
/// "(0, 12, 7)".
using report::format_index;
std::string format_seconds(double seconds);
/// "12.3 %"; never rounds 99.99 up to 100.
std::string format_percent(double part, double whole);

/// One row of a summary: a name, a value and a remark, each aligned with its neighbours.
struct SummaryRow {
  std::string name;
  std::string value;
  std::string remark;
};
/// A heading (bold where `colour`) and its rows, indented.
std::string format_summary(const std::string& heading, const std::vector<SummaryRow>& rows,
                           bool colour);

/// The rows that describe a container: shape, type, range, bound, fill, mode, ratio.
std::vector<SummaryRow> describe_info(const reduce::Info& info, const std::string& fill_origin);
/// The rows that describe a measured difference.
std::vector<SummaryRow> describe_difference(const reduce::Info& info,
                                            const reduce::Difference& difference);

/// "rel 0.001", "lossless".
std::string describe_bound(const reduce::Bound& bound);

nlohmann::ordered_json info_json(const reduce::Info& info);
nlohmann::ordered_json difference_json(const reduce::Difference& difference);
/// JSON has no NaN or infinity: those become the strings "nan", "inf" and "-inf".
nlohmann::ordered_json number_json(double value);
nlohmann::ordered_json shape_json(const Extents& shape);

}  // namespace tamis::cli
