// How decoding kernels tell that bytes are corrupt: the first to find something wins.
#pragma once

#include "gpu/device/basics.cuh"
#include "reduce/device/grid_args.hpp"

namespace tamis::device {

TAMIS_DEVICE void report_fault(CodecReport* report, i64 where, int kind) {
  const u64 fault = static_cast<u64>(where) << 8 | static_cast<u64>(kind);
  atomicCAS(&report->fault, u64{0}, fault);
}

}  // namespace tamis::device
