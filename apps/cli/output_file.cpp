// Atomic output. Errors carry errno's words and how far the write got, since "disk full" after two
// hours deserves that much.
#include "output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "failure.hpp"
#include "input_bytes.hpp"
#include "temp_files.hpp"

namespace tamis::cli {
namespace {

std::string display_output(const std::string& path) {
  return path == "-" ? "standard output" : path;
}

std::string resolve_links(const std::string& path) {
  char* resolved = ::realpath(path.c_str(), nullptr);
  if (resolved == nullptr) return path;
  std::string target = resolved;
  std::free(resolved);
  return target;
}

void sync_folder(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  // Some file systems cannot sync folders; the data themselves are already on disk.
  (void)::fsync(descriptor);
  ::close(descriptor);
}

}  // namespace

OutputFile::OutputFile(const std::string& path) : path_(path), target_(path) {
  if (path == "-") {
    descriptor_ = STDOUT_FILENO;
    return;
  }
  if (path.empty()) reject("the output file's name is empty");
  struct stat status = {};
  const bool target_exists = ::stat(path.c_str(), &status) == 0;
  if (target_exists) {
    if (S_ISDIR(status.st_mode)) io_error("write", display_output(path), EISDIR);
    if (!S_ISREG(status.st_mode)) {
      open_direct();
      return;
    }
    // rename() would replace a write-protected file, which its owner hardly wants.
    if (::access(path.c_str(), W_OK) != 0) io_error("write", display_output(path), errno);
    target_ = resolve_links(path);
  }
  temp_path_ = create_temp_file(target_);
  // What was private stays so.
  struct stat fresh = {};
  if (target_exists && ::stat(temp_path_.c_str(), &fresh) == 0) {
    (void)::chmod(temp_path_.c_str(), fresh.st_mode & status.st_mode & 0777);
  }
  descriptor_ = ::open(temp_path_.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor_ < 0) {
    const int number = errno;
    ::unlink(temp_path_.c_str());
    forget_temp_file(temp_path_);
    io_error("write", display_output(path), number);
  }
}

void OutputFile::open_direct() {
  descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor_ < 0) io_error("write", display_output(path_), errno);
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0 && descriptor_ != STDOUT_FILENO) ::close(descriptor_);
  if (temp_path_.empty()) return;
  ::unlink(temp_path_.c_str());
  forget_temp_file(temp_path_);
}

void OutputFile::write(std::span<const std::byte> bytes) {
  // Linux writes at most 2 GiB - 4 KiB a call; smaller pieces also keep signals responsive.
  constexpr std::size_t kMaxPiece = std::size_t{64} << 20;
  const std::byte* at = bytes.data();
  std::size_t left = bytes.size();
  while (left > 0) {
    const ssize_t wrote = ::write(descriptor_, at, std::min(left, kMaxPiece));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) {
      const int number = wrote < 0 ? errno : ENOSPC;
      throw Error(ErrorCode::kIo, "cannot write " + display_output(path_) + ": " +
                                      std::strerror(number) + " (after " +
                                      std::to_string(bytes_written_) + " bytes)");
    }
    at += wrote;
    left -= static_cast<std::size_t>(wrote);
    bytes_written_ += wrote;
  }
}

void OutputFile::write(const std::string& text) {
  write(std::as_bytes(std::span(text.data(), text.size())));
}

void OutputFile::commit() {
  if (temp_path_.empty()) {
    if (descriptor_ != STDOUT_FILENO && ::close(std::exchange(descriptor_, -1)) != 0) {
      io_error("write", display_output(path_), errno);
    }
    return;
  }
  if (::fsync(descriptor_) != 0 && errno != EINVAL && errno != EROFS) {
    io_error("write", display_output(path_), errno);
  }
  // Network file systems may report a full disk only here.
  if (::close(std::exchange(descriptor_, -1)) != 0) io_error("write", display_output(path_), errno);
  if (::rename(temp_path_.c_str(), target_.c_str()) != 0)
    io_error("put in place", display_output(path_), errno);
  forget_temp_file(temp_path_);
  temp_path_.clear();
  sync_folder(target_);
}

void refuse_overwriting_input(const std::string& input, const std::string& output) {
  if (input != "-" && output != "-" && same_file(input, output)) {
    reject("the output " + output + " is the input file itself; give another name");
  }
}

void refuse_terminal(const std::string& output) {
  if (output == "-" && ::isatty(STDOUT_FILENO) != 0) {
    reject("standard output is a terminal; redirect it to a file or a pipe");
  }
}

}  // namespace tamis::cli
