// Affine maps in vectors. A row's last vector overlaps the one before, so that nothing behind the
// row is touched; rows shorter than a vector go one value at a time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reduce/map_blocks.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
//
#include <hwy/highway.h>

#include <cmath>

#include "reduce/map_blocks.hpp"

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
// Rounded to the output type; as doubles again where they are to be compared.
HWY_INLINE VD round_to(VD v, const float*) {
  return hn::PromoteTo(DD(), hn::DemoteTo(hn::Rebind<float, DD>(), v));
}
HWY_INLINE VD round_to(VD v, const double*) { return v; }
HWY_INLINE void store_value(VD v, float* p) {
  const hn::Rebind<float, DD> df;
  hn::StoreU(hn::DemoteTo(df, v), df, p);
}
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
bool quantise_any(double offset, double inverse, const T* data, const NodeBlock& block,
                  std::int32_t* out) {
  const hn::Rebind<std::int32_t, DD> di;
  const int n = block.count[2];
  const VD voffset = hn::Set(DD(), offset);
  const VD vinverse = hn::Set(DD(), inverse);
  VD worst = hn::Zero(DD());
  bool fits = true;
  block.each_row([&](std::int64_t first, std::int64_t natural) {
    const T* x = data + first;
    std::int32_t* to = out + natural;
    if (n < static_cast<int>(hn::Lanes(DD()))) {
      for (int i = 0; i < n; ++i) {
        const double scaled = (static_cast<double>(x[i]) - offset) * inverse;
        const bool ok = std::fabs(scaled) < kLimit;
        fits = fits && ok;
        to[i] = ok ? static_cast<std::int32_t>(std::nearbyint(scaled)) : 0;
      }
      return;
    }
    each_vector(n, [&](int i) {
      const VD scaled = hn::Mul(hn::Sub(load_double(x + i), voffset), vinverse);
      // NaN must stay: of two operands Max would drop it, so the comparison is folded in as a mask.
      const auto bad = hn::Not(hn::Lt(hn::Abs(scaled), hn::Set(DD(), kLimit)));
      worst = hn::Or(worst, hn::IfThenElseZero(bad, hn::Set(DD(), 1.0)));
      hn::StoreU(hn::DemoteTo(di, hn::Round(hn::IfThenZeroElse(bad, scaled))), di, to + i);
    });
  });
  return fits && hn::AllTrue(DD(), hn::Eq(worst, hn::Zero(DD())));
}

template <typename T>
bool check_any(double offset, double unit, const T* data, const NodeBlock& block,
               const std::int32_t* values, double bound) {
  const int n = block.count[2];
  const VD voffset = hn::Set(DD(), offset);
  const VD vunit = hn::Set(DD(), unit);
  const VD vbound = hn::Set(DD(), bound);
  VD failed = hn::Zero(DD());
  bool holds = true;
  block.each_row([&](std::int64_t first, std::int64_t natural) {
    const T* x = data + first;
    const std::int32_t* from = values + natural;
    if (n < static_cast<int>(hn::Lanes(DD()))) {
      for (int i = 0; i < n; ++i) {
        const T r = static_cast<T>(offset + unit * static_cast<double>(from[i]));
        holds = holds && std::fabs(static_cast<double>(x[i]) - static_cast<double>(r)) < bound;
      }
      return;
    }
    each_vector(n, [&](int i) {
      const VD r = round_to(hn::Add(voffset, hn::Mul(vunit, load_lattice(from + i))), x);
      const auto bad = hn::Not(hn::Lt(hn::Abs(hn::Sub(load_double(x + i), r)), vbound));
      failed = hn::Or(failed, hn::IfThenElseZero(bad, hn::Set(DD(), 1.0)));
    });
  });
  return holds && hn::AllTrue(DD(), hn::Eq(failed, hn::Zero(DD())));
}

template <typename T>
void reconstruct_any(double offset, double unit, const NodeBlock& block, const std::int32_t* values,
                     T* out) {
  const int n = block.count[2];
  const VD voffset = hn::Set(DD(), offset);
  const VD vunit = hn::Set(DD(), unit);
  block.each_row([&](std::int64_t first, std::int64_t natural) {
    const std::int32_t* from = values + natural;
    T* to = out + first;
    if (n < static_cast<int>(hn::Lanes(DD()))) {
      for (int i = 0; i < n; ++i) {
        to[i] = static_cast<T>(offset + unit * static_cast<double>(from[i]));
      }
      return;
    }
    each_vector(n, [&](int i) {
      store_value(hn::Add(voffset, hn::Mul(vunit, load_lattice(from + i))), to + i);
    });
  });
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
bool quantise_f32(double offset, double inverse, const float* data, const NodeBlock& block,
                  std::int32_t* out) {
  return quantise_any(offset, inverse, data, block, out);
}
bool quantise_f64(double offset, double inverse, const double* data, const NodeBlock& block,
                  std::int32_t* out) {
  return quantise_any(offset, inverse, data, block, out);
}
bool check_f32(double offset, double unit, const float* data, const NodeBlock& block,
               const std::int32_t* values, double bound) {
  return check_any(offset, unit, data, block, values, bound);
}
bool check_f64(double offset, double unit, const double* data, const NodeBlock& block,
               const std::int32_t* values, double bound) {
  return check_any(offset, unit, data, block, values, bound);
}
void reconstruct_f32(double offset, double unit, const NodeBlock& block, const std::int32_t* values,
                     float* out) {
  reconstruct_any(offset, unit, block, values, out);
}
void reconstruct_f64(double offset, double unit, const NodeBlock& block, const std::int32_t* values,
                     double* out) {
  reconstruct_any(offset, unit, block, values, out);
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

bool quantise_block(const NumberMap& map, const float* data, const NodeBlock& block,
                    std::int32_t* out) {
  return HWY_DYNAMIC_DISPATCH(quantise_f32)(map.offset, 1.0 / map.unit, data, block, out);
}
bool quantise_block(const NumberMap& map, const double* data, const NodeBlock& block,
                    std::int32_t* out) {
  return HWY_DYNAMIC_DISPATCH(quantise_f64)(map.offset, 1.0 / map.unit, data, block, out);
}
bool check_block(const NumberMap& map, const float* data, const NodeBlock& block,
                 const std::int32_t* values, double bound) {
  return HWY_DYNAMIC_DISPATCH(check_f32)(map.offset, map.unit, data, block, values, bound);
}
bool check_block(const NumberMap& map, const double* data, const NodeBlock& block,
                 const std::int32_t* values, double bound) {
  return HWY_DYNAMIC_DISPATCH(check_f64)(map.offset, map.unit, data, block, values, bound);
}
void reconstruct_block(const NumberMap& map, const NodeBlock& block, const std::int32_t* values,
                       float* out) {
  HWY_DYNAMIC_DISPATCH(reconstruct_f32)(map.offset, map.unit, block, values, out);
}
void reconstruct_block(const NumberMap& map, const NodeBlock& block, const std::int32_t* values,
                       double* out) {
  HWY_DYNAMIC_DISPATCH(reconstruct_f64)(map.offset, map.unit, block, values, out);
}

}  // namespace tamis::reduce
#endif  // HWY_ONCE
