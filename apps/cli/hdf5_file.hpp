// An open HDF5 file, its handles and its numeric data sets. The library's own error printing is
// off: its innermost reason goes into our messages.
#pragma once

#include <hdf5.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tamis/tensor.hpp"

namespace tamis::cli {

/// Owns any HDF5 identifier.
class Hdf5Handle {
 public:
  Hdf5Handle() = default;
  explicit Hdf5Handle(hid_t id) : id_(id) {}
  Hdf5Handle(Hdf5Handle&& other) noexcept : id_(std::exchange(other.id_, -1)) {}
  Hdf5Handle& operator=(Hdf5Handle&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  ~Hdf5Handle() {
    if (id_ >= 0) H5Idec_ref(id_);
  }
  hid_t id() const noexcept { return id_; }
  bool valid() const noexcept { return id_ >= 0; }

 private:
  hid_t id_ = -1;
};

struct Hdf5Dataset {
  std::string name;  // path without the leading slash
  std::string type;  // "f32", "int16" ...; empty when not numeric
  H5T_class_t type_class = H5T_NO_CLASS;
  int item_bytes = 0;
  bool is_signed = true;
  Extents shape;
};

class Hdf5File {
 public:
  /// Throws Error(kIo or kCorrupt).
  Hdf5File(const std::string& path, bool writable);

  /// The data set of that path; nothing when absent or not a data set of rank <= kMaxRank.
  std::optional<Hdf5Dataset> find(const std::string& name) const;
  /// All numeric data sets of rank 1 and up.
  std::vector<Hdf5Dataset> datasets() const;
  Hdf5Handle open(const std::string& name) const;
  bool has_root_attribute(const char* name) const;
  /// Writes everything back and closes; throws Error(kIo).
  void close();

  const std::string& path() const noexcept { return path_; }
  hid_t id() const noexcept { return file_.id(); }

 private:
  std::string path_;
  Hdf5Handle file_;
};

/// The reason the last HDF5 call failed, in the library's words.
std::string hdf5_reason();

/// Throws the error that lists what the file holds.
[[noreturn]] void reject_hdf5_dataset(const Hdf5File& file, const std::string& name);

}  // namespace tamis::cli
