// The lists of candidates, most particular first.
#include "gpu/library_search.hpp"

#include <glob.h>

#include <algorithm>
#include <cstdlib>

namespace tamis::gpu {
namespace {

using Names = std::vector<std::string>;

std::string variable(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? "" : text;
}

// Existing files, those of the highest version first.
Names files_like(const std::string& pattern) {
  Names found;
  glob_t matches{};
  if (::glob(pattern.c_str(), 0, nullptr, &matches) == 0) {
    found.assign(matches.gl_pathv, matches.gl_pathv + matches.gl_pathc);
  }
  ::globfree(&matches);
  std::reverse(found.begin(), found.end());
  return found;
}

void append(Names& names, const Names& more) {
  names.insert(names.end(), more.begin(), more.end());
}

// Newest major first, but that of the driver before all others.
std::vector<int> nvrtc_majors(int driver_major) {
  std::vector<int> majors{13, 12};
  std::stable_partition(majors.begin(), majors.end(), [&](int m) { return m == driver_major; });
  return majors;
}

Names rocm_candidates(const std::string& library) {
  Names names;
  for (const char* major : {"7", "6", "5"}) names.push_back(library + ".so." + major);
  const std::string home = variable("ROCM_PATH");
  if (!home.empty()) names.push_back(home + "/lib/" + library + ".so");
  append(names, files_like("/opt/rocm*/lib/" + library + ".so"));
  return names;
}

}  // namespace

Names cuda_driver_candidates() {
  const std::string chosen = variable(kCudaDriverVariable);
  if (!chosen.empty()) return {chosen};
  // The second is where Windows keeps it for its Linux subsystem, outside of the usual search.
  return {"libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1"};
}

Names nvrtc_candidates(int driver_major) {
  const std::string chosen = variable(kNvrtcVariable);
  if (!chosen.empty()) return {chosen};
  Names names;
  for (const int major : nvrtc_majors(driver_major)) {
    const std::string file = "libnvrtc.so." + std::to_string(major);
    names.push_back(file);
    for (const char* home : {"CUDA_HOME", "CUDA_PATH"}) {
      const std::string folder = variable(home);
      if (folder.empty()) continue;
      append(names, {folder + "/lib64/" + file, folder + "/lib/" + file});
    }
    const std::string conda = variable("CONDA_PREFIX");
    if (!conda.empty()) names.push_back(conda + "/lib/" + file);
    const std::string venv = variable("VIRTUAL_ENV");
    if (!venv.empty()) {
      append(names, files_like(venv + "/lib/python3*/site-packages/nvidia/*/lib/" + file));
    }
    append(names, files_like("/usr/local/cuda*/lib64/" + file));
  }
  return names;
}

Names hip_candidates() {
  const std::string chosen = variable(kHipVariable);
  if (!chosen.empty()) return {chosen};
  return rocm_candidates("libamdhip64");
}

Names hiprtc_candidates() {
  const std::string chosen = variable(kHiprtcVariable);
  if (!chosen.empty()) return {chosen};
  Names names = rocm_candidates("libhiprtc");
  append(names, hip_candidates());
  return names;
}

Names comgr_candidates(const std::string& hiprtc_path) {
  const std::string folder = hiprtc_path.substr(0, hiprtc_path.rfind('/') + 1);
  Names names;
  for (const std::string& place : {folder, std::string()}) {
    for (const char* major : {"3", "2"}) names.push_back(place + "libamd_comgr.so." + major);
  }
  return names;
}

}  // namespace tamis::gpu
