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

/// Codes of a chunk's stream before entropy coding. `codes` and `contexts` are longer than what
/// they hold (kRowSlack behind the last code).
template <typename I>
struct StreamCodes {
  std::vector<I> codes;
  std::vector<std::uint8_t> contexts;
  std::vector<std::int64_t> bundle_ends;
  std::int64_t count = 0;

  /// Room for `more` codes behind `count`.
  void reserve(std::int64_t more, bool with_contexts);
};

/// The blob; empty when every code is zero.
template <typename I>
std::vector<std::byte> encode_stream(Mode mode, const StreamCodes<I>& stream);

template <typename I>
class StreamBlob {
 public:
  /// `bytes` must outlive the blob. Throws Error(kCorrupt).
  StreamBlob(std::span<const std::byte> bytes, std::int64_t bundles);

  /// A source of the bundle's `count` codes. `buffer` and `reader` hold what it points to.
  CodeSource<I> open(std::int64_t bundle, std::int64_t count, std::vector<I>& buffer,
                     codec::RansReader& reader) const;
  /// Checks that a bundle was read to its end.
  void finish(const CodeSource<I>& source, std::int64_t count, const std::vector<I>& buffer) const;

 private:
  int coder_ = 0;
  codec::RansModel model_;
  std::vector<std::span<const std::byte>> bundles_;
};

}  // namespace tamis::reduce
