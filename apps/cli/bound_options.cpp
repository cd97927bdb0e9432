// Parsing of --abs, --rel, --pwrel, --psnr and --lossless.
#include "bound_options.hpp"

#include <CLI/CLI.hpp>
#include <cmath>

#include "failure.hpp"
#include "parse_values.hpp"
#include "tamis/error.hpp"

namespace tamis::cli {
namespace {

constexpr const char* kChoices =
    "\n    --abs E      |x - x'| <= E at every point"
    "\n    --rel E      |x - x'| <= E * (max - min) at every point"
    "\n    --pwrel E    |x - x'| <= E * |x| at every point; zeros and signs are kept"
    "\n    --psnr D     peak signal-to-noise ratio of at least D decibels"
    "\n    --lossless   every bit";

void append(const std::string& option, const std::string& text, reduce::BoundKind kind,
            std::vector<reduce::Bound>& bounds) {
  if (text.empty()) return;
  for (const double value : parse_number_list(option, text)) {
    if (!std::isfinite(value) || value < 0.0) {
      std::string message = option;
      message += " " + text + ": expected a finite number that is not negative";
      reject(message);
    }
    bounds.push_back({kind, value});
  }
}

}  // namespace

void add_bound_options(CLI::App& command, BoundArguments& arguments, bool lists) {
  const std::string more = lists ? " (comma-separated list)" : "";
  const std::string group = lists ? "Error bounds" : "Error bound (exactly one)";
  const auto add = [&](const char* name, std::string& target, const char* unit,
                       const std::string& text) {
    command.add_option(name, target, text + more)->type_name(unit)->group(group);
  };
  add("--abs", arguments.absolute, "E", "|x - x'| <= E at every point");
  add("--rel", arguments.relative, "E", "|x - x'| <= E * (max - min) at every point");
  add("--pwrel", arguments.pointwise_relative, "E", "|x - x'| <= E * |x| at every point");
  add("--psnr", arguments.psnr, "D", "Peak signal-to-noise ratio of at least D decibels");
  command.add_flag("--lossless", arguments.lossless, "Every bit comes back")->group(group);
}

std::vector<reduce::Bound> parse_bounds(const BoundArguments& arguments) {
  std::vector<reduce::Bound> bounds;
  append("--abs", arguments.absolute, reduce::BoundKind::kAbsolute, bounds);
  append("--rel", arguments.relative, reduce::BoundKind::kRelative, bounds);
  append("--pwrel", arguments.pointwise_relative, reduce::BoundKind::kPointwiseRelative, bounds);
  append("--psnr", arguments.psnr, reduce::BoundKind::kPsnr, bounds);
  if (arguments.lossless) bounds.push_back(reduce::Bound::lossless());
  return bounds;
}

reduce::Bound parse_single_bound(const BoundArguments& arguments) {
  const std::vector<reduce::Bound> bounds = parse_bounds(arguments);
  if (bounds.size() == 1) return bounds.front();
  reject((bounds.empty() ? std::string("no error bound given: choose one of")
                         : "more than one error bound given (" + std::to_string(bounds.size()) +
                               "): choose one of") +
         kChoices);
}

}  // namespace tamis::cli
