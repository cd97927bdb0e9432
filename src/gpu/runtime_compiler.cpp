// The two compilers have the same functions under different prefixes; only version, list of
// architectures and name of the result differ.
#include "gpu/runtime_compiler.hpp"

#include <algorithm>
#include <filesystem>
#include <mutex>

#include "gpu/architecture.hpp"
#include "gpu/compile_options.hpp"
#include "gpu/driver_api.hpp"
#include "gpu/dynamic_library.hpp"
#include "gpu/library_search.hpp"
#include "tamis/error.hpp"

namespace tamis::gpu {

struct RtcApi {
  int (*version)(int* major, int* minor);
  const char* (*error_text)(int status);
  int (*create)(void** program, const char* text, const char* name, int header_count,
                const char* const* header_texts, const char* const* header_names);
  int (*destroy)(void** program);
  int (*compile)(void* program, int option_count, const char* const* options);
  int (*log_size)(void* program, std::size_t* size);
  int (*log)(void* program, char* text);
  int (*code_size)(void* program, std::size_t* size);
  int (*code)(void* program, char* bytes);
};

namespace {

constexpr int kOldestNvrtc = 12;

// A program of the compiler's, destroyed in the end.
class Program {
 public:
  Program(const RtcApi& api, const KernelSource& source) : api_(api) {
    // hipRTC calls every text "CompileSource"; the line directive puts the name into its messages.
    text_ = "#line 1 \"" + std::string(source.name()) + "\"\n" + std::string(source.text());
    for (const SourceFile& header : source.headers()) {
      strings_.emplace_back(header.name);
      strings_.emplace_back(header.text);
    }
    std::vector<const char*> names;
    std::vector<const char*> texts;
    for (std::size_t i = 0; i < strings_.size(); i += 2) {
      names.push_back(strings_[i].c_str());
      texts.push_back(strings_[i + 1].c_str());
    }
    const std::string name(source.name());
    require(api_.create(&program_, text_.c_str(), name.c_str(), static_cast<int>(names.size()),
                        texts.data(), names.data()),
            "take the text");
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() {
    if (program_ != nullptr) api_.destroy(&program_);
  }

  bool compile(const std::vector<std::string>& options) {
    std::vector<const char*> pointers;
    pointers.reserve(options.size());
    for (const std::string& option : options) pointers.push_back(option.c_str());
    status_ = api_.compile(program_, static_cast<int>(pointers.size()), pointers.data());
    return status_ == 0;
  }

  std::string log() const {
    std::size_t size = 0;
    if (api_.log_size(program_, &size) != 0 || size == 0) return api_.error_text(status_);
    std::string text(size, '\0');
    if (api_.log(program_, text.data()) != 0) return api_.error_text(status_);
    text.resize(std::min(text.find('\0'), text.size()));
    return text.empty() ? api_.error_text(status_) : text;
  }

  std::vector<std::byte> code() const {
    std::size_t size = 0;
    require(api_.code_size(program_, &size), "tell the size of its result");
    std::vector<std::byte> bytes(size);
    if (size == 0) throw Error(ErrorCode::kDevice, "the run-time compiler made no machine code");
    require(api_.code(program_, reinterpret_cast<char*>(bytes.data())), "give its result");
    return bytes;
  }

 private:
  void require(int status, const char* action) const {
    if (status == 0) return;
    throw Error(ErrorCode::kDevice, std::string("the run-time compiler cannot ") + action + ": " +
                                        api_.error_text(status));
  }

  const RtcApi& api_;
  std::string text_;
  std::vector<std::string> strings_;  // names and texts in turn, null-terminated
  void* program_ = nullptr;
  int status_ = 0;
};

const char* find_functions(const DynamicLibrary& library, DeviceKind kind, RtcApi& api) {
  const bool cuda = kind == DeviceKind::kCuda;
  const char* missing = nullptr;
  const auto need = [&](const char* nvrtc, const char* hiprtc, auto& function) {
    const char* name = cuda ? nvrtc : hiprtc;
    if (!library.get(name, function) && missing == nullptr) missing = name;
  };
  need("nvrtcVersion", "hiprtcVersion", api.version);
  need("nvrtcGetErrorString", "hiprtcGetErrorString", api.error_text);
  need("nvrtcCreateProgram", "hiprtcCreateProgram", api.create);
  need("nvrtcDestroyProgram", "hiprtcDestroyProgram", api.destroy);
  need("nvrtcCompileProgram", "hiprtcCompileProgram", api.compile);
  need("nvrtcGetProgramLogSize", "hiprtcGetProgramLogSize", api.log_size);
  need("nvrtcGetProgramLog", "hiprtcGetProgramLog", api.log);
  need("nvrtcGetCUBINSize", "hiprtcGetCodeSize", api.code_size);
  need("nvrtcGetCUBIN", "hiprtcGetCode", api.code);
  return missing;
}

std::vector<std::string> nvrtc_architectures(const DynamicLibrary& library) {
  int (*count_of)(int*) = nullptr;
  int (*list)(int*) = nullptr;
  int count = 0;
  if (!library.get("nvrtcGetNumSupportedArchs", count_of) ||
      !library.get("nvrtcGetSupportedArchs", list) || count_of(&count) != 0 || count <= 0) {
    return {};
  }
  std::vector<int> numbers(static_cast<std::size_t>(count));
  if (list(numbers.data()) != 0) return {};
  std::vector<std::string> names;
  names.reserve(numbers.size());
  for (const int number : numbers) names.push_back(cuda_architecture(number / 10, number % 10));
  return names;
}

// hipRTC has no such list, and some releases crash on names that they do not know. The library that
// it compiles with, comgr, has one.
std::vector<std::string> hiprtc_architectures(const DynamicLibrary& hiprtc) {
  int (*count_of)(std::size_t*) = nullptr;
  int (*name_of)(std::size_t, const char**) = nullptr;
  std::size_t count = 0;
  std::string tried;
  const auto library = DynamicLibrary::open(comgr_candidates(hiprtc.path()), tried);
  if (!library || !library->get("amd_comgr_get_isa_count", count_of) ||
      !library->get("amd_comgr_get_isa_name", name_of) || count_of(&count) != 0) {
    return {};
  }
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) {
    const char* isa = nullptr;  // "amdgcn-amd-amdhsa--gfx90a"
    if (name_of(i, &isa) != 0 || isa == nullptr) continue;
    const std::string_view text(isa);
    const std::size_t dash = text.rfind('-');
    names.emplace_back(dash == std::string_view::npos ? text : text.substr(dash + 1));
  }
  return names;
}

std::string file_identity(const std::string& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  return std::filesystem::path(path).filename().string() + " " +
         (error ? std::string("?") : std::to_string(size));
}

int driver_major(DeviceKind kind) {
  if (kind != DeviceKind::kCuda) return 0;
  const DriverFinding& driver = shared_driver(kind);
  return driver.api == nullptr ? 0 : driver.api->version_major;
}

}  // namespace

struct CompilerLoader {
  static CompilerFinding load(DeviceKind kind) {
    CompilerFinding finding;
    auto compiler = std::make_shared<RuntimeCompiler>();
    compiler->kind_ = kind;
    const std::string name = compiler->name();
    const bool cuda = kind == DeviceKind::kCuda;
    std::string tried;
    const auto library = DynamicLibrary::open(
        cuda ? nvrtc_candidates(driver_major(kind)) : hiprtc_candidates(), tried);
    if (!library) {
      finding.problem = "no " + name + " (" + tried + "; " +
                        (cuda ? kNvrtcVariable : kHiprtcVariable) + " names another)";
      return finding;
    }
    finding.path = library->path();
    auto api = std::make_shared<RtcApi>();
    int major = 0;
    int minor = 0;
    if (const char* missing = find_functions(*library, kind, *api)) {
      finding.problem = library->path() + " lacks " + missing + "; it is not a usable " + name;
    } else if (api->version(&major, &minor) != 0) {
      finding.problem = library->path() + " does not tell its version";
    } else {
      finding.version = std::to_string(major) + "." + std::to_string(minor);
      if (cuda && major < kOldestNvrtc) {
        finding.problem = "NVRTC " + library->path() + " is " + finding.version +
                          ", too old: " + std::to_string(kOldestNvrtc) + ".0 or newer is needed";
      }
    }
    if (!finding.problem.empty()) return finding;
    compiler->version_ = finding.version;
    compiler->path_ = finding.path;
    compiler->identity_ = name + " " + finding.version + " " + file_identity(finding.path);
    compiler->architectures_ =
        cuda ? nvrtc_architectures(*library) : hiprtc_architectures(*library);
    compiler->api_ = std::move(api);
    finding.compiler = std::move(compiler);
    return finding;
  }
};

bool RuntimeCompiler::supports(std::string_view architecture) const {
  if (architectures_.empty()) return true;  // it will say itself
  // NVRTC lists numbers; whoever knows sm_90 knows sm_90a.
  const auto plain = [&](std::string_view name) {
    if (kind_ == DeviceKind::kCuda && name.ends_with('a')) name.remove_suffix(1);
    return name;
  };
  return std::any_of(architectures_.begin(), architectures_.end(),
                     [&](const std::string& name) { return plain(name) == plain(architecture); });
}

std::vector<std::byte> RuntimeCompiler::compile(const KernelSource& source,
                                                const KernelConfig& config,
                                                std::string_view architecture) const {
  const std::string what =
      std::string(source.name()) + " [" + config.to_string() + "] for " + std::string(architecture);
  if (!supports(architecture)) {
    std::string known;
    for (const std::string& name : architectures_) known += " " + name;
    throw Error(ErrorCode::kUnsupported, std::string(name()) + " " + version_ + " cannot compile " +
                                             what + "; it knows" + known);
  }
  // Releases of hipRTC differ in whether threads may compile at once; one lock is safe with all.
  static std::mutex hip_mutex;
  std::unique_lock<std::mutex> lock(hip_mutex, std::defer_lock);
  if (kind_ == DeviceKind::kHip) lock.lock();
  Program program(*api_, source);
  if (!program.compile(compile_options(architecture, config))) {
    throw Error(ErrorCode::kDevice,
                std::string(name()) + " " + version_ + " refuses " + what + ":\n" + program.log());
  }
  return program.code();
}

CompilerFinding load_compiler(DeviceKind kind) { return CompilerLoader::load(kind); }

const CompilerFinding& shared_compiler(DeviceKind kind) {
  if (kind == DeviceKind::kCuda) {
    static const CompilerFinding nvrtc = load_compiler(kind);
    return nvrtc;
  }
  static const CompilerFinding hiprtc = load_compiler(kind);
  return hiprtc;
}

}  // namespace tamis::gpu
