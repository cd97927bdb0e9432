// Devices, memory, launches, events and graphs against the fake driver: that the right calls are
// made, nothing leaks, and errors are clear. What a real device does, gpu_self_test checks.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "gpu/context.hpp"
#include "gpu/event.hpp"
#include "gpu/graph.hpp"
#include "gpu/image_cache.hpp"
#include "gpu/kernel.hpp"
#include "gpu/memory.hpp"
#include "support/expect_error.hpp"
#include "support/gpu_fixture.hpp"
#include "tamis/device.hpp"
#include "tamis/kernels.hpp"

namespace tamis::gpu {
namespace {

using testing::ScopedVariable;

constexpr auto kInvalid = ErrorCode::kInvalidArgument;

class GpuRuntime : public ::testing::Test {
 protected:
  FakeDriverCounts& counts_ = testing::use_fake_driver();
  Device device_ = Device::first();
};

const KernelSource& some_source() {
  static const KernelSource source({"k.cu", "entry_a(int*, int) entry_b(int*, int)"});
  return source;
}

TEST_F(GpuRuntime, DevicesAreDescribed) {
  const auto infos = list_devices();
  ASSERT_EQ(infos.size(), 1u);
  EXPECT_EQ(infos[0].name, "Fake GPU");
  EXPECT_EQ(infos[0].architecture, "sm_90a");
  EXPECT_EQ(infos[0].driver, "13.0");
  EXPECT_EQ(infos[0].wave_size, 32);
  EXPECT_EQ(infos[0].memory_bytes, 1 << 30);
  EXPECT_EQ(device_, Device::open(DeviceKind::kCuda, 0));
  EXPECT_TAMIS_ERROR(ErrorCode::kUnavailable, "no device cuda:1: there are 1",
                     Device::open(DeviceKind::kCuda, 1));
  EXPECT_TAMIS_ERROR(ErrorCode::kUnavailable, "/absent/libamdhip64.so; TAMIS_HIP names another",
                     Device::open(DeviceKind::kHip, 0));
  device_.synchronize();
}

TEST_F(GpuRuntime, BuffersComeAndGo) {
  const int streams = counts_.live_streams;
  {
    Buffer buffer;
    {
      const Stream stream(device_);
      EXPECT_EQ(counts_.live_streams, streams + 1);
      Buffer other(1000, stream);
      EXPECT_EQ(counts_.live_allocations, 1);
      buffer = std::move(other);
      EXPECT_EQ(other.data(), nullptr);
    }
    EXPECT_EQ(counts_.live_streams, streams + 1) << "the buffer keeps its stream";
    EXPECT_EQ(buffer.size_bytes(), 1000);
    buffer = Buffer();
    EXPECT_EQ(counts_.live_allocations, 0);
    EXPECT_EQ(counts_.live_streams, streams);
  }
  const Stream stream(device_);
  EXPECT_EQ(Buffer(0, stream).data(), nullptr);
  EXPECT_TAMIS_ERROR(kInvalid, "-1 bytes", Buffer(-1, stream));
  EXPECT_TAMIS_ERROR(ErrorCode::kOutOfMemory, "cannot get 2147483648 bytes of Fake GPU",
                     Buffer(std::int64_t{2} << 30, stream));
}

TEST_F(GpuRuntime, CopiesAndFills) {
  const Stream stream(device_);
  const Buffer buffer(64, stream);
  const std::vector<int> in{1, 2, 3};
  std::vector<int> out(4);
  fill_bytes(buffer.data(), 0xff, 64, stream);
  copy_bytes(buffer.data(), in.data(), 12, stream);
  copy_bytes(out.data(), buffer.data(), 16, stream);
  stream.synchronize();
  EXPECT_EQ(out, (std::vector<int>{1, 2, 3, -1}));
  copy_bytes(nullptr, nullptr, 0, stream);
  EXPECT_TAMIS_ERROR(kInvalid, "-4 bytes", copy_bytes(out.data(), in.data(), -4, stream));
  const PinnedBuffer pinned(100, device_);
  PinnedBuffer moved;
  moved = PinnedBuffer(10, device_);
  EXPECT_NE(pinned.data(), nullptr);
  EXPECT_EQ(moved.size_bytes(), 10);
}

TEST_F(GpuRuntime, TheCallersContextSurvives) {
  const DriverApi& api = *device_.context().api;
  int mine = 0;
  ASSERT_EQ(api.context_set(&mine), kStatusOk);
  {
    const Stream stream(device_);
    const Buffer buffer(10, stream);
  }
  void* current = nullptr;
  ASSERT_EQ(api.context_current(&current), kStatusOk);
  EXPECT_EQ(current, &mine);
  api.context_set(nullptr);
}

TEST_F(GpuRuntime, BorrowedStreamsAreNotDestroyed) {
  const int streams = counts_.live_streams;
  const Stream owner(device_);
  {
    const Stream borrowed = Stream::borrow(device_, owner.native_handle());
    EXPECT_TRUE(borrowed.is_borrowed());
    EXPECT_EQ(borrowed.native_handle(), owner.native_handle());
    EXPECT_EQ(borrowed.device(), device_);
    borrowed.synchronize();
  }
  EXPECT_EQ(counts_.live_streams, streams + 1);
  EXPECT_FALSE(owner.is_borrowed());
}

TEST_F(GpuRuntime, WorkspaceSettles) {
  const Stream stream(device_);
  Workspace workspace(stream);
  for (int round = 0; round < 5; ++round) {
    workspace.reset(Workspace::bytes<int>(100) + Workspace::bytes<double>(7));
    int* a = workspace.take<int>(100);
    double* b = workspace.take<double>(7);
    EXPECT_EQ(reinterpret_cast<char*>(b) - reinterpret_cast<char*>(a), 512);
    EXPECT_TAMIS_ERROR(kInvalid, "are asked for", workspace.take<char>(1000));
  }
  EXPECT_EQ(workspace.allocation_count(), 1);
  workspace.reset(workspace.size_bytes() + 1);
  EXPECT_GE(workspace.size_bytes(), 768 * 3 / 2);
  EXPECT_EQ(workspace.allocation_count(), 2);
  workspace.reset(10);
  EXPECT_EQ(workspace.allocation_count(), 2);
}

TEST_F(GpuRuntime, KernelsGetTheirArguments) {
  const Stream stream(device_);
  const Kernel kernel = get_kernel(device_, some_source(), {{"A", 1}}, "entry_a");
  int target = 0;
  kernel.launch(stream, {{7, 1, 1}, {32, 1, 1}, 100}, &target, 42);
  EXPECT_EQ(counts_.last_grid, 7u);
  EXPECT_EQ(counts_.last_shared_bytes, 100u);
  EXPECT_EQ(counts_.last_stream, stream.native_handle());
  EXPECT_EQ(counts_.last_pointer, &target);
  EXPECT_EQ(counts_.last_number, 42);
  EXPECT_EQ(kernel.registers(), 40);
  EXPECT_EQ(kernel.resident_blocks(256, 0), 8);
  const int launches = counts_.launches;
  kernel.launch(stream, {{0, 1, 1}, {32, 1, 1}}, &target, 42);
  EXPECT_EQ(counts_.launches, launches) << "an empty grid does nothing";
}

TEST_F(GpuRuntime, WrongArgumentsAndShapesAreRefused) {
  const Stream stream(device_);
  const Kernel kernel = get_kernel(device_, some_source(), {}, "entry_a");
  int target = 0;
  const LaunchShape shape{{1, 1, 1}, {32, 1, 1}};
  EXPECT_TAMIS_ERROR(kInvalid, "1 arguments for entry_a of k.cu [] for sm_90a, which takes 2",
                     kernel.launch(stream, shape, &target));
  EXPECT_TAMIS_ERROR(kInvalid,
                     "argument 1 of entry_a of k.cu [] for sm_90a has 8 bytes, expected 4",
                     kernel.launch(stream, shape, &target, std::int64_t{1}));
  EXPECT_TAMIS_ERROR(ErrorCode::kDevice, "grid 1x1x1, block 2048x1x1, 0 bytes of shared memory",
                     kernel.launch(stream, {{1, 1, 1}, {2048, 1, 1}}, &target, 1));
  EXPECT_TAMIS_ERROR(kInvalid, "cannot launch", kernel.launch(stream, {{-1, 1, 1}}, &target, 1));
  EXPECT_TAMIS_ERROR(kInvalid, "cannot launch",
                     kernel.launch(stream, {{std::int64_t{1} << 31, 1, 1}}, &target, 1));
  EXPECT_TAMIS_ERROR(ErrorCode::kDevice, "find the kernel entry_x of k.cu",
                     get_kernel(device_, some_source(), {}, "entry_x"));
}

TEST_F(GpuRuntime, LargeSharedMemoryIsArranged) {
  const Stream stream(device_);
  const Kernel kernel = get_kernel(device_, some_source(), {{"A", 2}}, "entry_b");
  int target = 0;
  counts_.shared_limit = 0;
  kernel.launch(stream, {{1, 1, 1}, {32, 1, 1}, 48 << 10}, &target, 1);
  EXPECT_EQ(counts_.shared_limit, 0);
  kernel.launch(stream, {{1, 1, 1}, {32, 1, 1}, 100 << 10}, &target, 1);
  EXPECT_EQ(counts_.shared_limit, 100 << 10);
  kernel.launch(stream, {{1, 1, 1}, {32, 1, 1}, 60 << 10}, &target, 1);
  EXPECT_EQ(counts_.shared_limit, 100 << 10);
  EXPECT_TAMIS_ERROR(ErrorCode::kDevice, "where a block of Fake GPU has 232448",
                     kernel.launch(stream, {{1, 1, 1}, {32, 1, 1}, 300 << 10}, &target, 1));
}

TEST_F(GpuRuntime, ModulesAreSharedAndForgotten) {
  const int loads = counts_.module_loads;
  const int live = counts_.live_modules;
  {
    const KernelConfig config{{"A", 3}};
    const Kernel a = get_kernel(device_, some_source(), config, "entry_a");
    EXPECT_EQ(a.origin(), KernelOrigin::kCompiled);
    const Kernel b = get_kernel(device_, some_source(), config, "entry_b");
    const Kernel again = get_kernel(device_, some_source(), config, "entry_a");
    EXPECT_EQ(counts_.module_loads, loads + 1);
    forget_kernels();
    EXPECT_GE(counts_.live_modules, 1) << "kernels that are held stay";
    const Kernel later = get_kernel(device_, some_source(), config, "entry_a");
    EXPECT_EQ(later.origin(), KernelOrigin::kDisk);
    EXPECT_EQ(counts_.module_loads, loads + 2);
  }
  forget_kernels();
  EXPECT_LE(counts_.live_modules, live);
  EXPECT_GE(kernel_statistics().from_disk, 1);
}

TEST_F(GpuRuntime, RefusedCodeIsCompiledAnewOrAnError) {
  const KernelConfig config{{"MARK", 77}};
  (void)ImageCache::shared().get(some_source(), config, "sm_90a");  // now on disk
  ImageCache::shared().clear_memory();
  const int compilations = counts_.compilations;
  const ScopedVariable refuses("FAKE_REFUSES", "MARK=77");
  EXPECT_TAMIS_ERROR(ErrorCode::kDevice,
                     "the driver (13.0) refuses the code of k.cu [MARK=77] made by NVRTC 12.4",
                     get_kernel(device_, some_source(), config, "entry_a"));
  EXPECT_EQ(counts_.compilations, compilations + 1) << "what came from disk is tried anew";
}

TEST_F(GpuRuntime, EventsMeasure) {
  const Stream stream(device_);
  Event start(device_);
  Event stop(device_);
  start.record(stream);
  stop.record(stream);
  stop.make_wait(stream);
  stop.synchronize();
  EXPECT_DOUBLE_EQ(stop.elapsed_us(start), 1500.0);
  Event moved(std::move(start));
  moved = Event(device_);
}

TEST_F(GpuRuntime, GraphsAreCapturedAndReplayed) {
  const Stream stream(device_);
  const Kernel kernel = get_kernel(device_, some_source(), {}, "entry_a");
  int target = 0;
  const int graphs = counts_.live_graphs;
  {
    const Graph graph = Graph::capture(stream, [&] {
      kernel.launch(stream, {{1, 1, 1}, {32, 1, 1}}, &target, 1);
    });
    const int before = counts_.graph_launches;
    for (int i = 0; i < 3; ++i) graph.launch(stream);
    EXPECT_EQ(counts_.graph_launches, before + 3);
  }
  EXPECT_TAMIS_ERROR(kInvalid, "while the stream is captured",
                     Graph::capture(stream, [&] { const Buffer buffer(8, stream); }));
  EXPECT_EQ(counts_.live_graphs, graphs);
  Workspace workspace(stream);
  workspace.reset(1000);
  EXPECT_TAMIS_ERROR(kInvalid, "while the stream is captured",
                     Graph::capture(stream, [&] { workspace.reset(10000); }));
  EXPECT_EQ(workspace.size_bytes(), 1024) << "what was there stays";
}

TEST_F(GpuRuntime, StatusTellsWhatWasFound) {
  const GpuStatus status = gpu_status();
  EXPECT_EQ(status.devices.size(), 1u);
  ASSERT_EQ(status.drivers.size(), 2u);
  EXPECT_TRUE(status.drivers[0].usable);
  EXPECT_FALSE(status.drivers[1].usable);
  EXPECT_NE(status.drivers[1].problem, "");
  EXPECT_EQ(status.compilers[0].version, "12.4");
  EXPECT_TRUE(status.cache.usable) << status.cache.problem;
}

// Sources that are missing, too old or not what they claim to be.
TEST(LibrarySearch, MessagesSayWhatWasTried) {
  testing::use_fake_driver();
  {
    const ScopedVariable path(kCudaDriverVariable, "/absent/libcuda.so");
    EXPECT_EQ(load_cuda_driver().problem,
              "no NVIDIA driver (tried /absent/libcuda.so; TAMIS_CUDA_DRIVER names another)");
    const ScopedVariable wrong(kCudaDriverVariable, "libm.so.6");
    EXPECT_NE(load_cuda_driver().problem.find("does not tell its version"), std::string::npos);
  }
  {
    const ScopedVariable old("FAKE_DRIVER_VERSION", "11080");
    const DriverFinding finding = load_cuda_driver();
    EXPECT_EQ(finding.api, nullptr);
    EXPECT_NE(finding.problem.find("is of CUDA 11.8, too old: 12.0 or newer is needed"),
              std::string::npos)
        << finding.problem;
  }
  {
    const ScopedVariable none("FAKE_DEVICES", "0");
    EXPECT_NE(load_cuda_driver().problem.find("finds no GPU"), std::string::npos);
  }
  {
    const ScopedVariable path(kNvrtcVariable, "/absent/libnvrtc.so");
    EXPECT_EQ(load_compiler(DeviceKind::kCuda).problem,
              "no NVRTC (tried /absent/libnvrtc.so; TAMIS_NVRTC names another)");
    const ScopedVariable wrong(kNvrtcVariable, "libm.so.6");
    EXPECT_NE(load_compiler(DeviceKind::kCuda).problem.find("lacks nvrtcVersion"),
              std::string::npos);
  }
  {
    const ScopedVariable old("FAKE_NVRTC_MAJOR", "11");
    EXPECT_NE(load_compiler(DeviceKind::kCuda).problem.find("is 11.4, too old: 12.0 or newer"),
              std::string::npos);
  }
  const ScopedVariable path(kHiprtcVariable, "/absent/libhiprtc.so");
  EXPECT_NE(load_compiler(DeviceKind::kHip).problem.find("TAMIS_HIPRTC names another"),
            std::string::npos);
}

TEST(LibrarySearch, TheDriversMajorComesFirst) {
  ::unsetenv(kNvrtcVariable);
  EXPECT_EQ(nvrtc_candidates(0).front(), "libnvrtc.so.13");
  EXPECT_EQ(nvrtc_candidates(12).front(), "libnvrtc.so.12");
  const ScopedVariable home("CUDA_HOME", "/some/cuda");
  const auto names = nvrtc_candidates(13);
  EXPECT_EQ(std::count(names.begin(), names.end(), "/some/cuda/lib64/libnvrtc.so.13"), 1);
}

}  // namespace
}  // namespace tamis::gpu
