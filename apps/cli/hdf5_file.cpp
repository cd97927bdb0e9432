// Looks around in HDF5 files. Dangling and external links are skipped, not errors: a file may list
// data that is kept elsewhere.
#include "hdf5_file.hpp"

#include <string_view>

#include "field_input.hpp"
#include "tamis/error.hpp"

namespace tamis::cli {
namespace {

herr_t keep_innermost(unsigned, const H5E_error2_t* error, void* reason) {
  // Walked from the outermost call inwards, so the last text kept is the root cause.
  if (error->desc != nullptr) *static_cast<std::string*>(reason) = error->desc;
  return 0;
}

herr_t keep_link_name(hid_t, const char* name, const H5L_info_t*, void* names) {
  static_cast<std::vector<std::string>*>(names)->emplace_back(name);
  return 0;
}

void describe_type(hid_t dataset, Hdf5Dataset& description) {
  const Hdf5Handle type(H5Dget_type(dataset));
  if (!type.valid()) return;
  description.type_class = H5Tget_class(type.id());
  description.item_bytes = static_cast<int>(H5Tget_size(type.id()));
  const std::string bits = std::to_string(8 * description.item_bytes);
  if (description.type_class == H5T_FLOAT && description.item_bytes <= 8) {
    description.type = "f" + bits;
  } else if (description.type_class == H5T_INTEGER && description.item_bytes <= 8) {
    description.is_signed = H5Tget_sign(type.id()) != H5T_SGN_NONE;
    description.type = (description.is_signed ? "int" : "uint") + bits;
  }
}

}  // namespace

Hdf5File::Hdf5File(const std::string& path, bool writable) : path_(path) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  file_ = Hdf5Handle(H5Fopen(path.c_str(), writable ? H5F_ACC_RDWR : H5F_ACC_RDONLY, H5P_DEFAULT));
  if (!file_.valid()) {
    throw Error(ErrorCode::kCorrupt, "cannot open " + path + " as HDF5: " + hdf5_reason());
  }
}

Hdf5Handle Hdf5File::open(const std::string& name) const {
  return Hdf5Handle(H5Dopen2(file_.id(), name.c_str(), H5P_DEFAULT));
}

std::optional<Hdf5Dataset> Hdf5File::find(const std::string& name) const {
  if (name.empty()) return {};
  const Hdf5Handle object(H5Oopen(file_.id(), name.c_str(), H5P_DEFAULT));
  if (!object.valid() || H5Iget_type(object.id()) != H5I_DATASET) return {};
  Hdf5Dataset description;
  description.name = name.starts_with('/') ? name.substr(1) : name;
  describe_type(object.id(), description);
  const Hdf5Handle space(H5Dget_space(object.id()));
  const int rank = space.valid() ? H5Sget_simple_extent_ndims(space.id()) : -1;
  if (rank < 0 || rank > kMaxRank) return {};
  hsize_t sizes[kMaxRank] = {};
  H5Sget_simple_extent_dims(space.id(), sizes, nullptr);
  description.shape = Extents::filled(rank, 0);
  for (int d = 0; d < rank; ++d) description.shape[d] = static_cast<std::int64_t>(sizes[d]);
  return description;
}

std::vector<Hdf5Dataset> Hdf5File::datasets() const {
  std::vector<std::string> names;
  H5Lvisit(file_.id(), H5_INDEX_NAME, H5_ITER_NATIVE, keep_link_name, &names);
  std::vector<Hdf5Dataset> list;
  for (const std::string& name : names) {
    std::optional<Hdf5Dataset> dataset = find(name);
    if (dataset && !dataset->type.empty() && dataset->shape.rank() > 0) {
      list.push_back(std::move(*dataset));
    }
  }
  return list;
}

bool Hdf5File::has_root_attribute(const char* name) const {
  return H5Aexists_by_name(file_.id(), "/", name, H5P_DEFAULT) > 0;
}

void Hdf5File::close() {
  const bool flushed = H5Fflush(file_.id(), H5F_SCOPE_LOCAL) >= 0;
  const std::string reason = flushed ? "" : hdf5_reason();
  file_ = Hdf5Handle();
  if (!flushed) throw Error(ErrorCode::kIo, path_ + ": cannot finish the file: " + reason);
}

std::string hdf5_reason() {
  std::string reason = "no reason given";
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, keep_innermost, &reason);
  // File driver errors bury errno's words in a dump of addresses and offsets.
  constexpr std::string_view kMark = "error message = '";
  const std::size_t start = reason.find(kMark);
  if (start == std::string::npos) return reason;
  const std::size_t end = reason.find('\'', start + kMark.size());
  return reason.substr(start + kMark.size(), end - start - kMark.size());
}

bool is_netcdf4_file(const std::string& path) {
  // Files of netCDF before 4.4.1 lack the mark; the HDF5 reader honours the same attributes.
  try {
    const Hdf5File file(path, false);
    return file.has_root_attribute("_NCProperties");
  } catch (const Error&) {
    return false;  // the HDF5 reader will say what is wrong
  }
}

void reject_hdf5_dataset(const Hdf5File& file, const std::string& name) {
  std::vector<VariableEntry> floats;
  std::vector<VariableEntry> integers;
  for (const Hdf5Dataset& dataset : file.datasets()) {
    (dataset.type_class == H5T_FLOAT ? floats : integers)
        .push_back({"/" + dataset.name, dataset.type, dataset.shape});
  }
  floats.insert(floats.end(), integers.begin(), integers.end());
  reject_variable(file.path(), name, floats);
}

}  // namespace tamis::cli
