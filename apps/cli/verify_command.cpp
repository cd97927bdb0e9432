// `tamis verify`: with the original, measures the error against the bound; without it, checks that
// every checksum holds and everything decodes, and says that nothing was compared.
#include <CLI/CLI.hpp>
#include <memory>

#include "commands.hpp"
#include "console.hpp"
#include "failure.hpp"
#include "field_check.hpp"
#include "field_input.hpp"
#include "input_bytes.hpp"
#include "summary_text.hpp"
#include "tamis/error.hpp"

namespace tamis::cli {
namespace {

struct VerifyArguments {
  CommonArguments common;
  InputArguments original;  // .input is empty when not given
  std::string container;
};

nlohmann::ordered_json start_json(const VerifyArguments& arguments, const reduce::Info& info) {
  nlohmann::ordered_json json = {
      {"command", "verify"}, {"ok", true}, {"input", arguments.container}};
  json.update(info_json(info));
  return json;
}

int verify_decodes(const VerifyArguments& arguments, std::span<const std::byte> container,
                   const reduce::Info& info, const Console& console) {
  reduce::DecompressOptions options;
  options.threads = arguments.common.threads;
  const Stopwatch stopwatch;
  {
    Progress progress(console, "decoding");
    options.progress = progress.callback();
    decode_rows(container, info, options, arguments.original.memory_budget(),
                [](std::int64_t, std::int64_t, const void*) {});
  }
  const double seconds = stopwatch.seconds();
  std::vector<SummaryRow> rows = describe_info(info, "");
  rows.push_back({"decompress", format_seconds(seconds), format_speed(info.raw_bytes, seconds)});
  rows.push_back(
      {"verdict", "intact", "checksums hold, all decodes; NOT compared with an original"});
  console.print(format_summary(display_input(arguments.container), rows, console.colour()));
  nlohmann::ordered_json json = start_json(arguments, info);
  json["compared"] = false;
  json["decompress_seconds"] = seconds;
  console.print_json(json);
  return kExitOk;
}

int verify_against(const VerifyArguments& arguments, std::span<const std::byte> container,
                   const reduce::Info& info, const Console& console) {
  InputArguments original = arguments.original;
  original.likely_shape = info.shape;
  original.likely_dtype = info.dtype;
  Field field = open_field(original);
  if (!(field.shape == info.shape) || field.dtype != info.dtype) {
    reject(field.source + " is " + dtype_name(field.dtype) + " " + field.shape.to_string() +
           ", but " + display_input(arguments.container) + " holds " + dtype_name(info.dtype) +
           " " + info.shape.to_string() + " (slowest first)");
  }
  CheckResult check;
  {
    Progress progress(console, "verifying");
    check = check_field(container, info, field, arguments.original.memory_budget(),
                        arguments.common.threads, progress.callback());
  }
  const bool kept = keeps_promise(info, check.difference);
  std::vector<SummaryRow> rows = describe_info(info, "");
  for (SummaryRow& row : describe_difference(info, check.difference)) {
    rows.push_back(std::move(row));
  }
  rows.push_back({"decompress", format_seconds(check.decompress_seconds),
                  format_speed(info.raw_bytes, check.decompress_seconds)});
  rows.push_back({"verdict", kept ? "within the bound" : "BOUND VIOLATED",
                  "all " + format_count(info.shape.element_count()) + " points compared"});
  for (const std::string& note : field.notes) rows.push_back({"note", note, ""});
  console.print(format_summary(display_input(arguments.container) + "  against  " + field.source,
                               rows, console.colour()));
  nlohmann::ordered_json json = start_json(arguments, info);
  json["original"] = arguments.original.input;
  json["compared"] = true;
  json["decompress_seconds"] = check.decompress_seconds;
  json["difference"] = difference_json(check.difference);
  if (!kept) {
    // The measurements are the point of the command, so they are printed beside the error.
    const std::string message = describe_violation(info, check.difference);
    json["ok"] = false;
    json["error"] = {{"code", "bound_violated"}, {"message", message}};
    print_stderr("tamis: verify: " + message + "\n");
  }
  console.print_json(json);
  return kept ? kExitOk : kExitData;
}

int run_verify(const VerifyArguments& arguments) {
  const Console console(arguments.common, false);
  if (arguments.container == "-" && arguments.original.input == "-") {
    reject("only one of the two inputs can be standard input");
  }
  const InputBytes container(arguments.container, arguments.original.memory_budget());
  const reduce::Info info = reduce::inspect(container.bytes());
  return arguments.original.input.empty()
             ? verify_decodes(arguments, container.bytes(), info, console)
             : verify_against(arguments, container.bytes(), info, console);
}

}  // namespace

void add_verify_command(CLI::App& root, RunCommand& chosen) {
  CLI::App& command = *root.add_subcommand(
      "verify", "Check a compressed file, and compare it with the original if given");
  auto arguments = std::make_shared<VerifyArguments>();
  command.add_option("IN.tms", arguments->container, "Compressed file, or - for standard input")
      ->required();
  command.add_option("ORIGINAL", arguments->original.input,
                     "What was compressed, given as to \"tamis compress\"; raw files have the "
                     "shape and type of IN.tms unless options say otherwise. Without it only "
                     "checksums and decoding are checked");
  add_input_options(command, arguments->original);
  add_common_options(command, arguments->common);
  command.footer(
      "Examples:\n"
      "  tamis verify tos.tms ocean.nc:tos\n"
      "  tamis verify field.tms field.f32\n"
      "  tamis verify field.tms\n"
      "Exit code 1 when any point breaks the bound.");
  command.callback(
      [arguments, &chosen] { chosen = [arguments] { return run_verify(*arguments); }; });
}

}  // namespace tamis::cli
