// For tests of the gpu layer: folders that vanish, variables of the environment that are put back,
// and the fake driver in place of a real one.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "gpu/library_search.hpp"
#include "support/fake_cuda_driver.hpp"

// The build says where the fake driver is.
#ifndef TAMIS_FAKE_DRIVER
#define TAMIS_FAKE_DRIVER ""
#endif

namespace tamis::testing {

class TempFolder {
 public:
  TempFolder() {
    std::string name = std::filesystem::temp_directory_path() / "tamis-test-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder for the test");
    path_ = name;
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

class ScopedVariable {
 public:
  ScopedVariable(const char* name, const std::string& value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    ::setenv(name, value.c_str(), 1);
  }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;
  ~ScopedVariable() {
    if (before_) {
      ::setenv(name_, before_->c_str(), 1);
    } else {
      ::unsetenv(name_);
    }
  }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

/// Makes the fake library both driver and compiler of this process, and keeps kernels of this
/// process apart. For the first line of a test that uses devices.
inline FakeDriverCounts& use_fake_driver() {
  static TempFolder cache;
  ::setenv(gpu::kCudaDriverVariable, TAMIS_FAKE_DRIVER, 1);
  ::setenv(gpu::kNvrtcVariable, TAMIS_FAKE_DRIVER, 1);
  ::setenv(gpu::kHipVariable, "/absent/libamdhip64.so", 1);
  ::setenv("TAMIS_CACHE_DIR", cache.path().c_str(), 1);
  void* library = ::dlopen(TAMIS_FAKE_DRIVER, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw std::runtime_error(::dlerror());
  using Counts = FakeDriverCounts* (*)();
  return *reinterpret_cast<Counts>(::dlsym(library, "fake_driver_counts"))();
}

}  // namespace tamis::testing
