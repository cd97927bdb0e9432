// Where results go. A regular destination appears whole or not at all: bytes go to a temporary file
// in the same folder, which commit() syncs and renames. Pipes, devices and "-" are written
// directly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace tamis::cli {

class OutputFile {
 public:
  /// Opens at once, so that a folder without permission is reported before any long work.
  /// Throws Error(kIo).
  explicit OutputFile(const std::string& path);
  /// Removes the temporary file unless commit() was called.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::span<const std::byte> bytes);
  void write(const std::string& text);
  /// Puts the file in place.
  void commit();

  std::int64_t bytes_written() const noexcept { return bytes_written_; }
  /// False for pipes and devices, whose bytes cannot be taken back.
  bool is_atomic() const noexcept { return !temp_path_.empty(); }
  /// The file to be filled by a library that opens files by name; empty when not is_atomic().
  const std::string& temp_path() const noexcept { return temp_path_; }

 private:
  void open_direct();

  std::string path_;    // as given, for messages
  std::string target_;  // symbolic links resolved: the link stays, the file behind it is replaced
  std::string temp_path_;
  int descriptor_ = -1;
  std::int64_t bytes_written_ = 0;
};

/// Throws Error(kInvalidArgument) when `output` is the same existing file as `input`.
void refuse_overwriting_input(const std::string& input, const std::string& output);

/// Throws Error(kInvalidArgument) when binary output would go to a terminal.
void refuse_terminal(const std::string& output);

}  // namespace tamis::cli
