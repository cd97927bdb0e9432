// Fuzzes the Golomb-Rice decoder in both widths: what decodes must come back the same after being
// encoded again, and cost what was foretold.
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "codec/rice.hpp"
#include "tamis/error.hpp"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

template <typename I>
void decode_and_encode(std::span<const std::byte> bytes, std::int64_t count) {
  std::vector<I> codes(static_cast<std::size_t>(count));
  try {
    tamis::codec::decode_rice(bytes, count, codes.data());
  } catch (const tamis::Error&) {
    return;  // refusing is right; crashing, hanging or throwing anything else is not
  }
  std::vector<std::byte> again;
  tamis::codec::encode_rice(codes.data(), count, again);
  if (!again.empty()) {
    require((tamis::codec::rice_bits(codes.data(), count) + 7) / 8 == again.size());
  }
  std::vector<I> twice(codes.size(), I{1});
  tamis::codec::decode_rice(again, count, twice.data());
  require(twice == codes);
}

}  // namespace

// First two bytes: how many codes, up to 4095, and their width in the top bit.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::int64_t count = data[0] | (data[1] & 15) << 8;
  const auto bytes = std::as_bytes(std::span(data + 2, size - 2));
  if ((data[1] & 128) != 0) {
    decode_and_encode<std::int64_t>(bytes, count);
  } else {
    decode_and_encode<std::int32_t>(bytes, count);
  }
  return 0;
}
