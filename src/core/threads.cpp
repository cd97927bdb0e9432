// parallel_for over OpenMP; no other file names OpenMP. An exception must not leave a parallel
// region, so the lowest failing item's is kept and rethrown after it.
#include "core/threads.hpp"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <limits>
#include <mutex>
#include <string>

#include "tamis/error.hpp"

namespace tamis {

int resolve_threads(int requested) {
  if (requested < 0) {
    throw Error(ErrorCode::kInvalidArgument,
                "threads = " + std::to_string(requested) + ", expected 0 (automatic) or more");
  }
  if (requested == 0) requested = omp_get_max_threads();
  return std::clamp(requested, 1, kMaxThreads);
}

void parallel_for(std::int64_t count, int threads,
                  const std::function<void(std::int64_t index, int worker)>& fn) {
  const int workers = static_cast<int>(
      std::min<std::int64_t>(resolve_threads(threads), std::max<std::int64_t>(count, 1)));
  if (workers == 1 || omp_in_parallel()) {
    for (std::int64_t index = 0; index < count; ++index) fn(index, 0);
    return;
  }

  std::atomic<std::int64_t> lowest_failed{std::numeric_limits<std::int64_t>::max()};
  std::exception_ptr failure;
  std::mutex failure_mutex;
#pragma omp parallel for num_threads(workers) schedule(dynamic, 1)
  for (std::int64_t index = 0; index < count; ++index) {
    // Items below the failed one still run: one of them may be the lowest to fail.
    if (index > lowest_failed.load(std::memory_order_relaxed)) continue;
    try {
      fn(index, omp_get_thread_num());
    } catch (...) {
      const std::lock_guard lock(failure_mutex);
      if (index < lowest_failed.load(std::memory_order_relaxed)) {
        lowest_failed.store(index, std::memory_order_relaxed);
        failure = std::current_exception();
      }
    }
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace tamis
