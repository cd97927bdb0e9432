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
struct Tally {
  T low = std::numeric_limits<T>::infinity();
  T high = -std::numeric_limits<T>::infinity();
  std::int64_t nan = 0;
  std::int64_t infinite = 0;
  std::int64_t masked = 0;
  std::int64_t masked_special = 0;  // NaN or infinite; not in the counts above
  bool zero = false;                // may be true without need
  bool negative = false;            // sign bit set, -0 included
  T first_nan = 0;

  void add(T v) {
    if (std::isfinite(v)) {
      add_range({v, v, std::signbit(v), true});
      return;
    }
    if (std::isnan(v)) {
      if (nan++ == 0) first_nan = v;
    } else {
      ++infinite;
    }
    negative = negative || std::signbit(v);
  }

  void merge(const Tally& later) {
    if (nan == 0) first_nan = later.first_nan;
    low = std::min(low, later.low);
    high = std::max(high, later.high);
    nan += later.nan;
    infinite += later.infinite;
    masked += later.masked;
    masked_special += later.masked_special;
    zero = zero || later.zero;
    negative = negative || later.negative;
  }

  void add_range(const BlockRange<T>& range) {
    low = std::min(low, range.low);
    high = std::max(high, range.high);
    zero = zero || (range.low <= 0 && range.high >= 0);
    negative = negative || range.negative;
  }
};

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
      t.add_range(range);
      continue;
    }
    for (std::int64_t i = 0; i < n; ++i) {
      if (fill && is_fill(block[i], *fill)) {
        ++t.masked;
        t.masked_special += std::isfinite(block[i]) ? 0 : 1;
      } else {
        t.add(block[i]);
      }
    }
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
    for (const Tally<T>& run : runs) total.merge(run);
  });
  return total;
}

// The first NaN of the field, whose bits all others are likely to share.
template <typename T>
T first_nan(const EachPiece<T>& pieces, T otherwise) {
  T found = otherwise;
  bool seen = false;
  pieces([&](std::int64_t, std::int64_t count, const T* data) {
    for (std::int64_t i = 0; i < count && !seen; ++i) {
      if (!std::isnan(data[i])) continue;
      found = data[i];
      seen = true;
    }
  });
  return found;
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
FieldScan<T> scan_field(const EachPiece<T>& pieces, std::int64_t count,
                        const CompressOptions& options) {
  FieldScan<T> scan;
  const int threads = options.threads;
  if (options.fill_value) scan.fill = static_cast<T>(*options.fill_value);
  Tally<T> t = tally<T>(pieces, scan.fill, threads);
  if (scan.fill && std::isnan(*scan.fill)) scan.fill = first_nan(pieces, *scan.fill);
  if (!scan.fill && options.detect_fill) {
    std::optional<T> found;
    if (t.nan > 0) {
      found = t.first_nan;
    } else if (t.low < t.high) {
      for (const bool use_high : {true, false}) {
        const T candidate = use_high ? t.high : t.low;
        if (!listed(kAlwaysFill, candidate) && !listed(kPossibleFill, candidate)) continue;
        const Tally<T> rest = tally<T>(pieces, candidate, threads);
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
      t = tally<T>(pieces, scan.fill, threads);
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

template bool is_fill(float, float);
template bool is_fill(double, double);
template FieldScan<float> scan_field(const EachPiece<float>&, std::int64_t, const CompressOptions&);
template FieldScan<double> scan_field(const EachPiece<double>&, std::int64_t,
                                      const CompressOptions&);

}  // namespace tamis::reduce
