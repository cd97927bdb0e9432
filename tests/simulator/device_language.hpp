// The rest of what NVRTC declares before a kernel's first line: vector types, conversions, plain
// names of mathematics, assert(); and how a kernel becomes a table of what the simulated driver
// needs. For kernels only: the plain names collide with the standard library's.
#pragma once

#include "simulator/device_memory.hpp"
#include "simulator/device_prelude.hpp"

#define __noinline__ __attribute__((noinline))
#define __constant__
#define __grid_constant__
#define __managed__
#define __builtin_assume(condition) ((condition) ? static_cast<void>(0) : __builtin_unreachable())
#define TAMIS_SIM_TEXT_OF(x) #x
#define TAMIS_SIM_TEXT(x) TAMIS_SIM_TEXT_OF(x)
#define assert(condition)             \
  ((condition) ? static_cast<void>(0) \
               : ::tamis::simt::fail("assert(" #condition ") in line " TAMIS_SIM_TEXT(__LINE__)))

using size_t = decltype(sizeof 0);
using ptrdiff_t = decltype(static_cast<char*>(nullptr) - static_cast<char*>(nullptr));
extern "C" int printf(const char* format, ...);

// --- vector types ------------------------------------------------------------------------------
#define TAMIS_SIM_VECTORS(name, T, align2, align4)                   \
  struct name##1 {                                                   \
    T x;                                                             \
  };                                                                 \
  struct __attribute__((aligned(align2))) name##2 {                  \
    T x, y;                                                          \
  };                                                                 \
  struct name##3 {                                                   \
    T x, y, z;                                                       \
  };                                                                 \
  struct __attribute__((aligned(align4))) name##4 {                  \
    T x, y, z, w;                                                    \
  };                                                                 \
  inline name##1 make_##name##1(T x) { return {x}; }                 \
  inline name##2 make_##name##2(T x, T y) { return {x, y}; }         \
  inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; } \
  inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
TAMIS_SIM_VECTORS(char, signed char, 2, 4)
TAMIS_SIM_VECTORS(uchar, unsigned char, 2, 4)
TAMIS_SIM_VECTORS(short, short, 4, 8)
TAMIS_SIM_VECTORS(ushort, unsigned short, 4, 8)
TAMIS_SIM_VECTORS(int, int, 8, 16)
TAMIS_SIM_VECTORS(uint, unsigned, 8, 16)
TAMIS_SIM_VECTORS(longlong, long long, 16, 16)
TAMIS_SIM_VECTORS(ulonglong, unsigned long long, 16, 16)
TAMIS_SIM_VECTORS(float, float, 8, 16)
TAMIS_SIM_VECTORS(double, double, 16, 16)
#undef TAMIS_SIM_VECTORS
using dim3 = tamis::simt::Index;

// --- conversions -------------------------------------------------------------------------------
namespace tamis::simt {
template <typename To, typename From>
inline To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From), "sizes differ");
  To to;
  __builtin_memcpy(&to, &from, sizeof to);
  return to;
}

// Rounded to an integer already. Beyond the range the nearest there is; NaN becomes what PTX says.
template <typename To, typename From>
inline To saturated(From value, To of_nan) {
  constexpr To kMost =
      static_cast<To>(-1) < To{0}
          ? static_cast<To>((To{1} << (8 * sizeof(To) - 2)) - 1 + (To{1} << (8 * sizeof(To) - 2)))
          : static_cast<To>(-1);
  constexpr To kLeast = static_cast<To>(-1) < To{0} ? static_cast<To>(-kMost - 1) : To{0};
  if (value != value) return of_nan;
  if (value >= static_cast<From>(kMost)) return kMost;
  if (value <= static_cast<From>(kLeast)) return kLeast;
  return static_cast<To>(value);
}
inline constexpr int kTop32 = -2147483647 - 1;
inline constexpr long long kTop64 = -9223372036854775807ll - 1;
}  // namespace tamis::simt

inline unsigned __float_as_uint(float v) { return tamis::simt::bits_as<unsigned>(v); }
inline int __float_as_int(float v) { return tamis::simt::bits_as<int>(v); }
inline float __uint_as_float(unsigned v) { return tamis::simt::bits_as<float>(v); }
inline float __int_as_float(int v) { return tamis::simt::bits_as<float>(v); }
inline long long __double_as_longlong(double v) { return tamis::simt::bits_as<long long>(v); }
inline double __longlong_as_double(long long v) { return tamis::simt::bits_as<double>(v); }
inline int __double2hiint(double v) { return static_cast<int>(__double_as_longlong(v) >> 32); }
inline int __double2loint(double v) { return static_cast<int>(__double_as_longlong(v)); }
inline double __hiloint2double(int high, int low) {
  return __longlong_as_double(
      static_cast<long long>((static_cast<unsigned long long>(static_cast<unsigned>(high)) << 32) |
                             static_cast<unsigned>(low)));
}

