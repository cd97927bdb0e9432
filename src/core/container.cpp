// Writing and reading of the container. The reader validates from the outside in: magics and
// version, then the checksum over front and directory, and only then does it parse CBOR.
#include "core/container.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/byte_io.hpp"
#include "core/meta.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

using nlohmann::json;

[[noreturn]] void corrupt(const std::string& message) {
  throw Error(ErrorCode::kCorrupt, "container: " + message);
}

std::vector<std::byte> front_bytes() {
  std::vector<std::byte> front;
  ByteWriter writer(front);
  writer.bytes(std::as_bytes(std::span(kFrontMagic)));
  writer.u32(kFormatVersion);
  writer.u32(0);
  return front;
}

bool matches(std::span<const std::byte> bytes, const std::array<unsigned char, 8>& magic) {
  return std::memcmp(bytes.data(), magic.data(), magic.size()) == 0;
}

std::uint64_t directory_checksum(std::span<const std::byte> front,
                                 std::span<const std::byte> directory_and_size) {
  Xxh3Stream sum;
  sum.update(front);
  sum.update(directory_and_size);
  return sum.digest();
}

// Printable ASCII only: names appear in messages and reports, and those must stay valid text.
bool is_valid_name(std::string_view name) {
  const auto printable = [](char c) { return c > ' ' && c <= '~'; };
  return !name.empty() && name.size() <= kMaxSectionNameBytes &&
         std::all_of(name.begin(), name.end(), printable);
}

std::string name_rule() {
  return "1 to " + std::to_string(kMaxSectionNameBytes) + " printable ASCII characters";
}

void check_new_name(std::string_view name, const std::vector<SectionInfo>& sections) {
  if (!is_valid_name(name)) {
    throw Error(ErrorCode::kInvalidArgument,
                "section name '" + std::string(name) + "', expected " + name_rule());
  }
  const auto same = [&](const SectionInfo& section) { return section.name == name; };
  if (std::any_of(sections.begin(), sections.end(), same)) {
    throw Error(ErrorCode::kInvalidArgument, "section '" + std::string(name) + "' occurs twice");
  }
}

}  // namespace

ByteSink append_to(std::vector<std::byte>& out) {
  return [&out](std::span<const std::byte> bytes) {
    out.insert(out.end(), bytes.begin(), bytes.end());
  };
}

ContainerWriter::ContainerWriter(ByteSink sink) : sink_(std::move(sink)) { write(front_bytes()); }

void ContainerWriter::write(std::span<const std::byte> bytes) {
  sink_(bytes);
  bytes_written_ += bytes.size();
}

void ContainerWriter::begin_section(std::string_view name, Checks checks) {
  assert(!in_section_ && !finished_);
  check_new_name(name, sections_);
  sections_.push_back({std::string(name), bytes_written_, 0, std::nullopt});
  section_sum_.reset();
  checks_ = checks;
  in_section_ = true;
}

void ContainerWriter::append(std::span<const std::byte> bytes) {
  assert(in_section_);
  if (bytes.empty()) return;
  if (checks_ == Checks::kWhole) section_sum_.update(bytes);
  write(bytes);
}

void ContainerWriter::append_elsewhere(std::uint64_t size) {
  assert(in_section_ && checks_ == Checks::kInParts);
  bytes_written_ += size;
}

void ContainerWriter::end_section() {
  assert(in_section_);
  SectionInfo& section = sections_.back();
  section.size = bytes_written_ - section.offset;
  if (checks_ == Checks::kWhole) section.xxh3 = section_sum_.digest();
  in_section_ = false;
}

void ContainerWriter::add_section(std::string_view name, std::span<const std::byte> bytes) {
  begin_section(name);
  append(bytes);
  end_section();
}

void ContainerWriter::finish(const json& meta) {
  assert(!in_section_ && !finished_);
  json entries = json::array();
  for (const SectionInfo& section : sections_) {
    json entry = {{"name", section.name}, {"size", section.size}};
    if (section.xxh3) entry["xxh3"] = *section.xxh3;
    entries.push_back(std::move(entry));
  }
  const json directory = {{"meta", meta}, {"sections", std::move(entries)}};
  std::vector<std::byte> tail = encode_cbor(directory, kMaxDirectoryDepth);
  if (tail.size() > kMaxDirectoryBytes) {
    throw Error(ErrorCode::kUnsupported, "container directory of " + std::to_string(tail.size()) +
                                             " bytes, at most " +
                                             std::to_string(kMaxDirectoryBytes) + " are supported");
  }
  ByteWriter writer(tail);
  writer.u32(static_cast<std::uint32_t>(tail.size()));
  writer.u64(directory_checksum(front_bytes(), tail));
  writer.bytes(std::as_bytes(std::span(kTailMagic)));
  write(tail);
  finished_ = true;
}

