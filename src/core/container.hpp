// The container, format version 1: sections first, their directory last, so that a writer may
// stream without knowing sizes. Sections tile the space between front and directory, and every
// byte is either compared with a constant or covered by a checksum.
//
//   front      magic 8 | version u32 | reserved u32 = 0
//   sections   back to back, in the order of the directory
//   directory  CBOR {"meta": any, "sections": [{"name", "size", "xxh3" if checked whole}, ...]}
//   tail       directory size u32 | XXH3-64 of front, directory and directory size, u64 | magic 8
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/checksum.hpp"

namespace tamis {

/// Both hold a byte above 127, CR LF, ctrl-Z or LF, so that text-mode transfers are noticed.
inline constexpr std::array<unsigned char, 8> kFrontMagic = {0x89, 'T',  'M',  'S',
                                                             '\r', '\n', 0x1a, '\n'};
inline constexpr std::array<unsigned char, 8> kTailMagic = {0x89, 'T',  'M',  'S',
                                                            'e',  '\r', '\n', '\n'};
inline constexpr std::uint32_t kFormatVersion = 1;
inline constexpr std::size_t kFrontBytes = 16;
inline constexpr std::size_t kTailBytes = 20;
inline constexpr std::size_t kMaxDirectoryBytes = std::size_t{1} << 20;
inline constexpr int kMaxDirectoryDepth = 16;  // bounds the recursion of the CBOR reader
inline constexpr std::size_t kMaxSectionNameBytes = 64;

/// Receives container bytes in file order.
using ByteSink = std::function<void(std::span<const std::byte>)>;
/// A sink that appends to `out`, which must outlive it.
ByteSink append_to(std::vector<std::byte>& out);

/// Where the checksums of a section are: one over it all in the directory, or its parts carry
/// their own, so that they can be hashed in parallel and read one by one.
enum class Checks { kWhole, kInParts };

struct SectionInfo {
  std::string name;
  std::uint64_t offset = 0;  // from the first byte of the container
  std::uint64_t size = 0;
  std::optional<std::uint64_t> xxh3;  // absent: its parts carry checksums
};

/// Writes a container front to back. Calls in the wrong order are bugs of ours and assert; a
/// container left without finish() is truncated and will be refused by the reader.
class ContainerWriter {
 public:
  explicit ContainerWriter(ByteSink sink);

  /// Throws Error(kInvalidArgument) for a repeated name, or one that is not 1 to 64 printable
  /// ASCII characters.
  void begin_section(std::string_view name, Checks checks = Checks::kWhole);
  void append(std::span<const std::byte> bytes);
  /// So many bytes of a section that is checked in parts get into place by another way.
  void append_elsewhere(std::uint64_t size);
  void end_section();
  /// begin_section, append and end_section in one.
  void add_section(std::string_view name, std::span<const std::byte> bytes);

  /// Writes directory and tail. Throws Error(kUnsupported) when the directory exceeds
  /// kMaxDirectoryBytes or kMaxDirectoryDepth.
  void finish(const nlohmann::json& meta);

  std::uint64_t bytes_written() const noexcept { return bytes_written_; }
  const std::vector<SectionInfo>& sections() const noexcept { return sections_; }

 private:
  void write(std::span<const std::byte> bytes);

  ByteSink sink_;
  std::vector<SectionInfo> sections_;
  Xxh3Stream section_sum_;
  Checks checks_ = Checks::kWhole;  // of the section that is open
  std::uint64_t bytes_written_ = 0;
  bool in_section_ = false;
  bool finished_ = false;
};

/// Reads a container that lies in memory (or is mapped); the span must outlive the reader. The
/// constructor checks all but the sections' checksums, which are checked at first access.
/// Everything wrong with the bytes is Error(kCorrupt), a newer version Error(kUnsupported).
class ContainerReader {
 public:
  explicit ContainerReader(std::span<const std::byte> container);
  ~ContainerReader();
  ContainerReader(const ContainerReader&) = delete;
  ContainerReader& operator=(const ContainerReader&) = delete;

  std::uint32_t version() const noexcept { return version_; }
  const nlohmann::json& meta() const noexcept { return *meta_; }

  bool has(std::string_view name) const noexcept;
  std::vector<std::string> names() const;
  /// In file order.
  const std::vector<SectionInfo>& sections() const noexcept { return sections_; }

  /// The bytes of a section after verifying its checksum; may be called from several threads.
  /// A missing section is Error(kCorrupt), and so is one without a checksum: files decide about
  /// that, so whoever wants verified bytes must ask here.
  std::span<const std::byte> section(std::string_view name) const;
  /// Without reading the bytes: for sections whose parts carry checksums of their own.
  std::span<const std::byte> section_unverified(std::string_view name) const;
  /// All sections that have a checksum in the directory.
  void verify_all() const;

 private:
  std::size_t index_of(std::string_view name) const;  // sections_.size() when absent
  std::size_t require(std::string_view name) const;
  std::span<const std::byte> bytes_of(std::size_t index) const;
  void read_directory(std::span<const std::byte> directory, std::uint64_t sections_end);

  std::span<const std::byte> container_;
  std::uint32_t version_ = 0;
  std::unique_ptr<const nlohmann::json> meta_;
  std::vector<SectionInfo> sections_;
  std::unique_ptr<std::atomic<bool>[]> verified_;
};

}  // namespace tamis
