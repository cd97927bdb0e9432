// Names of error codes. They appear in `--json` output, so they never change.
#include "tamis/error.hpp"

namespace tamis {

const char* error_code_name(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return "invalid_argument";
    case ErrorCode::kUnsupported:
      return "unsupported";
    case ErrorCode::kCorrupt:
      return "corrupt";
    case ErrorCode::kIo:
      return "io";
    case ErrorCode::kOutOfMemory:
      return "out_of_memory";
    case ErrorCode::kUnavailable:
      return "unavailable";
    case ErrorCode::kDevice:
      return "device";
  }
  return "unknown";
}

}  // namespace tamis
