// A fixed table of names: signal handlers may not allocate or lock, so entries are plain character
// arrays guarded by one lock-free flag each.
#include "temp_files.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>
#include <random>
#include <string_view>

#include "tamis/error.hpp"

namespace tamis::cli {
namespace {

struct Entry {
  std::atomic<bool> active{false};
  char path[PATH_MAX] = {};
};

constexpr int kMaxTempFiles = 8;
Entry g_entries[kMaxTempFiles];
static_assert(std::atomic<bool>::is_always_lock_free);

void say(std::string_view text) {
  // Nothing can be done about a failed write in a dying process.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
}

extern "C" void remove_temp_files_and_die(int signal_number) {
  for (Entry& entry : g_entries) {
    if (entry.active.load()) ::unlink(entry.path);
  }
  if (signal_number == SIGBUS) {
    say("tamis: an input file shrank or its disk failed while it was read\n");
    ::_exit(1);
  }
  ::signal(signal_number, SIG_DFL);
  ::raise(signal_number);
}

std::string random_suffix() {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789";
  static std::random_device source;
  std::string suffix;
  for (int i = 0; i < 10; ++i) suffix += kLetters[source() % kLetters.size()];
  return suffix;
}

}  // namespace

void install_signal_handlers() {
  struct sigaction action = {};
  action.sa_handler = remove_temp_files_and_die;
  // SA_RESETHAND: a second signal during the handler ends the process at once.
  action.sa_flags = SA_RESETHAND;
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGBUS}) {
    struct sigaction previous = {};
    // nohup and background shells ignore some signals on purpose; leave those ignored.
    if (::sigaction(number, nullptr, &previous) == 0 && previous.sa_handler == SIG_IGN) continue;
    ::sigaction(number, &action, nullptr);
  }
  ::signal(SIGPIPE, SIG_IGN);
  // Beyond the limit on file sizes, write() then fails as it does on a full disk.
  ::signal(SIGXFSZ, SIG_IGN);
}

std::string create_temp_file(const std::string& path) {
  Entry* entry = nullptr;
  for (Entry& candidate : g_entries) {
    if (!candidate.active.load()) entry = &candidate;
  }
  if (entry == nullptr || path.size() + 32 > sizeof(entry->path)) {
    throw Error(ErrorCode::kIo, "cannot write " + path + ": the name is too long");
  }
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : path.substr(0, slash + 1);
  // The temporary name keeps only the start of a long name, so that it never exceeds NAME_MAX.
  const std::string base = path.substr(folder.size()).substr(0, 200);
  for (int attempt = 0; attempt < 100; ++attempt) {
    std::string temp_path = folder + "." + base + "." + random_suffix() + ".tmp";
    std::memcpy(entry->path, temp_path.c_str(), temp_path.size() + 1);
    entry->active.store(true);
    const int descriptor = ::open(temp_path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
    if (descriptor >= 0) {
      ::close(descriptor);
      return temp_path;
    }
    const int number = errno;
    entry->active.store(false);
    if (number != EEXIST) {
      throw Error(ErrorCode::kIo, "cannot create a file in " + (folder.empty() ? "." : folder) +
                                      ": " + std::strerror(number));
    }
  }
  throw Error(ErrorCode::kIo, "cannot find an unused temporary name beside " + path);
}

void forget_temp_file(const std::string& temp_path) noexcept {
  for (Entry& entry : g_entries) {
    if (entry.active.load() && temp_path == entry.path) entry.active.store(false);
  }
}

}  // namespace tamis::cli
