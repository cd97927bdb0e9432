// Where a field lies and who works on it: what the encoder asks of the host or of a device. The
// decisions are the encoder's, so that all backends write the same bytes.
#pragma once

#include <cstdint>

#include "core/container.hpp"
#include "reduce/field_design.hpp"
#include "reduce/field_masks.hpp"
#include "reduce/field_scan.hpp"

namespace tamis::reduce {

/// One encoding of the field with everything decided.
struct EncodeRequest {
  const CompressOptions& options;
  const PointCheck& check;
  const Design& design;
  const FieldMasks& masks;
  std::int64_t patch_limit = INT64_MAX;  // more of them, and the encoding is given up
  double error_scale = 0;                // when > 0, squared errors are added up in this unit
};
struct EncodeOutcome {
  bool complete = false;  // false: given up, what was written is useless
  std::int64_t patch_count = 0;
  double squared_errors = 0;  // in units of the scale
};

template <typename T>
class FieldBackend {
 public:
  virtual ~FieldBackend() = default;
  virtual std::int64_t count() const = 0;
  virtual const Extents& folded() const = 0;

  virtual FieldScan<T> scan(const CompressOptions& options) = 0;
  virtual FieldMasks masks(const FieldScan<T>& scan, bool logarithm) = 0;
  virtual Design design(const FieldScan<T>& scan, const PointCheck& check, const FieldMasks& masks,
                        const CompressOptions& options) = 0;
  /// Writes anchors, data, index, palette and patches.
  virtual EncodeOutcome encode(ContainerWriter& writer, const EncodeRequest& request) = 0;
  /// Writes the section `raw`.
  virtual void write_raw(ContainerWriter& writer) = 0;
};

}  // namespace tamis::reduce
