// What codes will cost, as reduce::CodePricer measures it in `ratio` mode. Its doubles hold
// integers in 1/65536 bit (below 2^53), so integers in any order give the same.
#pragma once

#include "codec/device/rans_tokens.cuh"
#include "gpu/device/block_scan.cuh"

namespace tamis::device {

inline constexpr u32 kUnseenPrice = 14u << 16;  // a token that the sample did not have

/// Bits of a sample under its own statistics.
struct RansPrice {
  u64 coded = 0;  // 1/65536 bit
  u64 raw = 0;    // bits
  TAMIS_DEVICE double bits() const {
    return static_cast<double>(coded) / 65536 + static_cast<double>(raw);
  }
};

/// Part of a context's counts: sums over the lanes make the whole. A wave calls it.
TAMIS_DEVICE RansPrice price_of_row(const u32* row, int tokens, const u16* logs) {
  RansPrice price;
  u32 sum = 0;
  for (int t = lane_id(); t < tokens; t += kWave) {
    const u32 count = row[t];
    sum += count;
    price.coded -= times_log2(count, logs);
    price.raw += u64{count} * static_cast<u32>(raw_bits_of(t));
  }
  sum = wave_sum(sum);
  if (lane_id() == 0) price.coded += times_log2(sum, logs);
  return price;
}

/// Of all counts. A block of exactly kThreads threads calls it, and all get the result.
template <int kThreads>
TAMIS_DEVICE RansPrice learned_price(const u32* rows, int row_stride, int tokens, const u16* logs,
                                     typename BlockScan<kThreads, u64>::Scratch& scratch) {
  RansPrice all;
  for (int c = wave_id(); c < kRansContexts; c += kThreads / kWave) {
    const RansPrice row = price_of_row(rows + c * row_stride, tokens, logs);
    all.coded += row.coded;
    all.raw += row.raw;
  }
  all.coded = BlockScan<kThreads, u64>::sum(all.coded, scratch);
  all.raw = BlockScan<kThreads, u64>::sum(all.raw, scratch);
  return all;
}

/// Replaces a context's counts by the prices of its tokens, in 1/65536 bit, for price_of_code(). A
/// wave calls it.
TAMIS_DEVICE void freeze_row(u32* row, int tokens, const u16* logs) {
  u32 sum = 0;
  for (int t = lane_id(); t < tokens; t += kWave) sum += row[t];
  sum = wave_sum(sum);
  const u32 log_sum = log2_fixed(max_of(sum, 1u), logs);
  for (int t = lane_id(); t < tokens; t += kWave) {
    const u32 count = row[t];
    row[t] = count > 0 ? log_sum - log2_fixed(count, logs) : kUnseenPrice;
  }
  sync_wave();
}

/// In 1/65536 bit; a sum of these, divided by 65536 as a double, is CodePricer::price().
template <typename I>
TAMIS_DEVICE u32 price_of_code(I code, u32 context, const u32* prices, int row_stride) {
  const RansToken t = rans_token(rans_zigzag(code));
  return prices[static_cast<int>(context) * row_stride + t.token] +
         (static_cast<u32>(t.raw_bits) << 16);
}

}  // namespace tamis::device
