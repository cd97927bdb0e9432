// Mapping and reading of inputs. Mapped pages cost no memory until touched, so one path serves
// small files and those larger than memory.
#include "input_bytes.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "failure.hpp"

namespace tamis::cli {
namespace {

class Descriptor {
 public:
  explicit Descriptor(const std::string& path)
      : number_(path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (number_ < 0) io_error("open", display_input(path), errno);
  }
  ~Descriptor() {
    if (number_ != STDIN_FILENO) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

}  // namespace

InputBytes::InputBytes(const std::string& path, std::int64_t pipe_limit) {
  const Descriptor descriptor(path);
  struct stat status = {};
  if (::fstat(descriptor.number(), &status) != 0) io_error("examine", display_input(path), errno);
  if (S_ISDIR(status.st_mode)) io_error("read", display_input(path), EISDIR);
  // Standard input redirected from a file may already be part-read by the shell, so it is read,
  // not mapped.
  if (S_ISREG(status.st_mode) && path != "-") {
    map(descriptor.number(), status.st_size, path);
  } else {
    read_pipe(descriptor.number(), pipe_limit, path);
  }
}

InputBytes::~InputBytes() {
  if (mapping_ != nullptr) ::munmap(mapping_, mapping_bytes_);
}

void InputBytes::map(int descriptor, std::int64_t size, const std::string& path) {
  if (size == 0) return;
  void* address =
      ::mmap(nullptr, static_cast<std::size_t>(size), PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (address == MAP_FAILED) io_error("map", display_input(path), errno);
  mapping_ = address;
  mapping_bytes_ = static_cast<std::size_t>(size);
  bytes_ = {static_cast<const std::byte*>(address), mapping_bytes_};
}

void InputBytes::read_pipe(int descriptor, std::int64_t pipe_limit, const std::string& path) {
  constexpr std::size_t kStep = 1 << 20;
  std::size_t held = 0;
  for (;;) {
    if (read_.size() - held < kStep) read_.resize(std::max(read_.size() * 2, kStep));
    const ssize_t got = ::read(descriptor, read_.data() + held, read_.size() - held);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) io_error("read", display_input(path), errno);
    if (got == 0) break;
    held += static_cast<std::size_t>(got);
    if (static_cast<std::int64_t>(held) > pipe_limit) {
      throw Error(ErrorCode::kOutOfMemory,
                  display_input(path) + " exceeds the memory budget of " +
                      std::to_string(pipe_limit) +
                      " bytes; save it to a file, which is read piece by piece, or raise --memory");
    }
  }
  read_.resize(held);
  bytes_ = read_;
}

std::string display_input(const std::string& path) { return path == "-" ? "standard input" : path; }

bool same_file(const std::string& a, const std::string& b) {
  struct stat first = {};
  struct stat second = {};
  if (::stat(a.c_str(), &first) != 0 || ::stat(b.c_str(), &second) != 0) return false;
  return S_ISREG(first.st_mode) && first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

bool same_place(const std::string& a, const std::string& b) {
  std::error_code error;
  const auto first = std::filesystem::weakly_canonical(std::filesystem::absolute(a, error), error);
  const auto second = std::filesystem::weakly_canonical(std::filesystem::absolute(b, error), error);
  return a == b || same_file(a, b) || (!first.empty() && first == second);
}

bool is_regular_file(const std::string& path) {
  struct stat status = {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

}  // namespace tamis::cli
