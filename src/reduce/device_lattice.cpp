// What kernels would otherwise have to work out for each value.
#include "reduce/device_lattice.hpp"

#include <cmath>
#include <cstdint>
#include <limits>

namespace tamis::reduce {

namespace {

// Half the distance of the floats around `magnitude` and somewhat beyond.
template <typename T>
double half_ulp_near(double magnitude) {
  const T value = static_cast<T>(magnitude * 1.01);
  return 0.5 * (static_cast<double>(std::nextafter(value, std::numeric_limits<T>::infinity())) -
                static_cast<double>(value));
}

}  // namespace

device::LatticeArgs lattice_args(const NumberMap& map, int lattice_bytes, const double* palette) {
  device::LatticeArgs l{};
  l.kind = static_cast<int>(map.kind);
  l.offset = map.offset;
  l.unit = map.unit;
  l.inverse = 1.0 / map.unit;
  l.step = map.step;
  // 2^w / step rounded down; for a step of 1 one less, which the device's correction makes good.
  const std::uint64_t top = lattice_bytes == 4 ? UINT32_MAX : UINT64_MAX;
  const auto step = static_cast<std::uint64_t>(map.step);
  l.reciprocal = step == 1 ? top : top / step;
  l.inverse_step = 1.0F / static_cast<float>(map.step);
  l.low = 1;
  l.high = -1;
  l.palette = palette;
  l.palette_size = static_cast<long long>(map.palette.size());
  return l;
}

int check_kind(const PointCheck& check) {
  switch (check.kind) {
    case PointCheck::Kind::kAbsolute:
      return device::kCheckAbsolute;
    case PointCheck::Kind::kPointwise:
      return device::kCheckPointwise;
    case PointCheck::Kind::kExact:
      break;
  }
  return device::kCheckExact;
}

template <typename T>
void set_plain_range(const NumberMap& map, const PointCheck& check, double max_magnitude,
                     device::LatticeArgs& lattice) {
  if (!map.is_affine() || check.kind != PointCheck::Kind::kAbsolute) return;
  const double limit = map.wide ? 0x1p57 : 0x1p28;
  const double inverse = 1.0 / map.unit;
  const auto fits = [&](T value) {
    return std::fabs((static_cast<double>(value) - map.offset) * inverse) < limit;
  };
  const double reach = limit * map.unit * (1 - 0x1p-20);
  T low = static_cast<T>(map.offset - reach);
  T high = static_cast<T>(map.offset + reach);
  for (int i = 0; i < 4 && !fits(low); ++i) low = std::nextafter(low, T{0});
  for (int i = 0; i < 4 && !fits(high); ++i) high = std::nextafter(high, T{0});
  if (!fits(low) || !fits(high)) return;
  lattice.low = static_cast<double>(low);
  lattice.high = static_cast<double>(high);
  const double magnitude = max_magnitude + check.bound;
  const bool near_infinity =
      !(magnitude < 0.5 * static_cast<double>(std::numeric_limits<T>::max()));
  const double rounding = sizeof(T) == 8 ? 0.0 : half_ulp_near<T>(magnitude);
  lattice.safe_bound = near_infinity ? -1.0 : (check.bound - rounding) * (1 - 0x1p-50);
}

template void set_plain_range<float>(const NumberMap&, const PointCheck&, double,
                                     device::LatticeArgs&);
template void set_plain_range<double>(const NumberMap&, const PointCheck&, double,
                                      device::LatticeArgs&);

}  // namespace tamis::reduce
