// Everything here runs either on the thread's own stack or on that of a lane; only what lies in the
// scheduler is shared by both. Lanes are left where they are when a block fails, so nothing on
// their stacks may own anything.
#include "simulator/lane_scheduler.hpp"

#include <cstdint>
#include <cstdio>
#include <cstring>

#include "simulator/address_checks.hpp"

namespace tamis::simt {
namespace {

LaneScheduler* g_running = nullptr;

constexpr unsigned char kPoison = 0xcd;

bool same(const char* a, const char* b) { return a == b || std::strcmp(a, b) == 0; }

const Word* service_exchange(const char* operation, Word value) {
  return g_running->exchange(operation, value);
}
unsigned service_meet(const char* operation, int line, bool vote) {
  return g_running->meet(operation, line, vote);
}
void service_pause() { g_running->pause(); }
__attribute__((noreturn)) void service_fail(const char* why) {
  g_running->give_up(kAssertFailed, why);
}

constexpr Services kServices{service_exchange, service_meet, service_pause, service_fail};

// Not memset(): that of the address sanitizer refuses the gaps between variables.
__attribute__((no_sanitize("address"))) void overwrite(unsigned char* from, unsigned char* to) {
  volatile unsigned char* byte = from;
  for (; byte < to && reinterpret_cast<std::uintptr_t>(byte) % 8 != 0; ++byte) *byte = kPoison;
  for (; to - byte >= 8; byte += 8) {
    *reinterpret_cast<volatile std::uint64_t*>(byte) = 0x0101010101010101u * kPoison;
  }
  for (; byte < to; ++byte) *byte = kPoison;
}

}  // namespace

void LaneScheduler::prepare(const Launch& launch, unsigned seed) {
  launch_ = launch;
  seed_ = seed;
  random_ = seed;
  lane_count_ = launch.block.x * launch.block.y * launch.block.z;
  while (lanes_.size() < lane_count_) {
    lanes_.push_back(std::make_unique<LaneState>());
    allocate_stack(lanes_.back()->fiber);
  }
  ready_.resize(lane_count_);
  waves_.resize((lane_count_ + launch.module.wave_size - 1) / launch.module.wave_size);
  Lane& lane = *launch_.module.lane;
  lane.block_size = launch.block;
  lane.grid_size = launch.grid;
  *launch_.module.services = &kServices;
  forbid_access(launch_.module.dynamic_shared + launch_.dynamic_bytes,
                launch_.module.dynamic_capacity - launch_.dynamic_bytes);
}

// The addresses may soon be another module's.
void LaneScheduler::finish() {
  permit_access(launch_.module.dynamic_shared, launch_.module.dynamic_capacity);
}

void LaneScheduler::start_lanes() {
  for (Wave& wave : waves_) {
    wave.turn = wave.arrived = wave.left = 0;
    wave.operation = nullptr;
  }
  arrived_ = votes_ = left_ = 0;
  ready_first_ = ready_count_ = 0;
  for (unsigned t = 0; t < lane_count_; ++t) {
    LaneState& lane = *lanes_[t];
    lane.number = t;
    lane.thread = {t % launch_.block.x, t / launch_.block.x % launch_.block.y,
                   t / launch_.block.x / launch_.block.y};
    lane.waits = nullptr;
    lane.left = false;
    start_over(lane.fiber, t, enter_lane);
  }
  release_block(nullptr);
}

void LaneScheduler::poison_shared() const {
  const ModuleLink& module = launch_.module;
  if (module.dynamic_shared == nullptr) {
    overwrite(module.shared_begin, module.shared_end);
    return;
  }
  overwrite(module.shared_begin, module.dynamic_shared + launch_.dynamic_bytes);
  overwrite(module.dynamic_shared + module.dynamic_capacity, module.shared_end);
}

bool LaneScheduler::run_block(const Index& block) {
  poison_shared();
  launch_.module.lane->block = block;
  start_lanes();
  status_ = 0;
  g_running = this;
  run_next();
  g_running = nullptr;
  if (status_ == 0 && left_ == lane_count_) return true;
  for (unsigned t = 0; t < lane_count_; ++t) forget_stack(lanes_[t]->fiber);
  failure_.status = status_ != 0 ? status_ : kLaunchFailed;
  failure_.text = launch_.name + ", block (" + std::to_string(block.x) + ", " +
                  std::to_string(block.y) + ", " + std::to_string(block.z) + "): ";
  failure_.text += status_ != 0 ? std::string(why_) : "no lane can go on: " + waiting_text();
  return false;
}

// "31 lanes from 1 on wait at __syncthreads (line 12), 1 lane from 0 on has left".
std::string LaneScheduler::waiting_text() const {
  std::string text;
  std::vector<bool> told(lane_count_);
  for (unsigned t = 0; t < lane_count_; ++t) {
    if (told[t]) continue;
    const LaneState& lane = *lanes_[t];
    unsigned count = 0;
    for (unsigned u = t; u < lane_count_; ++u) {
      const LaneState& other = *lanes_[u];
      if (other.left != lane.left) continue;
      if (!lane.left && (!same(other.waits, lane.waits) || other.line != lane.line)) continue;
      told[u] = true;
      ++count;
    }
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " from lane " + std::to_string(t) +
            " on ";
    if (lane.left) {
      text += "have left";
      continue;
    }
    text += std::string("wait at ") + lane.waits;
    if (lane.line != 0) text += " (line " + std::to_string(lane.line) + ")";
  }
  return text;
}

// --- turns ---------------------------------------------------------------------------------------

void LaneScheduler::make_ready(LaneState& lane) {
  ready_[(ready_first_ + ready_count_++) % lane_count_] = &lane;
}

// Goes on with the lane that has waited longest, or with the host when none can go on.
void LaneScheduler::run_next(bool ends) {
  LaneState* const self = current_;
  LaneState* next = nullptr;
  if (ready_count_ > 0) {
    next = ready_[ready_first_];
    ready_first_ = ready_first_ + 1 == lane_count_ ? 0 : ready_first_ + 1;
    --ready_count_;
  }
  if (next == self && self != nullptr) return;
  Fiber& from = self == nullptr ? host_ : self->fiber;
  switching_ = true;
  previous_ = &from;
  current_ = next;
  if (next != nullptr) {
    launch_.module.lane->thread = next->thread;
    launch_.module.lane->in_wave = next->number % launch_.module.wave_size;
  }
  switch_fiber(from, next == nullptr ? host_ : next->fiber, ends);
  switching_ = false;
}

void LaneScheduler::enter_lane() {
  LaneScheduler& scheduler = *g_running;
  arrive_in_fiber(*scheduler.previous_);
  scheduler.switching_ = false;
  scheduler.launch_.call(scheduler.launch_.data);
  scheduler.leave_lane();
}

void LaneScheduler::leave_lane() {
  LaneState& lane = *current_;
  lane.left = true;
  ++left_;
  Wave& wave = waves_[lane.number / launch_.module.wave_size];
  ++wave.left;
  if (wave.arrived > 0 || arrived_ > 0) {
    char why[200];
    std::snprintf(why, sizeof why, "has left the kernel while others wait at %s",
                  wave.arrived > 0 ? wave.operation : operation_);
    give_up(kLaunchFailed, why);
  }
  run_next(true);
}

void LaneScheduler::give_up(int status, const char* why) {
  const Index& t = current_->thread;
  std::snprintf(why_, sizeof why_, "thread (%u, %u, %u): %s", t.x, t.y, t.z, why);
  status_ = status;
  ready_count_ = 0;
  run_next(true);
  __builtin_unreachable();
}

void LaneScheduler::pause() {
  if (ready_count_ == 0) return;
  make_ready(*current_);
  run_next();
}

// --- meetings ------------------------------------------------------------------------------------

unsigned LaneScheduler::random_number() {
  random_ = random_ * 6364136223846793005u + 1442695040888963407u;
  return static_cast<unsigned>(random_ >> 33);
}

void LaneScheduler::release_wave(unsigned wave, const LaneState* but) {
  const unsigned size = launch_.module.wave_size;
  const unsigned first = seed_ == 0 ? 0 : random_number();
  const unsigned step = seed_ == 0 ? 1 : random_number() | 1;  // odd: it visits every lane
  for (unsigned k = 0; k < size; ++k) {
    const unsigned t = wave * size + (first + k * step) % size;
    if (t >= lane_count_) continue;
    LaneState& lane = *lanes_[t];
    lane.waits = nullptr;
    if (&lane != but) make_ready(lane);
  }
}

void LaneScheduler::release_block(const LaneState* but) {
  const auto count = static_cast<unsigned>(waves_.size());
  const unsigned first = seed_ == 0 ? 0 : random_number() % count;
  for (unsigned w = 0; w < count; ++w) release_wave((first + w) % count, but);
}

const Word* LaneScheduler::exchange(const char* operation, Word value) {
  LaneState& lane = *current_;
  const unsigned size = launch_.module.wave_size;
  const unsigned number = lane.number / size;
  Wave& wave = waves_[number];
  Word* const slots = wave.slots[wave.turn];
  const unsigned at = lane.number % size;
  if (wave.arrived == 0) {
    wave.operation = operation;
    slots[kVotesSlot] = 0;
    if (wave.left > 0 || (number + 1) * size > lane_count_) {
      char why[200];
      std::snprintf(why, sizeof why, "is at %s, where other lanes of its wave %s", operation,
                    wave.left > 0 ? "have left the kernel" : "do not exist");
      give_up(kLaunchFailed, why);
    }
  } else if (!same(wave.operation, operation)) {
    char why[200];
    std::snprintf(why, sizeof why, "is at %s, others of its wave at %s", operation, wave.operation);
    give_up(kLaunchFailed, why);
  }
  slots[at] = value;
  slots[kVotesSlot] |= (value & 1) << at;
  if (++wave.arrived == size) {
    wave.arrived = 0;
    wave.turn ^= 1;
    release_wave(number, &lane);
  } else {
    lane.waits = operation;
    lane.line = 0;
    run_next();
  }
  return slots;
}

unsigned LaneScheduler::meet(const char* operation, int line, bool vote) {
  LaneState& lane = *current_;
  if (left_ > 0) {
    char why[200];
    std::snprintf(why, sizeof why, "is at %s (line %d), where other lanes have left the kernel",
                  operation, line);
    give_up(kLaunchFailed, why);
  }
  if (arrived_ == 0) {
    operation_ = operation;
    line_ = line;
  } else if (line != line_ || !same(operation_, operation)) {
    char why[200];
    std::snprintf(why, sizeof why, "is at %s (line %d), others at %s (line %d)", operation, line,
                  operation_, line_);
    give_up(kLaunchFailed, why);
  }
  votes_ += vote ? 1 : 0;
  if (++arrived_ == lane_count_) {
    last_votes_ = votes_;
    arrived_ = votes_ = 0;
    release_block(&lane);
  } else {
    lane.waits = operation;
    lane.line = line;
    run_next();
  }
  return last_votes_;
}

}  // namespace tamis::simt
