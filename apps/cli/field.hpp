// A field to be compressed or compared with, whatever file it comes from: a description, a way to
// read rows, and (where the bytes in memory already are the values) a view.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tamis/reduce.hpp"
#include "tamis/tensor.hpp"

namespace tamis::cli {

struct DeclaredFill {
  double value = 0.0;
  std::string origin;  // "--fill", "_FillValue", "missing_value"
};

struct Field {
  std::string name;    // variable, data set or file stem
  std::string units;   // empty when the file does not say
  std::string source;  // e.g. "netCDF file.nc:tos"
  DType dtype = DType::kF32;
  Extents shape;
  std::optional<DeclaredFill> fill;
  std::vector<std::string> notes;  // what the user should know: conversions, ignored attributes

  /// Reads rows of the slowest dimension; always set.
  reduce::ReadRows read_rows;
  /// Set when the values can be used where they lie (mapped file); may be strided.
  std::optional<ConstTensorView> in_place;
  /// Keeps mappings and open files alive.
  std::shared_ptr<const void> owner;

  std::int64_t raw_bytes() const { return shape.element_count() * dtype_bytes(dtype); }
};

/// The whole field as a view: in place, or read into memory that `field` then owns.
ConstTensorView load_field(Field& field);

/// Elements laid out as a raw or .npy file holds them.
struct RawLayout {
  DType dtype = DType::kF32;
  Extents shape;
  bool big_endian = false;
  bool fortran_order = false;
  std::int64_t data_offset = 0;
};

/// Reads rows of elements of `item_bytes` in C order and native byte order; layout.dtype is
/// ignored.
reduce::ReadRows raw_row_reader(std::span<const std::byte> file, const RawLayout& layout,
                                std::int64_t item_bytes);

/// Gives `field` its type, shape and readers over `file`, which must hold the whole layout.
void attach_raw_values(Field& field, std::span<const std::byte> file, const RawLayout& layout);

/// Elements in one row of the slowest dimension.
std::int64_t row_elements(const Extents& shape);

}  // namespace tamis::cli
