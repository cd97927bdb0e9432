// Linked into a test program it makes the simulated GPU the one that there is. Variables that are
// set already stay, so the same program can be tried on another driver.
#include <stdlib.h>

namespace {

struct Variables {
  Variables() {
    ::setenv("TAMIS_CUDA_DRIVER", TAMIS_SIMULATED_GPU, 0);
    ::setenv("TAMIS_NVRTC", TAMIS_SIMULATED_GPU, 0);
    ::setenv("TAMIS_HIP", "/absent/libamdhip64.so", 0);
    // No folder: the simulator keeps compiled kernels itself, under a hash of all they depend on.
    ::setenv("TAMIS_CACHE_DIR", "/dev/null", 0);
  }
} g_variables;

}  // namespace
