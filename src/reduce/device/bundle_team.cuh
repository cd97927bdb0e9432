// Several teams of threads in a block, each with a bundle of its own, that share what belongs to
// the chunk. A team has a barrier of its own, for teams are in different places of their cells.
#pragma once

#include "gpu/device/warp.cuh"

namespace tamis::device {

/// In shared memory, zero at first: what barriers count where the device has no numbered ones.
template <int kTeams>
struct TeamCounters {
  u32 arrived[kTeams];
};

template <int kTeams>
class BundleTeam {
 public:
  static constexpr int kThreads = TAMIS_THREADS / kTeams;
  static_assert(kTeams < 16 && kThreads % kWave == 0, "barriers of teams: whole waves, 15 at most");

  TAMIS_DEVICE explicit BundleTeam(TeamCounters<kTeams>& counters) : counters_(&counters) {}

  static TAMIS_DEVICE int index() { return static_cast<int>(threadIdx.x) / kThreads; }
  static TAMIS_DEVICE int rank() { return static_cast<int>(threadIdx.x) % kThreads; }
  static constexpr TAMIS_DEVICE int size() { return kThreads; }
  static TAMIS_DEVICE int wave() { return rank() / kWave; }

  TAMIS_DEVICE void sync() const {
    sync_wave();  // all lanes are to arrive together
#if defined(TAMIS_GPU_CUDA) && !defined(TAMIS_GPU_SIM)
    asm volatile("bar.sync %0, %1;" ::"r"(index() + 1), "n"(kThreads) : "memory");
#else
    if (kTeams == 1) {
      __syncthreads();
      return;
    }
    __threadfence_block();
    u32* arrived = &counters_->arrived[index()];
    const u32 before = atomicAdd(arrived, 1u);
    const u32 goal = before / kThreads * kThreads + kThreads;
    while (count_of(arrived) - goal >= 1u << 31) {
    }
    __threadfence_block();
    sync_wave();
#endif
  }

 private:
  static TAMIS_DEVICE u32 count_of(const u32* arrived) {
#if defined(TAMIS_GPU_SIM)
    return simt::load(arrived);
#else
    return *static_cast<const volatile u32*>(arrived);
#endif
  }

  TeamCounters<kTeams>* counters_;
};

}  // namespace tamis::device
