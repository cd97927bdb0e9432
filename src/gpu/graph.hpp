// Graphs: a sequence of launches recorded once and replayed as one, which saves most of the cost of
// launching when kernels are short.
#pragma once

#include <functional>

#include "tamis/device.hpp"

namespace tamis::gpu {

class Graph {
 public:
  /// Records what `work` gives to the stream, without running it. Kernels must have been loaded
  /// and workspaces grown before (run the work once): neither is possible during capture. When
  /// `work` throws, the capture ends and the exception goes on. A borrowed default stream cannot
  /// be captured (Error(kDevice)).
  static Graph capture(const Stream& stream, const std::function<void()>& work);

  Graph(Graph&& other) noexcept;
  Graph& operator=(Graph&& other) noexcept;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph();

  /// Runs the recorded work on the same memory as when it was recorded.
  void launch(const Stream& stream) const;

 private:
  Graph(const DeviceContext& device, void* executable)
      : device_(&device), executable_(executable) {}
  void release() noexcept;

  const DeviceContext* device_;
  void* executable_;
};

}  // namespace tamis::gpu