// _rn nearest even, _rz towards zero, _rd down, _ru up.
#define TAMIS_SIM_CONVERSIONS(name, From, To, of_nan, suffix)              \
  inline To name##_rn(From v) {                                            \
    return tamis::simt::saturated<To>(__builtin_rint##suffix(v), of_nan);  \
  }                                                                        \
  inline To name##_rz(From v) {                                            \
    return tamis::simt::saturated<To>(__builtin_trunc##suffix(v), of_nan); \
  }                                                                        \
  inline To name##_rd(From v) {                                            \
    return tamis::simt::saturated<To>(__builtin_floor##suffix(v), of_nan); \
  }                                                                        \
  inline To name##_ru(From v) {                                            \
    return tamis::simt::saturated<To>(__builtin_ceil##suffix(v), of_nan);  \
  }
TAMIS_SIM_CONVERSIONS(__float2int, float, int, 0, f)
TAMIS_SIM_CONVERSIONS(__float2uint, float, unsigned, 0u, f)
TAMIS_SIM_CONVERSIONS(__float2ll, float, long long, tamis::simt::kTop64, f)
TAMIS_SIM_CONVERSIONS(__float2ull, float, unsigned long long, 1ull << 63, f)
TAMIS_SIM_CONVERSIONS(__double2int, double, int, tamis::simt::kTop32, )
TAMIS_SIM_CONVERSIONS(__double2uint, double, unsigned, 1u << 31, )
TAMIS_SIM_CONVERSIONS(__double2ll, double, long long, tamis::simt::kTop64, )
TAMIS_SIM_CONVERSIONS(__double2ull, double, unsigned long long, 1ull << 63, )
#undef TAMIS_SIM_CONVERSIONS
inline float __double2float_rn(double v) { return static_cast<float>(v); }
inline double __int2double_rn(int v) { return v; }
inline double __uint2double_rn(unsigned v) { return v; }
inline double __ll2double_rn(long long v) { return static_cast<double>(v); }
inline double __ull2double_rn(unsigned long long v) { return static_cast<double>(v); }
inline float __int2float_rn(int v) { return static_cast<float>(v); }
inline float __uint2float_rn(unsigned v) { return static_cast<float>(v); }
inline float __ll2float_rn(long long v) { return static_cast<float>(v); }
inline float __ull2float_rn(unsigned long long v) { return static_cast<float>(v); }

