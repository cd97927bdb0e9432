// CBOR with a depth limit, and typed fields that refuse what nlohmann::json would convert.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/meta.hpp"
#include "support/expect_error.hpp"

namespace tamis {
namespace {

using nlohmann::json;

std::vector<std::byte> raw(const std::vector<int>& values) {
  std::vector<std::byte> bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

TEST(Meta, CborRoundTrip) {
  const json value = {{"a", 1}, {"b", {1.5, "x", nullptr, true}}, {"c", {{"d", UINT64_MAX}}}};
  EXPECT_EQ(decode_cbor(encode_cbor(value, 8), 8, "test"), value);
}

TEST(Meta, DoublesKeepTheirBits) {
  for (const double number : {0.1, -0.0, 1e-320, 1.7976931348623157e308, 9.96921e36}) {
    const json back = decode_cbor(encode_cbor(json{{"x", number}}, 4), 4, "test");
    EXPECT_EQ(std::signbit(meta_double(back, "x")), std::signbit(number));
    EXPECT_EQ(meta_double(back, "x"), number);
  }
}

TEST(Meta, DeepNestingIsRefusedWithoutRecursion) {
  EXPECT_NO_THROW(decode_cbor(raw({0x81, 0x81, 0x01}), 2, "test"));
  EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "more than 1 deep",
                     decode_cbor(raw({0x81, 0x81, 0x01}), 1, "test"));
  const std::vector<std::byte> arrays(1 << 20, std::byte{0x81});
  EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "more than 16 deep", decode_cbor(arrays, 16, "test"));
  const std::vector<std::byte> endless(1 << 20, std::byte{0x9f});
  EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "more than 16 deep", decode_cbor(endless, 16, "test"));
  json nested = 1;
  for (int i = 0; i < 5; ++i) nested = json::array({nested});
  EXPECT_TAMIS_ERROR(ErrorCode::kUnsupported, "more than 4 deep", encode_cbor(nested, 4));
  EXPECT_NO_THROW(encode_cbor(nested, 5));
}

TEST(Meta, InvalidCbor) {
  EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "invalid CBOR", decode_cbor({}, 4, "test"));
  EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "invalid CBOR", decode_cbor(raw({0x01, 0x02}), 4, "t"));
  EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "invalid CBOR", decode_cbor(raw({0xff}), 4, "test"));
  // A string, and an array, that claim 2^62 bytes.
  EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "invalid CBOR",
                     decode_cbor(raw({0x7b, 0x40, 0, 0, 0, 0, 0, 0, 0}), 4, "test"));
  EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "invalid CBOR",
                     decode_cbor(raw({0x9b, 0x40, 0, 0, 0, 0, 0, 0, 0}), 4, "test"));
  // A tag.
  EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "invalid CBOR", decode_cbor(raw({0xc1, 0x01}), 4, "t"));
}

TEST(Meta, IntegersAreNotConverted) {
  const json object = {{"i", -3}, {"u", UINT64_MAX}, {"d", 3.7}, {"s", "3"}, {"b", true}};
  EXPECT_EQ(meta_int(object, "i"), -3);
  EXPECT_EQ(meta_int(object, "i", -3, -3), -3);
  EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "expected 0 to 5", meta_int(object, "i", 0, 5));
  EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "18446744073709551615", meta_int(object, "u"));
  EXPECT_EQ(meta_u64(object, "u"), UINT64_MAX);
  EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "non-negative", meta_u64(object, "i"));
  for (const char* key : {"d", "s", "b"}) {
    EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "expected an integer", meta_int(object, key));
  }
}

TEST(Meta, FieldsOfTheWrongKind) {
  const json object = {{"n", nullptr}, {"a", {1, 2, 3}}, {"mixed", {1, "x"}}, {"bad", "\xff"}};
  EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "'zz' is missing", meta_field(object, "zz"));
  EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "expected a map", meta_field(json(3), "zz"));
  EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "a number", meta_double(object, "n"));
  EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "true or false", meta_bool(object, "n"));
  EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "a string", meta_string(object, "n"));
  EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "UTF-8", meta_string(object, "bad"));
  EXPECT_EQ(meta_int_list(object, "a", 3, 1, 3), (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "at most 2", meta_int_list(object, "a", 2, 1, 3));
  EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "expected 1 to 2", meta_int_list(object, "a", 3, 1, 2));
  EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "an integer", meta_int_list(object, "mixed", 3, 1, 2));
  EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "an array", meta_int_list(object, "n", 3, 1, 2));
  EXPECT_TRUE(meta_has(object, "n"));
  EXPECT_FALSE(meta_has(json(1), "n"));
}

}  // namespace
}  // namespace tamis
