// Capture in the thread's own mode: what other threads do meanwhile neither fails nor is recorded.
#include "gpu/graph.hpp"

#include <utility>

#include "gpu/context.hpp"

namespace tamis::gpu {

Graph Graph::capture(const Stream& stream, const std::function<void()>& work) {
  const DeviceContext& device = *stream.state()->device;
  const DriverApi& api = *device.api;
  const ContextScope scope(device);
  void* graph = nullptr;
  check(api, api.capture_begin(stream.native_handle(), kCaptureThreadLocal), "begin a capture");
  try {
    work();
  } catch (...) {
    if (api.capture_end(stream.native_handle(), &graph) == kStatusOk && graph != nullptr) {
      api.graph_destroy(graph);
    }
    throw;
  }
  check(api, api.capture_end(stream.native_handle(), &graph), "end a capture");
  void* executable = nullptr;
  const int status = api.graph_instantiate(&executable, graph, 0);
  api.graph_destroy(graph);  // the executable is a copy
  check(api, status, "make a captured graph ready");
  return {device, executable};
}

Graph::Graph(Graph&& other) noexcept
    : device_(other.device_), executable_(std::exchange(other.executable_, nullptr)) {}

Graph& Graph::operator=(Graph&& other) noexcept {
  if (this != &other) {
    release();
    device_ = other.device_;
    executable_ = std::exchange(other.executable_, nullptr);
  }
  return *this;
}

Graph::~Graph() { release(); }

void Graph::release() noexcept {
  if (executable_ == nullptr) return;
  try {
    const ContextScope scope(*device_);
    device_->api->executable_destroy(executable_);
  } catch (const std::exception&) {
    // The context is lost, and the graph with it.
  }
  executable_ = nullptr;
}

void Graph::launch(const Stream& stream) const {
  const ContextScope scope(*device_);
  check(*device_->api, device_->api->graph_launch(executable_, stream.native_handle()),
        "launch a graph");
}

}  // namespace tamis::gpu
