// Layout: per 8 groups one byte of "not all zero" bits; then per such group its width in bits, one
// byte; then per such group its planes, each of ceil(group / 8) bytes. Sizes follow from the first
// two parts alone, so groups can be decoded in any order.
#include "codec/fixed_width.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <type_traits>

#include "codec/bit_planes.hpp"
#include "codec/bit_stream.hpp"
#include "core/byte_io.hpp"
#include "tamis/error.hpp"

namespace tamis::codec {

template <typename I>
void encode_fixed_width(const I* codes, std::int64_t count, std::vector<std::byte>& out) {
  using U = std::make_unsigned_t<I>;
  const std::int64_t groups = (count + kPlaneGroup - 1) / kPlaneGroup;
  const std::size_t flag_bytes = static_cast<std::size_t>((groups + 7) / 8);
  std::vector<std::byte> head(flag_bytes);
  std::vector<std::byte> payload;
  for (std::int64_t g = 0; g < groups; ++g) {
    const int n = static_cast<int>(std::min<std::int64_t>(kPlaneGroup, count - g * kPlaneGroup));
    U group[kPlaneGroup] = {};
    U all = 0;
    for (int i = 0; i < n; ++i) {
      group[i] = zigzag(codes[g * kPlaneGroup + i]);
      all |= group[i];
    }
    if (all == 0) continue;
    const int width = static_cast<int>(std::bit_width(all));
    head[static_cast<std::size_t>(g / 8)] |= static_cast<std::byte>(1U << (g % 8));
    head.push_back(static_cast<std::byte>(width));
    std::uint64_t planes[64];
    planes_from_codes(group, width, planes);
    const std::size_t plane_bytes = static_cast<std::size_t>((n + 7) / 8);
    const std::size_t at = payload.size();
    payload.resize(at + plane_bytes * static_cast<std::size_t>(width));
    for (int b = 0; b < width; ++b) {
      std::memcpy(payload.data() + at + plane_bytes * static_cast<std::size_t>(b), &planes[b],
                  plane_bytes);
    }
  }
  if (head.size() == flag_bytes) return;
  out.insert(out.end(), head.begin(), head.end());
  out.insert(out.end(), payload.begin(), payload.end());
}

template <typename I>
std::uint64_t fixed_width_bits(const I* codes, std::int64_t count) {
  using U = std::make_unsigned_t<I>;
  std::uint64_t bits = 0;
  for (std::int64_t at = 0; at < count; at += kPlaneGroup) {
    const std::int64_t n = std::min<std::int64_t>(kPlaneGroup, count - at);
    U all = 0;
    for (std::int64_t i = 0; i < n; ++i) all |= zigzag(codes[at + i]);
    const auto plane_bits = static_cast<std::uint64_t>((n + 7) / 8 * 8);
    bits += all == 0 ? 1 : 9 + static_cast<std::uint64_t>(std::bit_width(all)) * plane_bits;
  }
  return bits;
}

template <typename I>
void decode_fixed_width(std::span<const std::byte> bytes, std::int64_t count, I* codes) {
  using U = std::make_unsigned_t<I>;
  if (bytes.empty()) {
    std::fill_n(codes, count, I{0});
    return;
  }
  const std::int64_t groups = (count + kPlaneGroup - 1) / kPlaneGroup;
  ByteReader reader(bytes, "fixed-width stream");
  const auto flags = reader.bytes(static_cast<std::uint64_t>((groups + 7) / 8));
  std::uint64_t present = 0;
  for (const std::byte b : flags) present += std::popcount(static_cast<unsigned>(b));
  const auto widths = reader.bytes(present);
  std::size_t next = 0;
  for (std::int64_t g = 0; g < groups; ++g) {
    const int n = static_cast<int>(std::min<std::int64_t>(kPlaneGroup, count - g * kPlaneGroup));
    I* out = codes + g * kPlaneGroup;
    if ((static_cast<unsigned>(flags[static_cast<std::size_t>(g / 8)]) >> (g % 8) & 1U) == 0) {
      std::fill_n(out, n, I{0});
      continue;
    }
    const int width = static_cast<int>(widths[next++]);
    if (width < 1 || width > static_cast<int>(sizeof(I) * 8)) {
      throw Error(ErrorCode::kCorrupt, "fixed-width stream: a width of " + std::to_string(width) +
                                           " bits; expected 1 to " + std::to_string(sizeof(I) * 8));
    }
    std::uint64_t planes[64];
    const std::size_t plane_bytes = static_cast<std::size_t>((n + 7) / 8);
    const auto data = reader.bytes(plane_bytes * static_cast<std::size_t>(width));
    for (int b = 0; b < width; ++b) {
      planes[b] = 0;
      std::memcpy(&planes[b], data.data() + plane_bytes * static_cast<std::size_t>(b), plane_bytes);
    }
    U group[kPlaneGroup];
    codes_from_planes(planes, width, group);
    for (int i = 0; i < n; ++i) out[i] = unzigzag(group[i]);
  }
  if (next != present) {
    throw Error(ErrorCode::kCorrupt, "fixed-width stream: flags of groups that do not exist");
  }
  reader.expect_end();
}

template void encode_fixed_width(const std::int32_t*, std::int64_t, std::vector<std::byte>&);
template void encode_fixed_width(const std::int64_t*, std::int64_t, std::vector<std::byte>&);
template std::uint64_t fixed_width_bits(const std::int32_t*, std::int64_t);
template std::uint64_t fixed_width_bits(const std::int64_t*, std::int64_t);
template void decode_fixed_width(std::span<const std::byte>, std::int64_t, std::int32_t*);
template void decode_fixed_width(std::span<const std::byte>, std::int64_t, std::int64_t*);

}  // namespace tamis::codec
