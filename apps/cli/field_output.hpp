// Where decoded rows go: raw or .npy bytes, a fresh netCDF or HDF5 file, or a copy of an existing
// one with one variable replaced. All of them receive rows in order and appear atomically.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "field_check.hpp"
#include "output_file.hpp"
#include "tamis/tensor.hpp"

namespace tamis::cli {

enum class OutputFormat { kRaw, kNpy, kNetcdf, kHdf5 };

const char* output_format_name(OutputFormat format) noexcept;
/// "raw", "npy", "nc" or "h5".
OutputFormat parse_output_format(const std::string& text);

struct OutputTarget {
  std::string path;      // "-" for standard output
  std::string variable;  // empty: none named
  OutputFormat format = OutputFormat::kRaw;
};

/// "out.npy", "out.nc:tos", "out.h5:/group/data", "out.f32", "-". An empty `format` means by
/// extension; ":variable" is understood for netCDF and HDF5 only.
OutputTarget parse_output_target(const std::string& output, const std::string& format);

/// What is to be written.
struct OutputDescription {
  DType dtype = DType::kF32;
  Extents shape;
  std::optional<double> fill;
};

struct FieldSink {
  WriteRows write;
  /// Closes a library's file and reports what it still had to say; then the caller commits.
  std::function<void()> finish;
};

FieldSink open_sink(OutputFile& file, const OutputTarget& target,
                    const OutputDescription& description);
/// `path` is a temporary file, `shown_path` the name for messages.
FieldSink create_netcdf_sink(const std::string& path, const std::string& shown_path,
                             const std::string& variable, const OutputDescription& description);
FieldSink create_hdf5_sink(const std::string& path, const std::string& shown_path,
                           const std::string& dataset, const OutputDescription& description);

/// Copies `template_path` into `file`; the sink then replaces the variable. Throws
/// Error(kInvalidArgument) unless type and shape agree.
FieldSink open_template_sink(OutputFile& file, const OutputTarget& target,
                             const std::string& template_path,
                             const OutputDescription& description);
FieldSink replace_in_netcdf(const std::string& path, const std::string& shown_path,
                            const std::string& name, const OutputDescription& description);
FieldSink replace_in_hdf5(const std::string& path, const std::string& shown_path,
                          const std::string& name, const OutputDescription& description);

}  // namespace tamis::cli
