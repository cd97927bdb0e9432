// Memory and the one queue of work of the simulated GPU. Running everything in the order in which
// it was given is right for any number of streams and events.
#include "simulator/simulated_device.hpp"

#include <cstdlib>
#include <cstring>

namespace tamis::simt {
namespace {

constexpr std::size_t kAlignment = 256;
constexpr std::size_t kLongestQueue = 4096;
constexpr int kFresh = 0xa5;
constexpr int kReleased = 0xdd;

bool runs_at_once() {
  const char* text = std::getenv("CUDA_LAUNCH_BLOCKING");
  return text != nullptr && std::strcmp(text, "0") != 0;
}

}  // namespace

// Never destroyed: programs release buffers at exit.
SimulatedDevice& SimulatedDevice::get() {
  static auto& device = *new SimulatedDevice();
  return device;
}

int SimulatedDevice::allocate(void** data, std::size_t size, bool on_device) {
  *data = nullptr;
  if (size == 0) return refuse(kInvalidValue, "0 bytes are asked for");
  if (size > kDeviceMemory - used_) return kOutOfMemory;
  if (::posix_memalign(data, kAlignment, size) != 0) return kOutOfMemory;
  std::memset(*data, kFresh, size);
  pieces_[static_cast<const char*>(*data)] = {size, on_device};
  used_ += size;
  return kOk;
}

int SimulatedDevice::release(void* data) {
  const auto at = pieces_.find(static_cast<const char*>(data));
  if (at == pieces_.end()) return refuse(kInvalidValue, "released is what was not allocated");
  used_ -= at->second.size;
  std::memset(data, kReleased, at->second.size);
  pieces_.erase(at);
  std::free(data);
  return kOk;
}

SimulatedDevice::Pieces::const_iterator SimulatedDevice::find(const void* data) const {
  const char* byte = static_cast<const char*>(data);
  auto at = pieces_.upper_bound(byte);
  if (at == pieces_.begin()) return pieces_.end();
  --at;
  return byte < at->first + at->second.size ? at : pieces_.end();
}

bool SimulatedDevice::is_device(const void* data) const {
  const auto at = find(data);
  return at != pieces_.end() && at->second.on_device;
}

int SimulatedDevice::check_range(const void* data, std::size_t size, const char* what) {
  const auto at = find(data);
  if (at == pieces_.end()) return kOk;
  const auto offset = static_cast<std::size_t>(static_cast<const char*>(data) - at->first);
  if (size <= at->second.size - offset) return kOk;
  return refuse(kInvalidValue, std::string(what) + " of " + std::to_string(size) +
                                   " bytes at offset " + std::to_string(offset) +
                                   " leaves an allocation of " + std::to_string(at->second.size));
}

int SimulatedDevice::give(SimulatedStream& stream, Work work) {
  if (stream.capture) {
    stream.capture->works.push_back(std::move(work));
    return kOk;
  }
  queue_.push_back(std::move(work));
  return runs_at_once() || queue_.size() > kLongestQueue ? finish() : kOk;
}

int SimulatedDevice::finish() {
  while (!queue_.empty() && lost_.status == kOk) {
    const Work work = std::move(queue_.front());
    queue_.pop_front();
    if (auto failure = work()) lost_ = std::move(*failure);
  }
  if (lost_.status != kOk) queue_.clear();
  return lost_.status;
}

int SimulatedDevice::refuse(int status, const std::string& why) {
  refused_ = {status, why};
  return status;
}

const char* SimulatedDevice::text_of(int status) const {
  if (status == lost_.status) return lost_.text.c_str();
  if (status == refused_.status) return refused_.text.c_str();
  return status == kOutOfMemory ? "out of memory" : "as the simulator says";
}

}  // namespace tamis::simt
