// Whole calls of the public encoder and decoder on fields in device memory: the clock starts before
// the call and stops when it returns, which is when the result is there. Medians.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "core/stopwatch.hpp"
#include "reduce_checks.hpp"
#include "tamis/error.hpp"
#include "timed_case.hpp"

namespace tamis::gpu_test {

namespace {

using nlohmann::json;

const Extents kCube{512, 512, 512};

std::vector<TimedCase> cases(bool large) {
  using reduce::Mode;
  std::vector<TimedCase> all;
  for (const Mode mode : {Mode::kDefault, Mode::kFast, Mode::kRatio}) {
    for (const double bound : {1e-2, 1e-3, 1e-4}) {
      all.push_back({kTurbulence, DType::kF32, kCube, mode, bound, false});
    }
  }
  for (const SyntheticKind& kind : {kSmooth, kRough, kMostlyConstant}) {
    for (const Mode mode : {Mode::kDefault, Mode::kFast}) {
      all.push_back({kind, DType::kF32, kCube, mode, 1e-3, false});
    }
  }
  all.push_back({kTurbulence, DType::kF32, kCube, Mode::kDefault, 1e-3, true});
  all.push_back({kTurbulence, DType::kF64, kCube, Mode::kDefault, 1e-3, false});
  all.push_back({kTurbulence, DType::kF32, {64, 64, 64}, Mode::kDefault, 1e-3, false});
  if (!large) return all;
  all.push_back({kTurbulence, DType::kF32, {8, 8192, 8192}, Mode::kDefault, 1e-3, false});
  all.push_back({kTurbulence, DType::kF32, {std::int64_t{1} << 28}, Mode::kDefault, 1e-3, false});
  all.push_back({kTurbulence, DType::kF32, {1024, 1024, 2048}, Mode::kDefault, 1e-3, false});
  return all;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// The range as the encoder finds it: from a container with a very wide bound.
double range_of(reduce::DeviceCompressor& compressor, const reduce::DeviceField& field, void* out,
                std::int64_t room) {
  reduce::CompressOptions options;
  options.bound = reduce::Bound::relative(0.5);
  const reduce::Info info = compressor.compress(field, options, out, room);
  return info.max_value - info.min_value;
}

json time_case(const TimedCase& c, int repeats, const Stream& stream) {
  const CallTimes times = time_calls(c, repeats, stream);
  const double giga =
      static_cast<double>(c.shape.element_count() * dtype_bytes(c.dtype)) * 1e-6;  // GB/s of ms
  json row;
  row["field"] = c.kind.name;
  row["dtype"] = dtype_name(c.dtype);
  row["shape"] = c.shape.to_string();
  row["mode"] = reduce::mode_name(c.mode);
  row["bound"] = c.bound;
  row["bound_given"] = c.relative ? "relative" : "absolute";
  row["ratio"] = times.ratio;
  row["compress_ms"] = times.compress_ms;
  row["decompress_ms"] = times.decompress_ms;
  row["compress_gb_s"] = giga / times.compress_ms;
  row["decompress_gb_s"] = giga / times.decompress_ms;
  row["repeats"] = repeats;
  return row;
}

}  // namespace

CallTimes time_calls(const TimedCase& c, int repeats, const Stream& stream) {
  const std::int64_t raw = c.shape.element_count() * dtype_bytes(c.dtype);
  const Buffer field = make_synthetic_field(c.kind, c.dtype, c.shape, stream);
  const std::int64_t room = reduce::most_compressed_bytes(c.dtype, c.shape);
  const Buffer packed(room, stream);
  const Buffer out(raw, stream);
  reduce::DeviceCompressor compressor(stream);
  reduce::DeviceDecompressor decompressor(stream);
  const reduce::DeviceField view{c.dtype, c.shape, field.data()};
  reduce::CompressOptions options;
  options.mode = c.mode;
  options.bound =
      c.relative
          ? reduce::Bound::relative(c.bound)
          : reduce::Bound::absolute(c.bound * range_of(compressor, view, packed.data(), room));
  std::vector<double> pack_ms;
  std::vector<double> unpack_ms;
  reduce::Info info;
  for (int i = -2; i < repeats; ++i) {  // two to warm up
    const Stopwatch packing;
    info = compressor.compress(view, options, packed.data(), room);
    const double packed_ms = packing.seconds() * 1e3;
    const Stopwatch unpacking;
    (void)decompressor.decompress(packed.data(), info.compressed_bytes, out.data(), raw);
    const double unpacked_ms = unpacking.seconds() * 1e3;
    if (i < 0) continue;
    pack_ms.push_back(packed_ms);
    unpack_ms.push_back(unpacked_ms);
  }
  return {median(pack_ms), median(unpack_ms),
          static_cast<double>(raw) / static_cast<double>(info.compressed_bytes)};
}

void time_reduction(const Stream& stream, int repeats, bool large, const std::string& path) {
  json rows = json::array();
  std::printf("%-16s %-4s %-16s %-8s %-7s %8s %12s %12s\n", "field", "type", "shape", "mode",
              "bound", "ratio", "GB/s packed", "unpacked");
  for (const TimedCase& c : cases(large)) {
    const json row = time_case(c, repeats, stream);
    rows.push_back(row);
    std::printf("%-16s %-4s %-16s %-8s %-7.0e %8.2f %12.1f %12.1f\n",
                row["field"].get<std::string>().c_str(), row["dtype"].get<std::string>().c_str(),
                row["shape"].get<std::string>().c_str(), row["mode"].get<std::string>().c_str(),
                c.bound, row["ratio"].get<double>(), row["compress_gb_s"].get<double>(),
                row["decompress_gb_s"].get<double>());
    std::fflush(stdout);
  }
  if (path.empty()) return;
  json result;
  result["device"] = stream.device().info().name;
  result["what"] = "whole calls, field and container in device memory, medians";
  result["rows"] = rows;
  std::ofstream file(path);
  file << result.dump(1) << "\n";
  file.close();
  if (!file) throw Error(ErrorCode::kIo, "cannot write " + path);
}

}  // namespace tamis::gpu_test
