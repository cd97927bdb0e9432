// Values typed on the command line: shapes, boxes, numbers, byte sizes. Pure functions that throw
// Error(kInvalidArgument) with what was given and what was expected; no I/O.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tamis/reduce.hpp"
#include "tamis/tensor.hpp"

namespace tamis::cli {

/// "100x200x300" (also "100,200,300"), slowest dimension first; rank 1 to kMaxRank, sizes >= 0.
Extents parse_shape(const std::string& text);

/// "f32", "float32", "float" or "f64", "float64", "double".
DType parse_dtype(const std::string& text);

/// "default", "ratio" or "fast".
reduce::Mode parse_mode(const std::string& text);

/// A real number, "nan" and "inf" included; `option` names the culprit in the message.
double parse_number(const std::string& option, const std::string& text);

/// Comma-separated numbers, at least one.
std::vector<double> parse_number_list(const std::string& option, const std::string& text);

/// "1500000", "512M", "2G", "1.5GiB": suffixes are powers of 1024.
std::int64_t parse_byte_size(const std::string& option, const std::string& text);

/// "0:10,5:20,:" against a field of `shape`: half-open ranges, slowest first, negative indices
/// count from the end, a single index is a range of one. Must lie within the field.
reduce::Box parse_box(const std::string& text, const Extents& shape);

/// Pieces between separators, empty ones kept.
std::vector<std::string> split_text(std::string_view text, char separator);

}  // namespace tamis::cli
