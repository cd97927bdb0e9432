// The launch parameters of the reduction kernels, one changed at a time: the bytes must not depend
// on them, and the times show whether the fallbacks are well chosen.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "reduce/device_tunables.hpp"
#include "reduce_checks.hpp"
#include "support/made_fields.hpp"
#include "tamis/error.hpp"
#include "timed_case.hpp"

namespace tamis::gpu_test {

namespace {

using nlohmann::json;

constexpr std::array kModes = {reduce::Mode::kDefault, reduce::Mode::kFast, reduce::Mode::kRatio};

void check_identity(const Stream& stream, const std::string& what) {
  IdentityCheck identity(stream);
  const Extents shape{37, 36, 40};
  const std::vector<float> field = testing::make_field<float>(testing::Kind::kSmooth, shape, 1);
  for (const reduce::Mode mode : kModes) {
    reduce::CompressOptions options;
    options.bound = reduce::Bound::relative(1e-4);
    options.mode = mode;
    options.threads = 1;
    identity.run(make_view(field.data(), shape), what, options);
  }
}

// Times of the modes; 0 where the family has no part in them.
json time_modes(const Stream& stream, int repeats) {
  json times;
  for (const reduce::Mode mode : kModes) {
    const CallTimes t =
        time_calls({kTurbulence, DType::kF32, {512, 512, 512}, mode, 1e-3}, repeats, stream);
    const std::string name = reduce::mode_name(mode);
    times[name + "_compress_ms"] = t.compress_ms;
    times[name + "_decompress_ms"] = t.decompress_ms;
    std::printf("  %s %.3f / %.3f ms", name.c_str(), t.compress_ms, t.decompress_ms);
  }
  return times;
}

// Guides the compiler only, which changes times.
bool is_hint(const Param& param) { return param.name.ends_with("_blocks"); }

// fn(configuration) for the valid ones that differ from the fallback in one value.
template <typename Fn>
void each_change(const Tunable& tunable, bool hints, const Fn& fn) {
  reduce::CodecVariant variant;
  const Problem problem = reduce::launch_problem(variant, std::int64_t{1} << 27);
  for (std::size_t p = 0; p < tunable.space.params().size(); ++p) {
    if (!hints && is_hint(tunable.space.params()[p])) continue;
    for (const std::int64_t value : tunable.space.params()[p].values) {
      Config config = tunable.fallback;
      if (config[p] == value) continue;
      config[p] = value;
      if (tunable.space.is_valid(problem, config)) fn(config);
    }
  }
}

}  // namespace

int check_launches(const Stream& stream, const std::string& only, int repeats,
                   const std::string& path) {
  int count = 0;
  json rows = json::array();
  const auto run = [&](const std::string& id, const std::string& config) {
    std::printf("%-24s %s", id.c_str(), config.c_str());
    check_identity(stream, id + " " + config);
    if (repeats > 0) {
      rows.push_back({{"tunable", id}, {"config", config}, {"times", time_modes(stream, repeats)}});
    }
    std::printf("\n");
    std::fflush(stdout);
    ++count;
  };
  if (repeats > 0) run("all", "fallback");
  for (const Tunable& tunable : reduce::codec_tunables()) {
    if (tunable.id.find(only) == std::string::npos) continue;
    each_change(tunable, repeats > 0, [&](const Config& config) {
      const ConfigOverride given(tunable.id, config);
      run(tunable.id, tunable.space.to_string(config));
    });
  }
  if (!path.empty()) {
    std::ofstream file(path);
    file << json{{"device", stream.device().info().name}, {"rows", rows}}.dump(1) << "\n";
    file.close();
    if (!file) throw Error(ErrorCode::kIo, "cannot write " + path);
  }
  return count;
}

}  // namespace tamis::gpu_test
