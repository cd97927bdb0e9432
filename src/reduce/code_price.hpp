// What codes will cost in the entropy stage of a mode, without writing them: the measure by which
// plans and predictors are chosen. Integers throughout, so that all devices choose alike.
#pragma once

#include <cstdint>
#include <memory>

#include "codec/rans.hpp"
#include "tamis/reduce.hpp"

namespace tamis::reduce {

class CodePricer {
 public:
  explicit CodePricer(Mode mode);

  bool wants_contexts() const { return mode_ == Mode::kRatio; }

  /// Takes part of a sample; returns its bits, or 0 where tables have to be learned first.
  /// `contexts` may be null unless they are wanted.
  template <typename I>
  double learn(const I* codes, const std::uint8_t* contexts, std::int64_t count);
  /// The same of counts[context][token], `tokens` a context, where tables are learned.
  void learn_counts(const std::uint32_t* counts, int tokens);
  /// Bits of all that was learned, coded together.
  double learned_bits() const;
  std::int64_t learned_codes() const { return learned_codes_; }

  /// Prices by what was learned; must be called before price().
  void freeze();
  /// Bits of other codes.
  template <typename I>
  double price(const I* codes, const std::uint8_t* contexts, std::int64_t count) const;
  /// Bits of a code with its raw bits, in 1/65536, by context and token as learn_counts() has them.
  void write_prices(std::uint32_t* prices, int tokens) const;

 private:
  Mode mode_;
  std::int64_t learned_codes_ = 0;
  double direct_bits_ = 0;  // modes without tables
  std::uint64_t raw_bits_ = 0;
  std::unique_ptr<codec::RansCounts> counts_;
  std::unique_ptr<codec::RansCounts> prices_;  // 1/65536 bit
};

}  // namespace tamis::reduce
