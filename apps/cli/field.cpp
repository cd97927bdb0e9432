// Raw and .npy values in memory. In-place use needs native byte order and alignment; everything
// else is copied row by row, byte by byte, so no assumption about the mapping is made.
#include "field.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace tamis::cli {
namespace {

static_assert(std::endian::native == std::endian::little, "Tamis needs a little-endian machine");

void copy_element(const std::byte* from, std::byte* to, std::int64_t bytes, bool swap) {
  if (swap) {
    std::reverse_copy(from, from + bytes, to);
  } else {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }
}

// Copies `shape` elements from strided memory to contiguous memory, in C order.
void copy_strided(const std::byte* from, const Extents& shape, const Extents& strides,
                  std::int64_t item, bool swap, std::byte* to) {
  const std::int64_t count = shape.element_count();
  Extents index = Extents::filled(shape.rank(), 0);
  std::int64_t at = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    copy_element(from + at * item, to + i * item, item, swap);
    for (int d = shape.rank() - 1; d >= 0; --d) {
      at += strides[d];
      if (++index[d] < shape[d]) break;
      at -= strides[d] * shape[d];
      index[d] = 0;
    }
  }
}

Extents layout_strides(const RawLayout& layout) {
  if (!layout.fortran_order) return layout.shape.contiguous_strides();
  Extents strides = Extents::filled(layout.shape.rank(), 1);
  for (int d = 1; d < layout.shape.rank(); ++d) strides[d] = strides[d - 1] * layout.shape[d - 1];
  return strides;
}

}  // namespace

std::int64_t row_elements(const Extents& shape) {
  // Beside an extent of 0 the others may be of any size.
  constexpr std::int64_t kMost = std::int64_t{1} << 59;
  std::int64_t count = 1;
  for (int d = 1; d < shape.rank(); ++d) {
    if (__builtin_mul_overflow(count, shape[d], &count) || count > kMost) count = kMost;
    if (shape[d] == 0) return 0;
  }
  return count;
}

ConstTensorView load_field(Field& field) {
  if (field.in_place) return *field.in_place;
  auto tensor = std::make_shared<Tensor>(field.dtype, field.shape);
  if (tensor->element_count() > 0) field.read_rows(0, field.shape[0], tensor->data());
  const ConstTensorView view = std::as_const(*tensor).view();
  // The reader may still be wanted, so its owner lives on beside the copy.
  field.owner = std::make_shared<std::pair<std::shared_ptr<const void>, std::shared_ptr<Tensor>>>(
      field.owner, tensor);
  field.in_place = view;
  return view;
}

reduce::ReadRows raw_row_reader(std::span<const std::byte> file, const RawLayout& layout,
                                std::int64_t item_bytes) {
  const std::byte* base = file.data() + layout.data_offset;
  return [base, layout, strides = layout_strides(layout), item = item_bytes](
             std::int64_t first, std::int64_t count, void* out) {
    Extents part = layout.shape;
    part[0] = count;
    const std::byte* from = base + first * strides[0] * item;
    if (!layout.fortran_order && !layout.big_endian) {
      std::memcpy(out, from, static_cast<std::size_t>(part.element_count() * item));
    } else {
      copy_strided(from, part, strides, item, layout.big_endian, static_cast<std::byte*>(out));
    }
  };
}

void attach_raw_values(Field& field, std::span<const std::byte> file, const RawLayout& layout) {
  const std::int64_t item = dtype_bytes(layout.dtype);
  const std::byte* base = file.data() + layout.data_offset;
  const Extents strides = layout_strides(layout);
  field.dtype = layout.dtype;
  field.shape = layout.shape;
  const bool aligned = reinterpret_cast<std::uintptr_t>(base) % static_cast<std::size_t>(item) == 0;
  if (!layout.big_endian && aligned) {
    field.in_place = ConstTensorView{base, layout.dtype, layout.shape, strides};
  }
  field.read_rows = raw_row_reader(file, layout, item);
}

}  // namespace tamis::cli
