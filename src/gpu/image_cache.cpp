// The order of sources. Prebuilt code for exactly the architecture comes before the disk, since it
// takes neither a file nor the loading of a compiler; prebuilt code for an older architecture comes
// last, since code made for the device is better.
#include "gpu/image_cache.hpp"

#include "core/stopwatch.hpp"
#include "gpu/architecture.hpp"
#include "gpu/compile_options.hpp"
#include "tamis/error.hpp"

namespace tamis {

const char* kernel_origin_name(KernelOrigin origin) noexcept {
  switch (origin) {
    case KernelOrigin::kMemory:
      return "memory";
    case KernelOrigin::kDisk:
      return "disk";
    case KernelOrigin::kPrebuilt:
      return "prebuilt";
    case KernelOrigin::kCompiled:
      return "compiled";
  }
  return "unknown";
}

KernelStatistics kernel_statistics() { return gpu::ImageCache::shared().statistics(); }

namespace gpu {

ImageCache& ImageCache::shared() {
  static ImageCache cache(
      {DiskCache(DiskCache::default_folder()), prebuilt_kernels(), shared_compiler});
  return cache;
}

ImageAnswer ImageCache::get(const KernelSource& source, const KernelConfig& config,
                            std::string_view architecture) {
  KernelOrigin origin = KernelOrigin::kMemory;
  const auto answer = images_.get({source.hash(), config, architecture}, [&] {
    ImageAnswer found = find_or_compile({source, config, architecture});
    origin = found.origin;
    return found.image;
  });
  if (!answer.made) from_memory_.fetch_add(1, std::memory_order_relaxed);
  return {answer.value, origin};
}

ImageAnswer ImageCache::compile_anew(const KernelSource& source, const KernelConfig& config,
                                     std::string_view architecture) {
  const Request request{source, config, architecture};
  const CompilerFinding finding = sources_.find_compiler(architecture_kind(architecture));
  if (!finding.compiler) throw_unavailable(request, finding.problem);
  ImageAnswer answer = compile(request, finding, "the driver refused the code at hand");
  images_.put({source.hash(), config, architecture}, answer.image);
  return answer;
}

ImageAnswer ImageCache::find_or_compile(const Request& request) {
  const DeviceKind kind = architecture_kind(request.architecture);
  if (ImagePointer image = find_prebuilt(request, request.architecture)) {
    from_prebuilt_.fetch_add(1, std::memory_order_relaxed);
    return {std::move(image), KernelOrigin::kPrebuilt};
  }
  const CompilerFinding finding = sources_.find_compiler(kind);
  if (finding.compiler && finding.compiler->supports(request.architecture)) {
    const auto options = compile_options(request.architecture, request.config);
    const Hash128 key =
        image_key(content_key(request.source, options), finding.compiler->identity());
    DiskCache::Answer stored = sources_.disk.find(key);
    if (stored.code) {
      auto image = std::make_shared<KernelImage>();
      image->code = std::move(*stored.code);
      image->architecture = request.architecture;
      image->compiler = finding.compiler->identity();
      from_disk_.fetch_add(1, std::memory_order_relaxed);
      return {std::move(image), KernelOrigin::kDisk};
    }
    if (!stored.damage.empty()) damaged_files_.fetch_add(1, std::memory_order_relaxed);
    return compile(request, finding,
                   stored.damage.empty() ? "" : "damaged, ignored and replaced: " + stored.damage);
  }
  for (const std::string& older : runnable_architectures(request.architecture)) {
    if (ImagePointer image = find_prebuilt(request, older)) {
      from_prebuilt_.fetch_add(1, std::memory_order_relaxed);
      return {std::move(image), KernelOrigin::kPrebuilt};
    }
  }
  if (!finding.compiler) throw_unavailable(request, finding.problem);
  return compile(request, finding, "");  // throws: the compiler does not know the architecture
}

ImageCache::ImagePointer ImageCache::find_prebuilt(const Request& request,
                                                   std::string_view architecture) const {
  if (sources_.prebuilt.empty()) return nullptr;
  const Hash128 content =
      content_key(request.source, compile_options(architecture, request.config));
  for (const PrebuiltKernel& kernel : sources_.prebuilt) {
    if (!(kernel.content == content)) continue;
    auto image = std::make_shared<KernelImage>();
    image->code.assign(kernel.code.begin(), kernel.code.end());
    image->architecture = kernel.architecture;
    return image;
  }
  return nullptr;
}

ImageAnswer ImageCache::compile(const Request& request, const CompilerFinding& finding,
                                std::string remark) {
  const Stopwatch stopwatch;
  auto image = std::make_shared<KernelImage>();
  image->code = finding.compiler->compile(request.source, request.config, request.architecture);
  image->architecture = request.architecture;
  image->compiler = finding.compiler->identity();
  image->compile_seconds = stopwatch.seconds();
  compiled_.fetch_add(1, std::memory_order_relaxed);
  compile_us_.fetch_add(static_cast<std::int64_t>(image->compile_seconds * 1e6),
                        std::memory_order_relaxed);
  const auto options = compile_options(request.architecture, request.config);
  const Hash128 key = image_key(content_key(request.source, options), image->compiler);
  const std::string problem = sources_.disk.store(key, image->code);
  if (!problem.empty()) remark += (remark.empty() ? "" : "; ") + ("not kept on disk: " + problem);
  image->remark = std::move(remark);
  return {std::move(image), KernelOrigin::kCompiled};
}

void ImageCache::throw_unavailable(const Request& request, const std::string& problem) const {
  throw Error(ErrorCode::kUnavailable,
              "no machine code of " + std::string(request.source.name()) + " [" +
                  request.config.to_string() + "] for " + std::string(request.architecture) +
                  ": it is not among the prebuilt kernels and cannot be compiled: " + problem);
}

KernelStatistics ImageCache::statistics() const {
  KernelStatistics result;
  result.from_memory = from_memory_.load(std::memory_order_relaxed);
  result.from_disk = from_disk_.load(std::memory_order_relaxed);
  result.from_prebuilt = from_prebuilt_.load(std::memory_order_relaxed);
  result.compiled = compiled_.load(std::memory_order_relaxed);
  result.damaged_files = damaged_files_.load(std::memory_order_relaxed);
  result.compile_seconds = static_cast<double>(compile_us_.load(std::memory_order_relaxed)) * 1e-6;
  return result;
}

}  // namespace gpu
}  // namespace tamis
