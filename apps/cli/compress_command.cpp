// `tamis compress`: nothing is put in place before the decoder has reproduced the field within its
// bound, unless --no-verify says so.
#include <CLI/CLI.hpp>
#include <memory>

#include "bound_options.hpp"
#include "commands.hpp"
#include "console.hpp"
#include "failure.hpp"
#include "field_check.hpp"
#include "field_input.hpp"
#include "input_bytes.hpp"
#include "output_file.hpp"
#include "parse_values.hpp"
#include "report.hpp"
#include "summary_text.hpp"
#include "tamis/error.hpp"

namespace tamis::cli {
namespace {

struct CompressArguments {
  InputArguments input;
  BoundArguments bound;
  CommonArguments common;
  std::string output;
  std::string mode = "default";
  std::string report;
  bool no_detect_fill = false;
  bool no_verify = false;
  std::vector<std::string> words;  // the command as typed
};

// What compressing gave, wherever the bytes are now.
struct Compressed {
  reduce::Info info;
  std::vector<std::byte> bytes;  // empty when streamed to the output
  bool streamed = false;
  double seconds = 0.0;
  std::optional<CheckResult> check;
};

reduce::CompressOptions compress_options(const CompressArguments& arguments, const Field& field) {
  reduce::CompressOptions options;
  options.bound = parse_single_bound(arguments.bound);
  options.mode = parse_mode(arguments.mode);
  if (field.fill) options.fill_value = field.fill->value;
  options.detect_fill = !arguments.no_detect_fill;
  options.threads = arguments.common.threads;
  return options;
}

void check_arguments(const CompressArguments& arguments) {
  (void)parse_single_bound(arguments.bound);
  (void)parse_mode(arguments.mode);
  if (!arguments.report.empty() && arguments.no_verify) {
    reject("--report shows the verified error; leave --no-verify out");
  }
  if (!arguments.report.empty() && same_place(arguments.report, arguments.output)) {
    reject("--report and -o name the same file");
  }
  const std::string path = split_variable(arguments.input.input).first;
  refuse_overwriting_input(path, arguments.output);
  if (!arguments.report.empty()) refuse_overwriting_input(path, arguments.report);
  refuse_terminal(arguments.output);
}

Compressed compress_field(Field& field, reduce::CompressOptions options, bool streamed,
                          OutputFile& output, const Console& console) {
  Compressed result;
  result.streamed = streamed;
  Progress progress(console, "compressing");
  options.progress = progress.callback();
  // Reading counts as input, not as compression: load first.
  if (!streamed) (void)load_field(field);
  const Stopwatch stopwatch;
  if (streamed) {
    result.info = reduce::compress_stream(
        field.dtype, field.shape, field.read_rows,
        [&output](std::span<const std::byte> bytes) { output.write(bytes); }, options);
  } else {
    reduce::CompressResult compressed = reduce::compress(load_field(field), options);
    result.info = std::move(compressed.info);
    result.bytes = std::move(compressed.bytes);
  }
  result.seconds = stopwatch.seconds();
  return result;
}

void verify(Compressed& compressed, Field& field, const OutputFile& output, std::int64_t budget,
            int threads, const Console& console) {
  std::optional<InputBytes> written;
  if (compressed.streamed) written.emplace(output.temp_path(), 0);
  Progress progress(console, "verifying");
  compressed.check = check_field(written ? written->bytes() : std::span(compressed.bytes),
                                 compressed.info, field, budget, threads, progress.callback());
  if (!keeps_promise(compressed.info, compressed.check->difference)) {
    throw BoundViolation("verification failed, nothing was written: " +
                         describe_violation(compressed.info, compressed.check->difference));
  }
}

void make_report(const CompressArguments& arguments, const reduce::CompressOptions& options,
                 const Compressed& compressed, Field& field) {
  ReportInput report;
  report.field_name = field.name;
  report.units = field.units;
  report.original = load_field(field);
  report.decoded = std::as_const(*compressed.check->decoded).view();
  report.info = compressed.info;
  report.difference = compressed.check->difference;
  report.compress_seconds = compressed.seconds;
  report.decompress_seconds = compressed.check->decompress_seconds;
  report.options = options;
  report.command = command_line(arguments.words);
  write_report(arguments.report, report);
}

// A --fill of a mistyped value would otherwise only show in the size of the result. On standard
// error, where it is seen beside redirected summaries; in the JSON among the notes.
void note_unmatched_fill(const CompressArguments& arguments, const reduce::Info& info,
                         const Console& console, Field& field) {
  if (arguments.input.fill.empty() || info.masked_count > 0) return;
  const std::string note =
      "--fill " + arguments.input.fill + " matches no point, nothing is masked";
  if (console.human()) print_stderr("tamis: compress: note: " + note + "\n");
  field.notes.push_back(note);
}

std::string summary(const CompressArguments& arguments, const Field& field,
                    const Compressed& compressed, bool colour) {
  std::vector<SummaryRow> rows =
      describe_info(compressed.info, field.fill ? field.fill->origin : "");
  if (compressed.check) {
    for (SummaryRow& row : describe_difference(compressed.info, compressed.check->difference)) {
      rows.push_back(std::move(row));
    }
  } else {
    rows.push_back({"max error", "not measured", "--no-verify"});
  }
  const std::int64_t raw = compressed.info.raw_bytes;
  rows.push_back(
      {"compress", format_seconds(compressed.seconds), format_speed(raw, compressed.seconds)});
  if (compressed.check) {
    rows.push_back({"decompress", format_seconds(compressed.check->decompress_seconds),
                    format_speed(raw, compressed.check->decompress_seconds)});
  }
  rows.push_back({"output", arguments.output == "-" ? "standard output" : arguments.output,
                  format_count(compressed.info.compressed_bytes) + " bytes" +
                      (compressed.check ? ", verified" : "")});
  if (!arguments.report.empty()) rows.push_back({"report", arguments.report, ""});
  for (const std::string& note : field.notes) rows.push_back({"note", note, ""});
  return format_summary(field.name + "  (" + field.source + ")", rows, colour);
}

nlohmann::ordered_json result_json(const CompressArguments& arguments, const Field& field,
                                   const Compressed& compressed) {
  nlohmann::ordered_json json;
  json["command"] = "compress";
  json["ok"] = true;
  json["input"] = arguments.input.input;
  json["field"] = field.name;
  json["units"] = field.units;
  json["output"] = arguments.output;
  json.update(info_json(compressed.info));
  if (compressed.info.fill_value) {
    json["fill"]["origin"] = compressed.info.fill_detected ? "detected"
                             : field.fill                  ? field.fill->origin
                                                           : "declared";
  }
  json["streamed"] = compressed.streamed;
  json["compress_seconds"] = compressed.seconds;
  json["verified"] = compressed.check.has_value();
  if (compressed.check) {
    json["decompress_seconds"] = compressed.check->decompress_seconds;
    json["difference"] = difference_json(compressed.check->difference);
  }
  if (!arguments.report.empty()) json["report"] = arguments.report;
  json["notes"] = field.notes;
  return json;
}

int run_compress(const CompressArguments& arguments) {
  const Console console(arguments.common, arguments.output == "-");
  check_arguments(arguments);
  const std::int64_t budget = arguments.input.memory_budget();
  Field field = open_field(arguments.input);
  const reduce::CompressOptions options = compress_options(arguments, field);
  const bool streamed = field.raw_bytes() > budget;
  if (streamed && !arguments.report.empty()) {
    throw Error(ErrorCode::kOutOfMemory, "--report needs the field in memory (" +
                                             format_count(field.raw_bytes()) + " bytes, budget " +
                                             format_count(budget) + "); raise --memory");
  }
  OutputFile output(arguments.output);
  if (streamed && !arguments.no_verify && !output.is_atomic()) {
    reject(
        "the field exceeds the memory budget and is streamed, and what goes into a pipe "
        "cannot be verified; write to a file, raise --memory or give --no-verify");
  }
  Compressed compressed = compress_field(field, options, streamed, output, console);
  if (!arguments.no_verify) {
    // A report needs the decoded field whole, whatever the budget says about checking in slabs.
    verify(compressed, field, output, arguments.report.empty() ? budget : INT64_MAX,
           arguments.common.threads, console);
  }
  if (!arguments.report.empty()) make_report(arguments, options, compressed, field);
  if (!streamed) output.write(compressed.bytes);
  output.commit();
  console.print(summary(arguments, field, compressed, console.colour()));
  note_unmatched_fill(arguments, compressed.info, console, field);
  console.print_json(result_json(arguments, field, compressed));
  return kExitOk;
}

}  // namespace

void add_compress_command(CLI::App& root, RunCommand& chosen, std::vector<std::string> words) {
  CLI::App& command = *root.add_subcommand("compress", "Compress a field under an error bound");
  auto arguments = std::make_shared<CompressArguments>();
  arguments->words = std::move(words);
  command
      .add_option("INPUT", arguments->input.input,
                  "Raw file (with --shape and --dtype), .npy, file.nc:variable, "
                  "file.h5:/group/dataset, or - for standard input (raw or .npy)")
      ->required();
  command.add_option("-o,--output", arguments->output, "Compressed file, or - for standard output")
      ->required()
      ->type_name("OUT.tms");
  add_bound_options(command, arguments->bound, false);
  add_input_options(command, arguments->input);
  command
      .add_option("--mode", arguments->mode,
                  "default: high ratio at high speed; ratio: highest ratio; fast: highest speed")
      ->type_name("MODE");
  command.add_flag("--no-detect-fill", arguments->no_detect_fill,
                   "Do not look for the usual fill values when none is declared");
  command.add_flag("--no-verify", arguments->no_verify,
                   "Skip decompressing and comparing before the file is put in place");
  command
      .add_option("--report", arguments->report,
                  "Also write an HTML report. Its curves take some 18 further compressions, of the "
                  "field's middle where it has more than 4 million points")
      ->type_name("OUT.html");
  add_common_options(command, arguments->common);
  command.footer(
      "Examples:\n"
      "  tamis compress ocean.nc:tos -o tos.tms --rel 1e-4\n"
      "  tamis compress field.f32 --shape 100x200x300 -o field.tms --abs 0.01\n"
      "      100 is the slowest dimension, 300 the fastest (NumPy order)\n"
      "  tamis compress data.npy -o data.tms --psnr 80 --mode ratio\n"
      "  tamis compress - --shape 512x512 --dtype f64 -o - --lossless < a.f64 > a.tms");
  command.callback(
      [arguments, &chosen] { chosen = [arguments] { return run_compress(*arguments); }; });
}

}  // namespace tamis::cli
