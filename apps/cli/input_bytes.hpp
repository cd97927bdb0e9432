// All the bytes of an input: a regular file is mapped, a pipe or "-" (standard input) is read into
// memory. Also the one place that knows how files are told apart and named in messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tamis::cli {

class InputBytes {
 public:
  /// Throws Error(kIo). Pipes longer than `pipe_limit` bytes are refused with Error(kOutOfMemory).
  InputBytes(const std::string& path, std::int64_t pipe_limit);
  ~InputBytes();
  InputBytes(const InputBytes&) = delete;
  InputBytes& operator=(const InputBytes&) = delete;

  std::span<const std::byte> bytes() const noexcept { return bytes_; }

 private:
  void map(int descriptor, std::int64_t size, const std::string& path);
  void read_pipe(int descriptor, std::int64_t pipe_limit, const std::string& path);

  std::span<const std::byte> bytes_;
  std::vector<std::byte> read_;
  void* mapping_ = nullptr;
  std::size_t mapping_bytes_ = 0;
};

/// Path as it is to be shown: "standard input" for "-".
std::string display_input(const std::string& path);

/// Do both paths name one existing regular file (same device and inode)?
bool same_file(const std::string& a, const std::string& b);

/// Would writing to the one write to the other, whether they exist or not?
bool same_place(const std::string& a, const std::string& b);

bool is_regular_file(const std::string& path);

}  // namespace tamis::cli
