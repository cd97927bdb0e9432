// Encoding and decoding of interleaved rANS streams. The encoder runs backwards, so the decoder
// reads codes and words in their natural order.
#include "codec/rans.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "tamis/error.hpp"

namespace tamis::codec {

namespace {

constexpr int kRawPiece = 12;          // raw bits go through the state at most this many at a time
constexpr std::size_t kMostWords = 7;  // of a code: 62 raw bits in six pieces, and its token

[[noreturn]] void throw_corrupt(const std::string& what) {
  throw Error(ErrorCode::kCorrupt, "rANS stream: " + what);
}

// Nobody can predict when a state is full, so this takes no branch.
inline void give_word(bool full, std::uint32_t& x, std::uint16_t* words, std::size_t& next) {
  words[next] = static_cast<std::uint16_t>(x);
  next += full ? 1 : 0;
  x >>= full ? 16 : 0;
}

// Few lanes for short streams, since each costs about two bytes at the end.
template <typename I>
int lane_bits(const RansModel& model, const I* codes, const std::uint8_t* contexts,
              std::int64_t count) {
  constexpr std::int64_t kBitsPerLane = 2048;
  std::int64_t bits = 0;
  for (std::int64_t i = 0; i < count && bits <= kBitsPerLane * kMaxRansLanes / 2; ++i) {
    const RansToken t = rans_token(codes[i]);
    const std::uint32_t frequency = model.symbol(contexts[i], t.token).frequency;
    bits += kRansBits - static_cast<int>(std::bit_width(frequency)) + 1 + t.raw_bits;
  }
  int log2 = 0;
  while (log2 < 5 && bits > kBitsPerLane << log2 && count > (64LL << log2)) ++log2;
  return log2;
}

}  // namespace

template <typename I>
void count_tokens(const I* codes, const std::uint8_t* contexts, std::int64_t count,
                  RansCounts& counts) {
  for (std::int64_t i = 0; i < count; ++i) {
    ++counts[contexts[i]][static_cast<std::size_t>(rans_token(codes[i]).token)];
  }
}

template <typename I>
void encode_rans(const RansModel& model, const I* codes, const std::uint8_t* contexts,
                 std::int64_t count, std::vector<std::byte>& out) {
  if (std::all_of(codes, codes + count, [](I c) { return c == 0; })) return;
  const int log2_lanes = lane_bits(model, codes, contexts, count);
  const std::int64_t lanes = std::int64_t{1} << log2_lanes;
  std::array<std::uint32_t, kMaxRansLanes> states;
  states.fill(kRansLow);
  std::vector<std::uint16_t> words;  // last first
  std::size_t next = 0;
  for (std::int64_t i = count - 1; i >= 0; --i) {
    if (next + kMostWords > words.size()) words.resize(2 * words.size() + 4096);
    std::uint32_t x = states[static_cast<std::size_t>(i & (lanes - 1))];
    const RansToken t = rans_token(codes[i]);
    int left = t.raw_bits;
    while (left > 0) {  // the last piece first, since the decoder meets them the other way round
      const int piece = left % kRawPiece == 0 ? kRawPiece : left % kRawPiece;
      left -= piece;
      const auto value =
          static_cast<std::uint32_t>(t.raw >> left & ((std::uint64_t{1} << piece) - 1));
      give_word(x >= 1U << (32 - piece), x, words.data(), next);
      x = x << piece | value;
    }
    const RansModel::Symbol& symbol = model.symbol(contexts[i], t.token);
    give_word(x >= std::uint64_t{symbol.frequency} << (32 - kRansBits), x, words.data(), next);
    // x < frequency * 2^20 now: the product fits, and the quotient is at most one too small.
    auto quotient = static_cast<std::uint32_t>(x * symbol.reciprocal >> 43);
    std::uint32_t rest = x - quotient * symbol.frequency;
    if (rest >= symbol.frequency) {
      ++quotient;
      rest -= symbol.frequency;
    }
    states[static_cast<std::size_t>(i & (lanes - 1))] =
        (quotient << kRansBits) + rest + symbol.start;
  }
  const std::size_t at = out.size();
  out.resize(at + 1 + static_cast<std::size_t>(lanes) * 4 + next * 2);
  out[at] = static_cast<std::byte>(log2_lanes);
  std::memcpy(out.data() + at + 1, states.data(), static_cast<std::size_t>(lanes) * 4);
  std::byte* to = out.data() + at + 1 + static_cast<std::size_t>(lanes) * 4;
  for (std::size_t i = next; i-- > 0; to += 2) std::memcpy(to, &words[i], 2);
}

RansReader::RansReader(const RansModel& model, std::span<const std::byte> bytes) : model_(&model) {
  if (bytes.empty()) {
    all_zero_ = true;
    return;
  }
  const unsigned log2_lanes = static_cast<unsigned>(bytes[0]);
  if (log2_lanes > 5) {
    throw_corrupt("2^" + std::to_string(log2_lanes) + " lanes; expected at most 32");
  }
  const std::size_t lanes = std::size_t{1} << log2_lanes;
  if (bytes.size() < 1 + 4 * lanes) {
    throw_corrupt(std::to_string(bytes.size()) + " bytes; its lanes alone need " +
                  std::to_string(1 + 4 * lanes));
  }
  std::memcpy(states_.data(), bytes.data() + 1, 4 * lanes);
  for (std::size_t i = 0; i < lanes; ++i) {
    if (states_[i] < kRansLow) throw_corrupt("a state is below 2^16");
  }
  lane_mask_ = static_cast<unsigned>(lanes) - 1;
  words_ = bytes.subspan(1 + 4 * lanes);
}

template <typename I>
void RansReader::read_codes(I* codes, std::int64_t count, const std::uint8_t* contexts) {
  if (all_zero_) {
    std::fill_n(codes, count, I{0});
    return;
  }
  const std::byte* next = words_.data() + next_;
  const std::byte* const end = words_.data() + words_.size();
  unsigned lane = lane_;
  // Without a branch on what cannot be predicted, as long as a word is there to be read.
  const auto refill = [&](std::uint32_t& state) {
    const bool low = state < kRansLow;
    if (end - next < 2) {
      if (low) throw_corrupt("it ends in the middle of a code");
      return;
    }
    std::uint16_t word;
    std::memcpy(&word, next, 2);
    next += low ? 2 : 0;
    state = low ? state << 16 | word : state;
  };
  for (std::int64_t i = 0; i < count; ++i) {
    std::uint32_t state = states_[lane];
    const std::uint32_t entry = model_->slots(contexts[i])[state & (kRansTotal - 1)];
    state = ((entry & (kRansTotal - 1)) + 1) * (state >> kRansBits) + (entry >> 12 & 0xfffU);
    refill(state);
    const int token = static_cast<int>(entry >> 24);
    if (token < kDirectTokens) {
      codes[i] = static_cast<I>(unzigzag(static_cast<std::make_unsigned_t<I>>(token)));
    } else {
      const int width = 5 + (token - kDirectTokens) / 2;
      if (width > static_cast<int>(sizeof(I) * 8)) {
        throw_corrupt("a code of " + std::to_string(width) + " bits");
      }
      std::uint64_t value = 2 + static_cast<std::uint64_t>((token - kDirectTokens) % 2);
      value <<= width - 2;
      for (int done = 0; done < width - 2;) {
        const int piece = std::min(kRawPiece, width - 2 - done);
        value |= static_cast<std::uint64_t>(state & ((1U << piece) - 1)) << done;
        state >>= piece;
        refill(state);
        done += piece;
      }
      codes[i] = unzigzag(static_cast<std::make_unsigned_t<I>>(value));
    }
    states_[lane] = state;
    lane = (lane + 1) & lane_mask_;
  }
  lane_ = lane;
  next_ = static_cast<std::size_t>(next - words_.data());
}

void RansReader::read(std::int32_t* codes, std::int64_t count, const std::uint8_t* contexts) {
  read_codes(codes, count, contexts);
}

void RansReader::read(std::int64_t* codes, std::int64_t count, const std::uint8_t* contexts) {
  read_codes(codes, count, contexts);
}

void RansReader::expect_end() const {
  if (all_zero_) return;
  if (next_ != words_.size()) throw_corrupt("words are left over at the end");
  for (unsigned i = 0; i <= lane_mask_; ++i) {
    if (states_[i] != kRansLow) throw_corrupt("it does not end in the state it began with");
  }
}

template void count_tokens(const std::int32_t*, const std::uint8_t*, std::int64_t, RansCounts&);
template void count_tokens(const std::int64_t*, const std::uint8_t*, std::int64_t, RansCounts&);
template void encode_rans(const RansModel&, const std::int32_t*, const std::uint8_t*, std::int64_t,
                          std::vector<std::byte>&);
template void encode_rans(const RansModel&, const std::int64_t*, const std::uint8_t*, std::int64_t,
                          std::vector<std::byte>&);

}  // namespace tamis::codec
