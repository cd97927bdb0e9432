// The probability model of a mask block, one body for both directions: whole 64-bit words are
// offered first as copies of what lies above them, other words are coded bit by bit under JBIG-like
// templates. An offer is coded only where it is likely to be taken, so rough regions do not pay
// for it; its probability learns from every word all the same.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "codec/mask_geometry.hpp"

namespace tamis::codec {

/// Bits at a fixed distance before each point of a block: the bit `distance` before point i lies
/// at bit origin + i of `words`.
struct MaskSource {
  const std::uint64_t* words = nullptr;
  std::int64_t origin = 0;
  std::int64_t distance = 0;

  bool present() const noexcept { return words != nullptr; }
};

/// A probability that starts quick and settles: after n decisions it moves by 1 / (n + 1.5) of its
/// error. State: probability of a one in units of 2^-22, above a 10-bit count.
class AdaptiveBit {
 public:
  std::uint32_t p22() const noexcept { return state_ >> 10; }
  bool untouched() const noexcept { return (state_ & kCountMask) == 0; }
  void start_from(const AdaptiveBit& other) noexcept { state_ = other.state_ & ~kCountMask; }
  void update(bool bit) noexcept {
    const std::uint32_t count = state_ & kCountMask;
    const std::uint64_t rate = kRates[count];
    std::uint32_t p = p22();
    if (bit) {
      p += static_cast<std::uint32_t>((((1u << 22) - p) * rate) >> 16);
    } else {
      p -= static_cast<std::uint32_t>((p * rate) >> 16);
    }
    state_ = p << 10 | (count + (count < kCountLimit));
  }

 private:
  static constexpr std::uint32_t kCountMask = 1023;
  static constexpr std::uint32_t kCountLimit = 255;
  static constexpr std::array<std::uint32_t, kCountLimit + 1> kRates = [] {
    std::array<std::uint32_t, kCountLimit + 1> rates = {};
    for (std::uint32_t n = 0; n <= kCountLimit; ++n) rates[n] = (2u << 16) / (2 * n + 3);
    return rates;
  }();

  std::uint32_t state_ = 1u << 31;
};

template <typename Coder>
class MaskModel {
 public:
  /// `self` holds the block from bit `origin` on, a multiple of 64, and what precedes it. The
  /// decoder passes zeros for the block and finds it filled in; the encoder's stays as it is.
  MaskModel(Coder& coder, std::uint64_t* self, std::int64_t origin, const MaskSource& row,
            const MaskSource& second_row, const MaskSource& far)
      : coder_(coder),
        block_(self + origin / 64),
        row_(row),
        second_row_(second_row),
        far_(far),
        search_shift_(far.present() ? 16 : 13),
        small_(std::size_t{1} << 8),
        large_(std::size_t{2} << search_shift_) {
    for (int k = -3; k <= 3; ++k) {
      if (k < row.distance) row_known_ |= 1u << (k + 3);
    }
  }

  void code_block(std::int64_t point_count) {
    for (std::int64_t i = 0; i < point_count; i += 64) {
      code_word(i, static_cast<int>(std::min<std::int64_t>(64, point_count - i)));
    }
  }

 private:
  enum Offer { kFar, kRow, kRepeat, kOfferCount };
  // An offer that was too unlikely to be coded.
  struct Pending {
    AdaptiveBit* model;
    std::uint64_t offered;
    Offer kind;
  };

  // How a word that is offered looks: like the bit before it, uniform, or mixed.
  static int classify(std::uint64_t word, std::uint64_t repeat, std::uint64_t valid) noexcept {
    return word == repeat ? 0 : word == 0 || word == valid ? 1 : 2;
  }

  void code_word(std::int64_t i, int bits) {
    const std::uint64_t valid = ~std::uint64_t{0} >> (64 - bits);
    std::uint64_t& slot = block_[i / 64];
    const std::uint64_t before = std::uint64_t{0} - (block_[i / 64 - 1] >> 63);
    const std::uint64_t repeat = before & valid;
    // A word so near would overlap the one that is coded.
    const bool row_whole = row_.distance >= kWholeWordDistance;
    const bool far_whole = far_.distance >= kWholeWordDistance;
    std::uint64_t row_word = 0;
    std::uint64_t far_word = 0;
    int row_class = 3;
    int far_class = 0;
    if (row_whole) {
      row_word = bit_window(row_.words, row_.origin + i) & valid;
      row_class = classify(row_word, repeat, valid);
      // Quiet is a row that stays the same where templates would look beyond the word, too.
      if (row_class == 0 && (bit_window(row_.words, row_.origin + i - 3) != before ||
                             bit_window(row_.words, row_.origin + i + 3) != before)) {
        row_class = 1;
      }
    }
    if (far_whole) {
      far_word = bit_window(far_.words, far_.origin + i) & valid;
      far_class = classify(far_word, repeat, valid);
    }

    pending_count_ = 0;
    searching_ = false;
    std::uint64_t word = slot;  // the decoder's is still zero
    bool taken = far_whole && offer(kFar, far_class * 4 + row_class, far_word, word);
    if (!taken && row_whole && !(far_whole && row_word == far_word)) {
      taken = offer(kRow, far_class * 4 + row_class, row_word, word);
    }
    if (!taken && !(far_whole && repeat == far_word) && !(row_whole && repeat == row_word)) {
      taken = offer(kRepeat, row_class, repeat, word);
    }
    if (!taken) word = code_bits(i, bits, slot);
    for (int k = 0; k < pending_count_; ++k) {
      learn(*pending_[k].model, pending_[k].kind, word == pending_[k].offered);
    }
    slot = word;
  }

