// One launch a tally, on as many blocks as the device holds at a time.
#include "reduce/device_scan.hpp"

#include <algorithm>

#include "gpu/kernel.hpp"
#include "reduce/device_kernels.hpp"
#include "reduce/value_bits.hpp"

namespace tamis::reduce {

namespace {

constexpr std::int64_t kThreadBytes = 64;  // what a thread reads at a time

template <typename T>
Tally<T> tally_on_device(const T* values, std::int64_t count, std::optional<T> fill,
                         gpu::Workspace& workspace) {
  const Stream& stream = workspace.stream();
  const Device device = stream.device();
  workspace.reset(gpu::Workspace::bytes<device::FieldTally>(1));
  auto* result = workspace.take<device::FieldTally>(1);
  fill_bytes(result, 0, sizeof *result, stream);
  CodecVariant variant;
  variant.value_bytes = sizeof(T);
  const std::int64_t threads = block_threads(CodecFamily::kFieldScan, variant);
  const gpu::Kernel kernel =
      gpu::get_kernel(device, codec_source(CodecFamily::kFieldScan),
                      codec_config(CodecFamily::kFieldScan, variant), "field_tally");
  const std::int64_t tile = threads * kThreadBytes;
  const std::int64_t tiles = (count * static_cast<std::int64_t>(sizeof(T)) + tile - 1) / tile;
  const std::int64_t resident = device.info().multiprocessors * kernel.resident_blocks(threads, 0);
  kernel.launch(stream, {{std::clamp<std::int64_t>(tiles, 1, resident)}, {threads}}, values,
                static_cast<std::uint64_t>(count), std::uint32_t{fill ? 1U : 0U},
                fill ? bits_of(*fill) : std::uint64_t{0}, result);
  device::FieldTally found;
  copy_bytes(&found, result, sizeof found, stream);
  stream.synchronize();
  return tally_of<T>(found);
}

}  // namespace

template <typename T>
FieldScan<T> scan_field_on_device(const T* values, std::int64_t count,
                                  const CompressOptions& options, gpu::Workspace& workspace) {
  return scan_by_tallies<T>(
      [&](std::optional<T> fill) { return tally_on_device(values, count, fill, workspace); }, count,
      options);
}

template FieldScan<float> scan_field_on_device(const float*, std::int64_t, const CompressOptions&,
                                               gpu::Workspace&);
template FieldScan<double> scan_field_on_device(const double*, std::int64_t, const CompressOptions&,
                                                gpu::Workspace&);

}  // namespace tamis::reduce
