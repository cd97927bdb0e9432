// What the simulated GPU makes of kernels that would hang, or do harm in silence, on a real one: an
// error that names kernel, block and thread.
#include <gtest/gtest.h>
#include <stdlib.h>

#include "simulator/address_checks.hpp"
#include "simulator/simulated_fixture.hpp"
#include "support/expect_error.hpp"

namespace tamis::testing {
namespace {

const gpu::LaunchShape kTwoWaves{{2, 1, 1}, {64, 1, 1}};

class SimulatedFaults : public SimulatedGpu {
 protected:
  // The message of running a kernel with that body in two blocks of 64 threads.
  std::string problem_of_body(const std::string& body) {
    const std::string text =
        "#include \"gpu/device/warp.cuh\"\nusing namespace tamis::device;\n"
        "TAMIS_KERNEL void faulty(u32* out) {\n" +
        body + "\n}\n";
    return problem_of(kernel(text, "faulty"), kTwoWaves);
  }
};

void expect_text(const std::string& message, const std::string& part) {
  EXPECT_NE(message.find(part), std::string::npos) << message << "\nexpected: " << part;
}

TEST_F(SimulatedFaults, LanesThatPartAreAnError) {
  expect_text(problem_of_body("if (threadIdx.x == 5) return;\n  __syncthreads();"),
              "LAUNCH_FAILED: faulty, block (0, 0, 0): thread (5, 0, 0): has left the kernel while "
              "others wait at __syncthreads");
}
TEST_F(SimulatedFaults, BarriersOfTwoPlacesDoNotMeet) {
  expect_text(problem_of_body("if (threadIdx.x < 32) {\n__syncthreads();\n} else {\n"
                              "__syncthreads();\n}"),
              "thread (32, 0, 0): is at __syncthreads (line 7), others at __syncthreads (line 5)");
}
TEST_F(SimulatedFaults, LanesThatWaitForEachOtherAreCounted) {
  expect_text(
      problem_of_body("if (threadIdx.x % 32 < 4) {\n__syncthreads();\n} else {\n"
                      "out[0] = shuffle(1u, 0);\n}"),
      "no lane can go on: 8 from lane 0 on wait at __syncthreads (line 5), 56 from lane 4 on "
      "wait at __shfl_sync");
}
TEST_F(SimulatedFaults, OperationsOfWavesDoNotMix) {
  expect_text(problem_of_body("if (threadIdx.x == 33) sync_wave(); else wave_any(true);"),
              "thread (33, 0, 0): is at __syncwarp, others of its wave at __ballot_sync");
}
TEST_F(SimulatedFaults, WavesAreWhole) {
  expect_text(problem_of_body("if (threadIdx.x < 3) return;\n  wave_any(true);"),
              "thread (3, 0, 0): is at __ballot_sync, where other lanes of its wave have left");
}
TEST_F(SimulatedFaults, MasksNameAllLanes) {
  expect_text(problem_of_body("out[0] = __ballot_sync(0xffffu, 1);"), "a mask of lanes other than");
}

// One that waits by asking again, and one that just spins.
TEST_F(SimulatedFaults, LoopsThatNeverEndAreStopped) {
  ::setenv("TAMIS_SIMULATOR_SECONDS", "1", 1);
  expect_text(
      problem_of_body("if (blockIdx.x == 1) while (wave_all(tamis::simt::load(out) == 0)) {}"),
      "LAUNCH_TIMEOUT: faulty, block (1, 0, 0)");
}
TEST_F(SimulatedFaults, LoopsWithoutAnyCallAreStopped) {
  ::setenv("TAMIS_SIMULATOR_SECONDS", "1", 1);
  expect_text(problem_of_body("volatile u32* word = out;\n  while (*word == 0) {}"),
              "the block takes too long");
}

TEST_F(SimulatedFaults, FaultsOfTheProcessorAreErrors) {
  expect_text(
      problem_of_body("if (threadIdx.x == 9) *reinterpret_cast<volatile u32*>(8) = 1;"),
      "ILLEGAL_ADDRESS: faulty, block (0, 0, 0): thread (9, 0, 0): access to an address that "
      "is not there: 0x8");
}
TEST_F(SimulatedFaults, DivisionsByZeroAreErrors) {
  expect_text(problem_of_body("out[0] = 7 / out[1];"), "division of integers by zero");
}
TEST_F(SimulatedFaults, StacksEnd) {
  expect_text(problem_of_body("volatile u8 large[1000000];\n  large[out[0]] = 1;\n"
                              "  out[0] = large[out[1]];"),
              "access to an address that is not there");
}
TEST_F(SimulatedFaults, AssertionsAreErrors) {
  expect_text(problem_of_body("assert(threadIdx.x != 63);"),
              "thread (63, 0, 0): assert(threadIdx.x != 63) in line 4");
}

TEST_F(SimulatedFaults, TheContextIsLost) {
  expect_text(problem_of_body("assert(false);"), "ASSERT");
  EXPECT_TAMIS_ERROR(ErrorCode::kDevice, "faulty", device_.synchronize());
  EXPECT_TAMIS_ERROR(ErrorCode::kDevice, "faulty", Buffer(100, stream_));
}

// Sanitizers end the program; otherwise misaligned access is a fault like others.
TEST_F(SimulatedFaults, AlignmentIsChecked) {
  const std::string body = "reinterpret_cast<uint4*>(out + 1)->x = 1;";
#ifdef TAMIS_SIM_ASAN
  EXPECT_DEATH((void)problem_of_body(body), "misaligned");
#else
  expect_text(problem_of_body(body), "misaligned");
#endif
}

#ifdef TAMIS_SIM_ASAN
TEST_F(SimulatedFaults, BoundsOfGlobalMemoryAreChecked) {
  EXPECT_DEATH((void)problem_of_body("out[64] = 1;"), "heap-buffer-overflow");
}
TEST_F(SimulatedFaults, BoundsOfSharedMemoryAreChecked) {
  EXPECT_DEATH((void)problem_of_body("__shared__ u32 slots[8];\n"
                                     "  u32* at = slots + out[0];\n  at[8] = 1;\n"
                                     "  out[0] = slots[out[1]];"),
               "global-buffer-overflow|insufficient space");
  EXPECT_DEATH((void)problem_of_body("extern __shared__ u32 slots[];\n  slots[0] = 1;"),
               "use-after-poison");
}
#endif

}  // namespace
}  // namespace tamis::testing
