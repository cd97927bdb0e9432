// `tamis warmup`: compiles every shipped kernel ahead of its first use, for this machine's GPUs or
// for named architectures.
#include <CLI/CLI.hpp>
#include <memory>

#include "commands.hpp"
#include "console.hpp"
#include "summary_text.hpp"
#include "tamis/error.hpp"
#include "tamis/kernels.hpp"

namespace tamis::cli {
namespace {

struct WarmupArguments {
  CommonArguments common;
  std::vector<std::string> architectures;
};

std::string step_line(const WarmUpStep& step) {
  const std::string head = "[" + std::to_string(step.index + 1) + "/" + std::to_string(step.count) +
                           "] " + step.architecture + "  " + step.kernel +
                           (step.configuration.empty() ? "" : "  " + step.configuration) + "  ";
  if (!step.problem.empty()) return head + "failed\n";
  return head + kernel_origin_name(step.origin) + ", " + format_bytes(step.size_bytes) + ", " +
         format_seconds(step.seconds) + (step.remark.empty() ? "" : "  (" + step.remark + ")") +
         "\n";
}

nlohmann::ordered_json step_json(const WarmUpStep& step) {
  nlohmann::ordered_json json = {{"kernel", step.kernel},
                                 {"configuration", step.configuration},
                                 {"architecture", step.architecture},
                                 {"ok", step.problem.empty()}};
  if (step.problem.empty()) {
    json["origin"] = kernel_origin_name(step.origin);
    json["size_bytes"] = step.size_bytes;
    json["remark"] = step.remark;
  } else {
    json["problem"] = step.problem;
  }
  json["seconds"] = step.seconds;
  return json;
}

int run_warmup(const WarmupArguments& arguments) {
  const Console console(arguments.common, false);
  nlohmann::ordered_json steps = nlohmann::ordered_json::array();
  std::string first_problem;
  const std::int64_t failures =
      warm_up_kernels(arguments.architectures, [&](const WarmUpStep& step) {
        console.print(step_line(step));
        steps.push_back(step_json(step));
        if (first_problem.empty()) first_problem = step.problem;
      });
  if (failures > 0) {
    throw Error(ErrorCode::kUnavailable, std::to_string(failures) + " of " +
                                             std::to_string(steps.size()) +
                                             " kernels failed; the first: " + first_problem);
  }
  const KernelStatistics counts = kernel_statistics();
  console.print(std::to_string(counts.compiled) + " compiled, " + std::to_string(counts.from_disk) +
                " from disk, " + std::to_string(counts.from_prebuilt) + " prebuilt\n");
  console.print_json({{"command", "warmup"},
                      {"ok", true},
                      {"compiled", counts.compiled},
                      {"from_disk", counts.from_disk},
                      {"from_prebuilt", counts.from_prebuilt},
                      {"damaged_files", counts.damaged_files},
                      {"steps", steps}});
  return kExitOk;
}

}  // namespace

void add_warmup_command(CLI::App& root, RunCommand& chosen) {
  CLI::App& command =
      *root.add_subcommand("warmup", "Compile all GPU kernels now, not at their first use");
  auto arguments = std::make_shared<WarmupArguments>();
  command
      .add_option("--arch", arguments->architectures,
                  "Architectures such as sm_90a or gfx90a (default: those of this machine's GPUs)")
      ->type_name("NAME,...")
      ->delimiter(',');
  add_common_options(command, arguments->common, false);
  command.footer(
      "Kernels are kept in the cache folder that \"tamis devices\" shows. With --arch no GPU is "
      "needed.\n\n"
      "Examples:\n  tamis warmup\n  tamis warmup --arch sm_80,sm_90a");
  command.callback(
      [arguments, &chosen] { chosen = [arguments] { return run_warmup(*arguments); }; });
}

}  // namespace tamis::cli
