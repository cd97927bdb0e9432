// Golomb-Rice segments, compiled for every instruction set: the loops over groups vectorise, and
// the unary parts live on bit instructions. docs/format_codes.md has the layout of each kind.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codec/rice.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
//
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <type_traits>

#include "codec/bit_planes.hpp"
#include "codec/bit_stream.hpp"
#include "codec/rice.hpp"
#include "codec/rice_sparse-inl.hpp"
#include "codec/unary_planes-inl.hpp"
#include "tamis/error.hpp"

HWY_BEFORE_NAMESPACE();
namespace tamis::codec {
namespace HWY_NAMESPACE {

// Planes of the codes below the escape: 24 needs five.
constexpr int kQuotientPlanes = 5;

// A group of up to 64 codes as planes, and how it is written best.
template <typename U>
struct GroupPlan {
  int parameter = -1;  // -1 when all is zero
  std::uint64_t bits = 0;
  std::uint64_t planes[kBits<U> + kQuotientPlanes];  // zero from the codes' width on
  std::uint64_t escapes = 0;

  // The cheaper of the two parameters around the logarithm of the mean.
  void make(const U* group, int n) {
    U all = 0;
    for (int i = 0; i < n; ++i) all |= group[i];
    parameter = -1;
    bits = 0;
    escapes = 0;
    if (all == 0) return;
    const int width = static_cast<int>(std::bit_width(all));
    planes_from_codes(group, width, planes);
    for (int b = width; b < width + kQuotientPlanes; ++b) planes[b] = 0;
    std::uint64_t counts[kBits<U>];
    std::uint64_t sum = 0;  // in units of the lowest bit that counts: it must not overflow
    const int lowest = std::max(0, width - 50);
    for (int b = 0; b < width; ++b) {
      counts[b] = static_cast<std::uint64_t>(std::popcount(planes[b]));
      if (b >= lowest) sum += counts[b] << (b - lowest);
    }
    const std::uint64_t mean = sum / static_cast<std::uint64_t>(n);
    const int guess = lowest + (mean == 0 ? 0 : static_cast<int>(std::bit_width(mean)) - 1);
    parameter = guess;
    bits = cost(group, n, guess, width, counts) + (guess >= kWideParameter - 1 ? 6 : 0);
    if (guess > 0) {
      const std::uint64_t lower =
          cost(group, n, guess - 1, width, counts) + (guess >= kWideParameter ? 6 : 0);
      if (lower < bits) {
        bits = lower;
        parameter = guess - 1;
      }
    }
    if (all >> parameter >= kRiceEscape) cap_quotients(width);
  }

 private:
  static std::uint64_t cost(const U* group, int n, int k, int width, const std::uint64_t* counts) {
    std::uint64_t total = static_cast<std::uint64_t>(n) * static_cast<std::uint64_t>(k);
    if (width - k < kQuotientPlanes) {  // no escapes: the quotients' sum, and a bit for each
      for (int b = k; b < width; ++b) total += counts[b] << (b - k);
      return total + static_cast<std::uint64_t>(n);
    }
    for (int i = 0; i < n; ++i) {
      const U quotient = group[i] >> k;
      total += quotient < kRiceEscape ? static_cast<unsigned>(quotient) + 1
                                      : static_cast<unsigned>(kRiceEscape + kBits<U>);
    }
    return total;
  }

  // Codes whose quotient is the escape or above get exactly that.
  void cap_quotients(int width) {
    std::uint64_t* q = planes + parameter;
    for (int b = parameter + kQuotientPlanes; b < width; ++b) {
      escapes |= planes[b];
      planes[b] = 0;
    }
    escapes |= q[4] & q[3];
    for (int b = 0; b < 3; ++b) q[b] &= ~escapes;
    q[3] |= escapes;
    q[4] |= escapes;
  }
};

// The parameter's planes; the quotients in unary; then in full the codes that escape.
template <typename U>
void write_group(GroupPlan<U>& plan, const U* group, int n, BitWriter& out) {
  for (int b = 0; b < plan.parameter; ++b) out.put_wide(plan.planes[b], n);
  put_unary_planes(plan.planes + plan.parameter, kQuotientPlanes, n, kRiceEscape, out);
  for (std::uint64_t rest = plan.escapes; rest != 0; rest &= rest - 1) {
    out.put_wide(group[std::countr_zero(rest)], kBits<U>);
  }
}

template <typename U>
void read_group(U* group, int n, int k, BitReader& in) {
  std::uint64_t planes[kBits<U> + kQuotientPlanes];
  for (int b = 0; b < k; ++b) planes[b] = in.get_wide(n);
  for (int b = k; b < k + kQuotientPlanes; ++b) planes[b] = 0;
  int count = 0;
  const std::uint64_t escapes = get_unary_planes(n, kRiceEscape, in, planes + k, count);
  codes_from_planes(planes, std::min(k + count, kBits<U>), group);
  for (std::uint64_t rest = escapes; rest != 0; rest &= rest - 1) {
    group[std::countr_zero(rest)] = static_cast<U>(in.get_wide(kBits<U>));
  }
}

// How a segment is written best, and at what cost.
template <typename U>
struct SegmentPlan {
  NonZeros<U> list;  // collected when few codes are not zero
  bool zero = false;
  bool sparse = false;
  int low_bits = 0;
  GroupPlan<U> groups[kRiceSegment / kPlaneGroup];
  std::uint64_t bits = 4;

