// `tamis bench`: ratio, speed and error for a ladder of bounds and modes on the user's own data.
// Times are medians; decoding goes into memory that has been touched, so page faults do not count.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>

#include "bound_options.hpp"
#include "commands.hpp"
#include "console.hpp"
#include "field_check.hpp"
#include "field_input.hpp"
#include "parse_values.hpp"
#include "summary_text.hpp"
#include "tamis/error.hpp"

namespace tamis::cli {
namespace {

struct BenchArguments {
  CommonArguments common;
  InputArguments input;
  BoundArguments bounds;
  std::string modes = "default,ratio,fast";
  int repeat = 3;
};

struct BenchRow {
  reduce::Info info;
  reduce::Difference difference;
  double compress_seconds = 0.0;
  double decompress_seconds = 0.0;
  bool kept = false;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : 0.5 * (values[middle - 1] + values[middle]);
}

BenchRow measure(const ConstTensorView& view, const reduce::CompressOptions& options, int repeat,
                 Tensor& decoded) {
  BenchRow row;
  reduce::CompressResult compressed;
  std::vector<double> compress_seconds;
  std::vector<double> decompress_seconds;
  for (int i = 0; i < repeat; ++i) {
    const Stopwatch stopwatch;
    compressed = reduce::compress(view, options);
    compress_seconds.push_back(stopwatch.seconds());
  }
  reduce::DecompressOptions decompress;
  decompress.threads = options.threads;
  for (int i = 0; i < repeat; ++i) {
    const Stopwatch stopwatch;
    reduce::decompress_into(compressed.bytes, decoded.view(), decompress);
    decompress_seconds.push_back(stopwatch.seconds());
  }
  row.info = std::move(compressed.info);
  row.difference = reduce::compare(view, std::as_const(decoded).view(), row.info, options.threads);
  row.kept = keeps_promise(row.info, row.difference);
  row.compress_seconds = median(std::move(compress_seconds));
  row.decompress_seconds = median(std::move(decompress_seconds));
  return row;
}

double ratio(const reduce::Info& info) {
  return static_cast<double>(info.raw_bytes) /
         static_cast<double>(std::max<std::int64_t>(info.compressed_bytes, 1));
}

double error_over_bound(const BenchRow& row) {
  const bool pointwise = row.info.bound.kind == reduce::BoundKind::kPointwiseRelative;
  const double bound = pointwise ? row.info.bound.value : row.info.absolute_bound;
  const double error =
      pointwise ? row.difference.max_pointwise_relative : row.difference.max_abs_error;
  return bound > 0.0 ? error / bound : 0.0;
}

double mb_s(const reduce::Info& info, double seconds) {
  return seconds > 0.0 ? static_cast<double>(info.raw_bytes) / seconds / 1e6 : 0.0;
}

std::string table_line(const std::vector<std::string>& cells) {
  // The first two columns are text, the others numbers.
  constexpr std::size_t kWidths[] = {14, 9, 9, 8, 10, 12, 13, 9};
  std::string line = " ";
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string pad(kWidths[i] > cells[i].size() ? kWidths[i] - cells[i].size() : 0, ' ');
    line += " " + (i < 2 ? cells[i] + pad : pad + cells[i]);
  }
  return line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
}

std::string fixed(double value, int decimals) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.*f", decimals, value);
  return text;
}

std::string describe_row(const BenchRow& row) {
  const reduce::Info& info = row.info;
  return table_line(
      {describe_bound(info.bound), reduce::mode_name(info.mode), fixed(ratio(info), 2),
       fixed(8.0 * static_cast<double>(dtype_bytes(info.dtype)) / ratio(info), 3),
       fixed(mb_s(info, row.compress_seconds), 1), fixed(mb_s(info, row.decompress_seconds), 1),
       row.kept ? fixed(error_over_bound(row), 4) : "VIOLATED", fixed(row.difference.psnr, 1)});
}

nlohmann::ordered_json row_json(const BenchRow& row) {
  nlohmann::ordered_json json = info_json(row.info);
  json["compress_seconds"] = row.compress_seconds;
  json["decompress_seconds"] = row.decompress_seconds;
  json["compress_mb_s"] = mb_s(row.info, row.compress_seconds);
  json["decompress_mb_s"] = mb_s(row.info, row.decompress_seconds);
  json["error_over_bound"] = number_json(error_over_bound(row));
  json["kept"] = row.kept;
  json["difference"] = difference_json(row.difference);
  return json;
}

