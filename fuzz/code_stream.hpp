// What the fuzzers of table-free code streams share: what decodes must come back the same after
// being encoded again, and cost what was foretold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "tamis/error.hpp"

namespace tamis::fuzz {

inline void require(bool condition) {
  if (!condition) std::abort();
}

/// `Coder` has static decode(bytes, count, codes), encode(codes, count, out) and bits(codes,
/// count).
template <typename Coder, typename I>
void decode_and_encode(std::span<const std::byte> bytes, std::int64_t count) {
  std::vector<I> codes(static_cast<std::size_t>((count + 63) / 64 * 64));  // as the interfaces ask
  try {
    Coder::decode(bytes, count, codes.data());
  } catch (const Error&) {
    return;  // refusing is right; crashing, hanging or throwing anything else is not
  }
  std::vector<std::byte> again;
  Coder::encode(codes.data(), count, again);
  if (!again.empty()) require((Coder::bits(codes.data(), count) + 7) / 8 == again.size());
  std::vector<I> twice(codes.size(), I{1});
  Coder::decode(again, count, twice.data());
  codes.resize(static_cast<std::size_t>(count));
  twice.resize(static_cast<std::size_t>(count));
  require(twice == codes);
}

/// First two bytes: how many codes, up to 4095, and their width in the top bit.
template <typename Coder>
int run_code_stream(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::int64_t count = data[0] | (data[1] & 15) << 8;
  const auto bytes = std::as_bytes(std::span(data + 2, size - 2));
  if ((data[1] & 128) != 0) {
    decode_and_encode<Coder, std::int64_t>(bytes, count);
  } else {
    decode_and_encode<Coder, std::int32_t>(bytes, count);
  }
  return 0;
}

}  // namespace tamis::fuzz
