// The backend of fields in memory, or read row by row, on the host.
#pragma once

#include "reduce/field_backend.hpp"
#include "reduce/field_source.hpp"

namespace tamis::reduce {

template <typename T>
class HostBackend final : public FieldBackend<T> {
 public:
  explicit HostBackend(FieldSource<T>& source) : source_(source) {}

  std::int64_t count() const override { return source_.count(); }
  const Extents& folded() const override { return source_.folded(); }
  FieldScan<T> scan(const CompressOptions& options) override;
  FieldMasks masks(const FieldScan<T>& scan, bool logarithm) override;
  Design design(const FieldScan<T>& scan, const PointCheck& check, const FieldMasks& masks,
                const CompressOptions& options) override;
  EncodeOutcome encode(ContainerWriter& writer, const EncodeRequest& request) override;
  void write_raw(ContainerWriter& writer) override;

 private:
  template <typename I>
  EncodeOutcome encode_as(ContainerWriter& writer, const EncodeRequest& request);

  FieldSource<T>& source_;
};

}  // namespace tamis::reduce
