// dlopen() with a record of what was tried, so that "not found" can say where.
#include "gpu/dynamic_library.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstdlib>
#include <memory>

namespace tamis::gpu {
namespace {

std::string path_of(void* handle, const std::string& asked) {
  link_map* map = nullptr;
  if (::dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr) return asked;
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(map->l_name, nullptr),
                                                         &std::free);
  return real ? real.get() : map->l_name;
}

}  // namespace

std::optional<DynamicLibrary> DynamicLibrary::open(const std::vector<std::string>& candidates,
                                                   std::string& problem) {
  problem = "tried";
  for (const std::string& name : candidates) {
    if (void* handle = ::dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL)) {
      problem.clear();
      return DynamicLibrary(handle, path_of(handle, name));
    }
    const char* reason = ::dlerror();
    problem += (problem == "tried" ? " " : ", ") + name;
    // Absence is the ordinary case and goes without saying; a library that is broken does not.
    const std::string text = reason == nullptr ? "" : reason;
    const bool absent =
        text.find(name + ": cannot open shared object file: No such file") != std::string::npos;
    if (!absent) problem += " (" + text + ")";
  }
  return std::nullopt;
}

void* DynamicLibrary::find(const char* name) const noexcept { return ::dlsym(handle_, name); }

}  // namespace tamis::gpu