// --- arithmetic --------------------------------------------------------------------------------
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dsub_rn(double a, double b) { return a - b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline double __fma_rn(double a, double b, double c) { return __builtin_fma(a, b, c); }

#define TAMIS_SIM_UNARY(name)                                      \
  inline float name##f(float v) { return __builtin_##name##f(v); } \
  inline float name(float v) { return __builtin_##name##f(v); }    \
  inline double name(double v) { return __builtin_##name(v); }
TAMIS_SIM_UNARY(ceil)
TAMIS_SIM_UNARY(fabs)
TAMIS_SIM_UNARY(floor)
TAMIS_SIM_UNARY(rint)
TAMIS_SIM_UNARY(nearbyint)
TAMIS_SIM_UNARY(round)
TAMIS_SIM_UNARY(sqrt)
TAMIS_SIM_UNARY(trunc)
#undef TAMIS_SIM_UNARY
#define TAMIS_SIM_BINARY(name)                                                 \
  inline float name##f(float a, float b) { return __builtin_##name##f(a, b); } \
  inline float name(float a, float b) { return __builtin_##name##f(a, b); }    \
  inline double name(double a, double b) { return __builtin_##name(a, b); }
TAMIS_SIM_BINARY(copysign)
#undef TAMIS_SIM_BINARY
inline float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
inline float ldexpf(float v, int e) { return __builtin_ldexpf(v, e); }
inline float ldexp(float v, int e) { return __builtin_ldexpf(v, e); }
inline double ldexp(double v, int e) { return __builtin_ldexp(v, e); }
inline int ilogbf(float v) { return __builtin_ilogbf(v); }
inline int ilogb(double v) { return __builtin_ilogb(v); }
inline long long llrintf(float v) { return __builtin_llrintf(v); }
inline long long llrint(double v) { return __builtin_llrint(v); }
inline float __fsqrt_rn(float v) { return __builtin_sqrtf(v); }
inline double __dsqrt_rn(double v) { return __builtin_sqrt(v); }
inline int abs(int v) { return v < 0 ? -v : v; }
inline long long abs(long long v) { return v < 0 ? -v : v; }
inline float abs(float v) { return __builtin_fabsf(v); }
inline double abs(double v) { return __builtin_fabs(v); }
inline long long llabs(long long v) { return v < 0 ? -v : v; }
#define TAMIS_SIM_CLASSES(T)                                  \
  inline bool isnan(T v) { return __builtin_isnan(v); }       \
  inline bool isinf(T v) { return __builtin_isinf(v) != 0; }  \
  inline bool isfinite(T v) { return __builtin_isfinite(v); } \
  inline bool signbit(T v) { return __builtin_signbit(v) != 0; }
TAMIS_SIM_CLASSES(float)
TAMIS_SIM_CLASSES(double)
#undef TAMIS_SIM_CLASSES
#define TAMIS_SIM_MIN_MAX(A, B, T)                                                        \
  inline T min(A a, B b) {                                                                \
    return static_cast<T>(b) < static_cast<T>(a) ? static_cast<T>(b) : static_cast<T>(a); \
  }                                                                                       \
  inline T max(A a, B b) {                                                                \
    return static_cast<T>(a) < static_cast<T>(b) ? static_cast<T>(b) : static_cast<T>(a); \
  }
TAMIS_SIM_MIN_MAX(int, int, int)
TAMIS_SIM_MIN_MAX(unsigned, unsigned, unsigned)
TAMIS_SIM_MIN_MAX(int, unsigned, unsigned)
TAMIS_SIM_MIN_MAX(unsigned, int, unsigned)
TAMIS_SIM_MIN_MAX(long long, long long, long long)
TAMIS_SIM_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
TAMIS_SIM_MIN_MAX(long long, unsigned long long, unsigned long long)
TAMIS_SIM_MIN_MAX(unsigned long long, long long, unsigned long long)
#undef TAMIS_SIM_MIN_MAX

// As PTX has it: where one is NaN, the other; and -0 is less than 0.
namespace tamis::simt {
template <typename T>
inline T lesser(T a, T b) {
  if (a != a || b != b) return a != a ? b : a;
  if (a == b) return __builtin_signbit(a) ? a : b;
  return a < b ? a : b;
}
template <typename T>
inline T greater(T a, T b) {
  if (a != a || b != b) return a != a ? b : a;
  if (a == b) return __builtin_signbit(a) ? b : a;
  return a < b ? b : a;
}
}  // namespace tamis::simt
#define TAMIS_SIM_MIN_MAX(name, T, function) \
  inline T name(T a, T b) { return tamis::simt::function(a, b); }
TAMIS_SIM_MIN_MAX(min, float, lesser)
TAMIS_SIM_MIN_MAX(min, double, lesser)
TAMIS_SIM_MIN_MAX(fmin, float, lesser)
TAMIS_SIM_MIN_MAX(fmin, double, lesser)
TAMIS_SIM_MIN_MAX(fminf, float, lesser)
TAMIS_SIM_MIN_MAX(max, float, greater)
TAMIS_SIM_MIN_MAX(max, double, greater)
TAMIS_SIM_MIN_MAX(fmax, float, greater)
TAMIS_SIM_MIN_MAX(fmax, double, greater)
TAMIS_SIM_MIN_MAX(fmaxf, float, greater)
#undef TAMIS_SIM_MIN_MAX

// --- kernels as tables; the simulated compiler writes the uses ----------------------------------
extern "C" unsigned char __bss_start[] __attribute__((visibility("hidden")));
extern "C" unsigned char _end[] __attribute__((visibility("hidden")));

namespace tamis::simt {

__attribute__((aligned(1024))) inline unsigned char g_dynamic_shared[kMaxDynamicShared];

template <int... kIndex>
struct Indices {};
template <int kCount, int... kIndex>
struct IndicesUpTo : IndicesUpTo<kCount - 1, kCount - 1, kIndex...> {};
template <int... kIndex>
struct IndicesUpTo<0, kIndex...> {
  using Type = Indices<kIndex...>;
};

template <auto kKernel>
struct EntryOf;
template <typename... Args, void (*kKernel)(Args...)>
struct EntryOf<kKernel> {
  static constexpr unsigned kSizes[sizeof...(Args) + 1] = {sizeof(Args)..., 0};

  template <int... kIndex>
  static void call_with(void* const* arguments, Indices<kIndex...>) {
    kKernel(*static_cast<Args*>(arguments[kIndex])...);
  }
  static void call(void* const* arguments) {
    call_with(arguments, typename IndicesUpTo<sizeof...(Args)>::Type{});
  }
  static constexpr KernelEntry entry(unsigned max_threads) {
    return {call, kSizes, sizeof...(Args), max_threads};
  }
};

}  // namespace tamis::simt

extern "C" __attribute__((visibility("default"))) tamis::simt::ModuleLink tamis_module_link;
tamis::simt::ModuleLink tamis_module_link = {
    &tamis::simt::g_lane,          &tamis::simt::g_services,      TAMIS_WAVE, __bss_start, _end,
    tamis::simt::g_dynamic_shared, tamis::simt::kMaxDynamicShared};
