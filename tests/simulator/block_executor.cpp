// The blocks of a grid, and the signals by which the processor and the clock report what lanes do
// wrong: their handlers leave the lane's stack for good and go on in the scheduler.
#include "simulator/block_executor.hpp"

#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <numeric>
#include <stdexcept>

#include "simulator/lane_scheduler.hpp"

namespace tamis::simt {
namespace {

constexpr std::array kFaults{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
constexpr int kDefaultSeconds = 20;

// Never destroyed, as its stacks are not.
LaneScheduler& scheduler() {
  static auto& instance = *new LaneScheduler();
  return instance;
}

unsigned variable(const char* name, unsigned otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : static_cast<unsigned>(std::strtoul(text, nullptr, 10));
}

thread_local bool t_launching = false;  // signals of other threads are not ours
std::array<struct sigaction, kFaults.size()> g_before;

int clock_signal() { return SIGRTMIN + 7; }

const char* fault_name(int signal) {
  switch (signal) {
    case SIGFPE:
      return "division of integers by zero";
    case SIGILL:
    case SIGTRAP:
      return "a check of the compiler failed (most likely misaligned access)";
    default:
      return "access to an address that is not there";
  }
}

void handle_fault(int signal, siginfo_t* info, void*) {
  if (t_launching && scheduler().in_lane()) {
    char why[200];
    if (signal == SIGSEGV || signal == SIGBUS) {
      std::snprintf(why, sizeof why, "%s: %p", fault_name(signal), info->si_addr);
    } else {
      std::snprintf(why, sizeof why, "%s", fault_name(signal));
    }
    scheduler().give_up(signal == SIGFPE ? kLaunchFailed : kIllegalAddress, why);
  }
  // Not of a lane: as before us, when the instruction is tried again.
  for (std::size_t k = 0; k < kFaults.size(); ++k) {
    if (kFaults[k] == signal) ::sigaction(signal, &g_before[k], nullptr);
  }
}

void handle_clock(int, siginfo_t*, void*) {
  if (t_launching && scheduler().in_lane()) {
    scheduler().give_up(kLaunchTimeout,
                        "the block takes too long; a loop that waits for what never comes?");
  }
}

// Signal handlers need a stack of their own: that of a lane may be what has overflowed.
void provide_signal_stack() {
  stack_t now{};
  if (::sigaltstack(nullptr, &now) == 0 && (now.ss_flags & SS_DISABLE) == 0) return;
  constexpr std::size_t kBytes = 64 << 10;
  stack_t mine{};
  mine.ss_sp = ::malloc(kBytes);  // the thread keeps it
  mine.ss_size = kBytes;
  ::sigaltstack(&mine, nullptr);
}

// Handlers and a clock of the thread's processor time, while lanes run.
class Watch {
 public:
  explicit Watch(unsigned seconds) : seconds_(seconds) {
    provide_signal_stack();
    struct sigaction action {};
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    action.sa_sigaction = handle_fault;
    for (std::size_t k = 0; k < kFaults.size(); ++k) {
      ::sigaction(kFaults[k], &action, &g_before[k]);
    }
    action.sa_sigaction = handle_clock;
    ::sigaction(clock_signal(), &action, nullptr);
    struct sigevent event {};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = clock_signal();
    event._sigev_un._tid = static_cast<int>(::syscall(SYS_gettid));
    has_timer_ = ::timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer_) == 0;
    t_launching = true;
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch() {
    t_launching = false;
    if (has_timer_) ::timer_delete(timer_);
    for (std::size_t k = 0; k < kFaults.size(); ++k) {
      ::sigaction(kFaults[k], &g_before[k], nullptr);
    }
  }
  /// From now on; asks again every so often, in case a moment between lanes was met.
  void restart() {
    if (!has_timer_) return;
    itimerspec times{};
    times.it_value.tv_sec = seconds_;
    times.it_interval.tv_nsec = 50'000'000;
    ::timer_settime(timer_, 0, &times, nullptr);
  }

 private:
  unsigned seconds_;
  timer_t timer_{};
  bool has_timer_ = false;
};

// Visits every number below `count` once: the n-th is first + n * step.
struct Order {
  unsigned long long count;
  unsigned long long first = 0;
  unsigned long long step = 1;

  Order(unsigned long long blocks, unsigned seed) : count(blocks) {
    if (seed == 0) return;
    first = seed * 2654435761u % count;
    step = seed * 40503u % count | 1;
    while (std::gcd(step, count) != 1) step += 2;
  }
  unsigned long long at(unsigned long long n) const { return (first + n * step) % count; }
};

}  // namespace

std::optional<Failure> run_grid(const Launch& launch) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  const unsigned seed = variable("TAMIS_SIMULATOR_SEED", 0);
  LaneScheduler& lanes = scheduler();
  lanes.prepare(launch, seed);
  Watch watch(variable("TAMIS_SIMULATOR_SECONDS", kDefaultSeconds));
  const Index& grid = launch.grid;
  const Order order(static_cast<unsigned long long>(grid.x) * grid.y * grid.z, seed);
  bool good = true;
  for (unsigned long long n = 0; good && n < order.count; ++n) {
    const unsigned long long b = order.at(n);
    watch.restart();
    const Index block{static_cast<unsigned>(b % grid.x), static_cast<unsigned>(b / grid.x % grid.y),
                      static_cast<unsigned>(b / grid.x / grid.y)};
    good = lanes.run_block(block);
  }
  lanes.finish();
  return good ? std::nullopt : std::optional(lanes.failure());
}

void run_block(const ModuleLink& module, unsigned threads, const std::function<void()>& lane) {
  Launch launch;
  launch.module = module;
  launch.name = "the test's block";
  launch.call = [](void* data) { (*static_cast<const std::function<void()>*>(data))(); };
  launch.data = const_cast<std::function<void()>*>(&lane);  // called as const
  launch.block = {threads, 1, 1};
  if (const auto failure = run_grid(launch)) throw std::runtime_error(failure->text);
}

}  // namespace tamis::simt
