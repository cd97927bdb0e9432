// Integer variables, plain or packed with scale_factor and add_offset (CF conventions): which
// floating-point type holds them, and the conversion. Fill is recognised on the packed integers.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "field.hpp"
#include "tamis/tensor.hpp"

namespace tamis::cli {

/// One numeric attribute: its value and whether it is stored as single precision (or narrower).
struct NumericAttribute {
  double value = 0.0;
  bool single = false;
};

/// The attributes that give stored numbers their meaning, where the variable has them.
struct ValueAttributes {
  std::optional<NumericAttribute> scale_factor;
  std::optional<NumericAttribute> add_offset;
  std::optional<NumericAttribute> fill_value;  // _FillValue
  std::optional<NumericAttribute> missing_value;
  bool is_unsigned = false;  // _Unsigned = "true": old netCDF files keep unsigned in signed types
};

/// An integer storage type.
struct IntegerStorage {
  int bytes = 0;
  bool is_signed = true;
  std::string name() const;  // "int16"
};

/// How stored integers become the field's values.
struct Unpacking {
  IntegerStorage storage;
  DType dtype = DType::kF32;
  double scale = 1.0;
  double offset = 0.0;
  bool scaled = false;
  double wrap = 0.0;          // added to negative values, for _Unsigned
  std::vector<double> fills;  // stored values that become NaN

  /// Converts `count` stored integers (read as double) to `dtype`. Throws Error(kUnsupported) where
  /// a 64-bit integer exceeds 2^53 and so has no exact double.
  void convert(const double* stored, std::int64_t count, void* out) const;
};

/// Reads rows of stored integers as double.
using ReadStored = std::function<void(std::int64_t first, std::int64_t count, double* out)>;

/// Reads and unpacks rows, a bounded number at a time.
void read_unpacked_rows(const Unpacking& plan, const Extents& shape, const ReadStored& read,
                        std::int64_t first, std::int64_t count, void* out);

/// Chooses the unpacking, sets field.dtype and field.fill, and adds a note for the user.
Unpacking plan_unpacking(const IntegerStorage& storage, const ValueAttributes& attributes,
                         const std::optional<double>& fill_option, Field& field);

/// Declares the fill of a floating-point variable from its attributes, unless --fill was given.
void declare_fill(const ValueAttributes& attributes, const std::optional<double>& fill_option,
                  Field& field);

/// The fill as the field's type holds it: 1e20 in an f32 field is the nearest f32.
double round_to_dtype(double value, DType dtype);

}  // namespace tamis::cli
