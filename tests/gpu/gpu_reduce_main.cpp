// gpu_reduce [ROUNDS [LIMIT [SEED]]]: compression on a device against the host's.
// gpu_reduce hostile [CHANGES [SEED]]: decoding of damaged containers against the host's.
// Exits 0 when all holds, 1 when something differs, 77 when there is no device (ctest's mark for
// "skipped").
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "reduce_checks.hpp"
#include "synthetic_fields.hpp"
#include "tamis/error.hpp"

namespace tamis::gpu_test {
namespace {

constexpr int kExitSkipped = 77;

int run_main(int argc, char** argv) {
  if (list_devices().empty()) {
    std::printf("gpu_reduce: skipped, there is no device\n");
    return kExitSkipped;
  }
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 1;
  const std::int64_t limit = argc > 2 ? std::atoll(argv[2]) : 20000;
  const auto seed = static_cast<unsigned>(argc > 3 ? std::atoi(argv[3]) : 1);
  const Device device = Device::first();
  const Stream stream(device);
  std::printf("%s, %s\n", device.info().name.c_str(), device.info().architecture.c_str());
  if (argc > 1 && std::string(argv[1]) == "hostile") {
    HostileCheck hostile(stream);
    hostile.run(argc > 2 ? std::atoi(argv[2]) : 50,
                argc > 3 ? static_cast<unsigned>(std::atoi(argv[3])) : 1);
    std::printf("hostile: %d containers judged alike, %d accepted\n", hostile.count(),
                hostile.accepted());
    return 0;
  }
  IdentityCheck identity(stream);
  if (argc > 1 && std::string(argv[1]) == "one") {
    const std::int64_t side = argc > 2 ? std::atoll(argv[2]) : 512;
    const Extents shape{side, side, side};
    const Buffer field = make_synthetic_field(kTurbulence, DType::kF32, shape, stream);
    std::vector<float> host(static_cast<std::size_t>(shape.element_count()));
    copy_bytes(host.data(), field.data(), shape.element_count() * 4, stream);
    stream.synchronize();
    const auto [low, high] = std::minmax_element(host.begin(), host.end());
    for (const reduce::Mode mode :
         {reduce::Mode::kDefault, reduce::Mode::kFast, reduce::Mode::kRatio}) {
      reduce::CompressOptions options;
      options.mode = mode;
      options.bound = reduce::Bound::absolute(1e-3 * (double{*high} - double{*low}));
      identity.run(make_view(host.data(), shape), "turbulence", options);
      std::printf("%s holds, %d waits\n", reduce::mode_name(mode), identity.most_waits());
    }
    return 0;
  }
  identity.run_sums(seed);
  identity.run_made(limit, rounds, seed);
  std::printf("identity: %d encodings hold, %d of them by the host, at most %d waits\n",
              identity.count(), identity.on_host(), identity.most_waits());
  return 0;
}

}  // namespace
}  // namespace tamis::gpu_test

int main(int argc, char** argv) {
  try {
    return tamis::gpu_test::run_main(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gpu_reduce: %s\n", error.what());
    return 1;
  }
}
