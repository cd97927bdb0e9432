// Number maps and point checks as the kernels are told of them.
#pragma once

#include "reduce/device/grid_args.hpp"
#include "reduce/field_rows.hpp"
#include "reduce/number_map.hpp"

namespace tamis::reduce {

/// `palette` lies on the device.
device::LatticeArgs lattice_args(const NumberMap& map, int lattice_bytes, const double* palette);

int check_kind(const PointCheck& check);

/// Tells which values, of at most some magnitude, need no care, and which errors no exact
/// comparison.
template <typename T>
void set_plain_range(const NumberMap& map, const PointCheck& check, double max_magnitude,
                     device::LatticeArgs& lattice);

}  // namespace tamis::reduce
