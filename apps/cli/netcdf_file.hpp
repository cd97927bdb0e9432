// An open netCDF file and its variables, groups included, under names like "tos" or "group/tos".
#pragma once

#include <netcdf.h>

#include <optional>
#include <string>
#include <vector>

#include "tamis/tensor.hpp"

namespace tamis::cli {

struct NetcdfVariable {
  std::string name;  // with the group's path, no leading slash
  int group = 0;
  int id = 0;
  nc_type type = NC_NAT;
  Extents shape;
};

class NetcdfFile {
 public:
  /// `shown_path` stands in messages instead of a temporary name. Throws Error(kIo or kCorrupt).
  NetcdfFile(const std::string& path, int open_mode, const std::string& shown_path);
  ~NetcdfFile();
  NetcdfFile(const NetcdfFile&) = delete;
  NetcdfFile& operator=(const NetcdfFile&) = delete;

  /// By name, with or without a leading slash.
  std::optional<NetcdfVariable> find(const std::string& name) const;
  std::vector<NetcdfVariable> variables() const;
  /// Throws Error(kIo) with the library's words unless `status` is NC_NOERR.
  void check(int status, const std::string& what) const;
  /// Flushes and reports what a destructor could not.
  void close();

  const std::string& path() const noexcept { return path_; }

 private:
  void collect(int group, const std::string& prefix, std::vector<NetcdfVariable>& list) const;

  std::string path_;
  int id_ = -1;
};

/// Throws the error that lists what the file holds.
[[noreturn]] void reject_netcdf_variable(const NetcdfFile& file, const std::string& variable);

}  // namespace tamis::cli
