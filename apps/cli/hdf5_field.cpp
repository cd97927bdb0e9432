// HDF5 data sets through the HDF5 C API, row hyperslabs at a time; the library converts byte order.
// CF attributes (_FillValue, missing_value, scale_factor, add_offset) mean what they mean in
// netCDF.
#include <algorithm>
#include <memory>

#include "field_input.hpp"
#include "hdf5_file.hpp"
#include "packed_values.hpp"
#include "tamis/error.hpp"

namespace tamis::cli {
namespace {

std::optional<NumericAttribute> numeric_attribute(hid_t dataset, const char* name) {
  if (H5Aexists(dataset, name) <= 0) return {};
  const Hdf5Handle attribute(H5Aopen(dataset, name, H5P_DEFAULT));
  if (!attribute.valid()) return {};
  const Hdf5Handle type(H5Aget_type(attribute.id()));
  const Hdf5Handle space(H5Aget_space(attribute.id()));
  if (!type.valid() || !space.valid() || H5Sget_simple_extent_npoints(space.id()) != 1) return {};
  const H5T_class_t type_class = H5Tget_class(type.id());
  if (type_class != H5T_FLOAT && type_class != H5T_INTEGER) return {};
  NumericAttribute result;
  if (H5Aread(attribute.id(), H5T_NATIVE_DOUBLE, &result.value) < 0) return {};
  const std::size_t bytes = H5Tget_size(type.id());
  result.single = bytes <= (type_class == H5T_FLOAT ? 4U : 2U);
  return result;
}

std::string text_attribute(hid_t dataset, const char* name) {
  if (H5Aexists(dataset, name) <= 0) return "";
  const Hdf5Handle attribute(H5Aopen(dataset, name, H5P_DEFAULT));
  if (!attribute.valid()) return "";
  const Hdf5Handle type(H5Aget_type(attribute.id()));
  const Hdf5Handle space(H5Aget_space(attribute.id()));
  if (!type.valid() || !space.valid() || H5Sget_simple_extent_npoints(space.id()) != 1 ||
      H5Tget_class(type.id()) != H5T_STRING) {
    return "";
  }
  if (H5Tis_variable_str(type.id()) > 0) {
    char* text = nullptr;
    if (H5Aread(attribute.id(), type.id(), &text) < 0 || text == nullptr) return "";
    std::string copy = text;
    H5free_memory(text);
    return copy;
  }
  std::string text(H5Tget_size(type.id()), '\0');
  if (text.size() > 4096 || H5Aread(attribute.id(), type.id(), text.data()) < 0) return "";
  return text.substr(0, text.find('\0'));
}

ValueAttributes read_attributes(hid_t dataset) {
  ValueAttributes attributes;
  attributes.scale_factor = numeric_attribute(dataset, "scale_factor");
  attributes.add_offset = numeric_attribute(dataset, "add_offset");
  attributes.fill_value = numeric_attribute(dataset, "_FillValue");
  attributes.missing_value = numeric_attribute(dataset, "missing_value");
  attributes.is_unsigned = text_attribute(dataset, "_Unsigned") == "true";
  return attributes;
}

// An open data set that reads rows as one memory type.
struct RowReader {
  std::shared_ptr<Hdf5File> file;
  std::shared_ptr<Hdf5Handle> dataset;
  std::string label;
  Extents shape;

  void read(std::int64_t first, std::int64_t rows, hid_t memory_type, void* out) const {
    hsize_t start[kMaxRank] = {};
    hsize_t count[kMaxRank] = {};
    for (int d = 0; d < shape.rank(); ++d) count[d] = static_cast<hsize_t>(shape[d]);
    start[0] = static_cast<hsize_t>(first);
    count[0] = static_cast<hsize_t>(rows);
    const Hdf5Handle in_file(H5Dget_space(dataset->id()));
    const Hdf5Handle in_memory(H5Screate_simple(shape.rank(), count, nullptr));
    if (!in_file.valid() || !in_memory.valid() ||
        H5Sselect_hyperslab(in_file.id(), H5S_SELECT_SET, start, nullptr, count, nullptr) < 0 ||
        H5Dread(dataset->id(), memory_type, in_memory.id(), in_file.id(), H5P_DEFAULT, out) < 0) {
      throw Error(ErrorCode::kIo, "cannot read " + label + ": " + hdf5_reason());
    }
  }
};

}  // namespace

Field open_hdf5_field(const std::string& path, const std::string& dataset,
                      const std::optional<double>& fill) {
  auto file = std::make_shared<Hdf5File>(path, false);
  const std::optional<Hdf5Dataset> found = file->find(dataset);
  if (!found) reject_hdf5_dataset(*file, dataset);
  if (found->type.empty()) {
    throw Error(ErrorCode::kUnsupported,
                path + ":" + dataset +
                    " is neither an integer nor a floating-point type of at most "
                    "8 bytes");
  }
  RowReader reader{file, std::make_shared<Hdf5Handle>(file->open(dataset)), path + ":" + dataset,
                   found->shape};
  if (!reader.dataset->valid()) {
    throw Error(ErrorCode::kIo, "cannot open " + reader.label + ": " + hdf5_reason());
  }
  Field field;
  field.name = found->name;
  field.units = text_attribute(reader.dataset->id(), "units");
  field.source = "HDF5 " + path + ":/" + found->name;
  field.shape = found->shape;
  const ValueAttributes attributes = read_attributes(reader.dataset->id());
  if (found->type_class == H5T_INTEGER) {
    const Unpacking plan =
        plan_unpacking({found->item_bytes, found->is_signed}, attributes, fill, field);
    const ReadStored read = [reader](std::int64_t first, std::int64_t rows, double* out) {
      reader.read(first, rows, H5T_NATIVE_DOUBLE, out);
    };
    field.read_rows = [read, plan, shape = field.shape](std::int64_t first, std::int64_t rows,
                                                        void* out) {
      read_unpacked_rows(plan, shape, read, first, rows, out);
    };
  } else {
    field.dtype = found->item_bytes <= 4 ? DType::kF32 : DType::kF64;
    if (found->item_bytes != dtype_bytes(field.dtype)) {
      field.notes.push_back("the data set is stored as " + found->type + ", converted exactly to " +
                            dtype_name(field.dtype) + "; the ratio counts " +
                            dtype_name(field.dtype) + " bytes");
    }
    declare_fill(attributes, fill, field);
    field.read_rows = [reader, dtype = field.dtype](std::int64_t first, std::int64_t rows,
                                                    void* out) {
      reader.read(first, rows, dtype == DType::kF32 ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE, out);
    };
  }
  field.owner = file;
  return field;
}

}  // namespace tamis::cli
