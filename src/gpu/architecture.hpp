// Names of what kernels are compiled for, "sm_90a" and "gfx90a", and what follows from a name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tamis/device.hpp"

namespace tamis::gpu {

/// Throws Error(kInvalidArgument) for a name that is neither sm_<digits>[a] nor gfx<digits>.
DeviceKind architecture_kind(std::string_view architecture);

/// Threads of a wave. Throws as architecture_kind().
int architecture_wave_size(std::string_view architecture);

/// The name for a compute capability: "sm_90a" for 9.0, whose fast paths need the suffix, plain
/// names for all others.
std::string cuda_architecture(int major, int minor);

/// Architectures whose machine code runs on a device of this one, best first, itself included:
/// NVIDIA promises that code for sm_80 runs on 8.6, not the reverse and not on 9.0.
std::vector<std::string> runnable_architectures(std::string_view architecture);

}  // namespace tamis::gpu
