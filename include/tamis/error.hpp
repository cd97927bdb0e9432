// What Tamis throws: one exception type with a code that callers can act on and a message that
// names what was given and what was expected.
#pragma once

#include <stdexcept>
#include <string>

namespace tamis {

enum class ErrorCode {
  kInvalidArgument,  // the caller asked for something that has no meaning
  kUnsupported,      // meaningful, but outside what this build or format version handles
  kCorrupt,          // bytes that are not a valid container, or fail their checksum
  kIo,               // the operating system refused a read or a write
  kOutOfMemory,      // what the request needs exceeds the limit or the machine
  kUnavailable,      // this machine lacks the device, driver or compiler that it takes
  kDevice,           // a device, its driver or its compiler reported a failure
};

/// Short stable name of a code, e.g. "corrupt"; used in `--json` output.
const char* error_code_name(ErrorCode code) noexcept;

class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

}  // namespace tamis
