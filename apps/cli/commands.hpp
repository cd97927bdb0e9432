// The subcommands. Each adds itself to the root parser and, when chosen, leaves behind what to run;
// main() runs it after parsing so that errors of both kinds are reported in one place.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli11_forward.hpp"

namespace tamis::cli {

/// Returns the exit code; throws Error or BoundViolation.
using RunCommand = std::function<int()>;

/// `words` is the command as typed, for the report.
void add_compress_command(CLI::App& root, RunCommand& chosen, std::vector<std::string> words);
void add_decompress_command(CLI::App& root, RunCommand& chosen);
void add_info_command(CLI::App& root, RunCommand& chosen);
void add_verify_command(CLI::App& root, RunCommand& chosen);
void add_bench_command(CLI::App& root, RunCommand& chosen);
void add_devices_command(CLI::App& root, RunCommand& chosen);
void add_warmup_command(CLI::App& root, RunCommand& chosen);

}  // namespace tamis::cli
