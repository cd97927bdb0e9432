// The one timer: wall time from a steady clock. Benchmarks, the command line and the tuner all use
// it, so their numbers can be compared.
#pragma once

#include <chrono>

namespace tamis {

class Stopwatch {
 public:
  Stopwatch() : start_(Clock::now()) {}
  void restart() { start_ = Clock::now(); }
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  /// Throughput in decimal gigabytes per second.
  double gb_s(double size_bytes) const { return size_bytes / seconds() * 1e-9; }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_;
};

}  // namespace tamis
