// One entropy-coded stream of a chunk: codes of up to 16 bundles, each decodable on its own once
// the blob's head is read. Which coder wrote a blob is recorded in the blob, so a decoder need not
// know the mode.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "codec/rans.hpp"
#include "reduce/cell.hpp"
#include "tamis/reduce.hpp"

namespace tamis::reduce {

/// Codes of a chunk's stream before entropy coding; the arrays may be longer than `count`.
template <typename I>
struct StreamCodes {
  std::vector<I> codes;
  std::vector<std::uint8_t> contexts;
  std::vector<std::int64_t> bundle_ends;
  std::int64_t count = 0;
  std::vector<std::byte> payload;  // scratch of encode_stream()

  void resize(std::int64_t new_count, bool with_contexts);
};

/// The blob; empty when every code is zero.
template <typename I>
std::vector<std::byte> encode_stream(Mode mode, StreamCodes<I>& stream);

enum Coder : std::uint8_t { kNoCoder = 0, kRiceCoder = 1, kFixedWidthCoder = 2, kRansCoder = 3 };

template <typename I>
class StreamBlob {
 public:
  /// `bytes` must outlive the blob. Throws Error(kCorrupt).
  StreamBlob(std::span<const std::byte> bytes, std::int64_t bundles);

  /// Whether codes come from entropy decoders, which need contexts.
  bool streamed() const { return coder_ == kRansCoder; }
  /// Codes of a bundle, when not streamed.
  void decode(int bundle, std::int64_t count, I* codes) const;
  /// Decoder of a bundle's codes, when streamed; one of zeros when it is not needed. Points into
  /// this blob.
  codec::RansReader reader(int bundle, bool needed) const;

 private:
  int coder_ = 0;
  codec::RansModel model_;
  std::vector<std::span<const std::byte>> bundles_;
};

}  // namespace tamis::reduce
