// Stacks of their own within one thread, and the switch between them. swapcontext() asks the
// kernel for the signal mask at every switch, which costs 50 times the rest; on x86-64 a few
// instructions do instead. Sanitizers are told of each switch.
#pragma once

#include <cstddef>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace tamis::simt {

/// A place to go on at: a fiber, or the thread itself.
struct Fiber {
#if defined(__x86_64__)
  void* stack_pointer = nullptr;
#else
  ucontext_t context{};
#endif
  char* stack = nullptr;  // its low end
  std::size_t stack_bytes = 0;
  void* sanitizer_state = nullptr;
};

/// Gives the fiber a stack with a page beneath it that faults. It is never given back.
void allocate_stack(Fiber& fiber);
/// The next switch to it starts `entry`, which must never return. `number` staggers the stacks,
/// which would otherwise fall on the same lines of the caches.
void start_over(Fiber& fiber, unsigned number, void (*entry)());
/// Stores where we are in `from` and goes on in `to`. A fiber that ends for good says so.
void switch_fiber(Fiber& from, Fiber& to, bool ends = false);
/// First thing in an entry: `from` is who switched to it.
void arrive_in_fiber(Fiber& from);
/// The stack was left behind with whatever was on it.
void forget_stack(Fiber& fiber);

}  // namespace tamis::simt
