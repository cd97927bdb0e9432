// Output targets: how "-o" is read, and the sinks for raw and .npy. Those need no library, so they
// also serve pipes.
#include "field_output.hpp"

#include "failure.hpp"
#include "field.hpp"
#include "field_input.hpp"
#include "input_bytes.hpp"
#include "npy_header.hpp"

namespace tamis::cli {
namespace {

struct Extension {
  const char* text;
  OutputFormat format;
};

constexpr Extension kExtensions[] = {
    {".npy", OutputFormat::kNpy},    {".nc", OutputFormat::kNetcdf},
    {".nc4", OutputFormat::kNetcdf}, {".cdf", OutputFormat::kNetcdf},
    {".h5", OutputFormat::kHdf5},    {".hdf5", OutputFormat::kHdf5},
    {".he5", OutputFormat::kHdf5},
};

std::optional<OutputFormat> format_of_name(const std::string& path) {
  for (const Extension& extension : kExtensions) {
    if (path.ends_with(extension.text)) return extension.format;
  }
  return {};
}

bool has_variables(OutputFormat format) {
  return format == OutputFormat::kNetcdf || format == OutputFormat::kHdf5;
}

// "out.nc:tos" -> 6: the colon after a netCDF or HDF5 extension.
std::size_t find_variable_colon(const std::string& output) {
  for (std::size_t colon = output.find(':'); colon != std::string::npos;
       colon = output.find(':', colon + 1)) {
    const auto format = format_of_name(output.substr(0, colon));
    if (format && has_variables(*format)) return colon;
  }
  return std::string::npos;
}

}  // namespace

const char* output_format_name(OutputFormat format) noexcept {
  switch (format) {
    case OutputFormat::kRaw:
      return "raw";
    case OutputFormat::kNpy:
      return "npy";
    case OutputFormat::kNetcdf:
      return "nc";
    case OutputFormat::kHdf5:
      return "h5";
  }
  return "raw";
}

OutputFormat parse_output_format(const std::string& text) {
  for (const auto format :
       {OutputFormat::kRaw, OutputFormat::kNpy, OutputFormat::kNetcdf, OutputFormat::kHdf5}) {
    if (text == output_format_name(format)) return format;
  }
  reject("--format \"" + text + "\": expected raw, npy, nc or h5");
}

OutputTarget parse_output_target(const std::string& output, const std::string& format) {
  OutputTarget target;
  target.path = output;
  std::optional<OutputFormat> wanted;
  if (!format.empty()) wanted = parse_output_format(format);
  if (!wanted || has_variables(*wanted)) {
    std::size_t colon = find_variable_colon(output);
    if (colon == std::string::npos && wanted) colon = output.rfind(':');
    if (colon != std::string::npos) {
      target.path = output.substr(0, colon);
      target.variable = output.substr(colon + 1);
      if (target.variable.empty()) reject("-o " + output + ": the variable's name is empty");
    }
  }
  target.format = wanted.value_or(format_of_name(target.path).value_or(OutputFormat::kRaw));
  if (target.path == "-" && has_variables(target.format)) {
    reject("netCDF and HDF5 files cannot be written to standard output; give a file name");
  }
  return target;
}

FieldSink open_sink(OutputFile& file, const OutputTarget& target,
                    const OutputDescription& description) {
  if (has_variables(target.format)) {
    if (!file.is_atomic()) reject(target.path + " is not a regular file");
    const std::string variable = target.variable.empty() ? "data" : target.variable;
    return target.format == OutputFormat::kNetcdf
               ? create_netcdf_sink(file.temp_path(), target.path, variable, description)
               : create_hdf5_sink(file.temp_path(), target.path, variable, description);
  }
  if (target.format == OutputFormat::kNpy) {
    file.write(format_npy_header(description.dtype, description.shape));
  }
  const std::int64_t row_bytes = row_elements(description.shape) * dtype_bytes(description.dtype);
  FieldSink sink;
  sink.write = [&file, row_bytes](std::int64_t, std::int64_t count, const void* data) {
    file.write({static_cast<const std::byte*>(data), static_cast<std::size_t>(count * row_bytes)});
  };
  sink.finish = [] {};
  return sink;
}

FieldSink open_template_sink(OutputFile& file, const OutputTarget& target,
                             const std::string& template_path,
                             const OutputDescription& description) {
  if (!file.is_atomic()) reject(target.path + " is not a regular file");
  if (!is_regular_file(template_path)) {
    throw Error(ErrorCode::kIo, "cannot open --template " + template_path + ": no such file");
  }
  const FileKind kind = detect_file_kind(template_path);
  if (kind != FileKind::kNetcdf && kind != FileKind::kHdf5) {
    reject("--template " + template_path + " is neither a netCDF nor an HDF5 file");
  }
  file.write(InputBytes(template_path, 0).bytes());
  return kind == FileKind::kNetcdf
             ? replace_in_netcdf(file.temp_path(), template_path, target.variable, description)
             : replace_in_hdf5(file.temp_path(), template_path, target.variable, description);
}

}  // namespace tamis::cli
