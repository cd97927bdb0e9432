// Large pages are asked for, not demanded.
#include "core/array.hpp"

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace tamis {

std::unique_ptr<void, FreeMemory> allocate_memory(std::size_t bytes) noexcept {
  constexpr std::size_t kLine = 64;
  constexpr std::size_t kLargePage = std::size_t{2} << 20;
  const std::size_t alignment = bytes >= 2 * kLargePage ? kLargePage : kLine;
  void* memory = nullptr;
  if (posix_memalign(&memory, alignment, bytes > 0 ? bytes : 1) != 0) return nullptr;
#ifdef MADV_HUGEPAGE
  if (alignment == kLargePage) {
    static_cast<void>(madvise(memory, bytes / kLargePage * kLargePage, MADV_HUGEPAGE));
  }
#endif
  return std::unique_ptr<void, FreeMemory>(memory);
}

}  // namespace tamis
