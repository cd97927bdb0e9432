// Affine maps in vectors. A row's last vector overlaps the one before, so that nothing behind the
// row is touched; rows shorter than a vector go one value at a time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reduce/map_rows.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
//
#include <hwy/highway.h>

#include <cmath>

#include "reduce/map_rows.hpp"

HWY_BEFORE_NAMESPACE();
namespace tamis::reduce {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using DD = hn::CappedTag<double, 8>;
using VD = hn::Vec<DD>;
constexpr double kLimit = 268435456.0;  // 2^28

HWY_INLINE VD load_double(const float* p) {
  return hn::PromoteTo(DD(), hn::LoadU(hn::Rebind<float, DD>(), p));
}
HWY_INLINE VD load_double(const double* p) { return hn::LoadU(DD(), p); }
HWY_INLINE VD load_lattice(const std::int32_t* p) {
  return hn::PromoteTo(DD(), hn::LoadU(hn::Rebind<std::int32_t, DD>(), p));
}
// Rounded to the output type, overflow to infinity; as doubles again where they are to be compared.
#if HWY_TARGET == HWY_SCALAR  // whose demotion is clamped to finite values
HWY_INLINE float demoted(VD v) { return static_cast<float>(hn::GetLane(v)); }
HWY_INLINE VD round_to(VD v, const float*) {
  return hn::Set(DD(), static_cast<double>(demoted(v)));
}
HWY_INLINE void store_value(VD v, float* p) { *p = demoted(v); }
#else
HWY_INLINE VD round_to(VD v, const float*) {
  return hn::PromoteTo(DD(), hn::DemoteTo(hn::Rebind<float, DD>(), v));
}
HWY_INLINE void store_value(VD v, float* p) {
  const hn::Rebind<float, DD> df;
  hn::StoreU(hn::DemoteTo(df, v), df, p);
}
#endif
HWY_INLINE VD round_to(VD v, const double*) { return v; }
HWY_INLINE void store_value(VD v, double* p) { hn::StoreU(v, DD(), p); }

// fn(offset) for each vector of a row of n >= lanes elements.
template <typename Fn>
HWY_INLINE void each_vector(int n, const Fn& fn) {
  const int lanes = static_cast<int>(hn::Lanes(DD()));
  int i = 0;
  for (; i + lanes <= n; i += lanes) fn(i);
  if (i < n) fn(n - lanes);
}

template <typename T>
std::uint32_t quantise_any(double offset, double inverse, const ValueRows<const T>& rows,
                           std::int32_t* lattice, std::int64_t pitch) {
  const hn::Rebind<std::int32_t, DD> di;
  const int n = rows.count;
  const VD voffset = hn::Set(DD(), offset);
  const VD vinverse = hn::Set(DD(), inverse);
  const VD vmagic = hn::Set(DD(), 0x1.8p52);
  const hn::RebindToUnsigned<DD> du64;
  const hn::Rebind<std::uint32_t, DD> du32;
  std::uint32_t failed = 0;
  for (int l = 0; l < rows.used; ++l) {
    const T* x = rows.data[l];
    std::int32_t* to = lattice + l * pitch;
    if (n < static_cast<int>(hn::Lanes(DD()))) {
      for (int i = 0; i < n; ++i) {
        const double scaled = (static_cast<double>(x[i]) - offset) * inverse;
        const bool ok = std::fabs(scaled) < kLimit;
        if (!ok) failed |= 1U << l;
        to[i] = ok ? static_cast<std::int32_t>(std::nearbyint(scaled)) : 0;
      }
      continue;
    }
    auto fits = hn::Eq(vmagic, vmagic);
    each_vector(n, [&](int i) {
      const VD scaled = hn::Mul(hn::Sub(load_double(x + i), voffset), vinverse);
      fits = hn::And(fits, hn::Lt(hn::Abs(scaled), hn::Set(DD(), kLimit)));  // false for NaN
      // 1.5 * 2^52 leaves the nearest integer, ties to even, in the low bits.
      const auto bits = hn::BitCast(du64, hn::Add(scaled, vmagic));
      hn::StoreU(hn::BitCast(di, hn::TruncateTo(du32, bits)), di, to + i);
    });
    if (!hn::AllTrue(DD(), fits)) failed |= 1U << l;
  }
  return failed;
}

template <typename T>
std::uint32_t check_any(double offset, double unit, const ValueRows<const T>& rows,
                        const std::int32_t* lattice, std::int64_t pitch, double bound) {
  const int n = rows.count;
  const VD voffset = hn::Set(DD(), offset);
  const VD vunit = hn::Set(DD(), unit);
  const VD vbound = hn::Set(DD(), bound);
  std::uint32_t failed = 0;
  for (int l = 0; l < rows.used; ++l) {
    const T* x = rows.data[l];
    const std::int32_t* from = lattice + l * pitch;
    if (n < static_cast<int>(hn::Lanes(DD()))) {
      for (int i = 0; i < n; ++i) {
        const T r = static_cast<T>(offset + unit * static_cast<double>(from[i]));
        if (!(std::fabs(static_cast<double>(x[i]) - static_cast<double>(r)) < bound)) {
          failed |= 1U << l;
        }
      }
      continue;
    }
    auto holds = hn::Eq(vbound, vbound);
    each_vector(n, [&](int i) {
      const VD r = round_to(hn::Add(voffset, hn::Mul(vunit, load_lattice(from + i))), x);
      holds = hn::And(holds, hn::Lt(hn::Abs(hn::Sub(load_double(x + i), r)), vbound));
    });
    if (!hn::AllTrue(DD(), holds)) failed |= 1U << l;
  }
  return failed;
}

template <typename T>
void reconstruct_any(double offset, double unit, const std::int32_t* lattice, std::int64_t pitch,
                     const ValueRows<T>& rows) {
  const int n = rows.count;
  const VD voffset = hn::Set(DD(), offset);
  const VD vunit = hn::Set(DD(), unit);
  for (int l = 0; l < rows.used; ++l) {
    const std::int32_t* from = lattice + l * pitch;
    T* to = rows.data[l];
    if (n < static_cast<int>(hn::Lanes(DD()))) {
      for (int i = 0; i < n; ++i) {
        to[i] = static_cast<T>(offset + unit * static_cast<double>(from[i]));
      }
      continue;
    }
    each_vector(n, [&](int i) {
      store_value(hn::Add(voffset, hn::Mul(vunit, load_lattice(from + i))), to + i);
    });
  }
}

// A plain loop: the compiler vectorises it per target.
template <typename T>
bool all_below(const T* x, const T* r, int count, double bound) {
  int failed = 0;  // NaN differences fail as well
  for (int i = 0; i < count; ++i) {
    failed |= !(std::fabs(static_cast<double>(x[i]) - static_cast<double>(r[i])) < bound);
  }
  return failed == 0;
}

bool within_f32(const float* x, const float* r, int n, double bound) {
  return all_below(x, r, n, bound);
}
bool within_f64(const double* x, const double* r, int n, double bound) {
  return all_below(x, r, n, bound);
}
std::uint32_t quantise_f32(double offset, double inverse, const ValueRows<const float>& rows,
                           std::int32_t* lattice, std::int64_t pitch) {
  return quantise_any(offset, inverse, rows, lattice, pitch);
}
std::uint32_t check_f32(double offset, double unit, const ValueRows<const float>& rows,
                        const std::int32_t* lattice, std::int64_t pitch, double bound) {
  return check_any(offset, unit, rows, lattice, pitch, bound);
}
void reconstruct_f32(double offset, double unit, const std::int32_t* lattice, std::int64_t pitch,
                     const ValueRows<float>& rows) {
  reconstruct_any(offset, unit, lattice, pitch, rows);
}
std::uint32_t quantise_f64(double offset, double inverse, const ValueRows<const double>& rows,
                           std::int32_t* lattice, std::int64_t pitch) {
  return quantise_any(offset, inverse, rows, lattice, pitch);
}
std::uint32_t check_f64(double offset, double unit, const ValueRows<const double>& rows,
                        const std::int32_t* lattice, std::int64_t pitch, double bound) {
  return check_any(offset, unit, rows, lattice, pitch, bound);
}
void reconstruct_f64(double offset, double unit, const std::int32_t* lattice, std::int64_t pitch,
                     const ValueRows<double>& rows) {
  reconstruct_any(offset, unit, lattice, pitch, rows);
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace tamis::reduce
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tamis::reduce {

HWY_EXPORT(quantise_f32);
HWY_EXPORT(quantise_f64);
HWY_EXPORT(check_f32);
HWY_EXPORT(check_f64);
HWY_EXPORT(reconstruct_f32);
HWY_EXPORT(reconstruct_f64);
HWY_EXPORT(within_f32);
HWY_EXPORT(within_f64);

bool within_bound(const float* x, const float* r, int count, double bound) {
  return HWY_DYNAMIC_DISPATCH(within_f32)(x, r, count, bound);
}
bool within_bound(const double* x, const double* r, int count, double bound) {
  return HWY_DYNAMIC_DISPATCH(within_f64)(x, r, count, bound);
}

std::uint32_t quantise_rows(const NumberMap& map, const ValueRows<const float>& rows,
                            std::int32_t* lattice, std::int64_t pitch) {
  return HWY_DYNAMIC_DISPATCH(quantise_f32)(map.offset, 1.0 / map.unit, rows, lattice, pitch);
}
std::uint32_t check_rows(const NumberMap& map, const ValueRows<const float>& rows,
                         const std::int32_t* lattice, std::int64_t pitch, double bound) {
  return HWY_DYNAMIC_DISPATCH(check_f32)(map.offset, map.unit, rows, lattice, pitch, bound);
}
void reconstruct_rows(const NumberMap& map, const std::int32_t* lattice, std::int64_t pitch,
                      const ValueRows<float>& rows) {
  HWY_DYNAMIC_DISPATCH(reconstruct_f32)(map.offset, map.unit, lattice, pitch, rows);
}
std::uint32_t quantise_rows(const NumberMap& map, const ValueRows<const double>& rows,
                            std::int32_t* lattice, std::int64_t pitch) {
  return HWY_DYNAMIC_DISPATCH(quantise_f64)(map.offset, 1.0 / map.unit, rows, lattice, pitch);
}
std::uint32_t check_rows(const NumberMap& map, const ValueRows<const double>& rows,
                         const std::int32_t* lattice, std::int64_t pitch, double bound) {
  return HWY_DYNAMIC_DISPATCH(check_f64)(map.offset, map.unit, rows, lattice, pitch, bound);
}
void reconstruct_rows(const NumberMap& map, const std::int32_t* lattice, std::int64_t pitch,
                      const ValueRows<double>& rows) {
  HWY_DYNAMIC_DISPATCH(reconstruct_f64)(map.offset, map.unit, lattice, pitch, rows);
}

}  // namespace tamis::reduce
#endif  // HWY_ONCE
