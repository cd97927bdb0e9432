// Floating-point values and their bits as one integer type for both sizes.
#pragma once

#include <cstdint>
#include <cstring>

namespace tamis::reduce {

template <typename T>
std::uint64_t bits_of(T value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

template <typename T>
T value_of(std::uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

}  // namespace tamis::reduce
