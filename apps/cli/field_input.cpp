// Opening of inputs. Raw files carry no description, so their size is checked against --shape and
// --dtype, and a mismatch is answered with the arithmetic and the likely mistake.
#include "field_input.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <span>
#include <string_view>

#include "failure.hpp"
#include "input_bytes.hpp"
#include "npy_header.hpp"
#include "packed_values.hpp"
#include "parse_values.hpp"

namespace tamis::cli {
namespace {

std::string file_stem(const std::string& path) {
  if (path == "-") return "stdin";
  const std::size_t slash = path.rfind('/');
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  const std::size_t dot = name.rfind('.');
  return dot == std::string::npos || dot == 0 ? name : name.substr(0, dot);
}

// An extension that names the type is as explicit as --dtype; its size check guards it anyway.
std::optional<DType> dtype_of_extension(const std::string& path) {
  if (path.ends_with(".f32")) return DType::kF32;
  if (path.ends_with(".f64")) return DType::kF64;
  return {};
}

void check_raw_size(const std::string& what, std::int64_t held, const std::string& given,
                    const Extents& shape, DType dtype) {
  const std::int64_t count = shape.element_count();
  const std::int64_t item = dtype_bytes(dtype);
  if (held % item == 0 && held / item == count) return;
  std::string message =
      what + " holds " + std::to_string(held) + " bytes, but " + given + shape.to_string() +
      " of " + dtype_name(dtype) + " needs " + std::to_string(count) + " x " +
      std::to_string(item) + " = " +
      std::to_string(static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(item)) +
      " bytes";
  const DType other = dtype == DType::kF32 ? DType::kF64 : DType::kF32;
  if (held / dtype_bytes(other) == count && held % dtype_bytes(other) == 0) {
    message += std::string("; it would match --dtype ") + dtype_name(other);
  } else if (held % item == 0 && row_elements(shape) > 0 &&
             held / item % row_elements(shape) == 0) {
    Extents fitting = shape;
    fitting[0] = held / item / row_elements(shape);
    message += "; it would match --shape " + fitting.to_string();
  }
  reject(message + " (shapes are given slowest dimension first)");
}

// Says so when bytes that cannot be read here are of a format we know.
void reject_known_format(const std::string& what, std::span<const std::byte> bytes) {
  const std::string_view start(reinterpret_cast<const char*>(bytes.data()),
                               std::min<std::size_t>(bytes.size(), 4));
  if (start == "\x89HDF" || (start.size() == 4 && start.starts_with("CDF"))) {
    reject(what + " holds netCDF or HDF5, which can only be read from a regular file");
  }
  try {
    (void)reduce::inspect(bytes);
  } catch (const Error&) {
    return;
  }
  reject(what + " is already compressed by tamis");
}

Field open_raw_field(const InputArguments& arguments, std::shared_ptr<InputBytes> file) {
  const std::string what = display_input(arguments.input);
  if (arguments.shape.empty()) reject_known_format(what, file->bytes());
  if (arguments.shape.empty() && !arguments.likely_shape) {
    reject(what +
           " is not an .npy, netCDF or HDF5 file, so it is read as raw numbers: give "
           "--shape, the slowest dimension first, e.g. --shape 100x200x300, and --dtype");
  }
  std::optional<DType> dtype = dtype_of_extension(arguments.input);
  if (!dtype) dtype = arguments.likely_dtype;
  if (!arguments.dtype.empty()) dtype = parse_dtype(arguments.dtype);
  if (!dtype) reject(what + " is raw: give --dtype f32 or f64");
  RawLayout layout;
  layout.dtype = *dtype;
  layout.shape = arguments.shape.empty() ? *arguments.likely_shape : parse_shape(arguments.shape);
  check_raw_size(what, static_cast<std::int64_t>(file->bytes().size()),
                 arguments.shape.empty() ? "the compressed field's shape " : "--shape ",
                 layout.shape, layout.dtype);
  Field field;
  field.source = "raw " + what;
  attach_raw_values(field, file->bytes(), layout);
  field.owner = std::move(file);
  return field;
}

void check_described(const InputArguments& arguments, const Field& field) {
  if (!arguments.shape.empty() && !(parse_shape(arguments.shape) == field.shape)) {
    reject("--shape " + arguments.shape + " contradicts " + field.source + ", which says " +
           field.shape.to_string() + " (slowest first); leave --shape out");
  }
  if (!arguments.dtype.empty() && parse_dtype(arguments.dtype) != field.dtype) {
    reject("--dtype " + arguments.dtype + " contradicts " + field.source + ", which gives " +
           dtype_name(field.dtype) + "; leave --dtype out");
  }
  // Only a damaged or a sparse file can claim this much; sizes in bytes must fit 63 bits.
  if (field.shape.element_count() >= std::int64_t{1} << 59) {
    throw Error(ErrorCode::kUnsupported,
                field.source + " claims a shape of " + field.shape.to_string());
  }
  if (field.shape.rank() == 0) {
    reject(field.source + " is a single number; fields have at least one dimension");
  }
}

std::int64_t control_group_limit() {
  std::int64_t limit = 0;
  for (const char* path :
       {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::ifstream file(path);
    if (file >> limit && limit > 0) return limit;
  }
  return INT64_MAX;
}

}  // namespace

std::optional<double> InputArguments::fill_value() const {
  if (fill.empty()) return {};
  return parse_number("--fill", fill);
}

std::int64_t InputArguments::memory_budget() const { return cli::memory_budget(memory); }

std::int64_t memory_budget(const std::string& option) {
  if (!option.empty()) return parse_byte_size("--memory", option);
  const std::int64_t physical =
      static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE);
  return std::min(physical > 0 ? physical : INT64_MAX, control_group_limit()) / 2;
}

void add_input_options(CLI::App& command, InputArguments& arguments) {
  command
      .add_option("--shape", arguments.shape,
                  "Raw input: sizes, SLOWEST dimension first as in NumPy and C, e.g. 100x200x300 "
                  "(zfp and SZ3 take the opposite order)")
      ->type_name("AxBxC");
  command.add_option("--dtype", arguments.dtype, "Raw input: f32 or f64 (little-endian)")
      ->type_name("TYPE");
  command
      .add_option("--fill", arguments.fill,
                  "Value that marks missing points (nan is allowed); overrides the file's "
                  "_FillValue or missing_value")
      ->type_name("V");
  command
      .add_option("--memory", arguments.memory,
                  "Memory budget, e.g. 2G; larger fields are handled piece by piece (default: "
                  "half of the memory)")
      ->type_name("BYTES");
}

FileKind detect_file_kind(const std::string& path) {
  // HDF5 allows a user block: its signature may also stand at 512, 1024, 2048 ...
  std::ifstream file(path, std::ios::binary);
  std::array<char, 8> start = {};
  file.read(start.data(), start.size());
  const std::string_view magic(start.data(), static_cast<std::size_t>(file.gcount()));
  if (magic.starts_with("\x93NUMPY")) return FileKind::kNpy;
  constexpr std::string_view kHdf5("\x89HDF\r\n\x1a\n", 8);
  if (magic.size() >= 4 && magic.starts_with("CDF") &&
      (magic[3] == 1 || magic[3] == 2 || magic[3] == 5)) {
    return FileKind::kNetcdf;
  }
  for (std::streamoff offset = 0; file && offset <= (1 << 20);
       offset = offset == 0 ? 512 : offset * 2) {
    file.seekg(offset);
    if (!file.read(start.data(), start.size())) break;
    if (std::string_view(start.data(), start.size()) == kHdf5) {
      return is_netcdf4_file(path) ? FileKind::kNetcdf : FileKind::kHdf5;
    }
  }
  return FileKind::kRaw;
}

std::pair<std::string, std::string> split_variable(const std::string& input) {
  if (::access(input.c_str(), F_OK) == 0) return {input, ""};
  for (std::size_t colon = input.find(':'); colon != std::string::npos;
       colon = input.find(':', colon + 1)) {
    if (is_regular_file(input.substr(0, colon))) {
      return {input.substr(0, colon), input.substr(colon + 1)};
    }
  }
  return {input, ""};
}

void reject_variable(const std::string& path, const std::string& variable,
                     const std::vector<VariableEntry>& candidates) {
  std::string message = variable.empty()
                            ? "which variable of " + path + "? Name it as " + path + ":NAME"
                            : path + " has no variable \"" + variable + "\"";
  if (candidates.empty()) reject(message + "; the file holds no numeric array");
  message += "; it holds";
  constexpr std::size_t kMaxListed = 40;
  for (std::size_t i = 0; i < std::min(candidates.size(), kMaxListed); ++i) {
    const VariableEntry& entry = candidates[i];
    message += "\n    " + entry.name + "  " + entry.type + "  " + entry.shape.to_string();
  }
  if (candidates.size() > kMaxListed) {
    message += "\n    and " + std::to_string(candidates.size() - kMaxListed) + " more";
  }
  reject(message);
}

Field open_field(const InputArguments& arguments) {
  if (arguments.input.empty()) reject("the input's name is empty");
  const auto [path, variable] = split_variable(arguments.input);
  const std::optional<double> fill = arguments.fill_value();
  const bool regular = arguments.input != "-" && is_regular_file(path);
  const FileKind kind = regular ? detect_file_kind(path) : FileKind::kRaw;
  Field field;
  if (kind == FileKind::kNetcdf) {
    field = open_netcdf_field(path, variable, fill);
  } else if (kind == FileKind::kHdf5) {
    field = open_hdf5_field(path, variable, fill);
  } else {
    if (!variable.empty()) {
      reject(path + " is neither a netCDF nor an HDF5 file, so \":" + variable +
             "\" names nothing in it");
    }
    auto file = std::make_shared<InputBytes>(path, arguments.memory_budget());
    if (is_npy(file->bytes())) {
      field = open_npy_field(display_input(arguments.input), std::move(file), fill);
    } else {
      field = open_raw_field(arguments, std::move(file));
      declare_fill({}, fill, field);
    }
    field.name = file_stem(path);
  }
  check_described(arguments, field);
  return field;
}

}  // namespace tamis::cli
