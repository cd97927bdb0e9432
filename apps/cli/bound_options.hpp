// The error bounds on the command line. There is no default: a bound is a statement about the data
// that only their owner can make.
#pragma once

#include <string>
#include <vector>

#include "cli11_forward.hpp"
#include "tamis/reduce.hpp"

namespace tamis::cli {

struct BoundArguments {
  std::string absolute;
  std::string relative;
  std::string pointwise_relative;
  std::string psnr;
  bool lossless = false;
};

/// `lists`: each option takes comma-separated values.
void add_bound_options(CLI::App& command, BoundArguments& arguments, bool lists);

/// All bounds given, in a fixed order. Throws Error(kInvalidArgument) for values without meaning.
std::vector<reduce::Bound> parse_bounds(const BoundArguments& arguments);

/// The only bound given. None, or more than one: Error(kInvalidArgument) that lists the choices.
reduce::Bound parse_single_bound(const BoundArguments& arguments);

}  // namespace tamis::cli
