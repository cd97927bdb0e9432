// Shared libraries that are looked for at run time, never linked: drivers and compilers that most
// machines lack. A library stays loaded until the process ends; drivers do not survive dlclose().
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tamis::gpu {

class DynamicLibrary {
 public:
  /// Opens the first of `candidates` (names for the system's search, or paths) that can be opened.
  /// Without success the result is empty and `problem` says what was tried.
  static std::optional<DynamicLibrary> open(const std::vector<std::string>& candidates,
                                            std::string& problem);

  /// Address of a function, null when the library and those it needs lack it.
  void* find(const char* name) const noexcept;

  /// Sets `function` to the function of that name, or to null. Returns whether it exists.
  template <typename Function>
  bool get(const char* name, Function*& function) const noexcept {
    // POSIX guarantees that this conversion is meaningful for what dlsym() returns.
    function = reinterpret_cast<Function*>(find(name));
    return function != nullptr;
  }

  /// Where it was found, links resolved where possible.
  const std::string& path() const noexcept { return path_; }

 private:
  DynamicLibrary(void* handle, std::string path) : handle_(handle), path_(std::move(path)) {}

  void* handle_;
  std::string path_;
};

}  // namespace tamis::gpu
