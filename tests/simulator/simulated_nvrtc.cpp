// The run-time compiler of the simulated GPU: NVRTC's functions around the host's C++ compiler.
// What it makes is the path of a shared object, kept in a folder of the build under a hash of all
// that went into it, so repeated tests compile nothing. The build says, as macros, which compiler
// and flags to use (TAMIS_SIMULATOR_CXX, _FLAGS), where the simulator's headers lie (_HEADERS) and
// where to keep objects (_CACHE).
#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "simulator/kernel_text.hpp"
#include "simulator/simulated_image.hpp"

#define SIMULATED_API extern "C" __attribute__((visibility("default")))

extern char** environ;

namespace tamis::simt {
namespace {

namespace fs = std::filesystem;

constexpr int kOk = 0;
constexpr int kCompilationFailed = 6;
constexpr int kInternalError = 11;

struct Header {
  std::string name;
  std::string text;
};

struct Program {
  std::string text;
  std::vector<Header> headers;
  std::string image;
  std::string log;
};

std::string read_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void write_text(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw std::runtime_error("cannot write " + path.string());
}

// FNV-1a, twice with different starts: no adversary here.
class Hash {
 public:
  void add(const std::string& text) {
    for (std::uint64_t& h : halves_) {
      for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
      h = (h ^ text.size()) * 0x100000001b3u;
    }
  }
  std::string name() const {
    std::ostringstream text;
    text << std::hex << halves_[0] << halves_[1];
    return text.str();
  }

 private:
  std::uint64_t halves_[2] = {0xcbf29ce484222325u, 0x9e3779b97f4a7c15u};
};

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

// Runs it with its complaints in a file; whether it succeeded.
bool run_program(const std::vector<std::string>& command, const fs::path& log) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 2, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  pid_t child = 0;
  const int status =
      ::posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (status != 0) throw std::runtime_error("cannot start " + command[0]);
  int result = 0;
  while (::waitpid(child, &result, 0) < 0) {
    if (errno != EINTR) throw std::runtime_error("lost " + command[0]);
  }
  return WIFEXITED(result) && WEXITSTATUS(result) == 0;
}

// A folder of this compilation alone, which vanishes with it.
class WorkFolder {
 public:
  WorkFolder() {
    static std::atomic<unsigned> counter{0};
    path_ = fs::path(TAMIS_SIMULATOR_CACHE) /
            ("work." + std::to_string(::getpid()) + "." + std::to_string(counter++));
    fs::create_directories(path_);
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  ~WorkFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  fs::path operator/(const std::string& name) const { return path_ / name; }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

constexpr const char* kPreludeFiles[] = {"lane_interface.hpp", "device_prelude.hpp",
                                         "device_memory.hpp", "device_language.hpp"};

// Objects that an earlier build of this library made are not what it would make.
std::string own_age() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<void*>(&own_age), &info) == 0) return "";
  const auto changed = fs::last_write_time(info.dli_fname).time_since_epoch().count();
  return std::to_string(changed) + " " + std::to_string(fs::file_size(info.dli_fname));
}

std::string object_name(const Program& program, const std::vector<std::string>& macros) {
  Hash hash;
  for (const char* text : {TAMIS_SIMULATOR_CXX, TAMIS_SIMULATOR_FLAGS}) hash.add(text);
  for (const char* file : kPreludeFiles) {
    hash.add(read_text(fs::path(TAMIS_SIMULATOR_HEADERS) / "simulator" / file));
  }
  hash.add(own_age());
  hash.add(program.text);
  for (const Header& header : program.headers) {
    hash.add(header.name);
    hash.add(header.text);
  }
  for (const std::string& macro : macros) hash.add(macro);
  return hash.name() + ".so";
}

