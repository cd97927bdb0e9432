// Fuzzes the container reader twice per input: on the bytes as they are, and on the same bytes as a
// directory under a correct checksum, so that the fuzzer reaches what lies behind the checksum.
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/byte_io.hpp"
#include "core/container.hpp"
#include "tamis/error.hpp"

namespace {

void read_all(std::span<const std::byte> container) {
  try {
    const tamis::ContainerReader reader(container);
    reader.verify_all();
  } catch (const tamis::Error&) {
    // Refusing is right; crashing, hanging or throwing anything else is not.
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  read_all(bytes);

  // First byte: how many of the following bytes are sections, the rest is the directory.
  if (size == 0) return 0;
  const std::size_t sections_size = std::min<std::size_t>(data[0], size - 1);
  const auto directory = bytes.subspan(1 + sections_size);
  std::vector<std::byte> container;
  tamis::ByteWriter writer(container);
  writer.bytes(std::as_bytes(std::span(tamis::kFrontMagic)));
  writer.u32(tamis::kFormatVersion);
  writer.u32(0);
  tamis::Xxh3Stream sum;
  sum.update(container);
  writer.bytes(bytes.subspan(1, sections_size));
  const std::size_t directory_start = container.size();
  writer.bytes(directory);
  writer.u32(static_cast<std::uint32_t>(directory.size()));
  sum.update(std::span(container).subspan(directory_start));
  writer.u64(sum.digest());
  writer.bytes(std::as_bytes(std::span(tamis::kTailMagic)));
  read_all(container);
  return 0;
}
