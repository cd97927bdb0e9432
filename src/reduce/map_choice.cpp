// Lattices and palettes are guessed from a sample and then verified on every value.
#include "reduce/map_choice.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <unordered_set>
#include <utility>

namespace tamis::reduce {

namespace {

constexpr std::int64_t kSample = 4096;
constexpr std::size_t kMaxPalette = 4096;
constexpr std::int64_t kPatchShare = 4096;         // a map may miss one value in so many
constexpr double kNarrowLimit = 268435456.0;       // 2^28
constexpr double kWideLimit = 2251799813685248.0;  // 2^51: the map divides in double

template <typename T>
constexpr DType dtype_of = sizeof(T) == 4 ? DType::kF32 : DType::kF64;

template <typename T>
bool usable(const FieldScan<T>& scan, T value) {
  return std::isfinite(value) && !(scan.fill && is_fill(value, *scan.fill));
}

template <typename T>
double half_ulp(double magnitude) {
  const T value = static_cast<T>(magnitude);
  return 0.5 * (static_cast<double>(std::nextafter(value, std::numeric_limits<T>::infinity())) -
                static_cast<double>(value));
}

// Ascending; none is NaN. By the bytes of their ranks, where these differ at all: comparisons are
// slow on values in no order.
void sort_values(std::vector<double>& values) {
  constexpr int kDigits = 8;
  std::vector<std::int64_t> ranks(values.size());
  std::vector<std::int64_t> sorted(values.size());
  std::array<std::array<std::uint32_t, 256>, kDigits> counts{};
  // With the sign inverted ranks ascend as unsigned integers.
  const auto digit = [](std::int64_t rank, int d) {
    const std::uint64_t ascending = static_cast<std::uint64_t>(rank) ^ (std::uint64_t{1} << 63);
    return static_cast<std::size_t>(ascending >> (8 * d) & 255U);
  };
  for (std::size_t i = 0; i < values.size(); ++i) {
    ranks[i] = ordered_bits(values[i]);
    for (int d = 0; d < kDigits; ++d) ++counts[static_cast<std::size_t>(d)][digit(ranks[i], d)];
  }
  for (int d = 0; d < kDigits; ++d) {
    auto& count = counts[static_cast<std::size_t>(d)];
    if (values.empty() || count[digit(ranks[0], d)] == values.size()) continue;
    std::uint32_t begin = 0;
    for (std::uint32_t& c : count) begin += std::exchange(c, begin);
    for (const std::int64_t rank : ranks) sorted[count[digit(rank, d)]++] = rank;
    ranks.swap(sorted);
  }
  std::transform(ranks.begin(), ranks.end(), values.begin(),
                 [](std::int64_t rank) { return from_ordered_bits(rank); });
}

// Sorted and distinct. Zeros become positive: which of them remains must not depend on the order.
template <typename T>
std::vector<double> distinct_values(std::span<const T> sample, const FieldScan<T>& scan) {
  std::vector<double> values;
  values.reserve(sample.size());
  for (const T v : sample) {
    if (usable(scan, v)) values.push_back(static_cast<double>(v) + 0.0);
  }
  sort_values(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

// A spacing and how far it may be off.
struct Spacing {
  double value = 0;
  double error = 0;
};

// Euclid's algorithm on reals: stops when the rest is what errors alone can make.
Spacing common_divisor(Spacing x, Spacing y) {
  if (x.value < y.value) std::swap(x, y);
  while (y.value > 2 * y.error) {
    const double quotient = std::nearbyint(x.value / y.value);
    const Spacing rest{std::fabs(x.value - y.value * quotient), x.error + quotient * y.error};
    x = y;
    y = rest;
  }
  return x;
}

// Largest spacing that divides all gaps of the sorted sample, each known up to `error`; 0 when it
// would be below `least`. Distances from the first value sharpen it as they grow.
Spacing common_spacing(const std::vector<double>& sample, double error, double least) {
  Spacing spacing;
  for (std::size_t i = 1; i < sample.size(); ++i) {
    const double gap = sample[i] - sample[i - 1];
    if (gap <= 2 * error) continue;
    if (spacing.value == 0) {
      spacing = {gap, error};
      continue;
    }
    const double span = sample[i] - sample[0];
    const double steps = std::nearbyint(span / spacing.value);
    const double rest = std::fabs(span - steps * spacing.value);
    const double rest_error = error + steps * spacing.error;
    if (rest <= 2 * rest_error && 8 * rest_error < spacing.value) {
      spacing = {span / steps, error / steps};
      continue;
    }
    spacing = common_divisor(spacing, {gap, error});
    if (!(spacing.value >= least && spacing.value > 8 * spacing.error)) return {};
  }
  return spacing;
}

// Spacings worth trying, the likeliest first: the shortest decimal that is near enough, and the
// spacing itself in single and double precision.
std::vector<double> likely_units(double spacing, double error) {
  std::vector<double> units;
  double scale = 1;  // exact up to 10^22
  for (int shift = 0; shift <= 22 && units.empty(); ++shift, scale *= 10) {
    const double whole = std::nearbyint(spacing * scale);
    const double decimal = whole / scale;
    if (whole < 1e6 && std::fabs(decimal - spacing) <= error) units.push_back(decimal);
  }
  units.push_back(static_cast<double>(static_cast<float>(spacing)));
  units.push_back(spacing);
  return units;
}

// Share of values that a map misses is small, and all its integers fit.
template <typename T>
bool map_serves(const EachPiece<T>& pieces, const FieldScan<T>& scan, const NumberMap& map,
                const PointCheck& check) {
  std::int64_t missed = 0;
  const std::int64_t allowed = scan.valid_count / kPatchShare;
  pieces([&](std::int64_t, std::int64_t count, const T* data) {
    constexpr int kPiece = 512;
    std::int32_t lattice[kPiece];
    T decoded[kPiece];
    for (std::int64_t at = 0; at < count && missed <= allowed; at += kPiece) {
      const int n = static_cast<int>(std::min<std::int64_t>(kPiece, count - at));
      map.quantise(data + at, 1, n, lattice);
      map.reconstruct(lattice, n, decoded);
      if (row_holds(check, data + at, decoded, n)) continue;
      for (int i = 0; i < n; ++i) {
        if (usable(scan, data[at + i]) && !point_holds(check, data[at + i], decoded[i])) ++missed;
      }
    }
    return missed <= allowed;
  });
  return missed <= allowed;
}

template <typename T>
std::optional<NumberMap> find_lattice(const EachPiece<T>& pieces, const FieldScan<T>& scan,
                                      const std::vector<double>& sample, const PointCheck& check) {
  if (sample.size() < 2) return std::nullopt;
  const double ulp = 2 * half_ulp<T>(scan.max_magnitude);
  const double least = std::max(2 * check.bound, 8 * ulp);
  // Values on a lattice up to rounding first; then those that the bound lets us move onto one.
  double error = ulp;
  double spacing = common_spacing(sample, error, least).value;
  if (!(spacing >= least)) {
    error = std::max(0.25 * check.bound, ulp);
    spacing = common_spacing(sample, error, least).value;
  }
  if (!(spacing >= least)) return std::nullopt;
  // The widest gap gives the most precise spacing.
  const double span = sample.back() - sample.front();
  const double steps = std::nearbyint(span / spacing);
  if (!(steps >= 1 && steps < kNarrowLimit)) return std::nullopt;
  spacing = span / steps;
  for (const double unit : likely_units(spacing, error / steps)) {
    if (!std::isfinite(unit)) continue;
    for (const double offset : {0.0, sample.front()}) {
      NumberMap map;
      map.kind = MapKind::kLattice;
      map.offset = offset;
      map.unit = unit;
      if (scan.max_magnitude / unit >= kNarrowLimit && offset == 0) continue;
      if (map_serves(pieces, scan, map, check)) return map;
    }
  }
  return std::nullopt;
}

template <typename T>
std::optional<NumberMap> find_palette(const EachPiece<T>& pieces, const FieldScan<T>& scan,
                                      const std::vector<double>& sample, const PointCheck& check) {
  if (sample.size() > kMaxPalette / 2) return std::nullopt;
  std::unordered_set<double> seen(sample.begin(), sample.end());
  // A direct-mapped cache answers for the values that come again and again.
  bool negative_zero = false;
  std::vector<double> cache(1024, std::numeric_limits<double>::quiet_NaN());
  pieces([&](std::int64_t, std::int64_t count, const T* data) {
    for (std::int64_t i = 0; i < count && seen.size() <= kMaxPalette; ++i) {
      const double value = static_cast<double>(data[i]);
      std::uint64_t bits;
      std::memcpy(&bits, &value, sizeof bits);
      negative_zero = negative_zero || (value == 0 && std::signbit(value));
      double& slot = cache[bits * 0x9e3779b97f4a7c15U >> 54];
      if (slot == value || !usable(scan, data[i])) continue;
      slot = value;
      seen.insert(value == 0 ? 0.0 : value);
    }
    return seen.size() <= kMaxPalette;
  });
  if (seen.size() > kMaxPalette || seen.size() < 2) return std::nullopt;
  // A palette has one zero; the other would be a patch at each of its points.
  if (check.kind == PointCheck::Kind::kExact && negative_zero) return std::nullopt;
  NumberMap map;
  map.kind = MapKind::kPalette;
  map.palette.assign(seen.begin(), seen.end());
  std::sort(map.palette.begin(), map.palette.end());
  // Where the bound merges neighbouring values an affine lattice does better.
  double mean_gap =
      (map.palette.back() - map.palette.front()) / static_cast<double>(map.palette.size() - 1);
  if (check.kind == PointCheck::Kind::kAbsolute && mean_gap < 2 * check.bound) return std::nullopt;
  return map;
}

template <typename T>
NumberMap ordered_map() {
  NumberMap map;
  map.kind = MapKind::kOrdered;
  map.wide = sizeof(T) == 8;
  return map;
}

// A lattice `step` times finer than twice the bound, so that rounding to it and then to multiples
// of the step adds up to the bound exactly. What rounding to the output type can add is set aside.
template <typename T>
std::optional<NumberMap> affine_map(const FieldScan<T>& scan, double bound) {
  const double reserve = half_ulp<T>(scan.max_magnitude) * (sizeof(T) == 8 ? 4.0 : 1.0);
  // A quarter of the largest double keeps the unit finite, and no field needs more.
  const double usable_bound =
      std::min((bound - reserve) * (1 - 0x1p-40), std::numeric_limits<double>::max() / 4);
  if (!(usable_bound > 0.25 * std::min(bound, std::numeric_limits<double>::max() / 4))) {
    return std::nullopt;
  }
  NumberMap map;
  map.kind = MapKind::kAffine;
  const double centre = scan.min_value / 2 + scan.max_value / 2;
  const double spread = scan.max_value / 2 - scan.min_value / 2;
  for (const std::int64_t step : {65, 17, 5, 3, 1}) {
    map.step = step;
    map.unit = 2 * usable_bound / static_cast<double>(step);
    if (!std::isfinite(1 / map.unit) || map.unit == 0) return std::nullopt;
    map.offset = 0;
    if (scan.max_magnitude / map.unit < kNarrowLimit - 64) return map;
    map.offset = static_cast<double>(static_cast<T>(centre));
    if (spread / map.unit < kNarrowLimit - 64 * static_cast<double>(step)) return map;
  }
  map.wide = true;
  map.step = 17;
  map.unit = 2 * usable_bound / 17;
  map.offset = static_cast<double>(static_cast<T>(centre));
  if (!std::isfinite(map.offset) || !(spread / map.unit < kWideLimit)) return std::nullopt;
  return map;
}

template <typename T>
NumberMap logarithm_map(double bound) {
  const int fraction_bits = std::numeric_limits<T>::digits - 1;
  const double half = std::floor(std::min(bound, 0.5) * std::ldexp(1.0, fraction_bits));
  if (half < 1) return ordered_map<T>();
  NumberMap map;
  map.kind = MapKind::kLogarithm;
  map.wide = true;
  map.step = 2 * static_cast<std::int64_t>(half) - 1;
  return map;
}

}  // namespace

std::int64_t sample_stride(std::int64_t count) {
  return std::max<std::int64_t>(1, count / kSample);
}

template <typename T>
bool may_have_own_map(const FieldScan<T>& scan, const PointCheck& check) {
  return scan.min_value <= scan.max_value && check.kind != PointCheck::Kind::kPointwise;
}

template <typename T>
std::optional<NumberMap> own_map(std::span<const T> sample, const EachPiece<T>& pieces,
                                 const FieldScan<T>& scan, const PointCheck& check) {
  if (!may_have_own_map(scan, check)) return std::nullopt;
  const std::vector<double> values = distinct_values(sample, scan);
  std::optional<NumberMap> map = find_lattice(pieces, scan, values, check);
  if (!map) map = find_palette(pieces, scan, values, check);
  if (map) map->dtype = dtype_of<T>;
  return map;
}

template <typename T>
std::vector<NumberMap> derived_maps(const FieldScan<T>& scan, const PointCheck& check) {
  std::vector<NumberMap> maps;
  if (!(scan.min_value <= scan.max_value)) {  // nothing finite to code
    maps.push_back(ordered_map<T>());
  } else if (check.kind == PointCheck::Kind::kPointwise) {
    maps.push_back(logarithm_map<T>(check.bound));
  } else if (check.kind == PointCheck::Kind::kExact) {
    maps.push_back(ordered_map<T>());
  } else {
    const std::optional<NumberMap> affine = affine_map(scan, check.bound);
    const bool near_precision = !affine || check.bound < 8 * half_ulp<T>(scan.max_magnitude);
    if (affine) maps.push_back(*affine);
    if (near_precision) maps.push_back(ordered_map<T>());
  }
  for (NumberMap& map : maps) map.dtype = dtype_of<T>;
  return maps;
}

template <typename T>
std::vector<NumberMap> candidate_maps(const EachPiece<T>& pieces, const FieldScan<T>& scan,
                                      const PointCheck& check) {
  std::vector<NumberMap> maps = derived_maps(scan, check);
  if (!may_have_own_map(scan, check)) return maps;
  std::vector<T> sample;
  const std::int64_t stride = sample_stride(scan.valid_count + scan.masked_count);
  pieces([&](std::int64_t first, std::int64_t n, const T* data) {
    for (std::int64_t i = (stride - first % stride) % stride; i < n; i += stride) {
      sample.push_back(data[i]);
    }
    return true;
  });
  if (auto own = own_map<T>(sample, pieces, scan, check))
    maps.insert(maps.begin(), std::move(*own));
  return maps;
}

template std::vector<NumberMap> candidate_maps(const EachPiece<float>&, const FieldScan<float>&,
                                               const PointCheck&);
template std::vector<NumberMap> candidate_maps(const EachPiece<double>&, const FieldScan<double>&,
                                               const PointCheck&);
template std::optional<NumberMap> own_map(std::span<const float>, const EachPiece<float>&,
                                          const FieldScan<float>&, const PointCheck&);
template std::optional<NumberMap> own_map(std::span<const double>, const EachPiece<double>&,
                                          const FieldScan<double>&, const PointCheck&);
template std::vector<NumberMap> derived_maps(const FieldScan<float>&, const PointCheck&);
template std::vector<NumberMap> derived_maps(const FieldScan<double>&, const PointCheck&);

}  // namespace tamis::reduce
