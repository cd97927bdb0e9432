// The scan of a field that lies on a device: the decisions of field_scan.hpp, tallies by a kernel.
#pragma once

#include <vector>

#include "reduce/device_session.hpp"
#include "reduce/field_scan.hpp"

namespace tamis::reduce {

template <typename T>
struct ScannedField {
  FieldScan<T> scan;
  std::vector<T> sample;  // every sample_stride()th value
};

/// `values` are `count` of them, contiguous, on the session's device. Waits for the result; what
/// was taken from the session's workspace before is gone. Same result as scan_field() of those
/// values.
template <typename T>
ScannedField<T> scan_field_on_device(const T* values, std::int64_t count,
                                     const CompressOptions& options, DeviceSession& session);

}  // namespace tamis::reduce
