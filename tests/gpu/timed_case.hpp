// One field that is compressed and decompressed against the clock.
#pragma once

#include "synthetic_fields.hpp"
#include "tamis/reduce.hpp"

namespace tamis::gpu_test {

struct TimedCase {
  SyntheticKind kind;
  DType dtype;
  Extents shape;
  reduce::Mode mode;
  double bound;           // relative to the range
  bool relative = false;  // leave it to the encoder to find the range
};

/// Medians of whole calls on data in device memory.
struct CallTimes {
  double compress_ms = 0;
  double decompress_ms = 0;
  double ratio = 0;
};
CallTimes time_calls(const TimedCase& c, int repeats, const Stream& stream);

}  // namespace tamis::gpu_test
