// Bit plane transposition for every instruction set: a plane is the mask of lanes that have a bit.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codec/bit_planes.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
//
#include <hwy/highway.h>

#include <cstring>

#include "codec/bit_planes.hpp"

HWY_BEFORE_NAMESPACE();
namespace tamis::codec {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Lane counts between 8 and 16 make whole bytes of mask bits.
#if HWY_TARGET != HWY_SCALAR && HWY_MAX_BYTES >= 32
void to_planes32(const std::uint32_t* codes, int count, std::uint64_t* planes) {
  const hn::CappedTag<std::uint32_t, 16> d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  for (int b = 0; b < count; ++b) {
    const auto bit = hn::Set(d, std::uint32_t{1} << b);
    std::uint64_t plane = 0;
    for (int i = 0; i < kPlaneGroup; i += lanes) {
      std::uint8_t bits[8] = {};
      hn::StoreMaskBits(d, hn::TestBit(hn::LoadU(d, codes + i), bit), bits);
      std::uint64_t word = 0;
      std::memcpy(&word, bits, 2);
      plane |= word << i;
    }
    planes[b] = plane;
  }
}

void from_planes32(const std::uint64_t* planes, int count, std::uint32_t* codes) {
  const hn::CappedTag<std::uint32_t, 16> d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  for (int i = 0; i < kPlaneGroup; i += lanes) {
    auto value = hn::Zero(d);
    for (int b = 0; b < count; ++b) {
      std::uint8_t bits[8];
      const std::uint64_t word = planes[b] >> i;
      std::memcpy(bits, &word, 8);
      const auto mask = hn::LoadMaskBits(d, bits);
      value = hn::Or(value, hn::IfThenElseZero(mask, hn::Set(d, std::uint32_t{1} << b)));
    }
    hn::StoreU(value, d, codes + i);
  }
}
#else
void to_planes32(const std::uint32_t* codes, int count, std::uint64_t* planes) {
  for (int b = 0; b < count; ++b) {
    std::uint64_t plane = 0;
    for (int i = 0; i < kPlaneGroup; ++i) plane |= std::uint64_t{codes[i] >> b & 1U} << i;
    planes[b] = plane;
  }
}

void from_planes32(const std::uint64_t* planes, int count, std::uint32_t* codes) {
  for (int i = 0; i < kPlaneGroup; ++i) {
    std::uint32_t value = 0;
    for (int b = 0; b < count; ++b) {
      value |= static_cast<std::uint32_t>(planes[b] >> i & 1U) << b;
    }
    codes[i] = value;
  }
}
#endif

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace tamis::codec
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tamis::codec {

HWY_EXPORT(to_planes32);
HWY_EXPORT(from_planes32);

void planes_from_codes(const std::uint32_t* codes, int count, std::uint64_t* planes) {
  HWY_DYNAMIC_DISPATCH(to_planes32)(codes, count, planes);
}

void codes_from_planes(const std::uint64_t* planes, int count, std::uint32_t* codes) {
  HWY_DYNAMIC_DISPATCH(from_planes32)(planes, count, codes);
}

void planes_from_codes(const std::uint64_t* codes, int count, std::uint64_t* planes) {
  std::uint32_t half[kPlaneGroup];
  for (int i = 0; i < kPlaneGroup; ++i) half[i] = static_cast<std::uint32_t>(codes[i]);
  planes_from_codes(half, count < 32 ? count : 32, planes);
  if (count <= 32) return;
  for (int i = 0; i < kPlaneGroup; ++i) half[i] = static_cast<std::uint32_t>(codes[i] >> 32);
  planes_from_codes(half, count - 32, planes + 32);
}

void codes_from_planes(const std::uint64_t* planes, int count, std::uint64_t* codes) {
  std::uint32_t half[kPlaneGroup];
  codes_from_planes(planes, count < 32 ? count : 32, half);
  for (int i = 0; i < kPlaneGroup; ++i) codes[i] = half[i];
  if (count <= 32) return;
  codes_from_planes(planes + 32, count - 32, half);
  for (int i = 0; i < kPlaneGroup; ++i) codes[i] |= std::uint64_t{half[i]} << 32;
}

}  // namespace tamis::codec
#endif  // HWY_ONCE