std::vector<reduce::Bound> bounds_of(const BenchArguments& arguments) {
  std::vector<reduce::Bound> bounds = parse_bounds(arguments.bounds);
  if (bounds.empty()) {
    for (const double e : {1e-2, 1e-3, 1e-4, 1e-5}) bounds.push_back(reduce::Bound::relative(e));
    bounds.push_back(reduce::Bound::lossless());
  }
  return bounds;
}

int run_bench(const BenchArguments& arguments) {
  const Console console(arguments.common, false);
  const std::vector<reduce::Bound> bounds = bounds_of(arguments);
  std::vector<reduce::Mode> modes;
  for (const std::string& name : split_text(arguments.modes, ',')) {
    modes.push_back(parse_mode(name));
  }
  Field field = open_field(arguments.input);
  const std::int64_t budget = arguments.input.memory_budget();
  if (field.raw_bytes() > budget) {
    throw Error(ErrorCode::kOutOfMemory,
                "bench needs the field in memory: " + format_count(field.raw_bytes()) +
                    " bytes, budget " + format_count(budget) + "; raise --memory");
  }
  const ConstTensorView view = load_field(field);
  Tensor decoded(field.dtype, field.shape);
  reduce::CompressOptions options;
  options.threads = arguments.common.threads;
  if (field.fill) options.fill_value = field.fill->value;

  std::vector<SummaryRow> heading = {
      {"shape", field.shape.to_string(), "slowest first"},
      {"type", dtype_name(field.dtype), format_bytes(field.raw_bytes())},
      {"times", "medians", "of " + std::to_string(arguments.repeat) + " runs"}};
  for (const std::string& note : field.notes) heading.push_back({"note", note, ""});
  console.print(format_summary(field.name + "  (" + field.source + ")", heading, console.colour()) +
                "\n" +
                table_line({"bound", "mode", "ratio", "bits", "comp MB/s", "decomp MB/s",
                            "error/bound", "PSNR dB"}));
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  bool all_kept = true;
  for (const reduce::Bound& bound : bounds) {
    for (const reduce::Mode mode : modes) {
      options.bound = bound;
      options.mode = mode;
      const BenchRow row = measure(view, options, arguments.repeat, decoded);
      all_kept = all_kept && row.kept;
      console.print(describe_row(row));
      rows.push_back(row_json(row));
    }
  }
  console.print_json({{"command", "bench"},
                      {"ok", all_kept},
                      {"input", arguments.input.input},
                      {"field", field.name},
                      {"repeat", arguments.repeat},
                      {"rows", rows},
                      {"notes", field.notes}});
  return all_kept ? kExitOk : kExitData;
}

}  // namespace

void add_bench_command(CLI::App& root, RunCommand& chosen) {
  CLI::App& command =
      *root.add_subcommand("bench", "Measure ratio, speed and error for a ladder of bounds");
  auto arguments = std::make_shared<BenchArguments>();
  command.add_option("INPUT", arguments->input.input, "Field, given as to \"tamis compress\"")
      ->required();
  add_bound_options(command, arguments->bounds, true);
  command.add_option("--modes", arguments->modes, "Comma-separated modes")
      ->type_name("MODES")
      ->capture_default_str();
  command.add_option("--repeat", arguments->repeat, "Runs per row; the median is shown")
      ->type_name("N")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  add_input_options(command, arguments->input);
  add_common_options(command, arguments->common);
  command.footer(
      "Without bounds: --rel 1e-2,1e-3,1e-4,1e-5 --lossless.\n"
      "Examples:\n"
      "  tamis bench field.npy\n"
      "  tamis bench field.f32 --shape 100x200x300 --abs 0.1,0.01 --modes default,fast\n"
      "Exit code 1 when any row breaks its bound.");
  command.callback(
      [arguments, &chosen] { chosen = [arguments] { return run_bench(*arguments); }; });
}

}  // namespace tamis::cli
