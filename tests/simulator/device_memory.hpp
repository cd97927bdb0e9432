// CUDA's atomics and cached access, for device text that runs on the host: lanes switch at fixed
// points only, so plain access is atomic. The overloads are CUDA's.
#pragma once

#include "simulator/device_prelude.hpp"

#define TAMIS_SIM_ATOMIC(name, T, expression) \
  inline T name(T* at, T value) {             \
    const T old = *at;                        \
    *at = static_cast<T>(expression);         \
    return old;                               \
  }
TAMIS_SIM_ATOMIC(atomicAdd, unsigned, old + value)
TAMIS_SIM_ATOMIC(atomicAdd, int, static_cast<unsigned>(old) + static_cast<unsigned>(value))
TAMIS_SIM_ATOMIC(atomicAdd, unsigned long long, old + value)
TAMIS_SIM_ATOMIC(atomicAdd, float, old + value)
TAMIS_SIM_ATOMIC(atomicAdd, double, old + value)
TAMIS_SIM_ATOMIC(atomicSub, unsigned, old - value)
TAMIS_SIM_ATOMIC(atomicSub, int, static_cast<unsigned>(old) - static_cast<unsigned>(value))
TAMIS_SIM_ATOMIC(atomicMin, unsigned, value < old ? value : old)
TAMIS_SIM_ATOMIC(atomicMin, int, value < old ? value : old)
TAMIS_SIM_ATOMIC(atomicMin, unsigned long long, value < old ? value : old)
TAMIS_SIM_ATOMIC(atomicMin, long long, value < old ? value : old)
TAMIS_SIM_ATOMIC(atomicMax, unsigned, old < value ? value : old)
TAMIS_SIM_ATOMIC(atomicMax, int, old < value ? value : old)
TAMIS_SIM_ATOMIC(atomicMax, unsigned long long, old < value ? value : old)
TAMIS_SIM_ATOMIC(atomicMax, long long, old < value ? value : old)
TAMIS_SIM_ATOMIC(atomicAnd, unsigned, old& value)
TAMIS_SIM_ATOMIC(atomicAnd, int, old& value)
TAMIS_SIM_ATOMIC(atomicAnd, unsigned long long, old& value)
TAMIS_SIM_ATOMIC(atomicOr, unsigned, old | value)
TAMIS_SIM_ATOMIC(atomicOr, int, old | value)
TAMIS_SIM_ATOMIC(atomicOr, unsigned long long, old | value)
TAMIS_SIM_ATOMIC(atomicXor, unsigned, old ^ value)
TAMIS_SIM_ATOMIC(atomicXor, int, old ^ value)
TAMIS_SIM_ATOMIC(atomicXor, unsigned long long, old ^ value)
TAMIS_SIM_ATOMIC(atomicExch, unsigned, value)
TAMIS_SIM_ATOMIC(atomicExch, int, value)
TAMIS_SIM_ATOMIC(atomicExch, unsigned long long, value)
TAMIS_SIM_ATOMIC(atomicExch, float, value)
TAMIS_SIM_ATOMIC(atomicInc, unsigned, old >= value ? 0 : old + 1)
TAMIS_SIM_ATOMIC(atomicDec, unsigned, old == 0 || old > value ? value : old - 1)
#undef TAMIS_SIM_ATOMIC

#define TAMIS_SIM_COMPARE_AND_SWAP(T)                  \
  inline T atomicCAS(T* at, T expected, T value) {     \
    tamis::simt::pause(); /* it may wait for a lock */ \
    const T old = *at;                                 \
    if (old == expected) *at = value;                  \
    return old;                                        \
  }
TAMIS_SIM_COMPARE_AND_SWAP(unsigned)
TAMIS_SIM_COMPARE_AND_SWAP(int)
TAMIS_SIM_COMPARE_AND_SWAP(unsigned long long)
TAMIS_SIM_COMPARE_AND_SWAP(unsigned short)
#undef TAMIS_SIM_COMPARE_AND_SWAP

// Hints for caches mean nothing here.
#define TAMIS_SIM_LOAD(name)     \
  template <typename T>          \
  inline T name(const T* from) { \
    return *from;                \
  }
TAMIS_SIM_LOAD(__ldg)
TAMIS_SIM_LOAD(__ldca)
TAMIS_SIM_LOAD(__ldcg)
TAMIS_SIM_LOAD(__ldcs)
TAMIS_SIM_LOAD(__ldlu)
#undef TAMIS_SIM_LOAD
template <typename T>
inline T __ldcv(const T* from) {
  return tamis::simt::load(from);
}
#define TAMIS_SIM_STORE(name)        \
  template <typename T>              \
  inline void name(T* to, T value) { \
    *to = value;                     \
  }
TAMIS_SIM_STORE(__stwb)
TAMIS_SIM_STORE(__stcg)
TAMIS_SIM_STORE(__stcs)
TAMIS_SIM_STORE(__stwt)
#undef TAMIS_SIM_STORE
