// warm_up_kernels(): asks the cache for every shipped kernel, which leaves it on disk.
#include <algorithm>

#include "catalog/shipped_kernels.hpp"
#include "core/stopwatch.hpp"
#include "gpu/architecture.hpp"
#include "gpu/image_cache.hpp"
#include "tamis/error.hpp"
#include "tamis/kernels.hpp"

namespace tamis {
namespace {

std::vector<std::string> architectures_of_devices() {
  std::vector<std::string> names;
  for (const DeviceInfo& info : list_devices()) {
    if (std::find(names.begin(), names.end(), info.architecture) == names.end()) {
      names.push_back(info.architecture);
    }
  }
  if (names.empty()) (void)Device::first();  // throws, saying what was looked for
  return names;
}

void run_step(const gpu::KernelSpec& spec, WarmUpStep& step) {
  const Stopwatch stopwatch;
  try {
    const gpu::ImageAnswer answer =
        gpu::ImageCache::shared().get(*spec.source, spec.config, step.architecture);
    step.origin = answer.origin;
    step.size_bytes = static_cast<std::int64_t>(answer.image->code.size());
    step.remark = answer.image->remark;
  } catch (const Error& error) {
    step.problem = error.what();
  }
  step.seconds = stopwatch.seconds();
}

}  // namespace

std::int64_t warm_up_kernels(const std::vector<std::string>& architectures,
                             const std::function<void(const WarmUpStep&)>& report) {
  const auto names = architectures.empty() ? architectures_of_devices() : architectures;
  for (const std::string& name : names) (void)gpu::architecture_kind(name);  // refuse typing errors
  const std::vector<gpu::KernelSpec> specs = catalog::shipped_kernels();
  std::int64_t failures = 0;
  WarmUpStep step;
  step.count = static_cast<std::int64_t>(names.size() * specs.size());
  for (const std::string& name : names) {
    for (const gpu::KernelSpec& spec : specs) {
      step.kernel = spec.name;
      step.configuration = spec.config.to_string();
      step.architecture = name;
      step.problem.clear();
      step.remark.clear();
      run_step(spec, step);
      failures += step.problem.empty() ? 0 : 1;
      if (report) report(step);
      ++step.index;
    }
  }
  return failures;
}

}  // namespace tamis
