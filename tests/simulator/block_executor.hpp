// Runs the blocks of a kernel on the host, one after the other in the order of their indices: each
// lane is a fiber, and lanes switch where they wait for others. Blocks that wait for earlier ones
// (look-back) therefore never wait long; blocks that wait for later ones never end, which is an
// error like every other that the hardware answers with silence:
// - a barrier or wave operation that some lanes do not reach, or reach by another path;
// - a block that takes longer than TAMIS_SIMULATOR_SECONDS of processor time (20);
// - access to addresses that do not exist, misaligned access, failed assertions.
// TAMIS_SIMULATOR_SEED other than 0 makes blocks and lanes take turns in another order.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "simulator/lane_interface.hpp"

namespace tamis::simt {

struct Launch {
  ModuleLink module;
  std::string name;  // for messages
  void (*call)(void* data) = nullptr;
  void* data = nullptr;
  Index grid;
  Index block;
  unsigned dynamic_bytes = 0;
};

/// What went wrong, as a status of the driver and in words.
struct Failure {
  int status = 0;
  std::string text;
};
inline constexpr int kIllegalAddress = 700;
inline constexpr int kLaunchTimeout = 702;
inline constexpr int kAssertFailed = 710;
inline constexpr int kLaunchFailed = 719;

/// Returns when all blocks have run, or one has failed. One grid runs at a time; other threads
/// wait.
std::optional<Failure> run_grid(const Launch& launch);

/// One block of `threads` lanes, each of which calls `lane`; for tests that include device text by
/// themselves. `module` links to their own copy of it. Throws std::runtime_error with the failure.
void run_block(const ModuleLink& module, unsigned threads, const std::function<void()>& lane);

}  // namespace tamis::simt
