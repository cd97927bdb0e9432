// One launch a tally, on as many blocks as the device holds at a time. The sample comes with the
// first.
#include "reduce/device_scan.hpp"

#include <algorithm>
#include <utility>

#include "gpu/kernel.hpp"
#include "reduce/device_tunables.hpp"
#include "reduce/map_choice.hpp"
#include "reduce/value_bits.hpp"

namespace tamis::reduce {

namespace {

constexpr std::int64_t kThreadBytes = 64;  // what a thread reads at a time

template <typename T>
class DeviceScanner {
 public:
  DeviceScanner(const T* values, std::int64_t count, DeviceSession& session)
      : values_(values), count_(count), session_(session) {
    variant_.value_bytes = sizeof(T);
    choose_launches(variant_, session.stream().device().info().name, count);
    stride_ = sample_stride(count);
    sample_count_ = (count + stride_ - 1) / stride_;
  }

  Tally<T> tally(std::optional<T> fill, std::vector<T>* sample) {
    const Stream& stream = session_.stream();
    gpu::Workspace& workspace = session_.workspace;
    const std::int64_t wanted = sample != nullptr ? sample_count_ : 0;
    workspace.reset(gpu::Workspace::bytes<device::FieldTally>(1) +
                    gpu::Workspace::bytes<T>(wanted));
    auto* result = workspace.take<device::FieldTally>(1);
    T* gathered = workspace.take<T>(wanted);
    auto* found = session_.scan.get<device::FieldTally>(
        1 + (wanted * std::int64_t{sizeof(T)} + std::int64_t{sizeof *found} - 1) /
                std::int64_t{sizeof *found},
        stream.device());
    T* host_sample = reinterpret_cast<T*>(found + 1);
    if (wanted > 0) {
      kernel("gather_sample")
          .launch(stream, {{(wanted + threads() - 1) / threads()}, {threads()}}, values_,
                  static_cast<std::uint64_t>(stride_), static_cast<std::uint64_t>(wanted),
                  gathered);
      copy_bytes(host_sample, gathered, wanted * std::int64_t{sizeof(T)}, stream);
    }
    fill_bytes(result, 0, sizeof *result, stream);
    launch_tally(fill, result);
    copy_bytes(found, result, sizeof *found, stream);
    session_.wait();
    if (sample != nullptr) sample->assign(host_sample, host_sample + wanted);
    return tally_of<T>(*found);
  }

 private:
  std::int64_t threads() const { return block_threads(CodecFamily::kFieldScan, variant_); }

  gpu::Kernel kernel(const char* entry) const {
    return gpu::get_kernel(session_.stream().device(), codec_source(CodecFamily::kFieldScan),
                           codec_config(CodecFamily::kFieldScan, variant_), entry);
  }

  void launch_tally(std::optional<T> fill, device::FieldTally* result) const {
    const gpu::Kernel tally = kernel("field_tally");
    const std::int64_t tile = threads() * kThreadBytes;
    const std::int64_t tiles = (count_ * std::int64_t{sizeof(T)} + tile - 1) / tile;
    const std::int64_t resident =
        session_.stream().device().info().multiprocessors * tally.resident_blocks(threads(), 0);
    tally.launch(session_.stream(), {{std::clamp<std::int64_t>(tiles, 1, resident)}, {threads()}},
                 values_, static_cast<std::uint64_t>(count_), std::uint32_t{fill ? 1U : 0U},
                 fill ? bits_of(*fill) : std::uint64_t{0}, result);
  }

  const T* values_;
  std::int64_t count_;
  DeviceSession& session_;
  CodecVariant variant_;
  std::int64_t stride_;
  std::int64_t sample_count_;
};

}  // namespace

template <typename T>
ScannedField<T> scan_field_on_device(const T* values, std::int64_t count,
                                     const CompressOptions& options, DeviceSession& session) {
  ScannedField<T> result;
  DeviceScanner<T> scanner(values, count, session);
  std::vector<T>* sample = &result.sample;
  result.scan = scan_by_tallies<T>(
      [&](std::optional<T> fill) { return scanner.tally(fill, std::exchange(sample, nullptr)); },
      count, options);
  return result;
}

template ScannedField<float> scan_field_on_device(const float*, std::int64_t,
                                                  const CompressOptions&, DeviceSession&);
template ScannedField<double> scan_field_on_device(const double*, std::int64_t,
                                                   const CompressOptions&, DeviceSession&);

}  // namespace tamis::reduce
