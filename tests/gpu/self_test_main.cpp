// gpu_self_test [--small] [cuda:N | hip:N]: checks the gpu layer on a real device, one line a
// check;
// --small is for simulated ones. Exits 0 when all hold, 1 when one fails, 77 when there is no
// device (ctest's mark for "skipped"). It keeps its compiled kernels in a folder of its own, which
// it removes.
#include <stdlib.h>
#include <unistd.h>

#include <cstring>
#include <exception>
#include <filesystem>

#include "check_list.hpp"
#include "tamis/error.hpp"
#include "tamis/kernels.hpp"

namespace tamis::gpu_test {
namespace {

constexpr int kExitSkipped = 77;

struct CacheFolder {
  std::string path = std::filesystem::temp_directory_path() / "tamis-gpu-test-XXXXXX";

  CacheFolder() {
    if (::mkdtemp(path.data()) == nullptr) throw std::runtime_error("no folder for kernels");
    ::setenv("TAMIS_CACHE_DIR", path.c_str(), 1);
  }
  CacheFolder(const CacheFolder&) = delete;
  CacheFolder& operator=(const CacheFolder&) = delete;
  ~CacheFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

bool run_check(const Check& check, const Device& device, const Stream& stream) {
  std::string remark;
  bool good = true;
  try {
    remark = check.run(device, stream);
  } catch (const std::exception& error) {
    remark = error.what();
    good = false;
  }
  std::printf("%s  %s%s%s\n", good ? "ok  " : "FAIL", check.name, remark.empty() ? "" : ": ",
              remark.c_str());
  std::fflush(stdout);
  return good;
}

Device chosen_device(const std::string& name) {
  if (name.empty()) return Device::first();
  const std::size_t colon = name.find(':');
  const int ordinal = colon == std::string::npos ? 0 : std::atoi(name.c_str() + colon + 1);
  const std::string kind = name.substr(0, colon);
  if (kind != "cuda" && kind != "hip") {
    throw Error(ErrorCode::kInvalidArgument, "'" + name + "'; expected cuda:N or hip:N");
  }
  return Device::open(kind == "cuda" ? DeviceKind::kCuda : DeviceKind::kHip, ordinal);
}

int run_checks(const Device& device) {
  const DeviceInfo& info = device.info();
  std::printf("%s:%d %s, %s, driver %s\n", device_kind_name(info.kind), info.ordinal,
              info.name.c_str(), info.architecture.c_str(), info.driver.c_str());
  int failures = 0;
  int count = 0;
  {
    const Stream stream(device);
    for (const std::vector<Check>& checks : {runtime_checks(), scan_checks(), bit_and_copy_checks(),
                                             hash_checks(), field_scan_checks()}) {
      for (const Check& check : checks) {
        failures += run_check(check, device, stream) ? 0 : 1;
        ++count;
      }
    }
    failures += run_check({"fault of a kernel", check_fault}, device, stream) ? 0 : 1;
    ++count;
  }
  const KernelStatistics statistics = kernel_statistics();
  std::printf("kernels: %lld compiled in %.2f s, %lld from disk, %lld prebuilt\n",
              static_cast<long long>(statistics.compiled), statistics.compile_seconds,
              static_cast<long long>(statistics.from_disk),
              static_cast<long long>(statistics.from_prebuilt));
  std::printf("%d of %d checks failed\n", failures, count);
  return failures == 0 ? 0 : 1;
}

int run_main(int argc, char** argv) {
  const CacheFolder folder;
  try {
    int next = 1;
    g_small = argc > next && std::strcmp(argv[next], "--small") == 0;
    if (g_small) ++next;
    const Device device = chosen_device(argc > next ? argv[next] : "");
    return run_checks(device);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kUnavailable) throw;
    std::printf("no GPU: skipped (%s)\n", error.what());
    return kExitSkipped;
  }
}

}  // namespace
}  // namespace tamis::gpu_test

int main(int argc, char** argv) {
  try {
    return tamis::gpu_test::run_main(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gpu_self_test: %s\n", error.what());
    return 1;
  }
}
