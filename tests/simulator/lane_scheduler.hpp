// The lanes of one block and how they take turns: a queue of those that can go on, and what the
// others wait for. block_executor.cpp feeds it blocks.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "simulator/block_executor.hpp"
#include "simulator/fiber_switch.hpp"

namespace tamis::simt {

class LaneScheduler {
 public:
  /// Before the blocks of a launch.
  void prepare(const Launch& launch, unsigned seed);
  /// After them, however they ended.
  void finish();
  /// False when the block failed; failure() says how.
  bool run_block(const Index& block);
  const Failure& failure() const { return failure_; }

  /// Whether a lane runs, as opposed to what surrounds it. For signal handlers.
  bool in_lane() const { return current_ != nullptr && !switching_; }
  /// Gives up the block. From within a lane, or a signal handler above one.
  [[noreturn]] void give_up(int status, const char* why);

  const Word* exchange(const char* operation, Word value);
  unsigned meet(const char* operation, int line, bool vote);
  void pause();

 private:
  struct LaneState {
    Fiber fiber;
    Index thread;
    unsigned number = 0;
    const char* waits = nullptr;  // operation
    int line = 0;
    bool left = false;  // the kernel
  };
  struct Wave {
    // Two rooms in turn: a lane may come to the next operation while others still read of this one.
    Word slots[2][kVotesSlot + 1];
    unsigned turn = 0;
    unsigned arrived = 0;
    unsigned left = 0;
    const char* operation = nullptr;
  };

  static void enter_lane();
  void leave_lane();
  void start_lanes();
  void run_next(bool ends = false);
  void make_ready(LaneState& lane);
  unsigned random_number();
  // All lanes can go on; `but` runs already.
  void release_wave(unsigned wave, const LaneState* but);
  void release_block(const LaneState* but);
  std::string waiting_text() const;
  void poison_shared() const;

  Launch launch_;
  unsigned seed_ = 0;
  unsigned long long random_ = 0;
  unsigned lane_count_ = 0;
  std::vector<std::unique_ptr<LaneState>> lanes_;
  std::vector<Wave> waves_;

  // The lanes that can go on, first come first served: a ring.
  std::vector<LaneState*> ready_;
  std::size_t ready_first_ = 0;
  std::size_t ready_count_ = 0;

  // The block's barrier.
  unsigned arrived_ = 0;
  unsigned votes_ = 0;
  unsigned last_votes_ = 0;
  const char* operation_ = nullptr;
  int line_ = 0;
  unsigned left_ = 0;

  LaneState* current_ = nullptr;
  volatile bool switching_ = false;
  Fiber host_;
  Fiber* previous_ = nullptr;  // who switched last
  char why_[512] = {};
  int status_ = 0;
  Failure failure_;
};

}  // namespace tamis::simt
