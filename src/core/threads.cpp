// parallel_for over threads of its own. OpenMP's workers spin at the end of each region, which
// costs more than starting threads when the machine is busy; regions here are few and coarse. Users
// still steer the number with OMP_NUM_THREADS.
#include "core/threads.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <limits>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "tamis/error.hpp"

namespace tamis {

namespace {

thread_local bool in_parallel = false;

// Cores that this process may use, or what OMP_NUM_THREADS says (its first number).
int automatic_threads() {
  if (const char* text = std::getenv("OMP_NUM_THREADS")) {
    const long value = std::strtol(text, nullptr, 10);
    if (value > 0) return static_cast<int>(std::min<long>(value, kMaxThreads));
  }
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof cores, &cores) == 0) return CPU_COUNT(&cores);
  return static_cast<int>(std::thread::hardware_concurrency());
}

// Hands out the items of one parallel_for and keeps the exception of the lowest that failed.
class Items {
 public:
  Items(std::int64_t count, const std::function<void(std::int64_t, int)>& fn)
      : count_(count), fn_(fn) {}

  void work(int worker) {
    in_parallel = true;
    for (;;) {
      const std::int64_t index = next_.fetch_add(1, std::memory_order_relaxed);
      if (index >= count_) break;
      // Items below the failed one still run: one of them may be the lowest to fail.
      if (index > lowest_failed_.load(std::memory_order_relaxed)) continue;
      try {
        fn_(index, worker);
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (index < lowest_failed_.load(std::memory_order_relaxed)) {
          lowest_failed_.store(index, std::memory_order_relaxed);
          failure_ = std::current_exception();
        }
      }
    }
    in_parallel = false;
  }

  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::int64_t count_;
  const std::function<void(std::int64_t, int)>& fn_;
  std::atomic<std::int64_t> next_{0};
  std::atomic<std::int64_t> lowest_failed_{std::numeric_limits<std::int64_t>::max()};
  std::exception_ptr failure_;
  std::mutex mutex_;
};

}  // namespace

int resolve_threads(int requested) {
  if (requested < 0) {
    throw Error(ErrorCode::kInvalidArgument,
                "threads = " + std::to_string(requested) + ", expected 0 (automatic) or more");
  }
  if (requested == 0) requested = automatic_threads();
  return std::clamp(requested, 1, kMaxThreads);
}

void parallel_for(std::int64_t count, int threads,
                  const std::function<void(std::int64_t index, int worker)>& fn) {
  const int workers = static_cast<int>(
      std::min<std::int64_t>(resolve_threads(threads), std::max<std::int64_t>(count, 1)));
  if (workers == 1 || in_parallel) {
    for (std::int64_t index = 0; index < count; ++index) fn(index, 0);
    return;
  }
  Items items(count, fn);
  {
    std::vector<std::jthread> helpers;  // joined at the end of the block
    try {
      for (int worker = 1; worker < workers; ++worker) {
        helpers.emplace_back([&items, worker] { items.work(worker); });
      }
    } catch (const std::system_error&) {
      // Fewer threads than wanted do the same work.
    }
    items.work(0);
  }
  items.rethrow();
}

}  // namespace tamis
