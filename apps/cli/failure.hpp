// The two failures that most files here report, in one wording.
#pragma once

#include <cstring>
#include <string>

#include "tamis/error.hpp"

namespace tamis::cli {

/// The command line asks for something without meaning: exit code 2.
[[noreturn]] inline void reject(const std::string& message) {
  throw Error(ErrorCode::kInvalidArgument, message);
}

/// The operating system refused; `number` is errno.
[[noreturn]] inline void io_error(const std::string& action, const std::string& shown_path,
                                  int number) {
  throw Error(ErrorCode::kIo, "cannot " + action + " " + shown_path + ": " + std::strerror(number));
}

}  // namespace tamis::cli
