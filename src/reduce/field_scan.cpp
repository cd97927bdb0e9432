// Range and fill detection. A value is taken for a fill when it is an extreme of the field, is one
// of the values in common use, and lies far from everything else.
#include "reduce/field_scan.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "core/threads.hpp"
#include "reduce/block_range.hpp"
#include "reduce/value_bits.hpp"

namespace tamis::reduce {

namespace {

// Defaults of netCDF (9.96921e36), CMIP (1e20), GrADS and Ferret (-1e34, 1e34), and others met in
// files. The second group is plausible data, so it must lie clearly apart to count.
constexpr std::array<double, 9> kAlwaysFill = {
    9.969209968386869e36, 1e20, -1e20, 1e30, -1e30, 1e34, -1e34, 1e36, 1e35};
constexpr std::array<double, 12> kPossibleFill = {-9999,  -999,        -99999,        -999999,
                                                  9999,   99999,       999999,        -32768,
                                                  -32767, -1073741824, -2147483648.0, -1e10};

template <typename T>
bool listed(const auto& list, T value) {
  return std::any_of(list.begin(), list.end(),
                     [&](double v) { return static_cast<T>(v) == value; });
}

template <typename T>
void add_range(Tally<T>& t, const BlockRange<T>& range) {
  t.low = std::min(t.low, range.low);
  t.high = std::max(t.high, range.high);
  t.zero = t.zero || (range.low <= 0 && range.high >= 0);
  t.negative = t.negative || range.negative;
}

template <typename T>
void add_value(Tally<T>& t, T v, std::optional<T> fill) {
  const bool finite = std::isfinite(v);
  if (std::isnan(v) && !t.first_nan) t.first_nan = v;
  if (fill && is_fill(v, *fill)) {
    ++t.masked;
    t.masked_special += finite ? 0 : 1;
  } else if (finite) {
    add_range(t, {v, v, std::signbit(v), true});
  } else {
    t.nan += std::isnan(v) ? 1 : 0;
    t.infinite += std::isnan(v) ? 0 : 1;
    t.negative = t.negative || std::signbit(v);
  }
}

template <typename T>
void merge(Tally<T>& t, const Tally<T>& later) {
  if (!t.first_nan) t.first_nan = later.first_nan;
  t.low = std::min(t.low, later.low);
  t.high = std::max(t.high, later.high);
  t.nan += later.nan;
  t.infinite += later.infinite;
  t.masked += later.masked;
  t.masked_special += later.masked_special;
  t.zero = t.zero || later.zero;
  t.negative = t.negative || later.negative;
}

template <typename T>
Tally<T> tally_run(const T* data, std::int64_t count, std::optional<T> fill) {
  constexpr std::int64_t kBlock = 4096;
  Tally<T> t;
  for (std::int64_t at = 0; at < count; at += kBlock) {
    const std::int64_t n = std::min(kBlock, count - at);
    const T* block = data + at;
    // Most blocks are plain: all finite, no fill, and their extremes are all that is new.
    const BlockRange<T> range = block_range(block, n);
    const bool may_hold_fill = fill && !(*fill < range.low) && !(*fill > range.high);
    if (range.finite && !may_hold_fill) {
      add_range(t, range);
      continue;
    }
    for (std::int64_t i = 0; i < n; ++i) add_value(t, block[i], fill);
  }
  return t;
}

template <typename T>
Tally<T> tally(const EachPiece<T>& pieces, std::optional<T> fill, int threads) {
  constexpr std::int64_t kRun = std::int64_t{1} << 18;
  Tally<T> total;
  pieces([&](std::int64_t, std::int64_t count, const T* data) {
    std::vector<Tally<T>> runs(static_cast<std::size_t>((count + kRun - 1) / kRun));
    parallel_for(static_cast<std::int64_t>(runs.size()), threads, [&](std::int64_t r, int) {
      runs[static_cast<std::size_t>(r)] =
          tally_run(data + r * kRun, std::min(kRun, count - r * kRun), fill);
    });
    for (const Tally<T>& run : runs) merge(total, run);
    return true;
  });
  return total;
}

// The inverse of the rank in reduce/device/field_scan.cuh.
template <typename T>
T of_rank(std::uint64_t rank) {
  constexpr std::uint64_t kSign = std::uint64_t{1} << (8 * sizeof(T) - 1);
  constexpr std::uint64_t kAll = kSign | (kSign - 1);
  return value_of<T>((rank & kSign) != 0 ? rank ^ kSign : ~rank & kAll);
}

// Is `candidate`, an extreme that occurs `count` times, a fill beside values in [low, high]?
template <typename T>
bool stands_apart(T candidate, std::int64_t count, T low, T high) {
  const double c = static_cast<double>(candidate);
  if (low > high) return false;  // nothing else
  const double magnitude =
      std::max(std::fabs(static_cast<double>(low)), std::fabs(static_cast<double>(high)));
  if (listed(kAlwaysFill, candidate)) return std::fabs(c) > 1e4 * magnitude;
  if (!listed(kPossibleFill, candidate) || count < 2) return false;
  const double range = static_cast<double>(high) - static_cast<double>(low);
  const double gap =
      c < static_cast<double>(low) ? static_cast<double>(low) - c : c - static_cast<double>(high);
  return gap > 2 * range && gap > 0.5 * std::fabs(c);
}

}  // namespace

template <typename T>
bool is_fill(T value, T fill) {
  return std::isnan(fill) ? std::isnan(value) : value == fill;
}

template <typename T>
FieldScan<T> scan_by_tallies(const TallyField<T>& tally, std::int64_t count,
                             const CompressOptions& options) {
  FieldScan<T> scan;
  if (options.fill_value) scan.fill = static_cast<T>(*options.fill_value);
  Tally<T> t = tally(scan.fill);
  if (scan.fill && std::isnan(*scan.fill) && t.first_nan) scan.fill = t.first_nan;
  if (!scan.fill && options.detect_fill) {
    std::optional<T> found;
    if (t.nan > 0) {
      found = t.first_nan;
    } else if (t.low < t.high) {
      for (const bool use_high : {true, false}) {
        const T candidate = use_high ? t.high : t.low;
        if (!listed(kAlwaysFill, candidate) && !listed(kPossibleFill, candidate)) continue;
        const Tally<T> rest = tally(candidate);
        if (!stands_apart(candidate, rest.masked, rest.low, rest.high)) {
          continue;
        }
        found = candidate;
        break;
      }
    }
    if (found) {
      scan.fill = found;
      scan.fill_detected = true;
      t = tally(scan.fill);
    }
  }
  scan.masked_count = t.masked;
  scan.valid_count = count - t.masked;
  scan.finite_count = scan.valid_count - t.nan - t.infinite;
  scan.nonfinite_count = t.nan + t.infinite + t.masked_special;
  scan.may_have_zeros = t.zero;
  scan.has_negative = t.negative;
  if (t.low <= t.high) {
    // Which zero is the lowest would depend on the order of looking: a sum makes both positive.
    scan.min_value = static_cast<double>(t.low) + 0.0;
    scan.max_value = static_cast<double>(t.high) + 0.0;
    scan.max_magnitude = std::max(std::fabs(scan.min_value), std::fabs(scan.max_value));
  } else {
    scan.min_value = scan.max_value = std::numeric_limits<double>::quiet_NaN();
  }
  return scan;
}

template <typename T>
FieldScan<T> scan_field(const EachPiece<T>& pieces, std::int64_t count,
                        const CompressOptions& options) {
  return scan_by_tallies<T>(
      [&](std::optional<T> fill) { return tally<T>(pieces, fill, options.threads); }, count,
      options);
}

template <typename T>
Tally<T> tally_of(const device::FieldTally& found) {
  Tally<T> t;
  if (found.high != 0) {
    constexpr std::uint64_t kAll = ~std::uint64_t{0} >> (64 - 8 * sizeof(T));
    t.low = of_rank<T>(~found.low_mirrored & kAll);
    t.high = of_rank<T>(found.high);
  }
  t.nan = static_cast<std::int64_t>(found.nan);
  t.infinite = static_cast<std::int64_t>(found.infinite);
  t.masked = static_cast<std::int64_t>(found.masked);
  t.masked_special = static_cast<std::int64_t>(found.masked_special);
  t.zero = found.zero != 0;
  t.negative = found.negative != 0;
  if (found.first_nan_mirrored != 0) t.first_nan = value_of<T>(found.first_nan_bits);
  return t;
}

template bool is_fill(float, float);
template bool is_fill(double, double);
template FieldScan<float> scan_by_tallies(const TallyField<float>&, std::int64_t,
                                          const CompressOptions&);
template FieldScan<double> scan_by_tallies(const TallyField<double>&, std::int64_t,
                                           const CompressOptions&);
template Tally<float> tally_of(const device::FieldTally&);
template Tally<double> tally_of(const device::FieldTally&);
template FieldScan<float> scan_field(const EachPiece<float>&, std::int64_t, const CompressOptions&);
template FieldScan<double> scan_field(const EachPiece<double>&, std::int64_t,
                                      const CompressOptions&);

}  // namespace tamis::reduce
