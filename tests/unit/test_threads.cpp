// parallel_for: every index once, worker numbers usable as scratch indices, exceptions carried.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/stopwatch.hpp"
#include "core/threads.hpp"
#include "support/expect_error.hpp"

namespace tamis {
namespace {

TEST(Threads, ResolveHandlesEveryRequest) {
  EXPECT_GE(resolve_threads(0), 1);
  EXPECT_EQ(resolve_threads(1), 1);
  EXPECT_EQ(resolve_threads(7), 7);
  EXPECT_EQ(resolve_threads(1 << 30), kMaxThreads);
  EXPECT_TAMIS_ERROR(ErrorCode::kInvalidArgument, "threads = -1", resolve_threads(-1));
}

TEST(Threads, EveryIndexOnce) {
  for (const int threads : {1, 2, 3, 8}) {
    for (const std::int64_t count : {0, 1, 2, 7, 1000}) {
      std::vector<std::atomic<int>> calls(static_cast<std::size_t>(count));
      parallel_for(count, threads, [&](std::int64_t index, int) { ++calls[index]; });
      for (const auto& n : calls) EXPECT_EQ(n, 1);
    }
  }
}

TEST(Threads, NegativeCountRunsNothing) {
  parallel_for(-5, 4, [](std::int64_t, int) { FAIL(); });
}

TEST(Threads, WorkerOwnsItsScratch) {
  constexpr int kThreads = 4;
  std::vector<std::atomic<int>> busy(kThreads);
  std::atomic<bool> clash{false};
  parallel_for(500, kThreads, [&](std::int64_t, int worker) {
    if (worker < 0 || worker >= kThreads || busy[worker].exchange(1) != 0) clash = true;
    busy[worker] = 0;
  });
  EXPECT_FALSE(clash);
}

TEST(Threads, ExceptionReachesTheCaller) {
  for (const int threads : {1, 4}) {
    EXPECT_TAMIS_ERROR(ErrorCode::kCorrupt, "item 3",
                       parallel_for(10, threads, [](auto index, int) {
                         if (index == 3) throw Error(ErrorCode::kCorrupt, "item 3");
                       }));
  }
}

TEST(Threads, LowestFailingItemWins) {
  for (int round = 0; round < 50; ++round) {
    try {
      parallel_for(64, 8, [](std::int64_t index, int) {
        if (index >= 5) throw std::runtime_error(std::to_string(index));
      });
      FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "5");
    }
  }
}

TEST(Threads, UsableAgainAfterAnException) {
  EXPECT_THROW(parallel_for(8, 2, [](std::int64_t, int) { throw 1; }), int);
  std::atomic<int> calls{0};
  parallel_for(8, 2, [&](std::int64_t, int) { ++calls; });
  EXPECT_EQ(calls, 8);
}

TEST(Threads, NestedRunsInsideItsWorker) {
  std::atomic<int> calls{0};
  parallel_for(4, 2, [&](std::int64_t, int) {
    parallel_for(10, 4, [&](std::int64_t, int worker) {
      EXPECT_EQ(worker, 0);
      ++calls;
    });
  });
  EXPECT_EQ(calls, 40);
}

TEST(StopwatchTest, MovesForward) {
  Stopwatch watch;
  const double first = watch.seconds();
  EXPECT_GE(first, 0.0);
  EXPECT_GE(watch.seconds(), first);
  EXPECT_GT(watch.gb_s(1.0), 0.0);
}

}  // namespace
}  // namespace tamis
