// Counts the tokens of a blob's codes by context. Small tokens are most of all codes and meet in
// few counters, so those have four copies side by side, in different banks, for lanes in turn: as
// many lanes as before hit one counter, but a quarter of the time.
#pragma once

#include "codec/device/rans_tokens.cuh"

namespace tamis::device {

template <typename I>
struct RansHistogram {
  static constexpr int kCopies = 4;
  static constexpr int kWideTokens = kRansTokens<I> - kDirectTokens;

  u32 direct[kRansContexts * kDirectTokens * kCopies];
  u32 wide[kRansContexts * kWideTokens];

  /// All threads of the block call these; no barrier at the end of any.
  TAMIS_DEVICE void clear() {
    for (u32 i = threadIdx.x; i < sizeof(direct) / 4; i += blockDim.x) direct[i] = 0;
    for (u32 i = threadIdx.x; i < sizeof(wide) / 4; i += blockDim.x) wide[i] = 0;
  }

  /// Adds a stream. Contexts must be below kRansContexts.
  TAMIS_DEVICE void count(const I* codes, const u8* contexts, i32 codes_count) {
    constexpr int kAhead = 4;
    const i32 threads = static_cast<i32>(blockDim.x);
    const i32 thread = static_cast<i32>(threadIdx.x);
    i32 i = thread;
    for (; i < codes_count - (kAhead - 1) * threads; i += kAhead * threads) {
      I code[kAhead];
      u32 context[kAhead];
#pragma unroll
      for (int k = 0; k < kAhead; ++k) {
        code[k] = codes[i + k * threads];
        context[k] = contexts[i + k * threads];
      }
#pragma unroll
      for (int k = 0; k < kAhead; ++k) add(code[k], context[k]);
    }
    for (; i < codes_count; i += threads) add(codes[i], contexts[i]);
  }

  /// Writes the counts of each context to its row.
  TAMIS_DEVICE void fold(u32* rows, int row_stride) const {
    constexpr int kTokens = kRansTokens<I>;
    for (u32 i = threadIdx.x; i < kRansContexts * kTokens; i += blockDim.x) {
      const u32 context = i / kTokens;
      const u32 token = i % kTokens;
      u32 sum = 0;
      if (token < kDirectTokens) {
#pragma unroll
        for (int copy = 0; copy < kCopies; ++copy) {
          sum += direct[(context * kDirectTokens + token) * kCopies + copy];
        }
      } else {
        sum = wide[context * kWideTokens + token - kDirectTokens];
      }
      rows[context * row_stride + token] = sum;
    }
  }

 private:
  TAMIS_DEVICE void add(I code, u32 context) {
    const RansUnsigned<I> value = rans_zigzag(code);
    if (value < kDirectTokens) {
      const u32 counter = context * kDirectTokens + static_cast<u32>(value);
      atomicAdd(&direct[counter * kCopies + threadIdx.x % kCopies], 1u);
    } else {
      const int token = rans_token(value).token - kDirectTokens;
      atomicAdd(&wide[context * kWideTokens + token], 1u);
    }
  }
};

}  // namespace tamis::device
