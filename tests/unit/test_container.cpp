// The container: round trip, and every truncation, extension and single-bit flip of a small one.
// Directories that pass the checksum but lie are built by hand.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "core/byte_io.hpp"
#include "core/container.hpp"
#include "support/expect_error.hpp"

namespace tamis {
namespace {

using nlohmann::json;
using Bytes = std::vector<std::byte>;

Bytes text_bytes(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

Bytes small_container() {
  Bytes out;
  ContainerWriter writer(append_to(out));
  writer.add_section("codes", text_bytes("hello codes"));
  writer.add_section("empty", {});
  writer.begin_section("mask");
  writer.append(text_bytes("in two "));
  writer.append({});
  writer.append(text_bytes("parts"));
  writer.end_section();
  writer.finish({{"shape", {2, 3}}, {"bound", 0.001}});
  EXPECT_EQ(writer.bytes_written(), out.size());
  return out;
}

// A container with a correct checksum around any directory and section bytes.
Bytes handmade(const Bytes& section_bytes, const Bytes& directory) {
  Bytes out;
  ByteWriter writer(out);
  writer.bytes(std::as_bytes(std::span(kFrontMagic)));
  writer.u32(kFormatVersion);
  writer.u32(0);
  Xxh3Stream sum;
  sum.update(out);
  writer.bytes(section_bytes);
  const std::size_t directory_start = out.size();
  writer.bytes(directory);
  writer.u32(static_cast<std::uint32_t>(directory.size()));
  sum.update(std::span(out).subspan(directory_start));
  writer.u64(sum.digest());
  writer.bytes(std::as_bytes(std::span(kTailMagic)));
  return out;
}

Bytes handmade(const Bytes& section_bytes, const json& directory) {
  const std::vector<std::uint8_t> cbor = json::to_cbor(directory);
  const auto bytes = std::as_bytes(std::span(cbor));
  return handmade(section_bytes, Bytes(bytes.begin(), bytes.end()));
}

// Two sections, the first of which carries checksums of its own.
Bytes container_in_parts() {
  Bytes out;
  ContainerWriter writer(append_to(out));
  writer.begin_section("blobs", Checks::kInParts);
  writer.append(text_bytes("blobs"));
  writer.end_section();
  writer.add_section("index", text_bytes("sizes and sums"));
  writer.finish(1);
  return out;
}

void read_fully(std::span<const std::byte> container) { ContainerReader(container).verify_all(); }

json entry(const std::string& name, const json& size) {
  return {{"name", name}, {"size", size}, {"xxh3", xxh3_64({})}};
}

json directory_of(const json& sections) { return {{"meta", 1}, {"sections", sections}}; }

TEST(Container, RoundTrip) {
  const Bytes container = small_container();
  const ContainerReader reader(container);
  EXPECT_EQ(reader.version(), kFormatVersion);
  EXPECT_EQ(reader.meta()["shape"], (json{2, 3}));
  EXPECT_EQ(reader.names(), (std::vector<std::string>{"codes", "empty", "mask"}));
  EXPECT_TRUE(reader.has("mask"));
  EXPECT_FALSE(reader.has("Mask"));
  const auto mask = reader.section("mask");
  EXPECT_EQ(Bytes(mask.begin(), mask.end()), text_bytes("in two parts"));
  EXPECT_EQ(reader.section("empty").size(), 0u);
  EXPECT_EQ(reader.section_unverified("codes").size(), 11u);
  EXPECT_EQ(reader.sections()[0].offset, kFrontBytes);
  EXPECT_NO_THROW(reader.verify_all());
  EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "'zz' is missing", reader.section("zz"));
  EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "'zz' is missing", reader.section_unverified("zz"));
}

TEST(Container, NoSectionsAndNullMeta) {
  Bytes out;
  ContainerWriter(append_to(out)).finish(nullptr);
  const ContainerReader reader(out);
  EXPECT_TRUE(reader.names().empty());
  EXPECT_TRUE(reader.meta().is_null());
}

TEST(Container, BytesDoNotDependOnHowTheyWereAppended) {
  Bytes whole, split;
  ContainerWriter one(append_to(whole)), many(append_to(split));
  const Bytes data = text_bytes("0123456789");
  one.add_section("a", data);
  many.begin_section("a");
  for (const std::byte& byte : data) many.append(std::span(&byte, 1));
  many.end_section();
  one.finish(1);
  many.finish(1);
  EXPECT_EQ(whole, split);
}

TEST(Container, EverySingleBitFlipIsNoticed) {
  Bytes container = small_container();
  for (std::size_t i = 0; i < container.size() * 8; ++i) {
    const auto bit = static_cast<std::byte>(1u << (i % 8));
    container[i / 8] ^= bit;
    EXPECT_THROW(read_fully(container), Error) << "bit " << i;
    container[i / 8] ^= bit;
  }
  EXPECT_NO_THROW(read_fully(container));
}

TEST(Container, EveryTruncationIsNoticed) {
  const Bytes container = small_container();
  for (std::size_t size = 0; size < container.size(); ++size) {
    // A copy of exactly that size, so that the address sanitizer sees reads past its end.
    const Bytes head(container.begin(), container.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "container", read_fully(head));
    const Bytes tail(container.end() - static_cast<std::ptrdiff_t>(size), container.end());
    EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "container", read_fully(tail));
  }
}

