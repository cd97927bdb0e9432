// The one place that starts threads. Loops are expressed as parallel_for over coarse, independent
// items; results must not depend on how many workers run them.
#pragma once

#include <cstdint>
#include <functional>

namespace tamis {

/// Number of workers for a request: 0 = OMP_NUM_THREADS or the cores this process may use.
/// Requests above kMaxThreads are clamped. Throws Error(kInvalidArgument) when negative.
int resolve_threads(int requested);
inline constexpr int kMaxThreads = 1024;

/// Calls fn(index, worker) once for each index in [0, count). `worker` is below
/// resolve_threads(threads) and no two calls run with the same worker at a time, so it can index
/// scratch space. Items are handed out one by one in ascending order. When items throw, the
/// exception of the lowest index reaches the caller, whatever the number of threads.
/// A parallel_for inside of another runs on the calling worker alone.
void parallel_for(std::int64_t count, int threads,
                  const std::function<void(std::int64_t index, int worker)>& fn);

}  // namespace tamis
