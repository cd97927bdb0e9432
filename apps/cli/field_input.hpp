// The input options that compress, verify and bench share, and the one function that turns them
// into a Field. The kind of file is told by its first bytes, never by its name alone.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli11_forward.hpp"
#include "field.hpp"
#include "input_bytes.hpp"

namespace tamis::cli {

struct InputArguments {
  std::string input;  // path, path:variable or "-"
  std::string shape;
  std::string dtype;
  std::string fill;
  std::string memory;  // budget, e.g. "2G"
  // What raw input is taken for where the options (or its extension) do not say.
  std::optional<Extents> likely_shape;
  std::optional<DType> likely_dtype;

  std::optional<double> fill_value() const;
  std::int64_t memory_budget() const;
};

/// Adds --shape, --dtype, --fill and --memory to a subcommand.
void add_input_options(CLI::App& command, InputArguments& arguments);

/// Opens the input. Throws Error.
Field open_field(const InputArguments& arguments);

/// --memory, or half of what this process may use (physical memory or its control group's limit).
std::int64_t memory_budget(const std::string& option);

/// Files as a netCDF or HDF5 reader sees them.
enum class FileKind { kRaw, kNpy, kNetcdf, kHdf5 };
FileKind detect_file_kind(const std::string& path);

/// "file.nc:tos" -> {"file.nc", "tos"}; the file is the shortest prefix before a colon that exists.
std::pair<std::string, std::string> split_variable(const std::string& input);

/// One line of an error's list of candidates.
struct VariableEntry {
  std::string name;
  std::string type;
  Extents shape;
};

/// Throws Error(kInvalidArgument) that lists the variables which could have been meant.
[[noreturn]] void reject_variable(const std::string& path, const std::string& variable,
                                  const std::vector<VariableEntry>& candidates);

Field open_netcdf_field(const std::string& path, const std::string& name,
                        const std::optional<double>& fill);
Field open_hdf5_field(const std::string& path, const std::string& dataset,
                      const std::optional<double>& fill);
/// `shown` is the file's name for people.
Field open_npy_field(const std::string& shown, std::shared_ptr<const InputBytes> file,
                     const std::optional<double>& fill);

/// Does an HDF5 file say that the netCDF library wrote it?
bool is_netcdf4_file(const std::string& path);

}  // namespace tamis::cli
