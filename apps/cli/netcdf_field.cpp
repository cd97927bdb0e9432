// netCDF variables through the netCDF C API, classic and netCDF-4 alike. Rows are hyperslabs, so a
// variable larger than memory is read piece by piece; the library is not thread-safe and is called
// from one thread only.
#include <netcdf.h>

#include <algorithm>
#include <memory>

#include "field_input.hpp"
#include "netcdf_file.hpp"
#include "packed_values.hpp"
#include "tamis/error.hpp"

namespace tamis::cli {
namespace {

struct NumericType {
  nc_type type;
  const char* label;
  int bytes;
  bool is_float;
  bool is_signed;
};

constexpr NumericType kNumericTypes[] = {
    {NC_FLOAT, "f32", 4, true, true},    {NC_DOUBLE, "f64", 8, true, true},
    {NC_BYTE, "int8", 1, false, true},   {NC_UBYTE, "uint8", 1, false, false},
    {NC_SHORT, "int16", 2, false, true}, {NC_USHORT, "uint16", 2, false, false},
    {NC_INT, "int32", 4, false, true},   {NC_UINT, "uint32", 4, false, false},
    {NC_INT64, "int64", 8, false, true}, {NC_UINT64, "uint64", 8, false, false},
};

const NumericType* find_numeric_type(nc_type type) {
  for (const NumericType& known : kNumericTypes) {
    if (known.type == type) return &known;
  }
  return nullptr;
}

std::optional<NumericAttribute> numeric_attribute(const NetcdfVariable& variable,
                                                  const char* name) {
  nc_type type = NC_NAT;
  std::size_t length = 0;
  if (nc_inq_att(variable.group, variable.id, name, &type, &length) != NC_NOERR) return {};
  const NumericType* numeric = find_numeric_type(type);
  if (length != 1 || numeric == nullptr) return {};
  NumericAttribute attribute;
  if (nc_get_att_double(variable.group, variable.id, name, &attribute.value) != NC_NOERR) return {};
  attribute.single = numeric->bytes <= (numeric->is_float ? 4 : 2);
  return attribute;
}

std::string text_attribute(const NetcdfVariable& variable, const char* name) {
  nc_type type = NC_NAT;
  std::size_t length = 0;
  if (nc_inq_att(variable.group, variable.id, name, &type, &length) != NC_NOERR) return "";
  if (type != NC_CHAR || length == 0 || length > 4096) return "";
  std::string text(length, '\0');
  if (nc_get_att_text(variable.group, variable.id, name, text.data()) != NC_NOERR) return "";
  return text.substr(0, text.find('\0'));
}

ValueAttributes read_attributes(const NetcdfVariable& variable) {
  ValueAttributes attributes;
  attributes.scale_factor = numeric_attribute(variable, "scale_factor");
  attributes.add_offset = numeric_attribute(variable, "add_offset");
  attributes.fill_value = numeric_attribute(variable, "_FillValue");
  attributes.missing_value = numeric_attribute(variable, "missing_value");
  attributes.is_unsigned = text_attribute(variable, "_Unsigned") == "true";
  return attributes;
}

struct Slab {
  std::vector<std::size_t> start;
  std::vector<std::size_t> count;

  Slab(const Extents& shape, std::int64_t first, std::int64_t rows) {
    start.assign(static_cast<std::size_t>(shape.rank()), 0);
    for (const std::int64_t size : shape) count.push_back(static_cast<std::size_t>(size));
    start[0] = static_cast<std::size_t>(first);
    count[0] = static_cast<std::size_t>(rows);
  }
};

void read_numbers(const NetcdfFile& file, const NetcdfVariable& variable, DType dtype,
                  std::int64_t first, std::int64_t rows, void* out) {
  const Slab slab(variable.shape, first, rows);
  const int status = dtype == DType::kF32
                         ? nc_get_vara_float(variable.group, variable.id, slab.start.data(),
                                             slab.count.data(), static_cast<float*>(out))
                         : nc_get_vara_double(variable.group, variable.id, slab.start.data(),
                                              slab.count.data(), static_cast<double*>(out));
  file.check(status, "cannot read " + variable.name);
}

std::vector<VariableEntry> list_candidates(const NetcdfFile& file) {
  std::vector<VariableEntry> floats;
  std::vector<VariableEntry> integers;
  for (const NetcdfVariable& variable : file.variables()) {
    if (variable.shape.rank() == 0) continue;
    const NumericType* type = find_numeric_type(variable.type);
    if (type == nullptr) continue;
    (type->is_float ? floats : integers).push_back({variable.name, type->label, variable.shape});
  }
  floats.insert(floats.end(), integers.begin(), integers.end());
  return floats;
}

}  // namespace

void reject_netcdf_variable(const NetcdfFile& file, const std::string& variable) {
  reject_variable(file.path(), variable, list_candidates(file));
}

Field open_netcdf_field(const std::string& path, const std::string& name,
                        const std::optional<double>& fill) {
  auto file = std::make_shared<NetcdfFile>(path, NC_NOWRITE, path);
  const std::optional<NetcdfVariable> found = file->find(name);
  if (!found) reject_netcdf_variable(*file, name);
  const NetcdfVariable& variable = *found;
  Field field;
  field.name = variable.name;
  field.units = text_attribute(variable, "units");
  field.source = "netCDF " + path + ":" + variable.name;
  field.shape = variable.shape;
  const ValueAttributes attributes = read_attributes(variable);
  const NumericType* type = find_numeric_type(variable.type);
  if (type == nullptr) {
    throw Error(ErrorCode::kUnsupported,
                path + ":" + name + " holds text or a user-defined type, not numbers");
  }
  if (!type->is_float) {
    const Unpacking plan = plan_unpacking({type->bytes, type->is_signed}, attributes, fill, field);
    const ReadStored read = [file, variable](std::int64_t first, std::int64_t rows, double* out) {
      read_numbers(*file, variable, DType::kF64, first, rows, out);
    };
    field.read_rows = [read, plan, shape = field.shape](std::int64_t first, std::int64_t rows,
                                                        void* out) {
      read_unpacked_rows(plan, shape, read, first, rows, out);
    };
  } else {
    field.dtype = variable.type == NC_FLOAT ? DType::kF32 : DType::kF64;
    declare_fill(attributes, fill, field);
    field.read_rows = [file, variable, dtype = field.dtype](std::int64_t first, std::int64_t rows,
                                                            void* out) {
      read_numbers(*file, variable, dtype, first, rows, out);
    };
  }
  field.owner = file;
  return field;
}

}  // namespace tamis::cli