  // `segment` is followed by zeros up to a whole group.
  SegmentPlan(const U* segment, int n) {
    const int count = (n + kPlaneGroup - 1) / kPlaneGroup;
    std::uint64_t masks[kRiceSegment / kPlaneGroup];
    int nonzero = 0;
    std::uint64_t least_dense = 0;  // a bit for each code of a group, and one more for a non-zero
    for (int g = 0; g < count; ++g) {
      masks[g] = nonzero_mask(segment + g * kPlaneGroup);
      const int found = std::popcount(masks[g]);
      nonzero += found;
      least_dense += 4;
      if (found > 0) least_dense += std::min(kPlaneGroup, n - g * kPlaneGroup) + found;
    }
    zero = nonzero == 0;
    if (zero) return;
    std::uint64_t sparse_bits = ~std::uint64_t{0};
    if (nonzero <= n / 3) {
      list.collect(segment, masks, count);
      sparse_bits = sparse_cost(list, n, low_bits);
    }
    sparse = sparse_bits < least_dense;
    if (!sparse) {
      std::uint64_t dense_bits = 0;
      for (int g = 0; g < count; ++g) {
        groups[g].make(segment + g * kPlaneGroup, std::min(kPlaneGroup, n - g * kPlaneGroup));
        dense_bits += groups[g].bits + 4;
      }
      sparse = sparse_bits < dense_bits;
      bits += dense_bits;
    }
    if (sparse) bits = 4 + sparse_bits;
  }
};

template <typename U>
void write_segment(const U* segment, int n, BitWriter& out) {
  SegmentPlan<U> plan(segment, n);
  if (plan.zero) {
    out.put(kZeroSegment, 4);
    return;
  }
  if (plan.sparse) {
    out.put(static_cast<std::uint64_t>(plan.low_bits + 1), 4);
    write_sparse(plan.list, plan.low_bits, out);
    return;
  }
  const int groups = (n + kPlaneGroup - 1) / kPlaneGroup;
  out.put(kDenseSegment, 4);
  for (int g = 0; g < groups; ++g) {
    const int parameter = plan.groups[g].parameter;
    const int head = std::min(parameter + 1, kWideParameter);
    out.put(static_cast<std::uint64_t>(head), 4);
    if (head == kWideParameter) out.put(static_cast<std::uint64_t>(parameter), 6);
  }
  for (int g = 0; g < groups; ++g) {
    if (plan.groups[g].parameter < 0) continue;
    write_group(plan.groups[g], segment + g * kPlaneGroup,
                std::min(kPlaneGroup, n - g * kPlaneGroup), out);
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

template <typename I>
void encode_any(const I* codes, std::int64_t count, std::vector<std::byte>& out) {
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
std::uint64_t bits_any(const I* codes, std::int64_t count) {
  using U = std::make_unsigned_t<I>;
  std::uint64_t bits = 0;
  U segment[kRiceSegment + kPlaneGroup];
  for (std::int64_t at = 0; at < count; at += kRiceSegment) {
    const int n = static_cast<int>(std::min<std::int64_t>(kRiceSegment, count - at));
    for (int i = 0; i < n; ++i) segment[i] = zigzag(codes[at + i]);
    std::fill_n(segment + n, kPlaneGroup, U{0});
    bits += SegmentPlan<U>(segment, n).bits;
  }
  return bits;
}

template <typename I>
void decode_any(std::span<const std::byte> bytes, std::int64_t count, I* codes) {
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

using Bytes = std::vector<std::byte>;
using View = std::span<const std::byte>;
void encode32(const std::int32_t* c, std::int64_t n, Bytes& out) { encode_any(c, n, out); }
void encode64(const std::int64_t* c, std::int64_t n, Bytes& out) { encode_any(c, n, out); }
std::uint64_t bits32(const std::int32_t* c, std::int64_t n) { return bits_any(c, n); }
std::uint64_t bits64(const std::int64_t* c, std::int64_t n) { return bits_any(c, n); }
void decode32(View bytes, std::int64_t n, std::int32_t* c) { decode_any(bytes, n, c); }
void decode64(View bytes, std::int64_t n, std::int64_t* c) { decode_any(bytes, n, c); }

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace tamis::codec
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tamis::codec {

HWY_EXPORT(encode32);
HWY_EXPORT(encode64);
HWY_EXPORT(bits32);
HWY_EXPORT(bits64);
HWY_EXPORT(decode32);
HWY_EXPORT(decode64);

template <>
void encode_rice(const std::int32_t* codes, std::int64_t count, std::vector<std::byte>& out) {
  HWY_DYNAMIC_DISPATCH(encode32)(codes, count, out);
}
template <>
void encode_rice(const std::int64_t* codes, std::int64_t count, std::vector<std::byte>& out) {
  HWY_DYNAMIC_DISPATCH(encode64)(codes, count, out);
}
template <>
std::uint64_t rice_bits(const std::int32_t* codes, std::int64_t count) {
  return HWY_DYNAMIC_DISPATCH(bits32)(codes, count);
}
template <>
std::uint64_t rice_bits(const std::int64_t* codes, std::int64_t count) {
  return HWY_DYNAMIC_DISPATCH(bits64)(codes, count);
}
template <>
void decode_rice(std::span<const std::byte> bytes, std::int64_t count, std::int32_t* codes) {
  HWY_DYNAMIC_DISPATCH(decode32)(bytes, count, codes);
}
template <>
void decode_rice(std::span<const std::byte> bytes, std::int64_t count, std::int64_t* codes) {
  HWY_DYNAMIC_DISPATCH(decode64)(bytes, count, codes);
}

}  // namespace tamis::codec
#endif  // HWY_ONCE
