// The simulated GPU behind its driver's functions: memory, the queue of work, modules. One of them;
// every function below expects its lock to be held.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "simulator/block_executor.hpp"

namespace tamis::simt {

// Statuses of the driver, beside those of failures in block_executor.hpp.
inline constexpr int kOk = 0;
inline constexpr int kInvalidValue = 1;
inline constexpr int kOutOfMemory = 2;
inline constexpr int kInvalidImage = 200;
inline constexpr int kInvalidContext = 201;
inline constexpr int kNotFound = 500;
inline constexpr int kNotReady = 600;
inline constexpr int kOutOfResources = 701;
inline constexpr int kCaptureUnsupported = 900;

inline constexpr std::size_t kDeviceMemory = std::size_t{8} << 30;
inline constexpr int kMultiprocessors = 4;
inline constexpr unsigned kSharedWithoutAsking = 48 << 10;

/// May run more than once, when a graph holds it.
using Work = std::function<std::optional<Failure>()>;

struct WorkGraph {
  std::vector<Work> works;
  bool open = true;  // while it is captured
};

struct SimulatedEvent {
  bool done = false;
  std::chrono::steady_clock::time_point time;
  std::weak_ptr<WorkGraph> capture;  // recorded while this was captured; it holds the event
};

struct SimulatedStream {
  std::shared_ptr<WorkGraph> capture;
};

struct SimulatedModule;

struct SimulatedFunction {
  SimulatedModule* module = nullptr;
  const KernelEntry* entry = nullptr;
  std::string name;
  unsigned dynamic_limit = kSharedWithoutAsking;
};

struct SimulatedModule {
  void* library = nullptr;
  ModuleLink link{};
  std::vector<std::unique_ptr<SimulatedFunction>> functions;

  unsigned static_shared() const {
    return static_cast<unsigned>(link.shared_end - link.shared_begin) - link.dynamic_capacity;
  }
};

class SimulatedDevice {
 public:
  static SimulatedDevice& get();
  std::recursive_mutex& mutex() { return mutex_; }
  void* context() { return this; }

  /// Device memory, or memory of the host that copies need not stage. Each piece is an allocation
  /// of its own, so that sanitizers see its bounds, and holds 0xa5 at first.
  int allocate(void** data, std::size_t size, bool on_device);
  int release(void* data);
  bool is_known(const void* data) const { return find(data) != pieces_.end(); }
  bool is_device(const void* data) const;
  /// Whether the bytes lie within one piece, or in memory that is none of ours.
  int check_range(const void* data, std::size_t size, const char* what);
  std::size_t used() const { return used_; }

  /// Work waits until something asks for its end, as late as a device may run it; so a host that
  /// reads results too early, or frees what is still in use, shows. CUDA_LAUNCH_BLOCKING=1 runs it
  /// at once.
  int give(SimulatedStream& stream, Work work);
  int finish();

  /// The failure of a kernel stays: every later call answers with it.
  int sticky() const { return lost_.status; }
  void recover() { lost_ = {}; }
  int refuse(int status, const std::string& why);
  const char* text_of(int status) const;

  SimulatedStream null_stream;

 private:
  struct Piece {
    std::size_t size;
    bool on_device;
  };
  using Pieces = std::map<const char*, Piece>;
  Pieces::const_iterator find(const void* data) const;

  std::recursive_mutex mutex_;
  Pieces pieces_;
  std::size_t used_ = 0;
  std::deque<Work> queue_;
  Failure lost_;
  Failure refused_;
};

}  // namespace tamis::simt
