// The `tamis` command: parses, runs one subcommand, and turns every failure into one line on
// standard error (with --json also one object on standard output) and an exit code.
#include <hdf5.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "commands.hpp"
#include "console.hpp"
#include "field_check.hpp"
#include "tamis/error.hpp"
#include "temp_files.hpp"

#ifndef TAMIS_VERSION
#define TAMIS_VERSION "unknown"
#endif

namespace tamis::cli {
namespace {

// Known before parsing has succeeded, since parse errors must be JSON too.
bool wants_json(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--json") return true;
    if (std::string_view(argv[i]) == "--") break;
  }
  return false;
}

int report_failure(const std::string& command, const std::string& code, const std::string& message,
                   bool json, int exit_code) {
  print_stderr("tamis: " + (command.empty() ? "" : command + ": ") + message + "\n");
  if (json) {
    const nlohmann::ordered_json object = {
        {"command", command}, {"ok", false}, {"error", {{"code", code}, {"message", message}}}};
    try {
      print_stdout(object.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) +
                   "\n");
    } catch (const Error&) {
      // Standard output is gone; the line on standard error has been written.
    }
  }
  return exit_code;
}

std::string chosen_name(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? "" : chosen.front()->get_name();
}

// CLI11 only says that a subcommand is missing.
std::string explain_parse_error(const CLI::App& app, const CLI::ParseError& error, int argc,
                                char** argv) {
  const std::string text = error.what();
  if (!app.get_subcommands().empty()) return text;
  std::string names;
  const std::string* given = nullptr;
  const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  for (const std::string& word : words) {
    if (given == nullptr && !word.starts_with('-')) given = &word;
  }
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (given != nullptr && command->get_name() == *given) return text;
    names += (names.empty() ? "" : ", ") + command->get_name();
  }
  if (given != nullptr) return "unknown command \"" + *given + "\": expected one of " + names;
  const bool missing = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
  return missing ? text + ": " + names : text;
}

int run_chosen(const CLI::App& app, const RunCommand& run, bool json) {
  const std::string command = chosen_name(app);
  try {
    return run();
  } catch (const BoundViolation& error) {
    return report_failure(command, "bound_violated", error.what(), json, kExitData);
  } catch (const Error& error) {
    const bool usage = error.code() == ErrorCode::kInvalidArgument;
    return report_failure(command, error_code_name(error.code()), error.what(), json,
                          usage ? kExitUsage : kExitData);
  } catch (const std::bad_alloc&) {
    return report_failure(command, error_code_name(ErrorCode::kOutOfMemory),
                          "not enough memory; --memory sets a smaller budget", json, kExitData);
  } catch (const std::exception& error) {
    return report_failure(command, "internal", error.what(), json, kExitData);
  }
}

// The arguments behind the command's plain name, whatever path it was started by.
std::vector<std::string> typed_words(int argc, char** argv) {
  std::vector<std::string> words{"tamis"};
  if (argc > 1) words.insert(words.end(), argv + 1, argv + argc);
  return words;
}

int run_main(int argc, char** argv) {
  CLI::App app(
      "Error-bounded compression of scientific floating-point fields.\n"
      "Every decoded value is within the bound that you ask for, or the command fails.",
      "tamis");
  app.set_version_flag("--version", "tamis " TAMIS_VERSION, "Print the version and exit");
  app.require_subcommand(1);
  app.footer(
      "Examples:\n"
      "  tamis compress ocean.nc:tos -o tos.tms --rel 1e-4\n"
      "  tamis compress field.f32 --shape 100x200x300 -o field.tms --abs 0.01\n"
      "  tamis decompress tos.tms -o tos.npy\n"
      "  tamis info tos.tms\n"
      "  tamis verify tos.tms ocean.nc:tos\n"
      "  tamis bench field.npy --rel 1e-2,1e-3,1e-4\n\n"
      "Shapes and boxes are given SLOWEST dimension first, as in NumPy and C.\n"
      "Exit codes: 0 success; 1 bound violated, corrupt data, I/O error; 2 usage error.\n"
      "\"tamis COMMAND --help\" tells more.");
  RunCommand chosen;
  add_compress_command(app, chosen, typed_words(argc, argv));
  add_decompress_command(app, chosen);
  add_info_command(app, chosen);
  add_verify_command(app, chosen);
  add_bench_command(app, chosen);
  add_devices_command(app, chosen);
  add_warmup_command(app, chosen);
  const bool json = wants_json(argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help_or_version) {
    return app.exit(help_or_version);
  } catch (const CLI::ParseError& error) {
    const std::string command = chosen_name(app);
    return report_failure(command, "usage",
                          explain_parse_error(app, error, argc, argv) + " (see \"tamis " +
                              (command.empty() ? "" : command + " ") + "--help\")",
                          json, kExitUsage);
  }
  return run_chosen(app, chosen, json);
}

}  // namespace
}  // namespace tamis::cli

int main(int argc, char** argv) {
  try {
    tamis::cli::install_signal_handlers();
    // Files are closed explicitly. HDF5's own clean-up at exit crashes after a write to a full
    // disk.
    H5dont_atexit();
    return tamis::cli::run_main(argc, argv);
  } catch (const std::exception& error) {
    tamis::cli::print_stderr(std::string("tamis: ") + error.what() + "\n");
    return tamis::cli::kExitData;
  }
}
