// A container taken apart, to be changed and sealed again with right checksums: the way past the
// checksums for tests and fuzzers. In loose form the index section holds the blobs' sizes only;
// seal() adds the checksums that belong to them. Only `in_parts` goes without one in the directory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/byte_io.hpp"
#include "core/checksum.hpp"
#include "core/container.hpp"
#include "core/meta.hpp"
#include "tamis/error.hpp"

namespace tamis::testing {

using Bytes = std::vector<std::byte>;

struct LooseContainer {
  nlohmann::json meta;
  std::vector<std::pair<std::string, Bytes>> sections;
  std::string in_parts = "data";  // the section without a checksum over all of it

  Bytes* find(const std::string& name) {
    for (auto& [key, bytes] : sections) {
      if (key == name) return &bytes;
    }
    return nullptr;
  }
};

inline Bytes to_vector(std::span<const std::byte> bytes) { return {bytes.begin(), bytes.end()}; }

/// Of a valid container.
inline LooseContainer take_apart(std::span<const std::byte> container) {
  const ContainerReader reader(container);
  LooseContainer loose;
  loose.meta = reader.meta();
  for (const SectionInfo& s : reader.sections()) {
    Bytes bytes = to_vector(reader.section_unverified(s.name));
    if (s.name == "index") {
      Bytes sizes;
      ByteWriter writer(sizes);
      ByteReader index(bytes);
      while (index.remaining() > 0) {
        const std::uint64_t size = index.varint();
        writer.varint(size);
        if (size != 0) index.u32();
      }
      bytes = std::move(sizes);
    }
    loose.sections.emplace_back(s.name, std::move(bytes));
  }
  return loose;
}

/// Whatever cannot be read as sizes is kept as it is.
inline Bytes sealed_index(std::span<const std::byte> sizes, std::span<const std::byte> data) {
  Bytes index;
  ByteWriter writer(index);
  ByteReader reader(sizes);
  std::size_t offset = 0;
  while (reader.remaining() > 0) {
    const std::size_t at = reader.offset();
    try {
      const std::uint64_t size = reader.varint();
      writer.varint(size);
      if (size == 0) continue;
      const bool inside = size <= data.size() - offset;
      writer.u32(inside ? static_cast<std::uint32_t>(xxh3_64(data.subspan(offset, size))) : 0);
      if (inside) offset += size;
    } catch (const Error&) {
      writer.bytes(sizes.subspan(at));
      break;
    }
  }
  return index;
}

/// Throws Error when names repeat or the meta data are too deep.
inline Bytes seal(LooseContainer loose) {
  Bytes out;
  ContainerWriter writer(append_to(out));
  const Bytes* data = loose.find("data");
  for (const auto& [name, bytes] : loose.sections) {
    writer.begin_section(name, name == loose.in_parts ? Checks::kInParts : Checks::kWhole);
    if (name == "index" && data != nullptr) {
      writer.append(sealed_index(bytes, *data));
    } else {
      writer.append(bytes);
    }
    writer.end_section();
  }
  writer.finish(loose.meta);
  return out;
}

inline constexpr const char* kSectionNames[] = {"anchors", "data",  "index", "palette", "patches",
                                                "mask",    "zeros", "signs", "raw"};

/// The form of fuzz seeds: meta data as CBOR behind their size (u16); then sections: number of the
/// name (u8), size (u16), bytes.
inline Bytes serialise(const LooseContainer& loose) {
  Bytes out;
  ByteWriter writer(out);
  const Bytes meta = encode_cbor(loose.meta, kMaxDirectoryDepth);
  writer.u16(static_cast<std::uint16_t>(meta.size()));
  writer.bytes(meta);
  for (const auto& [name, bytes] : loose.sections) {
    std::uint8_t number = 0;
    while (name != kSectionNames[number]) ++number;
    writer.u8(number);
    writer.u16(static_cast<std::uint16_t>(bytes.size()));
    writer.bytes(bytes);
  }
  return out;
}

/// The inverse for any bytes: sizes beyond the end are cut. Throws Error when the meta data are not
/// CBOR.
inline LooseContainer deserialise(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  const auto take = [&](std::uint64_t size) {
    return reader.bytes(size < reader.remaining() ? size : reader.remaining());
  };
  LooseContainer loose;
  const std::uint16_t meta_size = reader.u16();
  loose.meta = decode_cbor(take(meta_size), kMaxDirectoryDepth, "fuzz input");
  while (reader.remaining() >= 3) {
    const std::uint8_t number = reader.u8();
    const std::uint16_t size = reader.u16();
    loose.sections.emplace_back(kSectionNames[number % std::size(kSectionNames)],
                                to_vector(take(size)));
  }
  return loose;
}

}  // namespace tamis::testing