ContainerReader::ContainerReader(std::span<const std::byte> container) : container_(container) {
  if (container.size() < kFrontMagic.size() || !matches(container, kFrontMagic)) {
    corrupt("not a Tamis file (its first 8 bytes differ from the magic)");
  }
  if (container.size() < kFrontBytes + kTailBytes) {
    corrupt("truncated: " + std::to_string(container.size()) + " bytes, expected at least " +
            std::to_string(kFrontBytes + kTailBytes));
  }
  const auto front = container.first(kFrontBytes);
  ByteReader front_reader(front.subspan(kFrontMagic.size()), "container front");
  version_ = front_reader.u32();
  if (version_ > kFormatVersion) {
    throw Error(ErrorCode::kUnsupported, "container format version " + std::to_string(version_) +
                                             ", this build reads up to " +
                                             std::to_string(kFormatVersion));
  }
  if (version_ == 0 || front_reader.u32() != 0)
    corrupt("damaged front (version or reserved field)");

  const auto tail = container.last(kTailBytes);
  if (!matches(tail.last(kTailMagic.size()), kTailMagic)) {
    corrupt("truncated or followed by other bytes (its last 8 bytes differ from the end magic)");
  }
  ByteReader tail_reader(tail, "container tail");
  const std::uint32_t directory_size = tail_reader.u32();
  const std::uint64_t available = container.size() - kFrontBytes - kTailBytes;
  if (directory_size > std::min<std::uint64_t>(available, kMaxDirectoryBytes)) {
    corrupt("directory of " + std::to_string(directory_size) + " bytes in a file with room for " +
            std::to_string(available) + ", limit " + std::to_string(kMaxDirectoryBytes));
  }
  const std::uint64_t sections_end = container.size() - kTailBytes - directory_size;
  const auto directory_and_size =
      container.subspan(sections_end, directory_size + sizeof(directory_size));
  if (directory_checksum(front, directory_and_size) != tail_reader.u64()) {
    corrupt("the directory fails its checksum");
  }
  read_directory(directory_and_size.first(directory_size), sections_end);
}

ContainerReader::~ContainerReader() = default;

void ContainerReader::read_directory(std::span<const std::byte> directory,
                                     std::uint64_t sections_end) {
  const json root = decode_cbor(directory, kMaxDirectoryDepth, "container directory");
  meta_ = std::make_unique<const json>(meta_field(root, "meta"));
  const json& entries = meta_field(root, "sections");
  if (!entries.is_array()) corrupt("'sections' is not an array");

  std::uint64_t offset = kFrontBytes;
  for (const json& entry : entries) {
    SectionInfo section{meta_string(entry, "name"), offset, meta_u64(entry, "size"), std::nullopt};
    if (meta_has(entry, "xxh3")) section.xxh3 = meta_u64(entry, "xxh3");
    if (!is_valid_name(section.name)) {
      corrupt("section name of " + std::to_string(section.name.size()) + " bytes, expected " +
              name_rule());
    }
    if (section.size > sections_end - offset) {
      corrupt("section '" + section.name + "' of " + std::to_string(section.size) +
              " bytes at offset " + std::to_string(offset) + " runs past offset " +
              std::to_string(sections_end));
    }
    offset += section.size;
    sections_.push_back(std::move(section));
  }
  if (offset != sections_end) {
    corrupt("sections end at offset " + std::to_string(offset) + ", the directory starts at " +
            std::to_string(sections_end));
  }
  std::vector<std::string> sorted = names();
  std::sort(sorted.begin(), sorted.end());
  const auto repeated = std::adjacent_find(sorted.begin(), sorted.end());
  if (repeated != sorted.end()) corrupt("section '" + *repeated + "' occurs twice");
  verified_ = std::make_unique<std::atomic<bool>[]>(sections_.size());
}

std::size_t ContainerReader::index_of(std::string_view name) const {
  const auto same = [&](const SectionInfo& section) { return section.name == name; };
  return static_cast<std::size_t>(std::find_if(sections_.begin(), sections_.end(), same) -
                                  sections_.begin());
}

std::size_t ContainerReader::require(std::string_view name) const {
  const std::size_t index = index_of(name);
  if (index == sections_.size()) corrupt("section '" + std::string(name) + "' is missing");
  return index;
}

bool ContainerReader::has(std::string_view name) const noexcept {
  return index_of(name) != sections_.size();
}

std::vector<std::string> ContainerReader::names() const {
  std::vector<std::string> result;
  result.reserve(sections_.size());
  for (const SectionInfo& section : sections_) result.push_back(section.name);
  return result;
}

std::span<const std::byte> ContainerReader::bytes_of(std::size_t index) const {
  return container_.subspan(sections_[index].offset, sections_[index].size);
}

std::span<const std::byte> ContainerReader::section_unverified(std::string_view name) const {
  return bytes_of(require(name));
}

std::span<const std::byte> ContainerReader::section(std::string_view name) const {
  const std::size_t index = require(name);
  const auto bytes = bytes_of(index);
  if (!sections_[index].xxh3) {
    corrupt("section '" + sections_[index].name + "' has no checksum");
  }
  // Two threads may both compute the checksum; that is harmless.
  if (!verified_[index].load(std::memory_order_acquire)) {
    if (xxh3_64(bytes) != *sections_[index].xxh3) {
      corrupt("section '" + sections_[index].name + "' fails its checksum");
    }
    verified_[index].store(true, std::memory_order_release);
  }
  return bytes;
}

void ContainerReader::verify_all() const {
  for (const SectionInfo& info : sections_) {
    if (info.xxh3) static_cast<void>(section(info.name));
  }
}

}  // namespace tamis
