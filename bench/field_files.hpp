// What the C++ benchmarks share: raw fields listed by a manifest, loading them, and the line that
// says which machine and compiler made a result (never a host name or a path).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tamis/reduce.hpp"
#include "tamis/tensor.hpp"

namespace tamis::bench {

struct FieldFile {
  std::string name;  // within the manifest's folder
  std::string path;
  DType dtype = DType::kF32;
  Extents shape;
  std::optional<double> fill_value;
};

/// Every f32 and f64 array of a manifest, nested ones (meshes) included, whose file is present.
std::vector<FieldFile> list_fields(const std::string& manifest_path);

/// Little-endian raw values; throws std::runtime_error when the size is not that of the shape.
Tensor load_field(const FieldFile& file);

/// "256x256x256" to extents; throws std::runtime_error.
Extents parse_shape(const std::string& text);
/// f32 or f64 by the end of the name; throws std::runtime_error.
DType dtype_of_name(const std::string& name);
/// Throws std::runtime_error.
reduce::Mode parse_mode(const std::string& text);
reduce::BoundKind parse_bound_kind(const std::string& text);

/// Size of a section of `info`, 0 when there is none.
std::int64_t section_bytes(const reduce::Info& info, const std::string& name);

/// CPU model, cores, compiler, Tamis version and, from TAMIS_REVISION, the revision.
std::string machine_line();

/// Highest resident set of this process so far; 0 where /proc is missing. (getrusage() would count
/// what the parent held when it forked.)
std::int64_t peak_resident_bytes();

}  // namespace tamis::bench
