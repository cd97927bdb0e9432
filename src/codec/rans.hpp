// The `ratio` code: range asymmetric numeral systems with a static table per cluster of contexts,
// interleaved over up to 32 lanes so that a warp can decode a stream in step.
// Sources: Duda 2013 (ANS); Giesen 2014 (interleaving; 32-bit state, 16-bit words).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "codec/bit_stream.hpp"

namespace tamis::codec {

inline constexpr int kRansBits = 12;  // probabilities are multiples of 2^-12
inline constexpr std::uint32_t kRansTotal = 1U << kRansBits;
inline constexpr std::uint32_t kRansLow = 1U << 16;  // states stay in [2^16, 2^32)
inline constexpr int kRansContexts = 64;
inline constexpr int kMaxRansLanes = 32;

/// A code is a token and some raw bits: zigzag values below 16 are tokens themselves; above, two
/// tokens per octave (the bit after the leading one) and the rest raw.
inline constexpr int kDirectTokens = 16;
inline constexpr int kRansTokens = kDirectTokens + 2 * (64 - 4);

struct RansToken {
  int token;
  int raw_bits;
  std::uint64_t raw;
};

template <typename I>
RansToken rans_token(I code) {
  const std::uint64_t value = zigzag(code);
  if (value < kDirectTokens) return {static_cast<int>(value), 0, 0};
  const int width = static_cast<int>(std::bit_width(value));
  const int raw_bits = width - 2;
  const int second = static_cast<int>(value >> raw_bits & 1);
  return {kDirectTokens + 2 * (width - 5) + second, raw_bits,
          value & ((std::uint64_t{1} << raw_bits) - 1)};
}

/// About 65536 * log2(value), in integers, so that no choice depends on a math library. value > 0.
std::uint64_t log2_fixed(std::uint64_t value);

using RansCounts = std::array<std::array<std::uint32_t, kRansTokens>, kRansContexts>;

/// Tables of a chunk: which cluster each context belongs to, and each cluster's frequencies.
class RansModel {
 public:
  /// Clusters neighbouring contexts where a shared table is cheaper, and normalises.
  static RansModel build(const RansCounts& counts);

  void write(std::vector<std::byte>& out) const;
  /// Reads what write() wrote, exactly. Throws Error(kCorrupt).
  static RansModel read(std::span<const std::byte> bytes);

  /// Decoding entry of a slot: frequency - 1 | (slot - start) << 12 | token << 24.
  const std::uint32_t* slots(int context) const { return slot_of_context_[context]; }
  /// Must be called before slots(), and again after a copy; the encoder does without.
  void prepare_decoding();

  /// What the encoder needs of a token. `reciprocal` is 2^43 / frequency, rounded down.
  struct Symbol {
    std::uint32_t frequency;
    std::uint32_t start;
    std::uint64_t reciprocal;
  };
  const Symbol& symbol(int context, int token) const {
    return symbols_[static_cast<std::size_t>(cluster_[context] * kRansTokens + token)];
  }

 private:
  struct Table {
    std::array<std::uint16_t, kRansTokens> frequency{};
  };
  void set_symbols();

  std::array<std::uint8_t, kRansContexts> cluster_{};
  std::vector<Table> tables_;
  std::vector<std::uint32_t> slots_;
  std::array<const std::uint32_t*, kRansContexts> slot_of_context_{};
  std::vector<Symbol> symbols_;
};

/// Adds codes to a histogram. Contexts must be below kRansContexts.
template <typename I>
void count_tokens(const I* codes, const std::uint8_t* contexts, std::int64_t count,
                  RansCounts& counts);

/// Appends one stream; nothing when all codes are zero. Each code's token must have been counted.
template <typename I>
void encode_rans(const RansModel& model, const I* codes, const std::uint8_t* contexts,
                 std::int64_t count, std::vector<std::byte>& out);

/// Decodes a stream piece by piece. Every error in the bytes is Error(kCorrupt).
class RansReader {
 public:
  /// `model` (prepared for decoding) and the bytes must outlive the reader.
  RansReader(const RansModel& model, std::span<const std::byte> bytes);

  void read(std::int32_t* codes, std::int64_t count, const std::uint8_t* contexts);
  void read(std::int64_t* codes, std::int64_t count, const std::uint8_t* contexts);
  /// Throws unless the stream ended as the encoder began it.
  void expect_end() const;

 private:
  template <typename I>
  void read_codes(I* codes, std::int64_t count, const std::uint8_t* contexts);

  const RansModel* model_;
  std::span<const std::byte> words_;
  std::size_t next_ = 0;
  std::array<std::uint32_t, kMaxRansLanes> states_{};
  unsigned lane_ = 0;
  unsigned lane_mask_ = 0;
  bool all_zero_ = false;
};

}  // namespace tamis::codec
