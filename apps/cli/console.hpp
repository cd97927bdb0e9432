// Who hears what: summaries on standard output (on standard error when the data go to standard
// output), one JSON object instead with --json, progress on a terminal, errors on standard error.
#pragma once

#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli11_forward.hpp"

namespace tamis::cli {

inline constexpr int kExitOk = 0;
inline constexpr int kExitData = 1;   // bound violated, corrupt data, I/O
inline constexpr int kExitUsage = 2;  // the command line asks for something without meaning

/// Flags that every subcommand has.
struct CommonArguments {
  bool json = false;
  bool quiet = false;
  int threads = 0;
};

/// Adds --json and --quiet, and --threads unless the command has no parallel work.
void add_common_options(CLI::App& command, CommonArguments& arguments, bool with_threads = true);

class Console {
 public:
  /// `data_on_stdout`: the result itself goes to standard output. Throws Error(kInvalidArgument)
  /// when --json would go there too.
  Console(const CommonArguments& arguments, bool data_on_stdout);

  bool human() const noexcept { return !json_ && !quiet_; }
  bool json() const noexcept { return json_; }
  /// Bold and the like are for terminals, and not where NO_COLOR is set.
  bool colour() const noexcept;
  /// Prints unless --json or --quiet.
  void print(const std::string& text) const;
  /// Prints the object when --json.
  void print_json(const nlohmann::ordered_json& object) const;
  bool shows_progress() const noexcept;

 private:
  bool json_;
  bool quiet_;
  bool data_on_stdout_;
};

/// Text to standard output or error; throws Error(kIo) when standard output is closed or full.
void print_stdout(const std::string& text);
void print_stderr(const std::string& text);

/// A bar on standard error that appears after a second of work and goes away when done.
class Progress {
 public:
  Progress(const Console& console, std::string label);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// To be given to the library; empty when nothing is to be shown. Valid while this object lives.
  std::function<void(double)> callback();
  void update(double fraction);

 private:
  std::string label_;
  bool enabled_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point last_draw_;
};

/// Seconds since construction.
class Stopwatch {
 public:
  Stopwatch() : start_(std::chrono::steady_clock::now()) {}
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_;
};

}  // namespace tamis::cli
