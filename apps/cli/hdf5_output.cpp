// Decoded fields into HDF5: a fresh file (groups made on the way), or one data set of a copied
// file.
#include <memory>
#include <utility>

#include "failure.hpp"
#include "field_output.hpp"
#include "hdf5_file.hpp"
#include "tamis/error.hpp"

namespace tamis::cli {
namespace {

hid_t memory_type(DType dtype) {
  return dtype == DType::kF32 ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
}

hid_t file_type(DType dtype) { return dtype == DType::kF32 ? H5T_IEEE_F32LE : H5T_IEEE_F64LE; }

[[noreturn]] void fail(const std::string& what) {
  throw Error(ErrorCode::kIo, "HDF5: cannot " + what + ": " + hdf5_reason());
}

FieldSink sink_into(std::shared_ptr<Hdf5File> file, Hdf5Handle opened,
                    const OutputDescription& description) {
  auto dataset = std::make_shared<Hdf5Handle>(std::move(opened));
  FieldSink sink;
  sink.write = [dataset, description](std::int64_t first, std::int64_t rows, const void* data) {
    if (description.shape.element_count() == 0) return;
    const int rank = description.shape.rank();
    hsize_t start[kMaxRank] = {};
    hsize_t count[kMaxRank] = {};
    for (int d = 0; d < rank; ++d) count[d] = static_cast<hsize_t>(description.shape[d]);
    start[0] = static_cast<hsize_t>(first);
    count[0] = static_cast<hsize_t>(rows);
    const Hdf5Handle in_file(H5Dget_space(dataset->id()));
    const Hdf5Handle in_memory(H5Screate_simple(rank, count, nullptr));
    if (!in_file.valid() || !in_memory.valid() ||
        H5Sselect_hyperslab(in_file.id(), H5S_SELECT_SET, start, nullptr, count, nullptr) < 0 ||
        H5Dwrite(dataset->id(), memory_type(description.dtype), in_memory.id(), in_file.id(),
                 H5P_DEFAULT, data) < 0) {
      fail("write the data set");
    }
  };
  sink.finish = [file = std::move(file), dataset] {
    *dataset = Hdf5Handle();
    file->close();
  };
  return sink;
}

void set_fill(hid_t dataset, const OutputDescription& description) {
  const Hdf5Handle space(H5Screate(H5S_SCALAR));
  const Hdf5Handle attribute(H5Acreate2(dataset, "_FillValue", file_type(description.dtype),
                                        space.id(), H5P_DEFAULT, H5P_DEFAULT));
  if (!attribute.valid() || H5Awrite(attribute.id(), H5T_NATIVE_DOUBLE, &*description.fill) < 0) {
    fail("write _FillValue");
  }
}

Hdf5Handle create_dataset(const Hdf5File& file, const std::string& name,
                          const OutputDescription& description) {
  hsize_t sizes[kMaxRank] = {};
  for (int d = 0; d < description.shape.rank(); ++d) {
    sizes[d] = static_cast<hsize_t>(description.shape[d]);
  }
  const Hdf5Handle space(H5Screate_simple(description.shape.rank(), sizes, nullptr));
  const Hdf5Handle links(H5Pcreate(H5P_LINK_CREATE));
  if (!space.valid() || !links.valid() || H5Pset_create_intermediate_group(links.id(), 1) < 0) {
    fail("describe the data set");
  }
  Hdf5Handle dataset(H5Dcreate2(file.id(), name.c_str(), file_type(description.dtype), space.id(),
                                links.id(), H5P_DEFAULT, H5P_DEFAULT));
  if (!dataset.valid()) fail("create the data set \"" + name + "\"");
  if (description.fill) set_fill(dataset.id(), description);
  return dataset;
}

}  // namespace

FieldSink create_hdf5_sink(const std::string& path, const std::string& shown_path,
                           const std::string& dataset, const OutputDescription& description) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  {
    const Hdf5Handle created(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
    if (!created.valid()) fail("create " + shown_path);
  }
  auto file = std::make_shared<Hdf5File>(path, true);
  Hdf5Handle opened = create_dataset(*file, dataset, description);
  return sink_into(std::move(file), std::move(opened), description);
}

FieldSink replace_in_hdf5(const std::string& path, const std::string& shown_path,
                          const std::string& name, const OutputDescription& description) {
  const std::string shown = shown_path + ":" + name;
  {
    const Hdf5File original(shown_path, false);
    if (!original.find(name)) reject_hdf5_dataset(original, name);
  }
  auto file = std::make_shared<Hdf5File>(path, true);
  const auto found = file->find(name);
  if (!found) throw Error(ErrorCode::kIo, shown_path + ": the copied data set cannot be found");
  if (found->type != dtype_name(description.dtype)) {
    reject(shown + " is stored as " + (found->type.empty() ? "another type" : found->type) +
           ", the decoded field is " + dtype_name(description.dtype) +
           "; packed and converted data sets cannot be replaced");
  }
  if (!(found->shape == description.shape)) {
    reject(shown + " has shape " + found->shape.to_string() + ", the decoded field has " +
           description.shape.to_string());
  }
  return sink_into(file, file->open(name), description);
}

}  // namespace tamis::cli
