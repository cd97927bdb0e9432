// `tamis info`: what a container promises and how it was made, from its header alone.
#include <CLI/CLI.hpp>
#include <memory>

#include "commands.hpp"
#include "console.hpp"
#include "field_input.hpp"
#include "input_bytes.hpp"
#include "summary_text.hpp"

namespace tamis::cli {
namespace {

struct InfoArguments {
  CommonArguments common;
  std::string input;
};

int run_info(const InfoArguments& arguments) {
  const Console console(arguments.common, false);
  const InputBytes container(arguments.input, memory_budget(""));
  const reduce::Info info = reduce::inspect(container.bytes());
  std::vector<SummaryRow> rows = describe_info(info, "");
  rows.push_back({"size", format_bytes(info.compressed_bytes),
                  format_count(info.compressed_bytes) + " bytes"});
  if (info.exact_count > 0) {
    rows.push_back({"exact", format_count(info.exact_count), "points stored verbatim"});
  }
  rows.push_back({"number map", info.number_map, ""});
  rows.push_back({"levels", std::to_string(info.level_count),
                  "decompress --level 0 .. " + std::to_string(std::max(info.level_count - 1, 0))});
  rows.push_back({"format", "version " + std::to_string(info.format_version), ""});
  for (const std::string& section : info.sections) rows.push_back({"section", section, ""});
  console.print(format_summary(display_input(arguments.input), rows, console.colour()));

  nlohmann::ordered_json json = {{"command", "info"}, {"ok", true}, {"input", arguments.input}};
  json.update(info_json(info));
  json["sections"] = info.sections;
  console.print_json(json);
  return kExitOk;
}

}  // namespace

void add_info_command(CLI::App& root, RunCommand& chosen) {
  CLI::App& command = *root.add_subcommand("info", "Show what a compressed file holds");
  auto arguments = std::make_shared<InfoArguments>();
  command.add_option("IN.tms", arguments->input, "Compressed file, or - for standard input")
      ->required();
  add_common_options(command, arguments->common, false);
  command.footer("Examples:\n  tamis info tos.tms\n  tamis info tos.tms --json");
  command.callback([arguments, &chosen] { chosen = [arguments] { return run_info(*arguments); }; });
}

}  // namespace tamis::cli
