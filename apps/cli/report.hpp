// The HTML report of `tamis compress --report`: one page without outside resources that shows the
// field, its reconstruction and the error, and what the bound costs. Written whole or not at all.
#pragma once

#include <string>
#include <vector>

#include "tamis/reduce.hpp"
#include "tamis/tensor.hpp"

namespace tamis::cli {

/// All that the page tells. The views must stay valid during the call and agree in shape and type.
struct ReportInput {
  std::string field_name;  // file or variable name, any bytes: it is escaped
  std::string units;       // may be empty
  ConstTensorView original;
  ConstTensorView decoded;
  reduce::Info info;
  reduce::Difference difference;
  double compress_seconds = 0.0;  // not positive = not measured
  double decompress_seconds = 0.0;
  reduce::CompressOptions options;
  std::string command;  // as typed; put together from the rest when empty
};

/// Writes the page to a temporary file beside `path` and renames it. Throws Error(kIo) when the
/// operating system refuses, Error(kInvalidArgument) when the two views do not agree.
void write_report(const std::string& path, const ReportInput& in);

/// `words` as they would have to be typed into a shell; for ReportInput::command.
std::string command_line(const std::vector<std::string>& words);

/// The page itself. Compresses the field (or a crop of it) some 18 times for the curves.
std::string report_html(const ReportInput& in);

}  // namespace tamis::cli
