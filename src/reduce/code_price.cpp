// Golomb-Rice and fixed-width codes are priced exactly; rANS by the entropy of a sample given its
// contexts.
#include "reduce/code_price.hpp"

#include <numeric>

#include "codec/fixed_width.hpp"
#include "codec/rice.hpp"

namespace tamis::reduce {

namespace {

constexpr double kUnit = 65536;
constexpr std::uint32_t kUnseenPrice = 14 * 65536;  // a token that the sample did not have

std::uint32_t raw_bits_of(int token) {
  return token < codec::kDirectTokens
             ? 0
             : 3 + static_cast<std::uint32_t>(token - codec::kDirectTokens) / 2;
}

}  // namespace

CodePricer::CodePricer(Mode mode) : mode_(mode) {
  if (!wants_contexts()) return;
  counts_ = std::make_unique<codec::RansCounts>();
  for (auto& row : *counts_) row.fill(0);
}

template <typename I>
double CodePricer::learn(const I* codes, const std::uint8_t* contexts, std::int64_t count) {
  learned_codes_ += count;
  if (!wants_contexts()) {
    const double bits = price(codes, contexts, count);
    direct_bits_ += bits;
    return bits;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    const codec::RansToken t = codec::rans_token(codes[i]);
    ++(*counts_)[contexts[i]][static_cast<std::size_t>(t.token)];
    raw_bits_ += static_cast<std::uint64_t>(t.raw_bits);
  }
  return 0;
}

void CodePricer::learn_counts(const std::uint32_t* counts, int tokens) {
  for (auto& row : *counts_) {
    for (int t = 0; t < tokens; ++t) {
      const std::uint32_t count = *counts++;
      row[static_cast<std::size_t>(t)] += count;
      learned_codes_ += count;
      raw_bits_ += std::uint64_t{count} * raw_bits_of(t);
    }
  }
}

double CodePricer::learned_bits() const {
  if (!wants_contexts()) return direct_bits_;
  double total = 0;
  for (const auto& row : *counts_) {
    const std::uint64_t sum = std::accumulate(row.begin(), row.end(), std::uint64_t{0});
    if (sum == 0) continue;
    const std::uint64_t log_sum = codec::log2_fixed(sum);
    for (const std::uint32_t c : row) {
      if (c == 0) continue;
      total += static_cast<double>(c) * static_cast<double>(log_sum - codec::log2_fixed(c));
    }
  }
  return total / kUnit + static_cast<double>(raw_bits_);
}

void CodePricer::freeze() {
  if (!wants_contexts()) return;
  prices_ = std::make_unique<codec::RansCounts>();
  for (std::size_t c = 0; c < counts_->size(); ++c) {
    const auto& row = (*counts_)[c];
    const std::uint64_t sum = std::accumulate(row.begin(), row.end(), std::uint64_t{0});
    const std::uint64_t log_sum = sum > 0 ? codec::log2_fixed(sum) : 0;
    for (std::size_t t = 0; t < row.size(); ++t) {
      (*prices_)[c][t] = row[t] > 0
                             ? static_cast<std::uint32_t>(log_sum - codec::log2_fixed(row[t]))
                             : kUnseenPrice;
    }
  }
}

template <typename I>
double CodePricer::price(const I* codes, const std::uint8_t* contexts, std::int64_t count) const {
  if (mode_ == Mode::kFast) return static_cast<double>(codec::fixed_width_bits(codes, count));
  if (mode_ == Mode::kDefault) return static_cast<double>(codec::rice_bits(codes, count));
  std::uint64_t bits = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const codec::RansToken t = codec::rans_token(codes[i]);
    bits += (*prices_)[contexts[i]][static_cast<std::size_t>(t.token)] +
            static_cast<std::uint64_t>(t.raw_bits) * 65536;
  }
  return static_cast<double>(bits) / kUnit;
}

void CodePricer::write_prices(std::uint32_t* prices, int tokens) const {
  for (const auto& row : *prices_) {
    for (int t = 0; t < tokens; ++t) {
      *prices++ = row[static_cast<std::size_t>(t)] + (raw_bits_of(t) << 16);
    }
  }
}

template double CodePricer::learn(const std::int32_t*, const std::uint8_t*, std::int64_t);
template double CodePricer::learn(const std::int64_t*, const std::uint8_t*, std::int64_t);
template double CodePricer::price(const std::int32_t*, const std::uint8_t*, std::int64_t) const;
template double CodePricer::price(const std::int64_t*, const std::uint8_t*, std::int64_t) const;

}  // namespace tamis::reduce
