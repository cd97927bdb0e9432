// What the address sanitizer is told, where the build has it: which memory is out of bounds, and
// whose stack runs.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define TAMIS_SIM_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TAMIS_SIM_ASAN 1
#endif
#endif
#ifdef TAMIS_SIM_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace tamis::simt {

inline void forbid_access([[maybe_unused]] const void* memory, [[maybe_unused]] std::size_t size) {
#ifdef TAMIS_SIM_ASAN
  __asan_poison_memory_region(memory, size);
#endif
}
inline void permit_access([[maybe_unused]] const void* memory, [[maybe_unused]] std::size_t size) {
#ifdef TAMIS_SIM_ASAN
  __asan_unpoison_memory_region(memory, size);
#endif
}

}  // namespace tamis::simt
