// The header of a NumPy .npy file, versions 1 to 3. The parser reads hostile text: it accepts just
// the dictionary NumPy writes and answers everything else with Error(kCorrupt or kUnsupported).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "tamis/tensor.hpp"

namespace tamis::cli {

struct NpyHeader {
  char kind = 'f';     // 'f': floating point, 'i' and 'u': integers with and without a sign
  int item_bytes = 4;  // 2, 4 or 8 for 'f'; 1, 2, 4 or 8 for integers
  bool big_endian = false;
  bool fortran_order = false;  // the first dimension varies fastest
  Extents shape;
  std::int64_t data_offset = 0;

  /// "f32", "int16".
  std::string type_name() const;
};

/// Does the file begin as an .npy file does?
bool is_npy(std::span<const std::byte> file);

/// Parses the header and checks that `file` holds all of the array's bytes.
NpyHeader parse_npy_header(std::span<const std::byte> file);

/// Header of a little-endian C-order array, ready to be followed by the data.
std::string format_npy_header(DType dtype, const Extents& shape);

}  // namespace tamis::cli
