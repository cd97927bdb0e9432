// EXPECT_TAMIS_ERROR(code, expression): the expression throws tamis::Error with that code and a
// message that contains the given text.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "tamis/error.hpp"

namespace tamis::testing {

template <typename Fn>
void expect_error(ErrorCode code, const std::string& text, const Fn& fn, const char* expression) {
  try {
    fn();
    ADD_FAILURE() << expression << " did not throw";
  } catch (const Error& error) {
    EXPECT_STREQ(error_code_name(error.code()), error_code_name(code)) << expression;
    EXPECT_NE(std::string(error.what()).find(text), std::string::npos)
        << expression << ": message is '" << error.what() << "', expected to find '" << text << "'";
  } catch (const std::exception& error) {
    ADD_FAILURE() << expression << " threw something else: " << error.what();
  }
}

}  // namespace tamis::testing

#define EXPECT_TAMIS_ERROR(code, text, ...) \
  ::tamis::testing::expect_error(           \
      code, text, [&] { static_cast<void>(__VA_ARGS__); }, #__VA_ARGS__)
