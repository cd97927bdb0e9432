// Streams, memory, launches, events, graphs, errors and origins of kernels on a real device.
#include <algorithm>
#include <bit>
#include <filesystem>
#include <fstream>
#include <thread>

#include "check_list.hpp"
#include "core/stopwatch.hpp"
#include "gpu/context.hpp"
#include "gpu/event.hpp"
#include "gpu/graph.hpp"
#include "gpu/image_cache.hpp"
#include "gpu/memory.hpp"
#include "tamis/error.hpp"

namespace tamis::gpu_test {
namespace {

using u64 = std::uint64_t;

std::string microseconds(double us) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f us", us);
  return text;
}

// The message of the Error that `fn` must throw.
template <typename Fn>
std::string error_of(ErrorCode code, const Fn& fn) {
  try {
    fn();
  } catch (const Error& error) {
    require(error.code() == code, std::string("unexpected code, message: ") + error.what());
    return error.what();
  }
  throw std::runtime_error("no error was thrown");
}

std::string check_device(const Device& device, const Stream&) {
  const DeviceInfo& info = device.info();
  require(info.memory_bytes > 0 && info.l2_bytes > 0, "no memory or L2");
  require(info.wave_size == 32 || info.wave_size == 64, "an odd wave size");
  require(info.shared_bytes_per_block >= 48 << 10, "too little shared memory");
  require(!info.architecture.empty() && info.multiprocessors > 0, "not described");
  require(device == Device::open(info.kind, info.ordinal), "two devices where one is meant");
  device.synchronize();
  return device.context().pool != nullptr ? "memory pool" : "no memory pool";
}

std::string check_memory(const Device& device, const Stream& stream) {
  const std::int64_t size = (64 << 20) + 3;
  const Buffer buffer(size, stream);
  require(reinterpret_cast<std::uintptr_t>(buffer.data()) % 256 == 0, "not aligned");
  gpu::PinnedBuffer pinned(size, device);
  fill_bytes(buffer.data(), 0x5a, size, stream);
  copy_bytes(pinned.data(), buffer.data(), size, stream);
  stream.synchronize();
  const auto* bytes = pinned.as<std::uint8_t>();
  require(std::all_of(bytes, bytes + size, [](std::uint8_t b) { return b == 0x5a; }),
          "wrong bytes after fill and copy");
  (void)error_of(ErrorCode::kOutOfMemory, [&] { Buffer(std::int64_t{1} << 50, stream); });
  const Buffer after(1000, stream);  // a refused request leaves no mark
  gpu::Event start(device);
  gpu::Event stop(device);
  start.record(stream);
  copy_bytes(pinned.data(), buffer.data(), size, stream);
  stop.record(stream);
  stop.synchronize();
  return "device to pinned host " +
         std::to_string(static_cast<double>(size) / stop.elapsed_us(start) * 1e-3) + " GB/s";
}

std::string check_streams(const Device& device, const Stream& stream) {
  const gpu::Kernel add = self_test_kernel(device, "add_number");
  const Stream other(device);
  const u64 n = 1 << 16;
  const DeviceArray<u64> array(std::vector<u64>(n), stream);
  gpu::Event event(device);
  // In turns on two streams, ordered by events alone: every addition is seen.
  for (int i = 0; i < 50; ++i) {
    const Stream& on = i % 2 == 0 ? stream : other;
    if (i > 0) event.make_wait(on);
    add.launch(on, {{64, 1, 1}, {256, 1, 1}}, array.data(), n, u64{1});
    event.record(on);
  }
  event.make_wait(stream);
  require_equal<u64>(array.download(), std::vector<u64>(n, 50), "sums over two streams");
  for (void* handle : {other.native_handle(), static_cast<void*>(nullptr)}) {
    const Stream borrowed = Stream::borrow(device, handle);
    const DeviceArray<u64> mine(std::vector<u64>(100, 1), borrowed);
    add.launch(borrowed, {{1, 1, 1}, {128, 1, 1}}, mine.data(), u64{100}, u64{41});
    require_equal<u64>(mine.download(), std::vector<u64>(100, 42), "on a borrowed stream");
  }
  return "";
}

std::string check_threads(const Device& device, const Stream&) {
  std::vector<std::string> problems(8);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < problems.size(); ++t) {
    threads.emplace_back([&, t] {
      try {
        const Stream stream(device);
        const gpu::Kernel add = self_test_kernel(device, "add_number");
        const DeviceArray<u64> array(std::vector<u64>(1000), stream);
        for (int i = 0; i < 200; ++i) {
          add.launch(stream, {{4, 1, 1}, {256, 1, 1}}, array.data(), u64{1000}, u64{t});
        }
        require_equal<u64>(array.download(), std::vector<u64>(1000, 200 * t), "a thread's sums");
      } catch (const std::exception& error) {
        problems[t] = error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& problem : problems) require(problem.empty(), problem);
  return "8 threads";
}

std::string check_workspace(const Device& device, const Stream& stream) {
  const gpu::Kernel add = self_test_kernel(device, "add_number");
  gpu::Workspace workspace(stream);
  void* first = nullptr;
  for (int round = 0; round < 1000; ++round) {
    workspace.reset(gpu::Workspace::bytes<u64>(5000));
    u64* data = workspace.take<u64>(5000);
    fill_bytes(data, 0, 40000, stream);
    add.launch(stream, {{20, 1, 1}, {256, 1, 1}}, data, u64{5000}, u64{1});
    if (round == 0) first = data;
    require(data == first, "the memory moved");
  }
  require(workspace.allocation_count() == 1, "steady work allocates");
  workspace.reset(100'000'000);  // while work on the old memory is under way
  fill_bytes(workspace.take<std::uint8_t>(100'000'000), 1, 100'000'000, stream);
  stream.synchronize();
  return "";
}

std::string check_arguments(const Device& device, const Stream& stream) {
  const gpu::Kernel kernel = self_test_kernel(device, "store_arguments");
  const DeviceArray<u64> out(5, stream);
  const gpu::LaunchShape shape{{1, 1, 1}, {1, 1, 1}};
  kernel.launch(stream, shape, out.data(), std::uint8_t{200}, std::int16_t{-5},
                std::uint32_t{4000000000}, -0.1, std::int64_t{-7});
  require_equal<u64>(out.download(),
                     std::vector<u64>{200, static_cast<u64>(-5), 4000000000,
                                      std::bit_cast<u64>(-0.1), static_cast<u64>(-7)},
                     "arguments");
  if (device.context().api->function_parameter == nullptr) return "sizes cannot be checked";
  (void)error_of(ErrorCode::kInvalidArgument, [&] {
    kernel.launch(stream, shape, out.data(), 200, std::int16_t{-5}, std::uint32_t{4}, -0.1,
                  std::int64_t{-7});
  });
  (void)error_of(ErrorCode::kInvalidArgument, [&] { kernel.launch(stream, shape, out.data()); });
  return "wrong sizes are refused";
}

std::string check_shared_memory(const Device& device, const Stream& stream) {
  const gpu::Kernel kernel = self_test_kernel(device, "reverse_in_shared");
  const std::int64_t most = device.info().shared_bytes_per_block;
  for (const std::int64_t bytes : {std::int64_t{400}, std::int64_t{48} << 10, most}) {
    const auto count = static_cast<std::size_t>(bytes / 4);
    std::vector<std::uint32_t> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<std::uint32_t>(i * i);
    const DeviceArray<std::uint32_t> array(values, stream);
    kernel.launch(stream, {{1, 1, 1}, {1024, 1, 1}, bytes}, array.data(),
                  static_cast<std::uint32_t>(count));
    std::reverse(values.begin(), values.end());
    require_equal<std::uint32_t>(array.download(), values, std::to_string(bytes) + " bytes");
  }
  require(kernel.resident_blocks(1024, most) == 1, "occupancy with all shared memory");
  require(kernel.resident_blocks(128, 0) > 1, "occupancy without shared memory");
  return std::to_string(most) + " bytes";
}

std::string check_refused_launches(const Device& device, const Stream& stream) {
  const gpu::Kernel add = self_test_kernel(device, "add_number");
  const DeviceArray<u64> array(std::vector<u64>(10), stream);
  const std::string message = error_of(ErrorCode::kDevice, [&] {
    add.launch(stream, {{1, 1, 1}, {4096, 1, 1}}, array.data(), u64{10}, u64{1});
  });
  require(message.find("cannot launch add_number of gpu/device/self_test.cu") == 0 &&
              message.find("block 4096x1x1") != std::string::npos,
          "an unclear message: " + message);
  (void)error_of(ErrorCode::kDevice, [&] {
    add.launch(stream, {{1, 1, 1}, {32, 1, 1}, std::int64_t{16} << 20}, array.data(), u64{10},
               u64{1});
  });
  (void)error_of(ErrorCode::kDevice, [&] { (void)self_test_kernel(device, "no_such_kernel"); });
  // None of it leaves a mark.
  add.launch(stream, {{1, 1, 1}, {32, 1, 1}}, array.data(), u64{10}, u64{3});
  require_equal<u64>(array.download(), std::vector<u64>(10, 3), "after refused launches");
  return message;
}

std::string check_graph(const Device& device, const Stream& stream) {
  const gpu::Kernel add = self_test_kernel(device, "add_number");
  const DeviceArray<u64> array(std::vector<u64>(1000), stream);
  constexpr int kLaunches = 20;
  const auto work = [&] {
    for (int i = 0; i < kLaunches; ++i) {
      add.launch(stream, {{4, 1, 1}, {256, 1, 1}}, array.data(), u64{1000}, u64{1});
    }
  };
  const gpu::Graph graph = gpu::Graph::capture(stream, work);
  require_equal<u64>(array.download(), std::vector<u64>(1000, 0), "capture must not run");
  for (int i = 0; i < 50; ++i) graph.launch(stream);
  require_equal<u64>(array.download(), std::vector<u64>(1000, 50 * kLaunches), "after replays");
  const std::string message = error_of(ErrorCode::kInvalidArgument, [&] {
    (void)gpu::Graph::capture(stream, [&] { const Buffer buffer(100, stream); });
  });
  require(message.find("captured") != std::string::npos, "an unclear message: " + message);
  Stopwatch stopwatch;
  for (int i = 0; i < 50; ++i) work();
  stream.synchronize();
  const double launched_us = stopwatch.seconds() * 1e6 / (50 * kLaunches);
  stopwatch.restart();
  for (int i = 0; i < 50; ++i) graph.launch(stream);
  stream.synchronize();
  return "a short kernel takes " + microseconds(launched_us) + " launched, " +
         microseconds(stopwatch.seconds() * 1e6 / (50 * kLaunches)) + " replayed";
}

std::string check_hot_path(const Device& device, const Stream& stream) {
  (void)stream;
  (void)self_test_kernel(device, "add_number");
  constexpr int kCalls = 20000;
  const Stopwatch stopwatch;
  for (int i = 0; i < kCalls; ++i) (void)self_test_kernel(device, "add_number");
  const double us = stopwatch.seconds() * 1e6 / kCalls;
  require(us < 5.0, "a look-up takes " + microseconds(us));
  return "a look-up takes " + microseconds(us);
}

// Compiled, from disk, prebuilt, and damaged on disk: each way the kernel runs.
std::string check_origins(const Device& device, const Stream& stream) {
  const auto run = [&](std::int64_t threads) {
    const gpu::Kernel add = self_test_kernel(device, "add_number", threads);
    const DeviceArray<u64> array(std::vector<u64>(10), stream);
    add.launch(stream, {{1, 1, 1}, {32, 1, 1}}, array.data(), u64{10}, u64{7});
    require_equal<u64>(array.download(), std::vector<u64>(10, 7), "a sum");
    return add.origin();
  };
  gpu::forget_kernels();
  const std::string shipped = kernel_origin_name(run(gpu::kSelfTestThreads));
  if (!gpu_status().compilers[device.info().kind == DeviceKind::kCuda ? 0 : 1].usable) {
    return shipped + "; no compiler for the rest";
  }
  require(run(128) == KernelOrigin::kCompiled, "expected it to be compiled");
  gpu::forget_kernels();
  require(run(128) == KernelOrigin::kDisk, "expected it from disk");
  for (const auto& entry :
       std::filesystem::directory_iterator(gpu::ImageCache::shared().disk().folder())) {
    std::ofstream(entry.path(), std::ios::binary | std::ios::app) << "damage";
  }
  gpu::forget_kernels();
  require(run(128) == KernelOrigin::kCompiled, "a damaged file was used");
  gpu::forget_kernels();
  require(run(128) == KernelOrigin::kDisk, "a damaged file was not replaced");
  return "shipped configuration: " + shipped;
}

}  // namespace

std::string check_fault(const Device& device, const Stream& stream) {
  const gpu::Kernel kernel = self_test_kernel(device, "write_to_nowhere");
  const Buffer buffer(1000, stream);
  kernel.launch(stream, {{1, 1, 1}, {1, 1, 1}}, static_cast<std::uint32_t*>(nullptr));
  const std::string message = error_of(ErrorCode::kDevice, [&] { stream.synchronize(); });
  (void)error_of(ErrorCode::kDevice, [&] { device.synchronize(); });
  return message;
}

std::vector<Check> runtime_checks() {
  return {{"device", check_device},
          {"memory", check_memory},
          {"streams and events", check_streams},
          {"threads", check_threads},
          {"workspace", check_workspace},
          {"arguments", check_arguments},
          {"shared memory", check_shared_memory},
          {"refused launches", check_refused_launches},
          {"graphs", check_graph},
          {"look-up of kernels", check_hot_path},
          {"origins of kernels", check_origins}};
}

}  // namespace tamis::gpu_test
