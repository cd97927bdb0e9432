// Fuzzes the decoder of fixed-width bit planes in both widths.
#include "codec/fixed_width.hpp"

#include "code_stream.hpp"

namespace {

struct Coder {
  static void decode(auto bytes, auto count, auto* codes) {
    tamis::codec::decode_fixed_width(bytes, count, codes);
  }
  static void encode(const auto* codes, auto count, auto& out) {
    tamis::codec::encode_fixed_width(codes, count, out);
  }
  static std::uint64_t bits(const auto* codes, auto count) {
    return tamis::codec::fixed_width_bits(codes, count);
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return tamis::fuzz::run_code_stream<Coder>(data, size);
}
