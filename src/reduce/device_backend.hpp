// The backend of fields in device memory.
#pragma once

#include <vector>

#include "gpu/memory.hpp"
#include "reduce/device_grid_codec.hpp"
#include "reduce/device_output.hpp"
#include "reduce/device_scan.hpp"
#include "reduce/field_backend.hpp"
#include "reduce/host_backend.hpp"

namespace tamis::reduce {

template <typename T>
class DeviceBackend final : public FieldBackend<T> {
 public:
  DeviceBackend(const T* data, const Extents& shape, gpu::Workspace& workspace,
                DeviceOutput& output);

  std::int64_t count() const override { return source_.count(); }
  const Extents& folded() const override { return source_.folded(); }
  FieldScan<T> scan(const CompressOptions& options) override {
    return scan_field_on_device(data_, count(), options, workspace_);
  }
  FieldMasks masks(const FieldScan<T>& scan, bool logarithm) override {
    return host_.masks(scan, logarithm);
  }
  Design design(const FieldScan<T>& scan, const PointCheck& check, const FieldMasks& masks,
                const CompressOptions& options) override {
    scan_ = scan;
    return host_.design(scan, check, masks, options);
  }
  EncodeOutcome encode(ContainerWriter& writer, const EncodeRequest& request) override;
  void write_raw(ContainerWriter& writer) override { host_.write_raw(writer); }

 private:
  template <typename I>
  EncodeOutcome encode_as(ContainerWriter& writer, const EncodeRequest& request);
  template <typename I>
  std::vector<std::byte> place_anchors(DeviceGridCodec& codec, const Grid& grid, std::int64_t step);
  void prepare(DeviceGridCodec& codec, const EncodeRequest& request);
  void set_check(DeviceGridCodec& codec, const EncodeRequest& request) const;

  const T* data_;
  gpu::Workspace& workspace_;
  DeviceOutput& output_;
  std::vector<T> copy_;
  FieldSource<T> source_;
  HostBackend<T> host_;
  FieldScan<T> scan_;
  std::int64_t patch_room_ = std::int64_t{1} << 16;
};

}  // namespace tamis::reduce
