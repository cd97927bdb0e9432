// For tests of the simulated GPU itself: kernels from text, and a device that works again after a
// test has broken it.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/kernel.hpp"
#include "gpu/library_search.hpp"
#include "tamis/device.hpp"
#include "tamis/error.hpp"

namespace tamis::testing {

class SimulatedGpu : public ::testing::Test {
 protected:
  ~SimulatedGpu() override {
    void* library = ::dlopen(std::getenv(gpu::kCudaDriverVariable), RTLD_NOW | RTLD_LOCAL);
    reinterpret_cast<void (*)()>(::dlsym(library, "simulated_gpu_recover"))();
  }

  /// Kernels of one text, which begins in its line 1.
  gpu::Kernel kernel(const std::string& text, const char* entry,
                     const gpu::KernelConfig& config = {}) {
    return gpu::get_kernel(device_, gpu::KernelSource({"test.cu", text}), config, entry);
  }

  /// What `words` are after a kernel that gets nothing but their address has run.
  std::vector<std::uint32_t> run(const gpu::Kernel& kernel, const gpu::LaunchShape& shape,
                                 std::vector<std::uint32_t> words) {
    const auto size = static_cast<std::int64_t>(words.size() * sizeof(std::uint32_t));
    const Buffer buffer(size, stream_);
    copy_bytes(buffer.data(), words.data(), size, stream_);
    kernel.launch(stream_, shape, buffer.as<std::uint32_t>());
    copy_bytes(words.data(), buffer.data(), size, stream_);
    stream_.synchronize();
    return words;
  }

  /// The message of the Error of running it, empty when there is none.
  std::string problem_of(const gpu::Kernel& kernel, const gpu::LaunchShape& shape) {
    try {
      (void)run(kernel, shape, std::vector<std::uint32_t>(64));
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  }

  Device device_ = Device::first();
  Stream stream_{device_};
};

}  // namespace tamis::testing
