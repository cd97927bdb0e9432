// gpu_reduce identity [ROUNDS [LIMIT [SEED]]]: made fields of all kinds, on a device and on the
// host. gpu_reduce cube [SIDE]: the same for one large field in each mode. gpu_reduce hostile
// [CHANGES [SEED]]: decoding of damaged containers, on a device and on the host. gpu_reduce time
// [REPEATS [RESULT.json [large]]]: how fast whole calls are. gpu_reduce launches [PART [REPEATS
// [RESULT.json]]]: identity, and times, with other launch parameters of the kernels whose names
// have that part. Exits 0 when all holds, 1 when something differs, 77 when there is no device
// (ctest's "skipped").
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "reduce_checks.hpp"
#include "synthetic_fields.hpp"

namespace tamis::gpu_test {
namespace {

constexpr int kExitFailed = 1;
constexpr int kExitUsage = 2;
constexpr int kExitSkipped = 77;

// Arguments by position, numbers with a default.
struct Arguments {
  int count;
  char** values;

  std::string text(int at, const char* otherwise) const {
    return at < count ? values[at] : otherwise;
  }
  std::int64_t number(int at, std::int64_t otherwise) const {
    return at < count ? std::atoll(values[at]) : otherwise;
  }
};

void check_cube(std::int64_t side, const Stream& stream) {
  const Extents shape{side, side, side};
  const Buffer field = make_synthetic_field(kTurbulence, DType::kF32, shape, stream);
  std::vector<float> host(static_cast<std::size_t>(shape.element_count()));
  copy_bytes(host.data(), field.data(), shape.element_count() * 4, stream);
  stream.synchronize();
  const auto [low, high] = std::minmax_element(host.begin(), host.end());
  IdentityCheck identity(stream);
  for (const reduce::Mode mode :
       {reduce::Mode::kDefault, reduce::Mode::kFast, reduce::Mode::kRatio}) {
    reduce::CompressOptions options;
    options.mode = mode;
    options.bound = reduce::Bound::absolute(1e-3 * (double{*high} - double{*low}));
    identity.run(make_view(host.data(), shape), "turbulence", options);
    std::printf("%s holds\n", reduce::mode_name(mode));
  }
}

int run_task(const std::string& task, const Arguments& arguments, const Stream& stream) {
  if (task == "identity") {
    const auto seed = static_cast<unsigned>(arguments.number(4, 1));
    IdentityCheck identity(stream);
    identity.run_sums(seed);
    identity.run_made(arguments.number(3, 20000), static_cast<int>(arguments.number(2, 1)), seed);
    std::printf("identity: %d encodings hold, %d of them made on the host\n", identity.count(),
                identity.on_host());
    return 0;
  }
  if (task == "cube") {
    check_cube(arguments.number(2, 512), stream);
    return 0;
  }
  if (task == "hostile") {
    HostileCheck hostile(stream);
    hostile.run(static_cast<int>(arguments.number(2, 50)),
                static_cast<unsigned>(arguments.number(3, 1)));
    std::printf("hostile: %d containers judged alike, %d accepted\n", hostile.count(),
                hostile.accepted());
    return 0;
  }
  if (task == "time") {
    time_reduction(stream, static_cast<int>(arguments.number(2, 20)),
                   arguments.text(4, "") == "large", arguments.text(3, ""));
    return 0;
  }
  if (task == "launches") {
    const int count =
        check_launches(stream, arguments.text(2, ""), static_cast<int>(arguments.number(3, 0)),
                       arguments.text(4, ""));
    std::printf("launches: the same bytes in %d configurations\n", count);
    return 0;
  }
  std::fprintf(stderr, "usage: gpu_reduce identity|cube|hostile|time|launches [ARGUMENTS]\n");
  return kExitUsage;
}

int run_main(const Arguments& arguments) {
  if (list_devices().empty()) {
    std::printf("gpu_reduce: skipped, there is no device\n");
    return kExitSkipped;
  }
  const Device device = Device::first();
  const Stream stream(device);
  std::printf("%s, %s\n", device.info().name.c_str(), device.info().architecture.c_str());
  return run_task(arguments.text(1, "identity"), arguments, stream);
}

}  // namespace
}  // namespace tamis::gpu_test

int main(int argc, char** argv) {
  try {
    return tamis::gpu_test::run_main({argc, argv});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gpu_reduce: %s\n", error.what());
    return tamis::gpu_test::kExitFailed;
  }
}
