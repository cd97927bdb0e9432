// Architecture names, taken apart in one place.
#include "gpu/architecture.hpp"

#include <algorithm>
#include <cctype>

#include "tamis/error.hpp"

namespace tamis {

const char* device_kind_name(DeviceKind kind) noexcept {
  return kind == DeviceKind::kCuda ? "cuda" : "hip";
}

namespace gpu {
namespace {

// "sm_90a" -> 90; -1 for other names.
int sm_number(std::string_view name) {
  if (!name.starts_with("sm_")) return -1;
  name.remove_prefix(3);
  if (!name.empty() && (name.back() == 'a' || name.back() == 'f')) name.remove_suffix(1);
  if (name.size() < 2 || name.size() > 3) return -1;
  int number = 0;
  for (const char c : name) {
    if (c < '0' || c > '9') return -1;
    number = number * 10 + (c - '0');
  }
  return number;
}

bool is_gfx(std::string_view name) {
  if (!name.starts_with("gfx") || name.size() < 6 || name.size() > 8) return false;
  const auto is_digit = [](char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; };
  return std::all_of(name.begin() + 3, name.end(), is_digit);
}

}  // namespace

DeviceKind architecture_kind(std::string_view architecture) {
  if (sm_number(architecture) >= 0) return DeviceKind::kCuda;
  if (is_gfx(architecture)) return DeviceKind::kHip;
  throw Error(ErrorCode::kInvalidArgument, "no architecture: '" + std::string(architecture) +
                                               "'; expected a name like sm_90a or gfx90a");
}

int architecture_wave_size(std::string_view architecture) {
  if (architecture_kind(architecture) == DeviceKind::kCuda) return 32;
  // GCN and CDNA (gfx9 and older) run 64 lanes; RDNA (gfx10 and later) 32.
  const bool wide = architecture.size() == 6 && architecture[3] <= '9';
  return wide ? 64 : 32;
}

std::string cuda_architecture(int major, int minor) {
  const std::string name = "sm_" + std::to_string(major) + std::to_string(minor);
  return major == 9 && minor == 0 ? name + "a" : name;
}

std::vector<std::string> runnable_architectures(std::string_view architecture) {
  std::vector<std::string> names{std::string(architecture)};
  if (architecture_kind(architecture) == DeviceKind::kHip) return names;
  const int number = sm_number(architecture);
  for (int minor = number % 10; minor >= 0; --minor) {
    const std::string name = "sm_" + std::to_string(number / 10 * 10 + minor);
    if (name != architecture) names.push_back(name);
  }
  return names;
}

}  // namespace gpu
}  // namespace tamis
