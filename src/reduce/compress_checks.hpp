// What compress() asks of its arguments, on the host and on devices.
#pragma once

#include "tamis/reduce.hpp"

namespace tamis::reduce {

/// Throws Error(kInvalidArgument) for a bound, mode or shape that means nothing.
void check_options(const Extents& shape, const CompressOptions& options);

}  // namespace tamis::reduce
