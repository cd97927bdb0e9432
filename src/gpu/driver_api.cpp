// Finding drivers once a process, and turning their status codes into errors.
#include "gpu/driver_api.hpp"

#include "tamis/error.hpp"

namespace tamis::gpu {

DriverFinding load_driver(DeviceKind kind) {
  return kind == DeviceKind::kCuda ? load_cuda_driver() : load_hip_driver();
}

const DriverFinding& shared_driver(DeviceKind kind) {
  if (kind == DeviceKind::kCuda) {
    static const DriverFinding cuda = load_cuda_driver();
    return cuda;
  }
  static const DriverFinding hip = load_hip_driver();
  return hip;
}

std::string status_text(const DriverApi& api, int status) {
  const char* name = api.error_name(status);
  const char* text = api.error_text(status);
  const std::string first = name == nullptr ? "status " + std::to_string(status) : name;
  // HIP repeats the name where it has no words.
  return text == nullptr || first == text ? first : first + ": " + text;
}

void check(const DriverApi& api, int status, const std::string& action) {
  if (status == kStatusOk) return;
  const ErrorCode code =
      status == kStatusOutOfMemory ? ErrorCode::kOutOfMemory : ErrorCode::kDevice;
  throw Error(code, "cannot " + action + ": " + status_text(api, status));
}

}  // namespace tamis::gpu
