// Compression of fields in device memory: the same bytes as tamis/reduce.hpp makes on the host.
#pragma once

#include <cstdint>
#include <memory>

#include "tamis/device.hpp"
#include "tamis/reduce.hpp"
#include "tamis/tensor.hpp"

namespace tamis::reduce {

/// A contiguous field in device memory, slowest axis first.
struct DeviceField {
  DType dtype = DType::kF32;
  Extents shape;
  const void* data = nullptr;
};

/// Bytes that hold every container of such a field.
std::int64_t most_compressed_bytes(DType dtype, const Extents& shape);

/// What a call did other than by kernels alone: what has no kernels yet is done on the host, from a
/// copy of the field, at a fraction of the speed.
struct DeviceReport {
  bool masks_on_host = false;    // fill values, zeros and signs
  bool design_on_host = false;   // choice of number map and predictors
  bool encoded_on_host = false;  // all of the encoding
  bool stored_by_host = false;   // values as they are
  int waits = 0;                 // how often the host waited for the device
};

/// Compresses on a stream; keeps its scratch memory (about three times the field) from call to
/// call. Not for several threads at a time.
class DeviceCompressor {
 public:
  explicit DeviceCompressor(const Stream& stream);
  DeviceCompressor(DeviceCompressor&&) noexcept;
  DeviceCompressor& operator=(DeviceCompressor&&) noexcept;
  ~DeviceCompressor();

  /// Writes the container of the field to `out`, device memory of `capacity` bytes, and returns
  /// when it is there. Throws what compress() throws, Error(kInvalidArgument) when the container
  /// does not fit, and Error(kDevice).
  Info compress(const DeviceField& field, const CompressOptions& options, void* out,
                std::int64_t capacity);
  /// Of the last call.
  const DeviceReport& report() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Decompresses on a stream; keeps its scratch memory from call to call. Not for several threads at
/// a time.
class DeviceDecompressor {
 public:
  explicit DeviceDecompressor(const Stream& stream);
  DeviceDecompressor(DeviceDecompressor&&) noexcept;
  DeviceDecompressor& operator=(DeviceDecompressor&&) noexcept;
  ~DeviceDecompressor();

  /// What inspect() tells, of a container in device memory.
  Info inspect(const void* container, std::int64_t size_bytes);
  /// Writes the whole field to `out`, device memory of exactly info.raw_bytes bytes, and returns
  /// when it is there. Throws what decompress() throws, Error(kInvalidArgument) for another
  /// capacity, and Error(kDevice).
  Info decompress(const void* container, std::int64_t size_bytes, void* out, std::int64_t capacity);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tamis::reduce
