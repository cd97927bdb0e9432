// The meta data of a field and its small sections: what is written comes back, and anything out of
// place is an Error.
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <vector>

#include "core/byte_io.hpp"
#include "core/meta.hpp"
#include "reduce/field_sections.hpp"
#include "reduce/header.hpp"
#include "support/expect_error.hpp"

namespace tamis::reduce {
namespace {

using nlohmann::json;
using Bytes = std::vector<std::byte>;

Header sample() {
  Header h;
  h.info.dtype = DType::kF64;
  h.info.shape = {20, 1, 30, 40};
  h.info.bound = Bound::relative(1e-3);
  h.info.mode = Mode::kRatio;
  h.info.absolute_bound = 0.25;
  h.info.min_value = -7;
  h.info.max_value = 1e300;
  h.info.fill_value = 1e20;
  h.info.fill_detected = true;
  h.info.masked_count = 17;
  h.info.nonfinite_count = 5;
  h.info.exact_count = 3;
  h.fill_bits = std::bit_cast<std::uint64_t>(1e20);
  h.map.kind = MapKind::kAffine;
  h.map.dtype = DType::kF64;
  h.map.wide = true;
  h.map.step = 17;
  h.map.offset = 3.5;
  h.map.unit = 1e-4;
  h.plan.active_mask = 5;
  h.plan.order = {1, 0, 2};
  return h;
}

TEST(FieldHeader, ComesBackThroughCbor) {
  const Header h = sample();
  const Bytes bytes = encode_cbor(h.to_json(), 16);
  const Header r = Header::from_json(decode_cbor(bytes, 16, "test"));
  EXPECT_EQ(r.to_json(), h.to_json());
  EXPECT_EQ(r.info.shape, h.info.shape);
  EXPECT_EQ(r.info.fill_value, 1e20);
  EXPECT_EQ(r.info.masked_count, 17);
  EXPECT_EQ(r.info.exact_count, 3);
  EXPECT_EQ(r.info.raw_bytes, 24000 * 8);
  EXPECT_EQ(r.info.level_count, 7);
  EXPECT_EQ(r.plan.order, h.plan.order);
  EXPECT_EQ(r.map.step, 17);
  EXPECT_EQ(r.info.number_map, "affine");
}

TEST(FieldHeader, EachFieldIsChecked) {
  const json good = sample().to_json();
  const std::vector<std::pair<const char*, std::vector<json>>> bad = {
      {"type", {"fields", 1, nullptr}},
      {"dtype", {0, 3, -1, "f32", 1.5}},
      {"shape",
       {json::array(), json::array({-1}), json::array({1LL << 60, 2}), 5, json::array({1LL << 60}),
        json(std::vector<int>(17, 1)), json::array({1.5})}},
      {"bound", {0, 6, "abs"}},
      {"value", {"1", nullptr, true}},
      {"mode", {0, 4, 1.0}},
      {"masked", {-1, 24001}},
      {"special", {-1, 24001}},
      {"exact", {-1, 24001}},
      {"fill", {-1, 1.5}},
      {"found", {1, "true"}},
      {"map", {0, 6}},
      {"wide", {1, 0}},
      {"step", {0, -1, 2, 16, (1LL << 52) + 1}},
      {"offset",
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}},
      {"unit",
       {std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::infinity()}},
      {"axes", {0, 8, -1, 1.0}},
      {"order",
       {json::array({0}), json::array({0, 0}), json::array({0, 2}), json::array({0, 1, 2}),
        json::array({-1, 0})}},
  };
  for (const auto& [key, values] : bad) {
    for (const json& value : values) {
      json meta = good;
      meta[key] = value;
      SCOPED_TRACE(std::string(key) + " = " + value.dump());
      EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "", Header::from_json(meta));
    }
  }
  for (const char* key : {"type", "dtype", "shape", "bound", "value", "mode", "abs", "min", "max",
                          "map", "wide", "step", "offset", "unit", "axes", "order"}) {
    json meta = good;
    meta.erase(key);
    EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, key, Header::from_json(meta));
  }
}

TEST(FieldHeader, FieldsThatContradictEachOther) {
  json meta = sample().to_json();
  meta["wide"] = false;
  EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "255", (meta["step"] = 257, Header::from_json(meta)));
  meta["step"] = 17;
  meta["map"] = static_cast<int>(MapKind::kOrdered);
  EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "wide", Header::from_json(meta));
  meta = sample().to_json();
  meta["dtype"] = 1;
  EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "fill", Header::from_json(meta));
  meta = sample().to_json();
  meta["shape"] = {2, 3, 4, 5};
  meta["axes"] = 15;
  meta["order"] = {0, 1, 2};
  EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "active", Header::from_json(meta));
  for (const json& odd : {json(), json(5), json::array(), json("field")}) {
    EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "", Header::from_json(odd));
  }
}

