// `tamis decompress`: the whole field, a box of it or a coarse preview, into any of the formats
// that compress reads.
#include <CLI/CLI.hpp>
#include <memory>

#include "commands.hpp"
#include "console.hpp"
#include "failure.hpp"
#include "field_check.hpp"
#include "field_input.hpp"
#include "field_output.hpp"
#include "input_bytes.hpp"
#include "output_file.hpp"
#include "parse_values.hpp"
#include "summary_text.hpp"
#include "tamis/error.hpp"

namespace tamis::cli {
namespace {

struct DecompressArguments {
  CommonArguments common;
  std::string input;
  std::string output;
  std::string format;
  std::string template_path;
  std::string box;
  std::string memory;
  int level = 0;
};

// A variable's name sounds as if the file's other variables stayed, but a new file takes its place.
void refuse_losing_variables(const OutputTarget& target) {
  if (target.variable.empty() || !is_regular_file(target.path)) return;
  reject(target.path + " exists and would be replaced by a file that holds \"" + target.variable +
         "\" alone; give another name, remove it first, or give --template " + target.path +
         " with another -o to get a copy that has this variable replaced");
}

OutputTarget check_target(const DecompressArguments& arguments) {
  OutputTarget target = parse_output_target(arguments.output, arguments.format);
  const bool has_variables =
      target.format == OutputFormat::kNetcdf || target.format == OutputFormat::kHdf5;
  if (!arguments.template_path.empty()) {
    if (!has_variables) {
      reject("--template needs a netCDF or HDF5 output such as -o out.nc:variable");
    }
    refuse_overwriting_input(arguments.template_path, target.path);
  } else {
    refuse_losing_variables(target);
  }
  refuse_overwriting_input(arguments.input, target.path);
  refuse_terminal(target.path);
  return target;
}

// A box between two points of the level would give an array without values.
void refuse_empty_preview(const DecompressArguments& arguments,
                          const reduce::DecompressOptions& options, const Extents& shape) {
  if (!options.box || options.level == 0) return;
  const std::int64_t step = std::int64_t{1} << options.level;
  for (int d = 0; d < shape.rank(); ++d) {
    const std::int64_t first = options.box->origin[d];
    const std::int64_t last = first + options.box->extent[d];
    if (first == last || (first + step - 1) / step * step < last) continue;
    reject("--box " + arguments.box + " --level " + std::to_string(options.level) +
           " selects nothing: this level's points have indices that are multiples of " +
           std::to_string(step) + ", and dimension " + std::to_string(d) + " (" +
           std::to_string(first) + ":" + std::to_string(last) + ") holds none; expected " +
           "ranges with such an index, or a lower level");
  }
}

reduce::DecompressOptions decompress_options(const DecompressArguments& arguments,
                                             const reduce::Info& info) {
  reduce::DecompressOptions options;
  options.threads = arguments.common.threads;
  if (!arguments.box.empty()) options.box = parse_box(arguments.box, info.shape);
  if (arguments.level < 0 || (arguments.level > 0 && arguments.level >= info.level_count)) {
    reject("--level " + std::to_string(arguments.level) + ": this file has levels 0 (full) to " +
           std::to_string(std::max(info.level_count - 1, 0)));
  }
  options.level = arguments.level;
  refuse_empty_preview(arguments, options, info.shape);
  return options;
}

std::string summary(const DecompressArguments& arguments, const OutputTarget& target,
                    const reduce::Info& info, const Extents& shape, double seconds, bool colour) {
  const std::int64_t bytes = shape.element_count() * dtype_bytes(info.dtype);
  std::vector<SummaryRow> rows;
  rows.push_back({"shape", shape.to_string(), "slowest first"});
  if (!(shape == info.shape)) rows.push_back({"of", info.shape.to_string(), "the whole field"});
  rows.push_back({"type", dtype_name(info.dtype), ""});
  rows.push_back({"bound", describe_bound(info.bound), ""});
  rows.push_back(
      {"time", format_seconds(seconds), format_speed(bytes, seconds) + ", writing included"});
  rows.push_back({"output", arguments.output == "-" ? "standard output" : arguments.output,
                  std::string(output_format_name(target.format)) + ", " + format_count(bytes) +
                      " bytes of values"});
  return format_summary(display_input(arguments.input), rows, colour);
}

nlohmann::ordered_json result_json(const DecompressArguments& arguments, const OutputTarget& target,
                                   const reduce::Info& info, const Extents& shape, double seconds) {
  nlohmann::ordered_json json;
  json["command"] = "decompress";
  json["ok"] = true;
  json["input"] = arguments.input;
  json["output"] = arguments.output;
  json["format"] = output_format_name(target.format);
  json["dtype"] = dtype_name(info.dtype);
  json["shape"] = shape_json(shape);
  json["field_shape"] = shape_json(info.shape);
  json["level"] = arguments.level;
  json["bytes"] = shape.element_count() * dtype_bytes(info.dtype);
  json["seconds"] = seconds;
  return json;
}

int run_decompress(const DecompressArguments& arguments) {
  const OutputTarget target = check_target(arguments);
  const Console console(arguments.common, target.path == "-");
  const std::int64_t budget = memory_budget(arguments.memory);
  const InputBytes container(arguments.input, budget);
  const reduce::Info info = reduce::inspect(container.bytes());
  reduce::DecompressOptions options = decompress_options(arguments, info);
  const Extents shape = reduce::decompressed_shape(info, options);
  const OutputDescription description{info.dtype, shape, info.fill_value};

  const Stopwatch stopwatch;
  OutputFile output(target.path);
  const FieldSink sink =
      arguments.template_path.empty()
          ? open_sink(output, target, description)
          : open_template_sink(output, target, arguments.template_path, description);
  {
    Progress progress(console, "decompressing");
    options.progress = progress.callback();
    decode_rows(container.bytes(), info, options, budget, sink.write);
  }
  sink.finish();
  output.commit();
  const double seconds = stopwatch.seconds();
  console.print(summary(arguments, target, info, shape, seconds, console.colour()));
  console.print_json(result_json(arguments, target, info, shape, seconds));
  return kExitOk;
}

}  // namespace

void add_decompress_command(CLI::App& root, RunCommand& chosen) {
  CLI::App& command =
      *root.add_subcommand("decompress", "Decompress a file, a box of it or a coarse preview");
  auto arguments = std::make_shared<DecompressArguments>();
  command.add_option("IN.tms", arguments->input, "Compressed file, or - for standard input")
      ->required();
  command
      .add_option("-o,--output", arguments->output,
                  "Output: .npy, .nc[:variable], .h5[:/group/dataset], any other name for raw "
                  "little-endian numbers, or - for standard output. An existing file is replaced "
                  "whole; where a variable is named, that is refused unless --template is given")
      ->required()
      ->type_name("OUT");
  command
      .add_option("--format", arguments->format,
                  "raw, npy, nc or h5 (default: by the output's extension)")
      ->type_name("FORMAT");
  command
      .add_option("--template", arguments->template_path,
                  "Copy this netCDF or HDF5 file to the output and replace there the variable "
                  "named in -o FILE:VARIABLE")
      ->type_name("FILE");
  command
      .add_option("--box", arguments->box,
                  "Only this part, SLOWEST dimension first: FIRST:LAST (half-open), an index (the "
                  "dimension stays, with size 1), or : for all, e.g. 0:10,5:20,:. Negative numbers "
                  "count from the end")
      ->type_name("BOX");
  command
      .add_option("--level", arguments->level,
                  "Preview: the points whose index is a multiple of 2^L along each dimension (0 = "
                  "full resolution). With --box, which stays in full-resolution indices, those "
                  "within it")
      ->type_name("L");
  command
      .add_option("--memory", arguments->memory,
                  "Memory budget, e.g. 2G (default: half of the memory)")
      ->type_name("BYTES");
  add_common_options(command, arguments->common);
  command.footer(
      "Examples:\n"
      "  tamis decompress tos.tms -o tos.npy\n"
      "  tamis decompress field.tms -o part.f32 --box 0:10,5:20,:\n"
      "  tamis decompress field.tms -o preview.npy --level 2\n"
      "  tamis decompress tos.tms -o new.nc:tos\n"
      "  tamis decompress tos.tms -o copy.nc:tos --template original.nc\n"
      "  tamis decompress a.tms -o - | other-program");
  command.callback(
      [arguments, &chosen] { chosen = [arguments] { return run_decompress(*arguments); }; });
}

}  // namespace tamis::cli
