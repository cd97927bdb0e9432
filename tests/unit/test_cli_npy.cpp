// The .npy header parser against what NumPy writes and against hostile bytes.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <utility>

#include "npy_header.hpp"
#include "support/expect_error.hpp"

namespace tamis::cli {
namespace {

std::string npy_file(const std::string& text, int version = 1, std::size_t data_bytes = 4096) {
  std::string file = "\x93NUMPY";
  file += static_cast<char>(version);
  file += '\0';
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  for (std::size_t i = 0; i < length_bytes; ++i) {
    file += static_cast<char>(text.size() >> (8 * i) & 0xff);
  }
  return file + text + std::string(data_bytes, '\0');
}

NpyHeader parse(const std::string& file) {
  return parse_npy_header(std::as_bytes(std::span(file.data(), file.size())));
}

TEST(NpyHeader, WhatNumpyWrites) {
  for (const int version : {1, 2, 3}) {
    const NpyHeader header = parse(npy_file(
        "{'descr': '>f8', 'fortran_order': True, 'shape': (3, 4), }          \n", version));
    EXPECT_EQ(header.type_name(), "f64");
    EXPECT_TRUE(header.big_endian);
    EXPECT_TRUE(header.fortran_order);
    EXPECT_EQ(header.shape, Extents({3, 4}));
  }
}

TEST(NpyHeader, OtherWriters) {
  // Double quotes, another order of keys, Python 2 longs, no trailing commas.
  const NpyHeader header =
      parse(npy_file(R"({"shape":(5L,),"fortran_order":False,"descr":"<f4"})"));
  EXPECT_EQ(header.shape, Extents({5}));
  EXPECT_FALSE(header.big_endian);
  EXPECT_EQ(parse(npy_file("{'descr': '=f4', 'fortran_order': False, 'shape': ()}")).shape.rank(),
            0);
}

TEST(NpyHeader, OwnHeadersReadBack) {
  for (const Extents& shape : {Extents{7}, Extents{3, 4}, Extents{0, 2}, Extents::filled(16, 1)}) {
    for (const DType dtype : {DType::kF32, DType::kF64}) {
      const std::string text = format_npy_header(dtype, shape);
      EXPECT_EQ(text.size() % 64, 0U);
      const NpyHeader header = parse(text + std::string(4096, '\0'));
      EXPECT_EQ(header.type_name(), dtype_name(dtype));
      EXPECT_EQ(header.shape, shape);
      EXPECT_EQ(header.data_offset, static_cast<std::int64_t>(text.size()));
    }
  }
}

TEST(NpyHeader, RefusesBrokenText) {
  for (const char* text :
       {"", "{", "}", "{}", "[]", "{'descr': '<f4'}", "{'descr': '<f4",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (4,), 'more': 1}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (4,), 'shape': (4,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (4,)} x",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (4}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': 4}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-4,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (4, 1e3)}",
        "{'descr': '<f4', 'fortran_order': 0, 'shape': (4,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (4000, 4000)}"}) {
    EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "not a valid .npy file", parse(npy_file(text)));
  }
  const std::string huge =
      "{'descr': '<f4', 'fortran_order': False, 'shape': "
      "(999999999999, 999999999999)}";
  EXPECT_THROW(parse(npy_file(huge)), Error);
}

TEST(NpyHeader, IntegersAndHalves) {
  const std::pair<const char*, const char*> types[] = {{"<f2", "f16"},    {"|i1", "int8"},
                                                       {">i8", "int64"},  {"|u1", "uint8"},
                                                       {"<u2", "uint16"}, {"=u4", "uint32"}};
  for (const auto& [descr, name] : types) {
    const NpyHeader header = parse(
        npy_file(std::string("{'descr': '") + descr + "', 'fortran_order': False, 'shape': (4,)}"));
    EXPECT_EQ(header.type_name(), name);
  }
  EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "the file holds bytes for 512",
                     parse(npy_file("{'descr': '<i8', 'fortran_order': False, 'shape': (513,)}")));
}

TEST(NpyHeader, RefusesOtherTypes) {
  for (const char* descr : {"'<i3'", "'<f1'", "'|b1'", "'<f16'", "'<u16'", "'<c8'", "'f4'", "''",
                            "'|S4'", "[('a', '<f4')]"}) {
    EXPECT_TAMIS_ERROR(ErrorCode::kUnsupported, "",
                       parse(npy_file(std::string("{'descr': ") + descr +
                                      ", 'fortran_order': False, 'shape': (4,)}")));
  }
  EXPECT_TAMIS_ERROR(ErrorCode::kUnsupported, "version 4", parse(npy_file("{}", 4)));
}

TEST(NpyHeader, AnyPrefixAndAnyByteIsSafe) {
  const std::string good =
      npy_file("{'descr': '<f4', 'fortran_order': False, 'shape': (4, 4), }\n", 1, 64);
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_THROW(parse(good.substr(0, size)), Error) << size;
  }
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    std::string bad = good;
    for (int k = 0; k < 3; ++k) bad[random() % bad.size()] = static_cast<char>(random());
    try {
      const NpyHeader header = parse(bad);
      EXPECT_LE(header.data_offset + header.shape.element_count() * header.item_bytes,
                static_cast<std::int64_t>(bad.size()));
    } catch (const Error&) {
    }
  }
}

}  // namespace
}  // namespace tamis::cli
