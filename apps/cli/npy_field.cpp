// .npy arrays: f4 and f8 are used where they lie, f2 and integers are converted as the netCDF and
// HDF5 readers do. Narrow numbers are read into the end of the room for the wide ones and widened
// from the front: writing never overtakes reading, so no second buffer is needed.
#include <bit>
#include <cmath>
#include <cstring>

#include "field_input.hpp"
#include "npy_header.hpp"
#include "packed_values.hpp"

namespace tamis::cli {
namespace {

float half_to_float(std::uint16_t half) {
  const std::uint32_t sign = (half & 0x8000U) << 16;
  const std::uint32_t exponent = half >> 10 & 31U;
  const std::uint32_t mantissa = half & 0x3ffU;
  if (exponent == 0) {
    // Zero and subnormal numbers: multiples of 2^-24, all normal in single precision.
    return std::copysign(std::ldexp(static_cast<float>(mantissa), -24), sign != 0 ? -1.0F : 1.0F);
  }
  const std::uint32_t wide_exponent = exponent == 31 ? 255U : exponent + (127 - 15);
  return std::bit_cast<float>(sign | wide_exponent << 23 | mantissa << 13);
}

/// Turns `count` numbers at the end of the room for `count` wide ones into those.
template <typename Narrow, typename Wide, typename Convert>
void widen(std::byte* room, std::int64_t count, const Convert& convert) {
  const std::byte* from = room + count * static_cast<std::int64_t>(sizeof(Wide) - sizeof(Narrow));
  for (std::int64_t i = 0; i < count; ++i) {
    Narrow narrow;
    std::memcpy(&narrow, from + i * static_cast<std::int64_t>(sizeof(Narrow)), sizeof(Narrow));
    const Wide wide = convert(narrow);
    std::memcpy(room + i * static_cast<std::int64_t>(sizeof(Wide)), &wide, sizeof(Wide));
  }
}

template <typename Signed, typename Unsigned>
void widen_integers(bool is_signed, std::byte* room, std::int64_t count) {
  const auto convert = [](auto value) { return static_cast<double>(value); };
  if (is_signed) {
    widen<Signed, double>(room, count, convert);
  } else {
    widen<Unsigned, double>(room, count, convert);
  }
}

void widen_integers(const IntegerStorage& storage, std::byte* room, std::int64_t count) {
  switch (storage.bytes) {
    case 1:
      return widen_integers<std::int8_t, std::uint8_t>(storage.is_signed, room, count);
    case 2:
      return widen_integers<std::int16_t, std::uint16_t>(storage.is_signed, room, count);
    case 4:
      return widen_integers<std::int32_t, std::uint32_t>(storage.is_signed, room, count);
    default:
      return widen_integers<std::int64_t, std::uint64_t>(storage.is_signed, room, count);
  }
}

void attach_integers(Field& field, const IntegerStorage& storage, const reduce::ReadRows& rows,
                     const std::optional<double>& fill) {
  const Unpacking plan = plan_unpacking(storage, {}, fill, field);
  const ReadStored read = [rows, storage, row = row_elements(field.shape)](
                              std::int64_t first, std::int64_t count, double* out) {
    auto* room = reinterpret_cast<std::byte*>(out);
    rows(first, count, room + count * row * (dtype_bytes(DType::kF64) - storage.bytes));
    widen_integers(storage, room, count * row);
  };
  field.read_rows = [read, plan, shape = field.shape](std::int64_t first, std::int64_t count,
                                                      void* out) {
    read_unpacked_rows(plan, shape, read, first, count, out);
  };
}

void attach_halves(Field& field, const reduce::ReadRows& rows) {
  field.dtype = DType::kF32;
  field.notes.push_back(
      "the array is stored as f16, converted exactly to f32; the ratio counts "
      "f32 bytes");
  field.read_rows = [rows, row = row_elements(field.shape)](std::int64_t first, std::int64_t count,
                                                            void* out) {
    auto* room = static_cast<std::byte*>(out);
    rows(first, count, room + count * row * 2);
    widen<std::uint16_t, float>(room, count * row, half_to_float);
  };
}

}  // namespace

Field open_npy_field(const std::string& shown, std::shared_ptr<const InputBytes> file,
                     const std::optional<double>& fill) {
  const NpyHeader header = parse_npy_header(file->bytes());
  RawLayout layout{DType::kF32, header.shape, header.big_endian, header.fortran_order,
                   header.data_offset};
  Field field;
  field.source = "npy " + shown;
  field.shape = header.shape;
  if (header.kind == 'f' && header.item_bytes >= 4) {
    layout.dtype = header.item_bytes == 4 ? DType::kF32 : DType::kF64;
    attach_raw_values(field, file->bytes(), layout);
    declare_fill({}, fill, field);
  } else {
    const reduce::ReadRows rows = raw_row_reader(file->bytes(), layout, header.item_bytes);
    if (header.kind == 'f') {
      attach_halves(field, rows);
      declare_fill({}, fill, field);
    } else {
      attach_integers(field, {header.item_bytes, header.kind == 'i'}, rows, fill);
    }
  }
  field.owner = std::move(file);
  return field;
}

}  // namespace tamis::cli
