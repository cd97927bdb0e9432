// Walks netCDF groups. Variables of more dimensions than Tamis takes are left out: they could not
// be compressed.
#include "netcdf_file.hpp"

#include <utility>

#include "tamis/error.hpp"

namespace tamis::cli {

NetcdfFile::NetcdfFile(const std::string& path, int open_mode, const std::string& shown_path)
    : path_(shown_path) {
  const int status = nc_open(path.c_str(), open_mode, &id_);
  if (status != NC_NOERR) {
    id_ = -1;
    // Positive numbers are errno's: the operating system refused. Others: the bytes are bad.
    throw Error(status > 0 ? ErrorCode::kIo : ErrorCode::kCorrupt,
                "cannot open " + path_ + " as netCDF: " + nc_strerror(status));
  }
}

NetcdfFile::~NetcdfFile() {
  if (id_ >= 0) nc_close(id_);
}

void NetcdfFile::close() {
  if (id_ >= 0) check(nc_close(std::exchange(id_, -1)), "cannot finish the file");
}

void NetcdfFile::check(int status, const std::string& what) const {
  if (status != NC_NOERR) {
    throw Error(ErrorCode::kIo, path_ + ": " + what + ": " + nc_strerror(status));
  }
}

void NetcdfFile::collect(int group, const std::string& prefix,
                         std::vector<NetcdfVariable>& list) const {
  int count = 0;
  check(nc_inq_nvars(group, &count), "cannot list variables");
  for (int id = 0; id < count; ++id) {
    char name[NC_MAX_NAME + 1] = {};
    int rank = 0;
    NetcdfVariable variable;
    check(nc_inq_var(group, id, name, &variable.type, &rank, nullptr, nullptr),
          "cannot examine a variable");
    if (rank > kMaxRank) continue;
    std::vector<int> dimensions(static_cast<std::size_t>(rank) + 1);
    check(nc_inq_vardimid(group, id, dimensions.data()), "cannot examine a variable");
    variable.shape = Extents::filled(rank, 0);
    for (int d = 0; d < rank; ++d) {
      std::size_t length = 0;
      check(nc_inq_dimlen(group, dimensions[static_cast<std::size_t>(d)], &length),
            "cannot examine a dimension");
      variable.shape[d] = static_cast<std::int64_t>(length);
    }
    variable.name = prefix + name;
    variable.group = group;
    variable.id = id;
    list.push_back(std::move(variable));
  }
  int group_count = 0;
  if (nc_inq_grps(group, &group_count, nullptr) != NC_NOERR || group_count == 0) return;
  std::vector<int> groups(static_cast<std::size_t>(group_count));
  check(nc_inq_grps(group, &group_count, groups.data()), "cannot list groups");
  for (const int child : groups) {
    char name[NC_MAX_NAME + 1] = {};
    check(nc_inq_grpname(child, name), "cannot examine a group");
    collect(child, prefix + name + "/", list);
  }
}

std::vector<NetcdfVariable> NetcdfFile::variables() const {
  std::vector<NetcdfVariable> list;
  collect(id_, "", list);
  return list;
}

std::optional<NetcdfVariable> NetcdfFile::find(const std::string& name) const {
  const std::string wanted = name.starts_with('/') ? name.substr(1) : name;
  for (NetcdfVariable& variable : variables()) {
    if (variable.name == wanted) return std::move(variable);
  }
  return {};
}

}  // namespace tamis::cli
