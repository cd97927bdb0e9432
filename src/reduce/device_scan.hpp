// The scan of a field that lies on a device: the decisions of field_scan.hpp, tallies by a kernel.
#pragma once

#include "gpu/memory.hpp"
#include "reduce/field_scan.hpp"

namespace tamis::reduce {

/// `values` are `count` of them, contiguous, on the workspace's device. Waits for the result; what
/// was taken from the workspace before is gone. Same result as scan_field() of those values.
template <typename T>
FieldScan<T> scan_field_on_device(const T* values, std::int64_t count,
                                  const CompressOptions& options, gpu::Workspace& workspace);

}  // namespace tamis::reduce
