// Layout of a file, little-endian: magic "TAMISKRN", key (2 x u64), size and XXH3-64 of the code
// (u64 each), the code.
#include "gpu/disk_cache.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "core/byte_io.hpp"
#include "gpu/compile_options.hpp"
#include "tamis/error.hpp"

namespace tamis::gpu {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMagic = 0x4e524b53494d4154u;  // "TAMISKRN"
constexpr const char* kSuffix = ".kernel";
constexpr std::int64_t kLargestFile = std::int64_t{1} << 30;

std::string variable(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? "" : text;
}

std::string errno_text(const std::string& action) {
  return "cannot " + action + ": " + std::strerror(errno);
}

// Empty when there is no such file.
std::optional<std::vector<std::byte>> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return std::nullopt;
  const std::int64_t size = file.tellg();
  if (size < 0 || size > kLargestFile) return std::vector<std::byte>();
  std::vector<std::byte> bytes(static_cast<std::size_t>(size));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(bytes.data()), size);
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return bytes;
}

// Throws Error(kCorrupt) unless the bytes are a whole file of that key.
std::vector<std::byte> take_code(std::span<const std::byte> bytes, const Hash128& key) {
  const auto corrupt = [](const char* why) { throw Error(ErrorCode::kCorrupt, why); };
  ByteReader reader(bytes, "cached kernel");
  if (reader.u64() != kMagic) corrupt("no cached kernel");
  const Hash128 stored{reader.u64(), reader.u64()};
  if (!(stored == key)) corrupt("holds another kernel");
  const std::uint64_t size = reader.u64();
  const std::uint64_t checksum = reader.u64();
  const auto code = reader.bytes(size);
  reader.expect_end();
  if (xxh3_64(code) != checksum) corrupt("the checksum differs");
  return {code.begin(), code.end()};
}

bool write_all(int descriptor, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = ::write(descriptor, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(wrote));
  }
  return true;
}

// No two threads or processes, on whatever machines that share the folder, choose the same name:
// O_EXCL decides when numbers collide.
std::string write_temporary(const std::string& path, std::span<const std::byte> bytes,
                            std::string& temporary) {
  static std::atomic<unsigned> counter{0};
  for (int attempt = 0; attempt < 100; ++attempt) {
    temporary = path + "." + std::to_string(::getpid()) + "." + std::to_string(counter++) + ".tmp";
    const int file = ::open(temporary.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
    if (file < 0 && errno == EEXIST) continue;
    if (file < 0) return errno_text("create " + temporary);
    const bool written = write_all(file, bytes);
    std::string problem = written ? "" : errno_text("write " + temporary);
    if (::close(file) != 0 && problem.empty()) problem = errno_text("close " + temporary);
    if (!problem.empty()) ::unlink(temporary.c_str());
    return problem;
  }
  return "cannot find an unused name beside " + path;
}

}  // namespace

std::string DiskCache::default_folder() {
  std::string base = variable("TAMIS_CACHE_DIR");
  if (base.empty()) {
    const std::string xdg = variable("XDG_CACHE_HOME");
    const std::string home = variable("HOME");
    if (xdg.starts_with('/')) {
      base = xdg + "/tamis";
    } else if (!home.empty()) {
      base = home + "/.cache/tamis";
    }
  }
  return base.empty() ? "" : base + "/kernels";
}

std::string DiskCache::file_of(const Hash128& key) const {
  return folder_ + "/" + key_text(key) + kSuffix;
}

// Machine code is executed, so a folder in which anybody may put files is not trusted.
std::string DiskCache::prepare_folder() const {
  if (folder_.empty()) {
    return "no folder for it: TAMIS_CACHE_DIR, XDG_CACHE_HOME and HOME are not set";
  }
  std::error_code error;
  fs::create_directories(folder_, error);
  struct stat status {};
  if (::stat(folder_.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) {
    return "cannot make the folder " + folder_ + (error ? ": " + error.message() : "");
  }
  if ((status.st_mode & S_IWOTH) != 0) return folder_ + " is writable by everybody";
  if (::access(folder_.c_str(), W_OK | X_OK) != 0) return errno_text("write to " + folder_);
  return "";
}

DiskCache::Answer DiskCache::find(const Hash128& key) const {
  Answer answer;
  struct stat status {};
  if (folder_.empty() || ::stat(folder_.c_str(), &status) != 0) return answer;
  if ((status.st_mode & S_IWOTH) != 0) return answer;
  const std::string path = file_of(key);
  const auto bytes = read_file(path);
  if (!bytes) return answer;
  try {
    answer.code = take_code(*bytes, key);
  } catch (const Error& error) {
    answer.damage = path + ": " + error.what();
  }
  return answer;
}

std::string DiskCache::store(const Hash128& key, std::span<const std::byte> code) const noexcept {
  try {
    std::string problem = prepare_folder();
    if (!problem.empty()) return problem;
    std::vector<std::byte> bytes;
    ByteWriter writer(bytes);
    writer.u64(kMagic);
    writer.u64(key.low);
    writer.u64(key.high);
    writer.u64(code.size());
    writer.u64(xxh3_64(code));
    writer.bytes(code);
    const std::string path = file_of(key);
    std::string temporary;
    problem = write_temporary(path, bytes, temporary);
    if (problem.empty() && ::rename(temporary.c_str(), path.c_str()) != 0) {
      problem = errno_text("rename " + temporary);
      ::unlink(temporary.c_str());
    }
    return problem;
  } catch (const std::exception& error) {
    return error.what();
  }
}

DiskCache::Usage DiskCache::usage() const {
  Usage usage;
  usage.problem = prepare_folder();
  std::error_code error;
  for (fs::directory_iterator at(folder_, error), end; !error && at != end; at.increment(error)) {
    if (at->path().extension() != kSuffix) continue;
    std::error_code gone;
    const auto size = at->file_size(gone);
    if (gone) continue;
    ++usage.files;
    usage.size_bytes += static_cast<std::int64_t>(size);
  }
  return usage;
}

}  // namespace tamis::gpu
