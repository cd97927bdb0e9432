// The public decoder and the header reader.
#include <cstring>
#include <new>
#include <nlohmann/json.hpp>
#include <string>

#include "core/container.hpp"
#include "reduce/field_decoder.hpp"
#include "tamis/error.hpp"
#include "tamis/reduce.hpp"

namespace tamis::reduce {

namespace {

template <typename T>
void scatter(const Tensor& from, const TensorView& to) {
  const std::int64_t count = to.shape.element_count();
  const int rank = to.shape.rank();
  Extents at = Extents::filled(rank, 0);
  const T* data = static_cast<const T*>(from.data());
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t offset = 0;
    for (int d = 0; d < rank; ++d) offset += at[d] * to.strides[d];
    static_cast<T*>(to.data)[offset] = data[i];
    for (int d = rank - 1; d >= 0 && ++at[d] == to.shape[d]; --d) at[d] = 0;
  }
}

struct Opened {
  ContainerReader container;
  Header header;
  explicit Opened(std::span<const std::byte> bytes)
      : container(bytes), header(Header::from_json(container.meta())) {}
};

void decode(const Opened& opened, const Selection& selection, const DecompressOptions& options,
            void* out) {
  try {
    decode_field(opened.container, opened.header, selection, options, out);
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::kOutOfMemory, "decompress: the working set does not fit in memory");
  }
}

}  // namespace

Info inspect(std::span<const std::byte> container) {
  const Opened opened(container);
  Info info = opened.header.info;
  info.compressed_bytes = static_cast<std::int64_t>(container.size());
  for (const SectionInfo& s : opened.container.sections()) {
    info.sections.push_back(s.name + ": " + std::to_string(s.size));
  }
  return info;
}

Extents decompressed_shape(const Info& info, const DecompressOptions& options) {
  return select(info.shape, options).extent;
}

Tensor decompress(std::span<const std::byte> container, const DecompressOptions& options) {
  const Opened opened(container);
  const Info& info = opened.header.info;
  const Selection selection = select(info.shape, options);
  check_promise(opened.container, opened.header);
  const std::int64_t bytes = selection.extent.element_count() * dtype_bytes(info.dtype);
  if (options.max_output_bytes > 0 && bytes > options.max_output_bytes) {
    throw Error(ErrorCode::kOutOfMemory, "decompress: the output needs " + std::to_string(bytes) +
                                             " bytes; the limit is " +
                                             std::to_string(options.max_output_bytes));
  }
  Tensor out(info.dtype, selection.extent);
  decode(opened, selection, options, out.data());
  return out;
}

void decompress_into(std::span<const std::byte> container, const TensorView& out,
                     const DecompressOptions& options) {
  const Opened opened(container);
  const Info& info = opened.header.info;
  const Selection selection = select(info.shape, options);
  check_promise(opened.container, opened.header);
  if (out.dtype != info.dtype || !(out.shape == selection.extent)) {
    throw Error(ErrorCode::kInvalidArgument,
                std::string("decompress_into: a view of ") + dtype_name(out.dtype) + " " +
                    out.shape.to_string() + "; expected " + dtype_name(info.dtype) + " " +
                    selection.extent.to_string());
  }
  if (out.is_contiguous()) {
    decode(opened, selection, options, out.data);
    return;
  }
  Tensor dense(info.dtype, selection.extent);
  decode(opened, selection, options, dense.data());
  if (info.dtype == DType::kF32) {
    scatter<float>(dense, out);
  } else {
    scatter<double>(dense, out);
  }
}

}  // namespace tamis::reduce
