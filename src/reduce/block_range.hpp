// Extremes of a run of values, in vectors: the inner loop of every scan.
#pragma once

#include <cstdint>

namespace tamis::reduce {

template <typename T>
struct BlockRange {
  T low;  // of all values; meaningless unless finite
  T high;
  bool negative;  // some sign bit is set
  bool finite;    // all values are finite
};

BlockRange<float> block_range(const float* data, std::int64_t count);
BlockRange<double> block_range(const double* data, std::int64_t count);

}  // namespace tamis::reduce
