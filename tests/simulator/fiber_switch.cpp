// See the header. Registers that calls preserve are all that a switch has to keep.
#include "simulator/fiber_switch.hpp"

#include <sys/mman.h>

#include <new>

#include "simulator/address_checks.hpp"

namespace tamis::simt {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kStackBytes = 256 << 10;
constexpr std::size_t kStagger = 64;

}  // namespace

#if defined(__x86_64__)
extern "C" __attribute__((visibility("hidden"))) void tamis_simt_switch(void** from, void* to);
asm(R"(
  .text
  .p2align 4
  .hidden tamis_simt_switch
  .globl tamis_simt_switch
  .type tamis_simt_switch, @function
tamis_simt_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .size tamis_simt_switch, . - tamis_simt_switch
)");
#endif

void allocate_stack(Fiber& fiber) {
  void* memory = ::mmap(nullptr, kStackBytes + kPage, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  ::mprotect(memory, kPage, PROT_NONE);
  fiber.stack = static_cast<char*>(memory) + kPage;
  fiber.stack_bytes = kStackBytes;
}

void start_over(Fiber& fiber, unsigned number, void (*entry)()) {
  const std::size_t skipped = number % (kPage / kStagger) * kStagger;
  permit_access(fiber.stack, fiber.stack_bytes);  // frames that the last run never left
#if defined(__x86_64__)
  // As after a call: the return address is the entry, the stack is 8 bytes off a multiple of 16.
  void** top = reinterpret_cast<void**>(fiber.stack + fiber.stack_bytes - skipped);
  *--top = nullptr;
  *--top = reinterpret_cast<void*>(entry);
  for (int k = 0; k < 6; ++k) *--top = nullptr;
  fiber.stack_pointer = top;
#else
  ::getcontext(&fiber.context);
  fiber.context.uc_stack.ss_sp = fiber.stack;
  fiber.context.uc_stack.ss_size = fiber.stack_bytes - skipped;
  fiber.context.uc_link = nullptr;
  ::makecontext(&fiber.context, entry, 0);
#endif
  fiber.sanitizer_state = nullptr;
}

void switch_fiber(Fiber& from, Fiber& to, [[maybe_unused]] bool ends) {
#ifdef TAMIS_SIM_ASAN
  __sanitizer_start_switch_fiber(ends ? nullptr : &from.sanitizer_state, to.stack, to.stack_bytes);
#endif
#if defined(__x86_64__)
  tamis_simt_switch(&from.stack_pointer, to.stack_pointer);
#else
  if (ends) {
    ::setcontext(&to.context);
  } else {
    ::swapcontext(&from.context, &to.context);
  }
#endif
#ifdef TAMIS_SIM_ASAN
  __sanitizer_finish_switch_fiber(from.sanitizer_state, nullptr, nullptr);
#endif
}

void arrive_in_fiber([[maybe_unused]] Fiber& from) {
#ifdef TAMIS_SIM_ASAN
  const void* stack = nullptr;
  __sanitizer_finish_switch_fiber(nullptr, &stack, &from.stack_bytes);
  from.stack = const_cast<char*>(static_cast<const char*>(stack));
#endif
}

void forget_stack(Fiber& fiber) { permit_access(fiber.stack, fiber.stack_bytes); }

}  // namespace tamis::simt
