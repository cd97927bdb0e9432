// Uninitialised memory for large or vectorised data: aligned to cache lines, and to large pages
// where it is long enough for them, since touching small pages for the first time can cost more
// than what is done with them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

namespace tamis {

struct FreeMemory {
  void operator()(void* p) const { std::free(p); }
};

/// At least `bytes` bytes; null when there is not so much memory.
std::unique_ptr<void, FreeMemory> allocate_memory(std::size_t bytes) noexcept;

template <typename T>
class Array {
  static_assert(std::is_trivial_v<T>);

 public:
  /// Throws std::bad_alloc.
  explicit Array(std::int64_t size = 0) : size_(size) {
    memory_ = allocate_memory(static_cast<std::size_t>(size) * sizeof(T));
    if (!memory_) throw std::bad_alloc();
  }
  T* data() const { return static_cast<T*>(memory_.get()); }
  std::int64_t size() const { return size_; }

 private:
  std::unique_ptr<void, FreeMemory> memory_;
  std::int64_t size_;
};

}  // namespace tamis