// Preprocesses, rewrites and compiles; false with the compiler's words in the log.
bool make_object(Program& program, const std::vector<std::string>& macros, const fs::path& object) {
  const WorkFolder folder;
  for (const Header& header : program.headers) {
    if (header.name.find("..") != std::string::npos || header.name.starts_with('/')) {
      throw std::runtime_error("an odd name of a header: " + header.name);
    }
    write_text(folder / "headers" / header.name, header.text);
  }
  write_text(folder / "kernel.cu", program.text);
  std::vector<std::string> preprocess{TAMIS_SIMULATOR_CXX,
                                      "-x",
                                      "c++",
                                      "-std=c++17",
                                      "-E",
                                      "-w",
                                      "-nostdinc",
                                      "-I",
                                      folder / "headers",
                                      "-I",
                                      TAMIS_SIMULATOR_HEADERS,
                                      "-include",
                                      "simulator/device_language.hpp"};
  preprocess.insert(preprocess.end(), macros.begin(), macros.end());
  preprocess.insert(preprocess.end(), {"-o", folder / "kernel.ii", folder / "kernel.cu"});
  if (!run_program(preprocess, folder / "log")) {
    program.log = read_text(folder / "log");
    return false;
  }
  write_text(folder / "rewritten.ii", rewrite_kernel_text(read_text(folder / "kernel.ii")));
  // No start files: theirs has a variable among those that are overwritten before each block.
  std::vector<std::string> compile{TAMIS_SIMULATOR_CXX,
                                   "-x",
                                   "c++-cpp-output",
                                   "-std=c++17",
                                   "-w",
                                   "-O1",
                                   "-fPIC",
                                   "-shared",
                                   "-nostartfiles",
                                   "-fvisibility=hidden",
                                   "-fno-exceptions",
                                   "-fno-rtti",
                                   "-fno-strict-aliasing",
                                   "-ffp-contract=off",
                                   "-fstack-clash-protection"};
  for (const std::string& flag : words_of(TAMIS_SIMULATOR_FLAGS)) compile.push_back(flag);
  const std::string made = folder / "kernel.so";
  compile.insert(compile.end(), {"-o", made, folder / "rewritten.ii"});
  const bool good = run_program(compile, folder / "log");
  if (!good) {
    program.log = read_text(folder / "log");
    return false;
  }
  fs::rename(made, object);  // at once: other processes may want it too
  return true;
}

int compile_program(Program& program, int option_count, const char* const* options) {
  std::vector<std::string> macros;
  for (int i = 0; i < option_count; ++i) {
    if (std::strncmp(options[i], "-D", 2) == 0) macros.emplace_back(options[i]);
  }
  const fs::path object = fs::path(TAMIS_SIMULATOR_CACHE) / object_name(program, macros);
  if (!fs::exists(object) && !make_object(program, macros, object)) return kCompilationFailed;
  program.image = kImageMagic + object.string() + "\n";
  return kOk;
}

Program* as_program(void* program) { return static_cast<Program*>(program); }

}  // namespace
}  // namespace tamis::simt

using tamis::simt::as_program;

SIMULATED_API int nvrtcVersion(int* major, int* minor) {
  *major = 13;
  *minor = 0;
  return 0;
}
SIMULATED_API const char* nvrtcGetErrorString(int status) {
  return status == tamis::simt::kCompilationFailed ? "NVRTC_ERROR_COMPILATION"
                                                   : "NVRTC_ERROR_INTERNAL_ERROR";
}
SIMULATED_API int nvrtcGetNumSupportedArchs(int* count) {
  *count = 1;
  return 0;
}
SIMULATED_API int nvrtcGetSupportedArchs(int* numbers) {
  *numbers = 90;
  return 0;
}
SIMULATED_API int nvrtcCreateProgram(void** program, const char* text, const char*,
                                     int header_count, const char* const* header_texts,
                                     const char* const* header_names) {
  auto* made = new tamis::simt::Program{text, {}, "", ""};
  for (int i = 0; i < header_count; ++i)
    made->headers.push_back({header_names[i], header_texts[i]});
  *program = made;
  return 0;
}
SIMULATED_API int nvrtcDestroyProgram(void** program) {
  delete as_program(*program);
  *program = nullptr;
  return 0;
}
SIMULATED_API int nvrtcCompileProgram(void* program, int count, const char* const* options) {
  try {
    return tamis::simt::compile_program(*as_program(program), count, options);
  } catch (const std::exception& error) {
    as_program(program)->log = error.what();
    return tamis::simt::kInternalError;
  }
}
SIMULATED_API int nvrtcGetProgramLogSize(void* program, std::size_t* size) {
  *size = as_program(program)->log.size() + 1;
  return 0;
}
SIMULATED_API int nvrtcGetProgramLog(void* program, char* text) {
  std::memcpy(text, as_program(program)->log.c_str(), as_program(program)->log.size() + 1);
  return 0;
}
SIMULATED_API int nvrtcGetCUBINSize(void* program, std::size_t* size) {
  *size = as_program(program)->image.size() + 1;
  return 0;
}
SIMULATED_API int nvrtcGetCUBIN(void* program, char* code) {
  std::memcpy(code, as_program(program)->image.c_str(), as_program(program)->image.size() + 1);
  return 0;
}
