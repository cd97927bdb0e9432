// Error: code names are part of the JSON output and stay fixed.
#include <gtest/gtest.h>

#include <string>

#include "tamis/error.hpp"

namespace tamis {
namespace {

TEST(Error, CarriesCodeAndMessage) {
  try {
    throw Error(ErrorCode::kIo, "cannot read 'x'");
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "cannot read 'x'");
    EXPECT_EQ(dynamic_cast<const Error&>(error).code(), ErrorCode::kIo);
  }
}

TEST(Error, CodeNamesAreStable) {
  EXPECT_STREQ(error_code_name(ErrorCode::kInvalidArgument), "invalid_argument");
  EXPECT_STREQ(error_code_name(ErrorCode::kUnsupported), "unsupported");
  EXPECT_STREQ(error_code_name(ErrorCode::kCorrupt), "corrupt");
  EXPECT_STREQ(error_code_name(ErrorCode::kIo), "io");
  EXPECT_STREQ(error_code_name(ErrorCode::kOutOfMemory), "out_of_memory");
  EXPECT_STREQ(error_code_name(ErrorCode::kUnavailable), "unavailable");
  EXPECT_STREQ(error_code_name(ErrorCode::kDevice), "device");
  EXPECT_STREQ(error_code_name(static_cast<ErrorCode>(99)), "unknown");
}

}  // namespace
}  // namespace tamis