  // Codes whether the word is the offered one, if that is likely; true when it is.
  bool offer(Offer kind, int context, std::uint64_t offered, std::uint64_t& word) {
    AdaptiveBit& model = offers_[kind][context * 4 + (taken_[kind] & 3)];
    if (model.p22() < kOfferThreshold) {
      pending_[pending_count_++] = {&model, offered, kind};
      return false;
    }
    const bool taken = coder_.code(word == offered, std::max(model.p22() >> 6, 1u));
    learn(model, kind, taken);
    if (taken) {
      word = offered;
    } else {
      refused_ = offered;
      searching_ = true;
    }
    return taken;
  }

  void learn(AdaptiveBit& model, Offer kind, bool taken) noexcept {
    model.update(taken);
    taken_[kind] = taken_[kind] << 1 | static_cast<unsigned>(taken);
  }

  // While `searching_`, the word so far is like the refused offer, so that a difference must
  // follow.
  std::uint64_t code_bits(std::int64_t i, int bits, std::uint64_t& slot) {
    const std::uint64_t before = block_[i / 64 - 1];
    // Left neighbours, the newest in bit 0.
    auto left =
        static_cast<std::uint32_t>((before >> 63) | (before >> 61 & 2) | (before >> 59 & 4));
    std::uint64_t word = slot;
    for (int j = 0; j < bits; ++j) {
      const bool refused_bit = (refused_ >> j & 1) != 0;
      bool bit = !refused_bit;
      if (!searching_ || j + 1 < bits) {
        bit = code_point(i + j, left & 7, (word >> j & 1) != 0);
        searching_ = searching_ && bit == refused_bit;
      }
      left = left << 1 | static_cast<std::uint32_t>(bit);
      // Short distances look at the bits of this very word.
      word |= static_cast<std::uint64_t>(bit) << j;
      slot = word;
    }
    return word;
  }

  bool code_point(std::int64_t i, std::uint32_t left, bool bit) {
    const std::uint32_t row = neighbours(row_, i - 3) & row_known_;
    const std::uint32_t second = neighbours(second_row_, i - 1) & 7;
    const std::uint32_t far = neighbours(far_, i - 1) & 7;
    const auto searching = static_cast<std::uint32_t>(searching_);
    AdaptiveBit& small = small_[(left & 1) | (row >> 2 & 15) << 1 | (second >> 1 & 1) << 5 |
                                (far >> 1 & 1) << 6 | searching << 7];
    AdaptiveBit& large =
        large_[left | row << 3 | second << 10 | far << 13 | searching << search_shift_];
    if (large.untouched()) large.start_from(small);
    bit = coder_.code(bit, std::max((small.p22() + large.p22()) >> 7, 1u));
    small.update(bit);
    large.update(bit);
    return bit;
  }

  // The source's bits from point i on, at least seven of them; zero for an absent source.
  static std::uint32_t neighbours(const MaskSource& source, std::int64_t i) noexcept {
    if (!source.present()) return 0;
    return static_cast<std::uint32_t>(bit_window(source.words, source.origin + i));
  }

  static constexpr std::int64_t kWholeWordDistance = 128;
  static constexpr std::uint32_t kOfferThreshold = 1u << 21;  // one half

  Coder& coder_;
  std::uint64_t* block_;
  MaskSource row_;
  MaskSource second_row_;
  MaskSource far_;
  std::uint32_t row_known_ = 0;  // of the row's bits -3 to +3, those before the point itself
  int search_shift_;
  std::vector<AdaptiveBit> small_;
  std::vector<AdaptiveBit> large_;
  std::array<std::array<AdaptiveBit, 12 * 4>, kOfferCount> offers_;
  std::array<unsigned, kOfferCount> taken_ = {};  // outcomes of earlier offers, the newest in bit 0
  std::array<Pending, kOfferCount> pending_ = {};
  int pending_count_ = 0;
  std::uint64_t refused_ = 0;
  bool searching_ = false;
};

}  // namespace tamis::codec