TEST(FieldHeader, FoldingKeepsThePoints) {
  EXPECT_EQ(fold_extents({1, 1}), (Extents{1}));
  EXPECT_EQ(fold_extents({1, 7, 1, 3}), (Extents{7, 3}));
  EXPECT_EQ(fold_extents({2, 3, 4, 5, 6, 7}), (Extents{6, 4, 5, 6, 7}));
  EXPECT_EQ(fold_extents({2, 3, 1, 4, 5, 6, 7, 8}), (Extents{24, 5, 6, 7, 8}));
  EXPECT_EQ(fold_extents({0, 5}), (Extents{0, 5}));
  EXPECT_EQ(count_levels({1}), 1);
  EXPECT_EQ(count_levels({2}), 2);
  EXPECT_EQ(count_levels({3, 9}), 5);
  EXPECT_EQ(count_levels({0}), 1);
}

std::vector<Patch> patches_of(std::initializer_list<std::int64_t> indices) {
  std::vector<Patch> patches;
  for (const std::int64_t i : indices)
    patches.push_back({i, static_cast<std::uint64_t>(i * 31 + 7)});
  return patches;
}

TEST(FieldSections, PatchesComeBack) {
  for (const int size : {4, 8}) {
    for (const auto& patches :
         {patches_of({}), patches_of({0}), patches_of({0, 1, 2, 500, 99999})}) {
      const Bytes bytes = write_patches(patches, size);
      const std::vector<Patch> back = read_patches(bytes, size, 100000);
      ASSERT_EQ(back.size(), patches.size());
      for (std::size_t i = 0; i < back.size(); ++i) {
        EXPECT_EQ(back[i].index, patches[i].index);
        EXPECT_EQ(back[i].bits, patches[i].bits);
      }
      if (patches.empty()) continue;
      EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "outside",
                         read_patches(bytes, size, patches.back().index));
      for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
        EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "",
                           read_patches(std::span(bytes).first(cut), size, 100000));
      }
    }
  }
}

TEST(FieldSections, HostilePatches) {
  Bytes bytes;
  ByteWriter writer(bytes);
  writer.varint(~std::uint64_t{0});  // so many
  EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "patches", read_patches(bytes, 4, 100));
  bytes.clear();
  writer.varint(1);
  writer.varint(~std::uint64_t{0});  // so far away
  writer.u32(5);
  EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "outside", read_patches(bytes, 4, std::int64_t{1} << 60));
}

TEST(FieldSections, PalettesComeBack) {
  const std::vector<double> palette = {-1e300, -2.5, 0.0, 5e-324, 1.0, 1.0000000000000002, 1e308};
  EXPECT_EQ(read_palette(write_palette(palette, DType::kF64), DType::kF64), palette);
  const std::vector<double> narrow = {-1e30F, -2.5, 0.0, 0.1F, 3e38F};
  EXPECT_EQ(read_palette(write_palette(narrow, DType::kF32), DType::kF32), narrow);
  EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "0 entries",
                     read_palette(write_palette({}, DType::kF32), DType::kF32));
  const Bytes bytes = write_palette(palette, DType::kF64);
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
    EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "",
                       read_palette(std::span(bytes).first(cut), DType::kF64));
  }
}

TEST(FieldSections, IndexComesBackAndMustFit) {
  const Grid grid({130, 200}, {3, {0, 1, 2}});
  const BlobTable table(grid);
  std::vector<BlobEntry> entries(static_cast<std::size_t>(table.count()));
  std::uint64_t total = 0;
  table.each([&](std::int64_t slot) {
    BlobEntry& e = entries[static_cast<std::size_t>(slot)];
    e.offset = total;
    e.size = static_cast<std::uint64_t>(slot % 3) * 200;
    e.checksum = e.size != 0 ? static_cast<std::uint32_t>(slot * 77) : 0;
    total += e.size;
  });
  const Bytes bytes = write_index(table, entries);
  const std::vector<BlobEntry> back = read_index(bytes, table, total);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    EXPECT_EQ(back[i].offset, entries[i].offset);
    EXPECT_EQ(back[i].size, entries[i].size);
    EXPECT_EQ(back[i].checksum, entries[i].checksum);
  }
  EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "exceed", read_index(bytes, table, total - 1));
  EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "data section", read_index(bytes, table, total + 1));
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
    EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "",
                       read_index(std::span(bytes).first(cut), table, total));
  }
  Bytes huge;
  ByteWriter writer(huge);
  for (std::int64_t i = 0; i < table.count(); ++i) {
    writer.varint(~std::uint64_t{0});
    writer.u32(0);
  }
  EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "exceed", read_index(huge, table, total));
}

}  // namespace
}  // namespace tamis::reduce