TEST(Container, InsertedRemovedAndTrailingBytesAreNoticed) {
  const Bytes container = small_container();
  for (std::size_t at = 0; at <= container.size(); ++at) {
    Bytes longer = container;
    longer.insert(longer.begin() + static_cast<std::ptrdiff_t>(at), std::byte{0x5a});
    EXPECT_THROW(read_fully(longer), Error) << at;
    if (at == container.size()) continue;
    Bytes shorter = container;
    shorter.erase(shorter.begin() + static_cast<std::ptrdiff_t>(at));
    EXPECT_THROW(read_fully(shorter), Error) << at;
  }
  Bytes twice = container;
  twice.insert(twice.end(), container.begin(), container.end());
  EXPECT_THROW(read_fully(twice), Error);
}

TEST(Container, OnlyTheDamagedSectionIsRefused) {
  Bytes container = small_container();
  container[kFrontBytes] ^= std::byte{1};
  const ContainerReader reader(container);
  EXPECT_NO_THROW(reader.section("mask"));
  EXPECT_NO_THROW(reader.section_unverified("codes"));
  EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "'codes' fails its checksum", reader.section("codes"));
  EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "'codes' fails its checksum", reader.section("codes"));
}

// What lacks a checksum may be read as such only: a file must not talk its way past a check.
TEST(Container, SectionsWithoutAChecksumAreNeverTakenAsVerified) {
  const Bytes container = container_in_parts();
  const ContainerReader reader(container);
  EXPECT_FALSE(reader.sections()[0].xxh3.has_value());
  EXPECT_TRUE(reader.sections()[1].xxh3.has_value());
  EXPECT_EQ(reader.section_unverified("blobs").size(), 5u);
  EXPECT_EQ(reader.section("index").size(), 14u);
  EXPECT_NO_THROW(reader.verify_all());
  EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "'blobs' has no checksum", reader.section("blobs"));
}

TEST(Container, EveryBitFlipOutsideOfPartsIsNoticed) {
  Bytes container = container_in_parts();
  for (std::size_t i = 0; i < container.size() * 8; ++i) {
    if (i / 8 >= kFrontBytes && i / 8 < kFrontBytes + 5) continue;
    const auto bit = static_cast<std::byte>(1u << (i % 8));
    container[i / 8] ^= bit;
    EXPECT_THROW(read_fully(container), Error) << "bit " << i;
    container[i / 8] ^= bit;
  }
  EXPECT_NO_THROW(read_fully(container));
}

TEST(Container, NewerVersionIsUnsupported) {
  Bytes container = small_container();
  container[8] = std::byte{2};
  EXPECT_TAMIS_ERROR(ErrorCode::kUnsupported, "version 2", read_fully(container));
}

TEST(Container, OtherFilesAreNamedAsSuch) {
  EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "not a Tamis file", read_fully({}));
  EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "not a Tamis file",
                     read_fully(text_bytes("CDF\x01 some netCDF file that is long enough....")));
}

