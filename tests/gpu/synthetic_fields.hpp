// Fields made in device memory, for times and for checks at full size.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tamis/device.hpp"
#include "tamis/tensor.hpp"

namespace tamis::gpu_test {

struct SyntheticKind {
  const char* name;
  int waves;
  double lowest_wave_number;
  double highest_wave_number;
  double amplitude_exponent;
  double noise_level;
  double floor;
};

/// 300 waves, |k| from 1 to 100 evenly in its logarithm, amplitude k^(-5/6).
inline constexpr SyntheticKind kTurbulence = {"turbulence", 300, 1, 100, -5.0 / 6, 0, -1e30};
inline constexpr SyntheticKind kSmooth = {"smooth", 12, 1, 6, -1, 0, -1e30};
inline constexpr SyntheticKind kRough = {"rough", 300, 1, 200, -0.2, 4, -1e30};
/// Nine values in ten are the same.
inline constexpr SyntheticKind kMostlyConstant = {"mostly constant", 300, 1, 100, -5.0 / 6, 0, 3.5};

/// A contiguous field of 1 to 5 axes.
Buffer make_synthetic_field(const SyntheticKind& kind, DType dtype, const Extents& shape,
                            const Stream& stream);

}  // namespace tamis::gpu_test
