// What can be tuned about the launches of the reduction kernels: a Tunable for each family.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "reduce/device_kernels.hpp"
#include "tamis/tunable.hpp"

namespace tamis::reduce {

/// The parameters of a family: "reduce.encode_cells" and so on. Its features are those of
/// launch_problem().
const Tunable& codec_tunable(CodecFamily family);
/// All of them, in the order of CodecFamily.
std::span<const Tunable> codec_tunables();

/// Features: active axes, bytes of a value and of a lattice integer, whether codes have contexts,
/// the binary logarithm of the number of values (rounded up).
Problem launch_problem(const CodecVariant& variant, std::int64_t values);

/// Sets the variant's launches to what is chosen for a field or grid of so many values on a device
/// of that name.
void choose_launches(CodecVariant& variant, std::string_view device, std::int64_t values);

}  // namespace tamis::reduce