TEST(Container, DirectoriesThatLie) {
  const Bytes data = text_bytes("abcd");
  const auto refused = [&](const json& sections, const std::string& text) {
    EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, text,
                       read_fully(handmade(data, directory_of(sections))));
  };
  refused(json::array({entry("a", 3)}), "sections end at offset 19");
  refused(json::array({entry("a", 5)}), "runs past offset 20");
  refused(json::array({entry("a", 1), entry("b", UINT64_MAX - 10)}), "runs past");
  refused(json::array({entry("a", -4)}), "non-negative");
  refused(json::array({entry("a", 4.0)}), "non-negative");
  refused(json::array({entry("a", 0), entry("a", 4)}), "'a' occurs twice");
  refused(json::array({entry("", 4)}), "section name");
  refused(json::array({entry(std::string(65, 'x'), 4)}), "section name");
  refused(json::array({entry("a\nb", 4)}), "section name");
  refused(json::array({entry("\xff", 4)}), "UTF-8");
  refused(json::array({entry("a", 4)}), "fails its checksum");
  refused(json::array({{{"name", "a"}, {"size", 4}, {"xxh3", nullptr}}}), "non-negative");
  refused(json::array({{{"name", "a"}, {"size", 4}, {"xxh3", -1}}}), "non-negative");
  refused(json::array({7}), "expected a map");
  refused(json::object(), "not an array");
  refused(json::array(), "sections end at offset 16");
}

TEST(Container, DirectoriesOfTheWrongKind) {
  EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "expected a map", read_fully(handmade({}, json(1))));
  EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "'meta' is missing",
                     read_fully(handmade({}, json{{"sections", json::array()}})));
  EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "'sections' is missing",
                     read_fully(handmade({}, json{{"meta", 1}})));
  EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "invalid CBOR", read_fully(handmade({}, Bytes{})));
  EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "nested",
                     read_fully(handmade({}, Bytes(1000, std::byte{0x81}))));
  EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "limit",
                     read_fully(handmade({}, Bytes(kMaxDirectoryBytes + 1, std::byte{0}))));
}

TEST(Container, WriterRefusesWhatTheReaderWould) {
  Bytes out;
  ContainerWriter writer(append_to(out));
  writer.add_section("a", {});
  EXPECT_TAMIS_ERROR(ErrorCode::kInvalidArgument, "twice", writer.begin_section("a"));
  EXPECT_TAMIS_ERROR(ErrorCode::kInvalidArgument, "printable", writer.begin_section(""));
  EXPECT_TAMIS_ERROR(ErrorCode::kInvalidArgument, "printable", writer.begin_section("a b"));
  EXPECT_TAMIS_ERROR(ErrorCode::kInvalidArgument, "printable",
                     writer.begin_section(std::string(65, 'x')));
  EXPECT_TAMIS_ERROR(ErrorCode::kUnsupported, "directory",
                     writer.finish(std::string(kMaxDirectoryBytes, 'x')));
  json nested = 1;
  for (int i = 0; i < kMaxDirectoryDepth; ++i) nested = json::array({nested});
  EXPECT_TAMIS_ERROR(ErrorCode::kUnsupported, "deep", writer.finish(nested));
  EXPECT_NO_THROW(writer.finish("fits"));
  EXPECT_NO_THROW(read_fully(out));
}

TEST(Container, SinkErrorsReachTheCaller) {
  int calls = 0;
  ContainerWriter writer([&](std::span<const std::byte>) {
    if (++calls == 2) throw Error(ErrorCode::kIo, "disk full");
  });
  writer.begin_section("a");
  EXPECT_TAMIS_ERROR(ErrorCode::kIo, "disk full", writer.append(text_bytes("x")));
}

TEST(Container, SectionsMayBeReadFromSeveralThreads) {
  const Bytes container = small_container();
  const ContainerReader reader(container);
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 100; ++round) reader.verify_all();
    });
  }
}

// The bytes of format version 1 never change: files must open for ever.
TEST(Container, FormatVersionOneIsPinned) {
  const Bytes container = small_container();
  EXPECT_EQ(container.size(), 195u);
  EXPECT_EQ(xxh3_64(container), 6117417289101643624u);
  EXPECT_EQ(container_in_parts().size(), 122u);
  EXPECT_EQ(xxh3_64(container_in_parts()), 8186813136873311917u);
}

}  // namespace
}  // namespace tamis
