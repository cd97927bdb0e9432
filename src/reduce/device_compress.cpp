// The public encoder and decoder of fields in device memory.
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "core/container.hpp"
#include "reduce/compress_checks.hpp"
#include "reduce/device_backend.hpp"
#include "reduce/device_decoder.hpp"
#include "reduce/field_encoder.hpp"
#include "tamis/device_reduce.hpp"
#include "tamis/error.hpp"

namespace tamis::reduce {

std::int64_t most_compressed_bytes(DType dtype, const Extents& shape) {
  // An encoding larger than the values is replaced by them, but it has to be written first.
  constexpr std::int64_t kSections = std::int64_t{1} << 16;
  const std::int64_t raw = shape.element_count() * dtype_bytes(dtype);
  return raw + raw / 2 + kSections;
}

struct DeviceCompressor::State {
  explicit State(const Stream& stream) : session(stream) {}
  DeviceSession session;

  template <typename T>
  Info compress_as(const DeviceField& field, const CompressOptions& options, void* out,
                   std::int64_t capacity) {
    session.report = {};
    DeviceOutput output(out, capacity, session);
    DeviceBackend<T> backend(static_cast<const T*>(field.data), field.shape, session, output);
    Info info = encode_field<T>(
        backend, field.shape, options, [&](std::span<const std::byte> b) { output.append(b); },
        [&] { output.restart(); });
    output.flush();
    session.wait();
    return info;
  }
};

DeviceCompressor::DeviceCompressor(const Stream& stream) : state_(new State(stream)) {}
DeviceCompressor::DeviceCompressor(DeviceCompressor&&) noexcept = default;
DeviceCompressor& DeviceCompressor::operator=(DeviceCompressor&&) noexcept = default;
DeviceCompressor::~DeviceCompressor() = default;

Info DeviceCompressor::compress(const DeviceField& field, const CompressOptions& options, void* out,
                                std::int64_t capacity) {
  check_options(field.shape, options);
  if (field.data == nullptr && field.shape.element_count() > 0) {
    throw Error(ErrorCode::kInvalidArgument,
                "a null pointer for a field of shape " + field.shape.to_string());
  }
  return field.dtype == DType::kF32 ? state_->compress_as<float>(field, options, out, capacity)
                                    : state_->compress_as<double>(field, options, out, capacity);
}

const DeviceReport& DeviceCompressor::report() const noexcept { return state_->session.report; }

struct DeviceDecompressor::State {
  explicit State(const Stream& stream) : workspace(stream) {}
  gpu::Workspace workspace;
  PinnedArea area;
};

DeviceDecompressor::DeviceDecompressor(const Stream& stream) : state_(new State(stream)) {}
DeviceDecompressor::DeviceDecompressor(DeviceDecompressor&&) noexcept = default;
DeviceDecompressor& DeviceDecompressor::operator=(DeviceDecompressor&&) noexcept = default;
DeviceDecompressor::~DeviceDecompressor() = default;

Info DeviceDecompressor::inspect(const void* container, std::int64_t size_bytes) {
  return DeviceContainer(container, size_bytes, state_->workspace.stream()).info();
}

Info DeviceDecompressor::decompress(const void* container, std::int64_t size_bytes, void* out,
                                    std::int64_t capacity) {
  const DeviceContainer opened(container, size_bytes, state_->workspace.stream());
  const Info info = opened.info();
  if (capacity != info.raw_bytes) {
    throw Error(ErrorCode::kInvalidArgument, "decompress: an output of " +
                                                 std::to_string(capacity) + " bytes; expected " +
                                                 std::to_string(info.raw_bytes));
  }
  decode_field_on_device(opened, state_->workspace, state_->area, out);
  return info;
}

}  // namespace tamis::reduce
