// Where drivers and run-time compilers may lie. An environment variable overrides each search, and
// then nothing else is tried: who sets it wants that library or a clear error.
#pragma once

#include <string>
#include <vector>

namespace tamis::gpu {

inline constexpr const char* kCudaDriverVariable = "TAMIS_CUDA_DRIVER";
inline constexpr const char* kNvrtcVariable = "TAMIS_NVRTC";
inline constexpr const char* kHipVariable = "TAMIS_HIP";
inline constexpr const char* kHiprtcVariable = "TAMIS_HIPRTC";

std::vector<std::string> cuda_driver_candidates();

/// Names for the system's search, then CUDA_HOME, CUDA_PATH, CONDA_PREFIX, the wheels of
/// VIRTUAL_ENV, and the usual folders. `driver_major`: of the driver's CUDA version, whose compiler
/// is preferred because a newer one makes code that this driver may refuse; 0 when unknown.
std::vector<std::string> nvrtc_candidates(int driver_major);

std::vector<std::string> hip_candidates();
/// Newer ROCm has a library of its own for hipRTC; older has it in the HIP library.
std::vector<std::string> hiprtc_candidates();
/// The compiler library behind hipRTC, which lies beside it.
std::vector<std::string> comgr_candidates(const std::string& hiprtc_path);

}  // namespace tamis::gpu
