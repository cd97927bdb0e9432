// Output channels and the progress bar. Standard output is written with write(2) through one
// function, so that a closed pipe or a full disk is an error with an exit code, never a silent
// loss.
#include "console.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "failure.hpp"
#include "summary_text.hpp"
#include "tamis/error.hpp"

namespace tamis::cli {
namespace {

bool write_all(int descriptor, const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t wrote = ::write(descriptor, text.data() + done, text.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return false;
    done += static_cast<std::size_t>(wrote);
  }
  return true;
}

}  // namespace

void add_common_options(CLI::App& command, CommonArguments& arguments, bool with_threads) {
  if (with_threads) {
    command
        .add_option("--threads", arguments.threads,
                    "Worker threads (default: OMP_NUM_THREADS or all cores)")
        ->type_name("N")
        ->check(CLI::Range(0, 65536));
  }
  command.add_flag("--json", arguments.json,
                   "Print one JSON object on standard output and nothing else");
  command.add_flag("-q,--quiet", arguments.quiet, "Print nothing but errors");
}

void print_stdout(const std::string& text) {
  if (!write_all(STDOUT_FILENO, text)) {
    throw Error(ErrorCode::kIo,
                std::string("cannot write to standard output: ") + std::strerror(errno));
  }
}

void print_stderr(const std::string& text) { (void)write_all(STDERR_FILENO, text); }

Console::Console(const CommonArguments& arguments, bool data_on_stdout)
    : json_(arguments.json), quiet_(arguments.quiet), data_on_stdout_(data_on_stdout) {
  if (json_ && data_on_stdout_) {
    reject("--json and \"-o -\" both want standard output; write the data to a file");
  }
}

bool Console::colour() const noexcept {
  const char* no_colour = std::getenv("NO_COLOR");
  if (no_colour != nullptr && *no_colour != '\0') return false;
  return ::isatty(data_on_stdout_ ? STDERR_FILENO : STDOUT_FILENO) != 0;
}

void Console::print(const std::string& text) const {
  if (!human()) return;
  if (data_on_stdout_) {
    print_stderr(text);
  } else {
    print_stdout(text);
  }
}

void Console::print_json(const nlohmann::ordered_json& object) const {
  // File names need not be UTF-8; JSON strings must be.
  if (json_) {
    print_stdout(object.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) +
                 "\n");
  }
}

bool Console::shows_progress() const noexcept { return human() && ::isatty(STDERR_FILENO) != 0; }

Progress::Progress(const Console& console, std::string label)
    : label_(std::move(label)),
      enabled_(console.shows_progress()),
      start_(std::chrono::steady_clock::now()),
      last_draw_(start_) {}

Progress::~Progress() {
  if (drawn_) print_stderr("\r\x1b[K");
}

std::function<void(double)> Progress::callback() {
  if (!enabled_) return {};
  return [this](double fraction) { update(fraction); };
}

void Progress::update(double fraction) {
  if (!enabled_) return;
  const auto now = std::chrono::steady_clock::now();
  using std::chrono::milliseconds;
  if (now - start_ < milliseconds(1000) || (drawn_ && now - last_draw_ < milliseconds(100))) return;
  last_draw_ = now;
  drawn_ = true;
  constexpr int kWidth = 30;
  const double part = std::clamp(fraction, 0.0, 1.0);
  const int filled = static_cast<int>(part * kWidth);
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  std::string line = "\r" + label_ + " [" + std::string(static_cast<std::size_t>(filled), '#') +
                     std::string(static_cast<std::size_t>(kWidth - filled), '.') + "] " +
                     format_percent(part, 1.0);
  if (part > 0.02) line += ", " + format_seconds(elapsed * (1.0 - part) / part) + " left";
  print_stderr(line + "\x1b[K");
}

}  // namespace tamis::cli
