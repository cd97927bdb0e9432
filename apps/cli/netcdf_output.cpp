// Decoded fields into netCDF: a fresh netCDF-4 file, or one variable of a copied file. Only the
// variable's values are written; dimensions, attributes and other variables stay as they were.
#include <netcdf.h>

#include <memory>
#include <vector>

#include "failure.hpp"
#include "field_output.hpp"
#include "netcdf_file.hpp"
#include "tamis/error.hpp"

namespace tamis::cli {
namespace {

void check(int status, const std::string& path, const std::string& what) {
  if (status != NC_NOERR) {
    throw Error(ErrorCode::kIo, path + ": " + what + ": " + nc_strerror(status));
  }
}

nc_type netcdf_type(DType dtype) { return dtype == DType::kF32 ? NC_FLOAT : NC_DOUBLE; }

void put_rows(const NetcdfFile& file, const NetcdfVariable& variable, DType dtype,
              const Extents& shape, std::int64_t first, std::int64_t rows, const void* data) {
  std::vector<std::size_t> start(static_cast<std::size_t>(shape.rank()), 0);
  std::vector<std::size_t> count;
  for (const std::int64_t size : shape) count.push_back(static_cast<std::size_t>(size));
  start[0] = static_cast<std::size_t>(first);
  count[0] = static_cast<std::size_t>(rows);
  const int status = dtype == DType::kF32
                         ? nc_put_vara_float(variable.group, variable.id, start.data(),
                                             count.data(), static_cast<const float*>(data))
                         : nc_put_vara_double(variable.group, variable.id, start.data(),
                                              count.data(), static_cast<const double*>(data));
  file.check(status, "cannot write " + variable.name + " (is the disk full?)");
}

FieldSink sink_into(const std::shared_ptr<NetcdfFile>& file, const NetcdfVariable& variable,
                    const OutputDescription& description) {
  FieldSink sink;
  sink.write = [file, variable, description](std::int64_t first, std::int64_t rows,
                                             const void* data) {
    if (description.shape.element_count() == 0) return;
    put_rows(*file, variable, description.dtype, description.shape, first, rows, data);
  };
  sink.finish = [file] { file->close(); };
  return sink;
}

// Creates the file with its one variable and closes it again; the sink opens it for writing.
void define_netcdf(const std::string& path, const std::string& shown_path, const std::string& name,
                   const OutputDescription& description) {
  int file = -1;
  check(nc_create(path.c_str(), NC_CLOBBER | NC_NETCDF4, &file), shown_path, "cannot create");
  try {
    std::vector<int> dimensions;
    for (int d = 0; d < description.shape.rank(); ++d) {
      int dimension = 0;
      // Length 0 makes an unlimited dimension, which is the only kind that can be empty.
      check(nc_def_dim(file, ("d" + std::to_string(d)).c_str(),
                       static_cast<std::size_t>(description.shape[d]), &dimension),
            shown_path, "cannot define a dimension");
      dimensions.push_back(dimension);
    }
    int variable = 0;
    check(nc_def_var(file, name.c_str(), netcdf_type(description.dtype), description.shape.rank(),
                     dimensions.data(), &variable),
          shown_path, "cannot define the variable \"" + name + "\"");
    if (description.fill) {
      const float narrow = static_cast<float>(*description.fill);
      const void* fill = description.dtype == DType::kF32
                             ? static_cast<const void*>(&narrow)
                             : static_cast<const void*>(&*description.fill);
      check(nc_def_var_fill(file, variable, NC_FILL, fill), shown_path, "cannot set _FillValue");
    }
  } catch (...) {
    nc_close(file);
    throw;
  }
  check(nc_close(file), shown_path, "cannot create");
}

}  // namespace

FieldSink create_netcdf_sink(const std::string& path, const std::string& shown_path,
                             const std::string& variable, const OutputDescription& description) {
  if (variable.find('/') != std::string::npos) {
    reject("the netCDF variable \"" + variable + "\": a new file has no groups, give a plain name");
  }
  define_netcdf(path, shown_path, variable, description);
  auto file = std::make_shared<NetcdfFile>(path, NC_WRITE, shown_path);
  const auto found = file->find(variable);
  if (!found) throw Error(ErrorCode::kIo, shown_path + ": the new variable cannot be found");
  return sink_into(file, *found, description);
}

FieldSink replace_in_netcdf(const std::string& path, const std::string& shown_path,
                            const std::string& name, const OutputDescription& description) {
  const NetcdfFile original(shown_path, NC_NOWRITE, shown_path);
  if (!original.find(name)) reject_netcdf_variable(original, name);
  auto file = std::make_shared<NetcdfFile>(path, NC_WRITE, shown_path);
  const auto found = file->find(name);
  if (!found) throw Error(ErrorCode::kIo, shown_path + ": the copied variable cannot be found");
  if (found->type != netcdf_type(description.dtype)) {
    reject(shown_path + ":" + name + " is not stored as " + dtype_name(description.dtype) +
           ", the type of the decoded field; packed and converted variables cannot be "
           "replaced");
  }
  if (!(found->shape == description.shape)) {
    reject(shown_path + ":" + name + " has shape " + found->shape.to_string() +
           ", the decoded field has " + description.shape.to_string());
  }
  return sink_into(file, *found, description);
}

}  // namespace tamis::cli
