// Extents, views and the owning Tensor. Sizes come from files and callers, so every product is
// checked here once; the rest of the library may multiply extents freely.
#include "tamis/tensor.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "core/array.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

constexpr std::int64_t kMaxElements = std::int64_t{1} << 60;

void check_rank(std::size_t rank) {
  if (rank > static_cast<std::size_t>(kMaxRank)) {
    throw Error(ErrorCode::kUnsupported, "rank " + std::to_string(rank) +
                                             " is above the highest supported rank " +
                                             std::to_string(kMaxRank));
  }
}

// a * b for a, b >= 0, at most kMaxElements + 1 (which stands for "too many").
std::int64_t saturating_product(std::int64_t a, std::int64_t b) noexcept {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return kMaxElements + 1;
  return std::min(product, kMaxElements + 1);
}

}  // namespace

std::int64_t dtype_bytes(DType dtype) noexcept { return dtype == DType::kF32 ? 4 : 8; }

const char* dtype_name(DType dtype) noexcept { return dtype == DType::kF32 ? "f32" : "f64"; }

Extents::Extents(std::initializer_list<std::int64_t> sizes) {
  check_rank(sizes.size());
  rank_ = static_cast<int>(sizes.size());
  std::copy(sizes.begin(), sizes.end(), sizes_);
}

Extents::Extents(const std::vector<std::int64_t>& sizes) {
  check_rank(sizes.size());
  rank_ = static_cast<int>(sizes.size());
  std::copy(sizes.begin(), sizes.end(), sizes_);
}

Extents Extents::filled(int rank, std::int64_t size) {
  if (rank < 0) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "rank " + std::to_string(rank) + " is negative, expected 0 to " + std::to_string(kMaxRank));
  }
  check_rank(static_cast<std::size_t>(rank));
  Extents extents;
  extents.rank_ = rank;
  std::fill_n(extents.sizes_, rank, size);
  return extents;
}

bool Extents::operator==(const Extents& other) const noexcept {
  return std::equal(begin(), end(), other.begin(), other.end());
}

std::int64_t Extents::element_count() const {
  // A zero anywhere makes the array empty, however large its other sizes are.
  bool empty = false;
  std::int64_t count = 1;
  for (const std::int64_t size : *this) {
    if (size < 0) {
      throw Error(ErrorCode::kInvalidArgument,
                  "extents " + to_string() + " have a negative size, expected 0 or more");
    }
    empty = empty || size == 0;
    count = saturating_product(count, std::max<std::int64_t>(size, 1));
  }
  if (empty) return 0;
  if (count > kMaxElements) {
    throw Error(ErrorCode::kInvalidArgument,
                "extents " + to_string() + " hold more than 2^60 elements");
  }
  return count;
}

Extents Extents::contiguous_strides() const {
  // Empty arrays may have huge sizes next to the zero; their strides saturate, nobody follows them.
  const bool any_element = element_count() != 0;
  Extents strides = filled(rank_, 0);
  std::int64_t stride = 1;
  for (int d = rank_ - 1; d >= 0; --d) {
    strides.sizes_[d] = stride;
    stride = saturating_product(stride, sizes_[d]);
  }
  assert(!any_element || stride == element_count());
  static_cast<void>(any_element);
  return strides;
}

std::string Extents::to_string() const {
  if (rank_ == 0) return "scalar";
  std::string text;
  for (const std::int64_t size : *this) {
    if (!text.empty()) text += 'x';
    text += std::to_string(size);
  }
  return text;
}

bool ConstTensorView::is_contiguous() const noexcept {
  if (strides.rank() != shape.rank()) return false;
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return true;
  std::int64_t expected = 1;
  for (int d = shape.rank() - 1; d >= 0; --d) {
    if (shape[d] != 1 && strides[d] != expected) return false;
    expected = saturating_product(expected, shape[d]);
  }
  return true;
}

ConstTensorView make_view(const void* data, DType dtype, const Extents& shape) {
  return {data, dtype, shape, shape.contiguous_strides()};
}
TensorView make_view(void* data, DType dtype, const Extents& shape) {
  return {data, dtype, shape, shape.contiguous_strides()};
}
ConstTensorView make_view(const float* data, const Extents& shape) {
  return make_view(static_cast<const void*>(data), DType::kF32, shape);
}
ConstTensorView make_view(const double* data, const Extents& shape) {
  return make_view(static_cast<const void*>(data), DType::kF64, shape);
}
TensorView make_view(float* data, const Extents& shape) {
  return make_view(static_cast<void*>(data), DType::kF32, shape);
}
TensorView make_view(double* data, const Extents& shape) {
  return make_view(static_cast<void*>(data), DType::kF64, shape);
}

Tensor::Tensor(DType dtype, const Extents& shape)
    : dtype_(dtype), shape_(shape), count_(shape.element_count()) {
  if (count_ == 0) return;
  // At most 2^60 elements of 8 bytes: fits in size_t, though not in a signed 64-bit size.
  const std::size_t size = static_cast<std::size_t>(count_) * dtype_bytes(dtype);
  data_ = allocate_memory(size).release();
  if (data_ == nullptr) {
    throw Error(ErrorCode::kOutOfMemory, "cannot allocate " + std::to_string(size) +
                                             " bytes for a tensor of " + shape.to_string() + " " +
                                             dtype_name(dtype));
  }
}

Tensor::Tensor(Tensor&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      dtype_(other.dtype_),
      shape_(std::exchange(other.shape_, {})),
      count_(std::exchange(other.count_, 0)) {}

Tensor& Tensor::operator=(Tensor&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(dtype_, other.dtype_);
  std::swap(shape_, other.shape_);
  std::swap(count_, other.count_);
  return *this;
}

Tensor::~Tensor() { FreeMemory()(data_); }

TensorView Tensor::view() noexcept { return {data_, dtype_, shape_, shape_.contiguous_strides()}; }

ConstTensorView Tensor::view() const noexcept {
  return {data_, dtype_, shape_, shape_.contiguous_strides()};
}

}  // namespace tamis
