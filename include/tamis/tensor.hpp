// Dense arrays: element type, extents, and views that never own. Extents are slowest first (C
// order, as in NumPy), strides are in elements, sizes are std::int64_t everywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace tamis {

enum class DType : std::uint8_t { kF32 = 1, kF64 = 2 };

/// Size of one element: 4 or 8.
std::int64_t dtype_bytes(DType dtype) noexcept;
/// "f32" or "f64".
const char* dtype_name(DType dtype) noexcept;

/// Highest rank of a tensor that Tamis accepts.
inline constexpr int kMaxRank = 16;

/// A short list of sizes, slowest dimension first; value semantics, no allocation.
class Extents {
 public:
  Extents() = default;
  /// Throws Error(kUnsupported) when there are more than kMaxRank entries.
  Extents(std::initializer_list<std::int64_t> sizes);
  explicit Extents(const std::vector<std::int64_t>& sizes);
  static Extents filled(int rank, std::int64_t size);

  int rank() const noexcept { return rank_; }
  std::int64_t& operator[](int d) noexcept { return sizes_[d]; }
  std::int64_t operator[](int d) const noexcept { return sizes_[d]; }
  const std::int64_t* begin() const noexcept { return sizes_; }
  const std::int64_t* end() const noexcept { return sizes_ + rank_; }
  bool operator==(const Extents& other) const noexcept;

  /// Product of the sizes (1 for rank 0). Throws Error(kInvalidArgument) when a size is negative or
  /// the product exceeds 2^60.
  std::int64_t element_count() const;
  /// Strides of a contiguous C-order array of these extents, in elements.
  Extents contiguous_strides() const;
  /// "100x200x300", slowest first; "scalar" for rank 0.
  std::string to_string() const;

 private:
  std::int64_t sizes_[kMaxRank] = {};
  int rank_ = 0;
};

/// Read-only strided view. `strides` are in elements and may be negative or zero.
struct ConstTensorView {
  const void* data = nullptr;
  DType dtype = DType::kF32;
  Extents shape;
  Extents strides;

  bool is_contiguous() const noexcept;
};

/// Writable strided view.
struct TensorView {
  void* data = nullptr;
  DType dtype = DType::kF32;
  Extents shape;
  Extents strides;

  operator ConstTensorView() const noexcept { return {data, dtype, shape, strides}; }
  bool is_contiguous() const noexcept { return ConstTensorView(*this).is_contiguous(); }
};

/// Contiguous C-order views over plain pointers.
ConstTensorView make_view(const float* data, const Extents& shape);
ConstTensorView make_view(const double* data, const Extents& shape);
TensorView make_view(float* data, const Extents& shape);
TensorView make_view(double* data, const Extents& shape);
ConstTensorView make_view(const void* data, DType dtype, const Extents& shape);
TensorView make_view(void* data, DType dtype, const Extents& shape);

/// Owning contiguous C-order array, 64-byte aligned, elements uninitialised after construction.
class Tensor {
 public:
  Tensor() = default;
  /// Throws Error(kOutOfMemory) when the allocation fails.
  Tensor(DType dtype, const Extents& shape);
  Tensor(Tensor&& other) noexcept;
  Tensor& operator=(Tensor&& other) noexcept;
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;
  ~Tensor();

  DType dtype() const noexcept { return dtype_; }
  const Extents& shape() const noexcept { return shape_; }
  std::int64_t element_count() const noexcept { return count_; }
  std::int64_t size_bytes() const noexcept { return count_ * dtype_bytes(dtype_); }
  void* data() noexcept { return data_; }
  const void* data() const noexcept { return data_; }
  TensorView view() noexcept;
  ConstTensorView view() const noexcept;

 private:
  void* data_ = nullptr;
  DType dtype_ = DType::kF32;
  Extents shape_;
  std::int64_t count_ = 0;
};

}  // namespace tamis
