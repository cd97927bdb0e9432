// Follows the includes of a kernel file.
#include "gpu/kernel_source.hpp"

#include <algorithm>
#include <optional>

#include "core/byte_io.hpp"
#include "tamis/error.hpp"

namespace tamis::gpu {
namespace {

// What the line includes in quotes. Brackets are passed over: headers that host and device share
// have standard ones under a condition, which only the compiler can judge.
std::optional<std::string_view> included_by(std::string_view line) {
  const auto skip_blanks = [&] {
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  };
  skip_blanks();
  if (!line.starts_with('#')) return std::nullopt;
  line.remove_prefix(1);
  skip_blanks();
  if (!line.starts_with("include")) return std::nullopt;
  line.remove_prefix(7);
  skip_blanks();
  if (!line.starts_with('"')) return std::nullopt;
  line.remove_prefix(1);
  return line.substr(0, line.find('"'));
}

const SourceFile* find_file(std::span<const SourceFile> files, std::string_view name) {
  const auto at = std::find_if(files.begin(), files.end(),
                               [&](const SourceFile& file) { return file.name == name; });
  return at == files.end() ? nullptr : &*at;
}

// Adds what `file` includes to `found`, depth first, each file once.
void follow_includes(const SourceFile& file, std::span<const SourceFile> own,
                     std::vector<SourceFile>& found) {
  std::string_view rest = file.text;
  while (!rest.empty()) {
    const std::size_t length = std::min(rest.find('\n'), rest.size());
    const auto name = included_by(rest.substr(0, length));
    rest.remove_prefix(std::min(length + 1, rest.size()));
    if (!name) continue;
    if (find_file(found, *name) != nullptr) continue;
    const SourceFile* next = find_file(own, *name);
    if (next == nullptr) next = find_file(device_headers(), *name);
    if (next == nullptr) {
      throw Error(ErrorCode::kInvalidArgument, std::string(file.name) + " includes \"" +
                                                   std::string(*name) +
                                                   "\", which is not among its headers");
    }
    found.push_back(*next);
    follow_includes(*next, own, found);
  }
}

void add_text(ByteWriter& writer, std::string_view text) {
  writer.u64(text.size());  // so that no two lists of texts run together alike
  writer.bytes(std::as_bytes(std::span(text.data(), text.size())));
}

}  // namespace

KernelSource::KernelSource(const SourceFile& main, std::span<const SourceFile> headers)
    : main_(main) {
  follow_includes(main_, headers, headers_);
  std::sort(headers_.begin(), headers_.end(),
            [](const SourceFile& a, const SourceFile& b) { return a.name < b.name; });
  std::vector<std::byte> bytes;
  ByteWriter writer(bytes);
  add_text(writer, main_.name);
  add_text(writer, main_.text);
  for (const SourceFile& header : headers_) {
    add_text(writer, header.name);
    add_text(writer, header.text);
  }
  hash_ = xxh3_128(bytes);
}

}  // namespace tamis::gpu
