// A kernel that is ready to launch, and how to get one. The look-up is cheap (well below 5 us), so
// call sites ask each time and keep nothing; a kernel once got may be kept all the same.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <type_traits>

#include "gpu/kernel_source.hpp"
#include "tamis/kernels.hpp"

namespace tamis::gpu {

struct LoadedKernel;

struct Dim3 {
  std::int64_t x = 1;
  std::int64_t y = 1;
  std::int64_t z = 1;
};

struct LaunchShape {
  Dim3 grid = {};                 // blocks
  Dim3 block = {};                // threads
  std::int64_t shared_bytes = 0;  // dynamic; above 48 KiB is arranged for
};

class Kernel {
 public:
  /// Gives the kernel to the stream. Arguments are passed as the types that they have, so write
  /// std::uint64_t{n} for a u64: where the driver can tell (CUDA 12.4), a wrong number of arguments
  /// or a wrong size is Error(kInvalidArgument). An empty grid does nothing. Throws Error(kDevice)
  /// when the launch is refused; faults of the running kernel show at the next synchronize().
  template <typename... Args>
  void launch(const Stream& stream, const LaunchShape& shape, const Args&... args) const {
    static_assert((std::is_trivially_copyable_v<Args> && ...), "arguments are copied as bytes");
    std::array<const void*, sizeof...(Args) + 1> pointers{static_cast<const void*>(&args)...};
    static constexpr std::array<std::size_t, sizeof...(Args) + 1> kSizes{sizeof(Args)...};
    launch_with(stream, shape, pointers.data(), kSizes.data(), sizeof...(Args));
  }

  /// What the first request for it was served from.
  KernelOrigin origin() const noexcept;
  int registers() const noexcept;
  std::int64_t static_shared_bytes() const noexcept;
  /// Bytes a thread spills or indexes outside of registers; 0 in a good kernel.
  std::int64_t local_bytes() const noexcept;
  int max_threads_per_block() const noexcept;
  /// Blocks of this size that a multiprocessor holds at a time. Throws Error(kDevice).
  int resident_blocks(std::int64_t block_threads, std::int64_t shared_bytes) const;

 private:
  friend Kernel get_kernel(const Device&, const KernelSource&, const KernelConfig&,
                           std::string_view);
  explicit Kernel(std::shared_ptr<LoadedKernel> loaded) : loaded_(std::move(loaded)) {}
  void launch_with(const Stream& stream, const LaunchShape& shape, const void* const* arguments,
                   const std::size_t* sizes, std::size_t count) const;

  std::shared_ptr<LoadedKernel> loaded_;
};

/// The kernel `entry` (extern "C") of `source` in that configuration, for that device: from memory,
/// the prebuilt table, the disk or the compiler. Throws what ImageCache::get() throws, and
/// Error(kDevice) when the driver refuses the code or there is no such entry.
Kernel get_kernel(const Device& device, const KernelSource& source, const KernelConfig& config,
                  std::string_view entry);

/// Forgets all kernels in memory, of devices and of the shared ImageCache; those still held stay
/// usable. For programs that try thousands of configurations.
void forget_kernels();

}  // namespace tamis::gpu
