// The public encoder: checks of arguments, strided views, and the two ways in (memory, rows).
#include <cmath>
#include <cstring>
#include <new>
#include <string>

#include "core/container.hpp"
#include "reduce/compress_checks.hpp"
#include "reduce/field_encoder.hpp"
#include "reduce/host_backend.hpp"
#include "tamis/error.hpp"
#include "tamis/reduce.hpp"

namespace tamis::reduce {

const char* mode_name(Mode mode) noexcept {
  switch (mode) {
    case Mode::kDefault:
      return "default";
    case Mode::kRatio:
      return "ratio";
    case Mode::kFast:
      return "fast";
  }
  return "unknown";
}

const char* bound_kind_name(BoundKind kind) noexcept {
  switch (kind) {
    case BoundKind::kAbsolute:
      return "abs";
    case BoundKind::kRelative:
      return "rel";
    case BoundKind::kPointwiseRelative:
      return "pwrel";
    case BoundKind::kPsnr:
      return "psnr";
    case BoundKind::kLossless:
      return "lossless";
  }
  return "unknown";
}

void check_options(const Extents& shape, const CompressOptions& options) {
  const auto fail = [](const std::string& what) { throw Error(ErrorCode::kInvalidArgument, what); };
  if (shape.rank() == 0) fail("a field without axes; expected 1 to " + std::to_string(kMaxRank));
  if (shape.element_count() > INT64_MAX / 8) {  // throws itself when the product is larger still
    fail("a field of shape " + shape.to_string() + ": more bytes than can be counted");
  }
  const Bound& b = options.bound;
  if (b.kind < BoundKind::kAbsolute || b.kind > BoundKind::kLossless) {
    fail("bound kind " + std::to_string(static_cast<int>(b.kind)) + "; expected 1 to 5");
  }
  if (options.mode < Mode::kDefault || options.mode > Mode::kFast) {
    fail("mode " + std::to_string(static_cast<int>(options.mode)) + "; expected 1 to 3");
  }
  if (b.kind == BoundKind::kLossless) return;
  if (!std::isfinite(b.value) || b.value < 0) {
    fail(std::string("bound ") + bound_kind_name(b.kind) + " = " + std::to_string(b.value) +
         "; expected a finite number, zero or more");
  }
  if (b.kind == BoundKind::kPointwiseRelative && b.value >= 1) {
    fail("bound pwrel = " + std::to_string(b.value) +
         "; expected less than 1, since zero would do");
  }
}

namespace {

template <typename T>
std::vector<T> gather(const ConstTensorView& view) {
  const std::int64_t count = view.shape.element_count();
  std::vector<T> out(static_cast<std::size_t>(count));
  const int rank = view.shape.rank();
  const std::int64_t inner = view.shape[rank - 1];
  if (count == 0) return out;
  Extents at = Extents::filled(rank, 0);
  const T* data = static_cast<const T*>(view.data);
  for (std::int64_t done = 0; done < count; done += inner) {
    std::int64_t offset = 0;
    for (int d = 0; d < rank - 1; ++d) offset += at[d] * view.strides[d];
    for (std::int64_t i = 0; i < inner; ++i) {
      out[static_cast<std::size_t>(done + i)] = data[offset + i * view.strides[rank - 1]];
    }
    for (int d = rank - 2; d >= 0 && ++at[d] == view.shape[d]; --d) at[d] = 0;
  }
  return out;
}

template <typename T>
CompressResult compress_as(const ConstTensorView& field, const CompressOptions& options) {
  std::vector<T> copy;
  const T* data = static_cast<const T*>(field.data);
  if (!field.is_contiguous()) {
    copy = gather<T>(field);
    data = copy.data();
  }
  static const T kNothing{};
  FieldSource<T> source(data != nullptr ? data : &kNothing, field.shape);
  HostBackend<T> backend(source);
  CompressResult result;
  result.info = encode_field<T>(backend, field.shape, options, append_to(result.bytes),
                                [&] { result.bytes.clear(); });
  return result;
}

template <typename Fn>
auto translate_bad_alloc(const Fn& fn) {
  try {
    return fn();
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::kOutOfMemory, "compress: the working set does not fit in memory");
  }
}

}  // namespace

CompressResult compress(const ConstTensorView& field, const CompressOptions& options) {
  check_options(field.shape, options);
  if (field.data == nullptr && field.shape.element_count() > 0) {
    throw Error(ErrorCode::kInvalidArgument,
                "a null pointer for a field of shape " + field.shape.to_string());
  }
  return translate_bad_alloc([&] {
    return field.dtype == DType::kF32 ? compress_as<float>(field, options)
                                      : compress_as<double>(field, options);
  });
}

Info compress_stream(DType dtype, const Extents& shape, const ReadRows& read,
                     const WriteBytes& write, const CompressOptions& options) {
  check_options(shape, options);
  return translate_bad_alloc([&] {
    if (dtype == DType::kF32) {
      FieldSource<float> source(read, shape);
      HostBackend<float> backend(source);
      return encode_field<float>(backend, shape, options, write, nullptr);
    }
    FieldSource<double> source(read, shape);
    HostBackend<double> backend(source);
    return encode_field<double>(backend, shape, options, write, nullptr);
  });
}

}  // namespace tamis::reduce
