// Rice segments as lists of their few non-zeros. (Include guard toggles per target.)
#if defined(TAMIS_CODEC_RICE_SPARSE_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef TAMIS_CODEC_RICE_SPARSE_INL_HPP_
#undef TAMIS_CODEC_RICE_SPARSE_INL_HPP_
#else
#define TAMIS_CODEC_RICE_SPARSE_INL_HPP_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "codec/bit_stream.hpp"
#include "codec/rice.hpp"
#include "codec/unary_planes-inl.hpp"
#include "tamis/error.hpp"

HWY_BEFORE_NAMESPACE();
namespace tamis::codec {
namespace HWY_NAMESPACE {

constexpr int kZeroSegment = 0;  // 1 .. 8: sparse, gaps with head - 1 low bits
constexpr int kSparseHeads = 8;
constexpr int kDenseSegment = 9;
constexpr int kWideParameter = 15;  // group head: the parameter follows in 6 bits

template <typename U>
constexpr int kBits = static_cast<int>(sizeof(U) * 8);

// The non-zeros of a segment: gaps before them, and their codes.
template <typename U>
struct NonZeros {
  int count = 0;
  std::uint32_t gaps[kRiceSegment + 1];
  U codes[kRiceSegment + 1];

  // `masks` say which codes of each group of 64 are not zero.
  void collect(const U* segment, const std::uint64_t* masks, int groups) {
    count = 0;
    int next = 0;
    for (int g = 0; g < groups; ++g) {
      for (std::uint64_t rest = masks[g]; rest != 0; rest &= rest - 1) {
        const int position = g * kPlaneGroup + std::countr_zero(rest);
        gaps[count] = static_cast<std::uint32_t>(position - next);
        codes[count++] = segment[position];
        next = position + 1;
      }
    }
  }
};

// Which of 64 codes are not zero.
template <typename U>
std::uint64_t nonzero_mask(const U* group) {
  std::uint64_t mask = 0;
#if HWY_TARGET != HWY_SCALAR && HWY_MAX_BYTES >= 32
  if constexpr (sizeof(U) == 4) {
    namespace hn = hwy::HWY_NAMESPACE;
    const hn::CappedTag<std::uint32_t, 16> d;
    const int lanes = static_cast<int>(hn::Lanes(d));
    for (int i = 0; i < kPlaneGroup; i += lanes) {
      std::uint8_t bits[8] = {};
      hn::StoreMaskBits(d, hn::Ne(hn::LoadU(d, group + i), hn::Zero(d)), bits);
      std::uint64_t word = 0;
      std::memcpy(&word, bits, 2);
      mask |= word << i;
    }
    return mask;
  }
#endif
  for (int i = 0; i < kPlaneGroup; ++i) mask |= std::uint64_t{group[i] != 0} << i;
  return mask;
}

// |code| - 1 of a non-zero code; kRiceEscape when it is written in full.
template <typename U>
std::uint32_t sparse_size(U code) {
  const U size = static_cast<U>((code + 1) >> 1) - 1;  // wraps for the one code without a magnitude
  return size < kRiceEscape ? static_cast<std::uint32_t>(size) : std::uint32_t{kRiceEscape};
}

// Low bits of the gaps that make a list of non-zeros cheapest, and its bits.
template <typename U>
std::uint64_t sparse_cost(const NonZeros<U>& list, int n, int& low_bits) {
  std::uint64_t sizes = 9;
  for (int i = 0; i < list.count; ++i) {
    const std::uint32_t size = sparse_size(list.codes[i]);
    sizes += size + 1 + (size == kRiceEscape ? kBits<U> : 1);
  }
  const auto mean_gap = static_cast<unsigned>((n - list.count) / list.count);
  const int guess = mean_gap == 0 ? 0 : static_cast<int>(std::bit_width(mean_gap)) - 1;
  std::uint64_t best = ~std::uint64_t{0};
  for (int low = std::max(0, guess - 1); low <= std::min(kSparseHeads - 1, guess); ++low) {
    std::uint64_t bits =
        sizes + static_cast<std::uint64_t>(list.count) * (1U + static_cast<unsigned>(low));
    for (int i = 0; i < list.count; ++i) bits += list.gaps[i] >> low;
    if (bits < best) {
      best = bits;
      low_bits = low;
    }
  }
  return best;
}

constexpr int kMostPlanes = 10;  // of numbers up to 512

// Lists in unary, 64 numbers at a time; `numbers` can be read and written in whole groups.
inline void put_unary_list(const std::uint32_t* numbers, int count, int most, BitWriter& out) {
  std::uint64_t planes[kMostPlanes];
  for (int i = 0; i < count; i += kPlaneGroup) {
    const int n = std::min(kPlaneGroup, count - i);
    std::uint32_t all = 0;
    for (int j = 0; j < n; ++j) all |= numbers[i + j];
    const int width = static_cast<int>(std::bit_width(all));
    planes_from_codes(numbers + i, width, planes);
    for (int b = 0; b < width; ++b) planes[b] &= first_bits(n);
    put_unary_planes(planes, width, n, most, out);
  }
}

inline void get_unary_list(int count, int most, BitReader& in, std::uint32_t* numbers) {
  for (int i = 0; i < count; i += kPlaneGroup) {
    std::uint64_t planes[kMostPlanes] = {};
    int width = 0;
    get_unary_planes(std::min(kPlaneGroup, count - i), most, in, planes, width);
    codes_from_planes(planes, width, numbers + i);
  }
}

// Low bits of all gaps, their quotients, signs, sizes, and the codes that escaped.
template <typename U>
void write_sparse(const NonZeros<U>& list, int low, BitWriter& out) {
  out.put(static_cast<std::uint64_t>(list.count - 1), 9);
  const std::uint32_t mask = (1U << low) - 1;
  for (int i = 0; i < list.count; ++i) out.put(list.gaps[i] & mask, low);
  std::uint32_t numbers[kRiceSegment + kPlaneGroup] = {};
  for (int i = 0; i < list.count; ++i) numbers[i] = list.gaps[i] >> low;
  put_unary_list(numbers, list.count, kRiceSegment, out);
  for (int i = 0; i < list.count; ++i) out.put(list.codes[i] & 1, 1);
  for (int i = 0; i < list.count; ++i) numbers[i] = sparse_size(list.codes[i]);
  put_unary_list(numbers, list.count, kRiceEscape, out);
  for (int i = 0; i < list.count; ++i) {
    if (sparse_size(list.codes[i]) == kRiceEscape) out.put_wide(list.codes[i], kBits<U>);
  }
}

template <typename U>
void read_sparse(U* segment, int n, int low, BitReader& in) {
  std::fill_n(segment, n, U{0});
  const int nonzero = static_cast<int>(in.get(9)) + 1;
  std::uint32_t positions[kRiceSegment];
  std::uint32_t high[kRiceSegment + kPlaneGroup];
  std::uint32_t sizes[kRiceSegment + kPlaneGroup];
  std::uint8_t signs[kRiceSegment];
  for (int i = 0; i < nonzero; ++i) positions[i] = static_cast<std::uint32_t>(in.get(low));
  get_unary_list(nonzero, kRiceSegment, in, high);
  std::uint32_t next = 0;
  for (int i = 0; i < nonzero; ++i) {
    next += positions[i] + (high[i] << low);
    if (next >= static_cast<std::uint32_t>(n)) {
      throw Error(ErrorCode::kCorrupt, "Rice stream: a gap leads out of its segment");
    }
    positions[i] = next++;
  }
  for (int i = 0; i < nonzero; ++i) signs[i] = static_cast<std::uint8_t>(in.get(1));
  get_unary_list(nonzero, kRiceEscape, in, sizes);
  for (int i = 0; i < nonzero; ++i) {
    segment[positions[i]] = sizes[i] < kRiceEscape ? static_cast<U>(2 * (sizes[i] + 1) - signs[i])
                                                   : static_cast<U>(in.get_wide(kBits<U>));
  }
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace tamis::codec
HWY_AFTER_NAMESPACE();

#endif  // include guard
