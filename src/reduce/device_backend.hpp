// The backend of fields in device memory. What has no kernels yet, and needs the whole field, is
// done by the host's backend on a copy; the session's report says so.
#pragma once

#include <optional>
#include <vector>

#include "reduce/device_output.hpp"
#include "reduce/device_session.hpp"
#include "reduce/field_backend.hpp"
#include "reduce/host_backend.hpp"

namespace tamis::reduce {

template <typename T>
class DeviceBackend final : public FieldBackend<T> {
 public:
  DeviceBackend(const T* data, const Extents& shape, DeviceSession& session, DeviceOutput& output);

  std::int64_t count() const override { return shape_.element_count(); }
  const Extents& folded() const override { return folded_; }
  FieldScan<T> scan(const CompressOptions& options) override;
  FieldMasks masks(const FieldScan<T>& scan, bool logarithm) override;
  Design design(const FieldScan<T>& scan, const PointCheck& check, const FieldMasks& masks,
                const CompressOptions& options) override;
  EncodeOutcome encode(ContainerWriter& writer, const EncodeRequest& request) override;
  void write_raw(ContainerWriter& writer) override;

 private:
  std::vector<std::byte> encode_field(DeviceCodecs& codecs, const EncodeRequest& request);
  void prepare(DeviceCodecs& codecs, const EncodeRequest& request);
  void set_predictors(DeviceGridCodec& codec, const EncodeRequest& request);

  /// What an encoding left, in pinned memory until the next.
  struct Results {
    device::CodecReport report;
    const unsigned char* index;
    const device::PatchEntry* patches;
  };
  Results fetch_results(const DeviceGridCodec& codec);

  /// Pieces of the field, copied as they are asked for.
  EachPiece<T> pieces();
  /// All of it.
  HostBackend<T>& on_host();

  const T* data_;
  Extents shape_;
  Extents folded_;
  DeviceSession& session_;
  DeviceOutput& output_;
  FieldScan<T> scan_;
  std::vector<T> sample_;
  struct Copy {
    std::vector<T> values;
    FieldSource<T> source;
    HostBackend<T> backend;
    Copy(std::vector<T> from, const Extents& shape)
        : values(std::move(from)), source(values.data(), shape), backend(source) {}
  };
  std::optional<Copy> copy_;
};

}  // namespace tamis::reduce
