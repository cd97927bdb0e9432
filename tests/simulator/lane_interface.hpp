// What device text that runs on the host and the executor of its blocks know of each other: plain
// records, so that a kernel's shared object and the executor need nothing else in common. Kernels
// are compiled without any standard header, hence none here.
#pragma once

namespace tamis::simt {

using Word = unsigned long long;

struct Index {
  unsigned x = 1;
  unsigned y = 1;
  unsigned z = 1;
};

/// Who the running lane is; the executor changes it with every switch.
struct Lane {
  Index thread;
  Index block;
  Index block_size;
  Index grid_size;
  unsigned in_wave = 0;
};

/// Lanes whose value has bit 0 set, behind the values of the lanes in what exchange() gives.
inline constexpr int kVotesSlot = 64;

/// What lanes call. All but fail() return when the others have come too.
struct Services {
  /// Every lane of the wave gives a word and gets those of all, until its next call.
  const Word* (*exchange)(const char* operation, Word value);
  /// Every lane of the block; gives how many voted. `line` is that of the call in the text.
  unsigned (*meet)(const char* operation, int line, bool vote);
  /// Lets other lanes run: for loops that wait for a word of memory.
  void (*pause)();
  __attribute__((noreturn)) void (*fail)(const char* why);
};

/// What the executor needs of a shared object of kernels.
struct ModuleLink {
  Lane* lane;
  const Services** services;
  unsigned wave_size;
  // Static shared memory of all its kernels lies in here, and nothing that must survive a block.
  unsigned char* shared_begin;
  unsigned char* shared_end;
  // Dynamic shared memory, within the former.
  unsigned char* dynamic_shared;
  unsigned dynamic_capacity;
};

/// A kernel, as its shared object tells of it under the name tamis_kernel_<name>.
struct KernelEntry {
  void (*call)(void* const* arguments);
  const unsigned* sizes;
  unsigned count;
  unsigned max_threads;
};

inline constexpr unsigned kMaxThreads = 1024;
inline constexpr unsigned kMaxDynamicShared = 227 << 10;

}  // namespace tamis::simt
