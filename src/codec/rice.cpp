// Golomb-Rice segments; docs/format.md has the layout of each kind.
#include "codec/rice.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <type_traits>

#include "codec/bit_planes.hpp"
#include "codec/bit_stream.hpp"
#include "tamis/error.hpp"

namespace tamis::codec {

namespace {

constexpr int kZeroSegment = 0;  // 1 .. 8: sparse, gaps with head - 1 low bits
constexpr int kSparseHeads = 8;
constexpr int kDenseSegment = 9;
constexpr int kWideParameter = 15;  // group head: the parameter follows in 6 bits

template <typename U>
constexpr int kBits = static_cast<int>(sizeof(U) * 8);

template <typename U>
std::uint64_t rice_cost(const U* group, int n, int k) {
  std::uint64_t bits = 0;
  for (int i = 0; i < n; ++i) {
    const U quotient = k < kBits<U> ? group[i] >> k : 0;
    bits += quotient < kRiceEscape ? static_cast<std::uint64_t>(quotient) + 1
                                   : static_cast<std::uint64_t>(kRiceEscape + kBits<U>);
  }
  return bits + static_cast<std::uint64_t>(n) * static_cast<std::uint64_t>(k);
}

// The cheapest parameter near the logarithm of the mean.
template <typename U>
int rice_parameter(const U* group, int n, std::uint64_t& cost) {
  std::uint64_t sum = 0;
  U all = 0;
  for (int i = 0; i < n; ++i) {
    sum += std::min<std::uint64_t>(group[i], std::uint64_t{1} << 56);
    all |= group[i];
  }
  cost = 0;
  if (all == 0) return -1;
  const std::uint64_t mean = sum / static_cast<std::uint64_t>(n);
  const int guess = mean == 0 ? 0 : static_cast<int>(std::bit_width(mean)) - 1;
  int best = 0;
  cost = ~std::uint64_t{0};
  for (int k = std::max(0, guess - 1); k <= std::min(kBits<U> - 1, guess + 1); ++k) {
    const std::uint64_t bits = rice_cost(group, n, k) + (k >= kWideParameter - 1 ? 6 : 0);
    if (bits < cost) {
      cost = bits;
      best = k;
    }
  }
  return best;
}

template <typename U>
void write_group(const U* group, int n, int k, BitWriter& out) {
  std::uint64_t planes[64];
  planes_from_codes(group, k, planes);
  for (int b = 0; b < k; ++b) {
    out.put_wide(n < 64 ? planes[b] & ((std::uint64_t{1} << n) - 1) : planes[b], n);
  }
  for (int i = 0; i < n; ++i) {
    const U quotient = group[i] >> k;
    if (quotient < kRiceEscape) {
      out.put(std::uint64_t{1} << quotient, static_cast<int>(quotient) + 1);
    } else {
      out.put_unary(kRiceEscape);
      out.put_wide(group[i], kBits<U>);
    }
  }
}

template <typename U>
void read_group(U* group, int n, int k, BitReader& in) {
  std::uint64_t planes[64];
  for (int b = 0; b < k; ++b) planes[b] = in.get_wide(n);
  U low[kPlaneGroup];
  codes_from_planes(planes, k, low);
  for (int i = 0; i < n; ++i) {
    const std::uint64_t quotient = in.get_unary(kRiceEscape);
    group[i] = quotient < kRiceEscape ? static_cast<U>(low[i] | static_cast<U>(quotient) << k)
                                      : static_cast<U>(in.get_wide(kBits<U>));
  }
}

// A segment as a list: the low bits of the gaps, their quotients, signs, sizes.
struct SparseCost {
  int low_bits = 0;
  std::uint64_t bits = ~std::uint64_t{0};
};

template <typename U>
SparseCost sparse_cost(const U* segment, int n, int nonzero) {
  SparseCost best;
  if (nonzero == 0 || nonzero > n / 3) return best;
  std::uint64_t sizes = 0;
  for (int i = 0; i < n; ++i) {
    if (segment[i] == 0) continue;
    const U size = (segment[i] + 1) >> 1;  // |code|
    sizes += size <= kRiceEscape ? static_cast<std::uint64_t>(size)
                                 : static_cast<std::uint64_t>(kRiceEscape + 1 + kBits<U>);
  }
  const int mean_gap = (n - nonzero) / nonzero;
  const int guess = mean_gap == 0 ? 0 : static_cast<int>(std::bit_width(unsigned(mean_gap))) - 1;
  for (int low = std::max(0, guess - 1); low <= std::min(kSparseHeads - 1, guess + 1); ++low) {
    std::uint64_t bits = 9 + sizes + static_cast<std::uint64_t>(nonzero) * (2U + unsigned(low));
    int gap = 0;
    for (int i = 0; i < n; ++i) {
      if (segment[i] == 0) {
        ++gap;
      } else {
        bits += static_cast<unsigned>(gap >> low);
        gap = 0;
      }
    }
    if (bits < best.bits) best = {low, bits};
  }
  return best;
}

template <typename U>
void write_sparse(const U* segment, int n, int nonzero, int low, BitWriter& out) {
  int gaps[kRiceSegment];
  U values[kRiceSegment];
  int found = 0;
  int gap = 0;
  for (int i = 0; i < n; ++i) {
    if (segment[i] == 0) {
      ++gap;
      continue;
    }
    gaps[found] = gap;
    values[found++] = segment[i];
    gap = 0;
  }
  out.put(static_cast<std::uint64_t>(nonzero - 1), 9);
  for (int i = 0; i < found; ++i) out.put(static_cast<unsigned>(gaps[i]) & ((1U << low) - 1), low);
  for (int i = 0; i < found; ++i) out.put_unary(static_cast<unsigned>(gaps[i] >> low));
  for (int i = 0; i < found; ++i) out.put(values[i] & 1, 1);
  for (int i = 0; i < found; ++i) {
    const U size = (values[i] + 1) >> 1;
    if (size != 0 && size <= kRiceEscape) {
      out.put_unary(static_cast<std::uint64_t>(size) - 1);
    } else {
      out.put_unary(kRiceEscape);
      out.put_wide(values[i], kBits<U>);
    }
  }
}

template <typename U>
void read_sparse(U* segment, int n, int low, BitReader& in) {
  std::fill_n(segment, n, U{0});
  const int nonzero = static_cast<int>(in.get(9)) + 1;
  int gaps[kRiceSegment];
  U signs[kRiceSegment];
  for (int i = 0; i < nonzero; ++i) gaps[i] = static_cast<int>(in.get(low));
  int position = -1;
  for (int i = 0; i < nonzero; ++i) {
    const int gap = gaps[i] + (static_cast<int>(in.get_unary(kRiceSegment)) << low);
    if (gap >= n - position - 1) {
      throw Error(ErrorCode::kCorrupt, "Rice stream: a gap leads out of its segment");
    }
    position += gap + 1;
    gaps[i] = position;
  }
  for (int i = 0; i < nonzero; ++i) signs[i] = static_cast<U>(in.get(1));
  for (int i = 0; i < nonzero; ++i) {
    const std::uint64_t size = in.get_unary(kRiceEscape);
    segment[gaps[i]] = size < kRiceEscape ? static_cast<U>(2 * (size + 1) - signs[i])
                                          : static_cast<U>(in.get_wide(kBits<U>));
  }
}

// How a segment is written best, and at what cost.
struct SegmentPlan {
  int nonzero = 0;
  bool sparse = false;
  int low_bits = 0;
  int parameters[kRiceSegment / kPlaneGroup] = {};
  std::uint64_t bits = 4;
};

template <typename U>
SegmentPlan plan_segment(const U* segment, int n) {
  SegmentPlan plan;
  for (int i = 0; i < n; ++i) plan.nonzero += segment[i] != 0;
  if (plan.nonzero == 0) return plan;
  const int groups = (n + kPlaneGroup - 1) / kPlaneGroup;
  std::uint64_t dense_bits = 0;
  for (int g = 0; g < groups; ++g) {
    std::uint64_t cost = 0;
    const int size = std::min(kPlaneGroup, n - g * kPlaneGroup);
    plan.parameters[g] = rice_parameter(segment + g * kPlaneGroup, size, cost);
    dense_bits += cost + 4;
  }
  const SparseCost sparse = sparse_cost(segment, n, plan.nonzero);
  plan.sparse = sparse.bits < dense_bits;
  plan.low_bits = sparse.low_bits;
  plan.bits += std::min(sparse.bits, dense_bits);
  return plan;
}

template <typename U>
void write_segment(const U* segment, int n, BitWriter& out) {
  const SegmentPlan plan = plan_segment(segment, n);
  if (plan.nonzero == 0) {
    out.put(kZeroSegment, 4);
    return;
  }
  if (plan.sparse) {
    out.put(static_cast<std::uint64_t>(plan.low_bits + 1), 4);
    write_sparse(segment, n, plan.nonzero, plan.low_bits, out);
    return;
  }
  const int groups = (n + kPlaneGroup - 1) / kPlaneGroup;
  out.put(kDenseSegment, 4);
  for (int g = 0; g < groups; ++g) {
    const int head = std::min(plan.parameters[g] + 1, kWideParameter);
    out.put(static_cast<std::uint64_t>(head), 4);
    if (head == kWideParameter) out.put(static_cast<std::uint64_t>(plan.parameters[g]), 6);
  }
  for (int g = 0; g < groups; ++g) {
    if (plan.parameters[g] < 0) continue;
    write_group(segment + g * kPlaneGroup, std::min(kPlaneGroup, n - g * kPlaneGroup),
                plan.parameters[g], out);
  }
}

template <typename U>
void read_segment(U* segment, int n, BitReader& in) {
  const int head = static_cast<int>(in.get(4));
  if (head == kZeroSegment) {
    std::fill_n(segment, n, U{0});
    return;
  }
  if (head <= kSparseHeads) {
    read_sparse(segment, n, head - 1, in);
    return;
  }
  if (head != kDenseSegment) {
    throw Error(ErrorCode::kCorrupt,
                "Rice stream: segment kind " + std::to_string(head) + "; expected 0 to 9");
  }
  const int groups = (n + kPlaneGroup - 1) / kPlaneGroup;
  int parameters[kRiceSegment / kPlaneGroup];
  for (int g = 0; g < groups; ++g) {
    const int group_head = static_cast<int>(in.get(4));
    parameters[g] = group_head == kWideParameter ? static_cast<int>(in.get(6)) : group_head - 1;
    if (parameters[g] >= kBits<U>) {
      throw Error(ErrorCode::kCorrupt, "Rice stream: parameter " + std::to_string(parameters[g]) +
                                           " for codes of " + std::to_string(kBits<U>) + " bits");
    }
  }
  for (int g = 0; g < groups; ++g) {
    const int size = std::min(kPlaneGroup, n - g * kPlaneGroup);
    U* group = segment + g * kPlaneGroup;
    if (parameters[g] < 0) {
      std::fill_n(group, size, U{0});
    } else {
      read_group(group, size, parameters[g], in);
    }
  }
}

}  // namespace

template <typename I>
void encode_rice(const I* codes, std::int64_t count, std::vector<std::byte>& out) {
  using U = std::make_unsigned_t<I>;
  const bool all_zero = std::all_of(codes, codes + count, [](I c) { return c == 0; });
  if (all_zero) return;
  BitWriter bits(out);
  U segment[kRiceSegment + kPlaneGroup];
  for (std::int64_t at = 0; at < count; at += kRiceSegment) {
    const int n = static_cast<int>(std::min<std::int64_t>(kRiceSegment, count - at));
    for (int i = 0; i < n; ++i) segment[i] = zigzag(codes[at + i]);
    std::fill_n(segment + n, kPlaneGroup, U{0});
    write_segment(segment, n, bits);
  }
  bits.flush();
}

template <typename I>
std::uint64_t rice_bits(const I* codes, std::int64_t count) {
  using U = std::make_unsigned_t<I>;
  std::uint64_t bits = 0;
  U segment[kRiceSegment];
  for (std::int64_t at = 0; at < count; at += kRiceSegment) {
    const int n = static_cast<int>(std::min<std::int64_t>(kRiceSegment, count - at));
    for (int i = 0; i < n; ++i) segment[i] = zigzag(codes[at + i]);
    bits += plan_segment(segment, n).bits;
  }
  return bits;
}

template <typename I>
void decode_rice(std::span<const std::byte> bytes, std::int64_t count, I* codes) {
  using U = std::make_unsigned_t<I>;
  if (bytes.empty()) {
    std::fill_n(codes, count, I{0});
    return;
  }
  BitReader in(bytes);
  U segment[kRiceSegment + kPlaneGroup];
  for (std::int64_t at = 0; at < count; at += kRiceSegment) {
    const int n = static_cast<int>(std::min<std::int64_t>(kRiceSegment, count - at));
    read_segment(segment, n, in);
    for (int i = 0; i < n; ++i) codes[at + i] = unzigzag(segment[i]);
  }
  in.expect_end();
}

template void encode_rice(const std::int32_t*, std::int64_t, std::vector<std::byte>&);
template void encode_rice(const std::int64_t*, std::int64_t, std::vector<std::byte>&);
template std::uint64_t rice_bits(const std::int32_t*, std::int64_t);
template std::uint64_t rice_bits(const std::int64_t*, std::int64_t);
template void decode_rice(std::span<const std::byte>, std::int64_t, std::int32_t*);
template void decode_rice(std::span<const std::byte>, std::int64_t, std::int64_t*);

}  // namespace tamis::codec
