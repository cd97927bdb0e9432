// The simulated GPU: that kernels see what CUDA promises them, and hosts what the driver does.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <numeric>

#include "gpu/event.hpp"
#include "gpu/graph.hpp"
#include "gpu/memory.hpp"
#include "simulator/simulated_fixture.hpp"
#include "support/expect_error.hpp"

namespace tamis::testing {
namespace {

using u32 = std::uint32_t;
using Words = std::vector<u32>;

const gpu::LaunchShape kOneThread{{1, 1, 1}, {1, 1, 1}};
const gpu::LaunchShape kOneWave{{1, 1, 1}, {32, 1, 1}};

TEST_F(SimulatedGpu, BitsAreThoseOfCuda) {
  const gpu::Kernel bits = kernel(R"(#include "gpu/device/basics.cuh"
TAMIS_KERNEL void bits(unsigned* out) {
  int n = 0;
  out[n++] = __popc(0xf0f0u) + __popcll(~0ull);
  out[n++] = __clz(1) * 100 + __clz(0);
  out[n++] = __clzll(1) * 100 + __clzll(0);
  out[n++] = __ffs(8) * 100 + __ffs(0);
  out[n++] = __ffsll(1ll << 40);
  out[n++] = __brev(0x00000003u);
  out[n++] = __brevll(1ull) >> 63;
  out[n++] = __funnelshift_l(0x80000000u, 0x1u, 4);
  out[n++] = __funnelshift_r(0x80000000u, 0x1u, 36);
  out[n++] = __funnelshift_lc(0x12345678u, 0x1u, 40);
  out[n++] = __funnelshift_rc(0x12345678u, 0x9u, 32);
  out[n++] = __byte_perm(0x33221100u, 0x77665544u, 0x7250);
  out[n++] = __byte_perm(0x00008001u, 0, 0x9898);
  out[n++] = __umulhi(0xffffffffu, 16);
  out[n++] = static_cast<unsigned>(__umul64hi(~0ull, 1ull << 40) >> 32);
  out[n++] = static_cast<unsigned>(__mulhi(-1, 5));
})",
                                  "bits");
  EXPECT_EQ(run(bits, kOneThread, Words(16)),
            (Words{72, 3132, 6364, 400, 41, 0xc0000000, 1, 0x18, 0x18000000, 0x12345678, 9,
                   0x77225500, 0xff00ff00 | 0, 15, 0xff, 0xffffffff}));
}

TEST_F(SimulatedGpu, NumbersAreThoseOfCuda) {
  const gpu::Kernel numbers = kernel(R"(#include "gpu/device/basics.cuh"
TAMIS_KERNEL void numbers(unsigned* out) {
  const float infinity = __uint_as_float(0x7f800000u);
  const float nan = __uint_as_float(0x7fc00000u);
  int n = 0;
  out[n++] = __double2int_rn(2.5) * 10 + __double2int_rn(3.5);
  out[n++] = __double2int_rn(1e20);
  out[n++] = __double2int_rn(static_cast<double>(nan));
  out[n++] = __float2int_rn(nan);
  out[n++] = __float2uint_rz(-3.0f);
  out[n++] = static_cast<unsigned>(__double2ll_rn(-1e30) >> 32);
  out[n++] = __float_as_uint(1.0f);
  out[n++] = static_cast<unsigned>(__double_as_longlong(-2.0) >> 32);
  out[n++] = static_cast<unsigned>(rint(-2.5) + rintf(4.5f) + floor(1.9) + ceilf(0.1f) + trunc(7.9));
  out[n++] = static_cast<unsigned>(fmaxf(nan, 3.0f) + fmin(2.0, 5.0) + max(4.0f, nan));
  out[n++] = isnan(nan) + 2 * isinf(-infinity) + 4 * isfinite(infinity) + 8 * isfinite(1.0);
  out[n++] = static_cast<unsigned>(fabs(-3.0) + fabsf(-2.0f) + sqrt(16.0) + abs(-1));
  out[n++] = min(-1, 5) == -1 && max(1u, 7u) == 7 && min(3ll, -4ll) == -4;
  out[n++] = __float_as_uint(fminf(0.0f, -0.0f)) + __float_as_uint(max(-0.0f, 0.0f));
})",
                                     "numbers");
  EXPECT_EQ(run(numbers, kOneThread, Words(14)),
            (Words{24, 0x7fffffff, 0x80000000, 0, 0, 0x80000000, 0x3f800000, 0xc0000000, 11, 9, 11,
                   10, 1, 0x80000000}));
}

TEST_F(SimulatedGpu, WavesExchange) {
  const gpu::Kernel waves = kernel(R"(#include "gpu/device/basics.cuh"
TAMIS_KERNEL void waves(unsigned* out) {
  const unsigned all = 0xffffffffu;
  const unsigned lane = threadIdx.x;
  out[lane] = __shfl_up_sync(all, lane, 3, 8);
  out[32 + lane] = __shfl_down_sync(all, lane, 3, 8);
  out[64 + lane] = __shfl_xor_sync(all, lane, 9);
  out[96 + lane] = __shfl_sync(all, lane, lane + 1, 4);
  unsigned long long* wide = reinterpret_cast<unsigned long long*>(out + 128);
  wide[lane] = __shfl_sync(all, 0x100000000ull + lane, 7);
  out[192 + lane] = __match_any_sync(all, lane % 3) ^ __ballot_sync(all, lane % 3 == 1);
  out[224 + lane] = __reduce_add_sync(all, lane) + __reduce_max_sync(all, lane) +
                    __reduce_min_sync(all, lane + 7) + __reduce_or_sync(all, lane << 8);
})",
                                   "waves");
  const Words out = run(waves, kOneWave, Words(256));
  for (u32 lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(out[lane], lane % 8 >= 3 ? lane - 3 : lane);
    EXPECT_EQ(out[32 + lane], lane % 8 + 3 < 8 ? lane + 3 : lane);
    EXPECT_EQ(out[64 + lane], lane ^ 9);
    EXPECT_EQ(out[96 + lane], lane / 4 * 4 + (lane + 1) % 4);
    EXPECT_EQ(out[128 + 2 * lane], 7u);
    EXPECT_EQ(out[129 + 2 * lane], 1u);
    EXPECT_EQ(out[192 + lane] == 0, lane % 3 == 1);
    EXPECT_EQ(out[224 + lane], 496u + 31 + 7 + (31 << 8));
  }
}

TEST_F(SimulatedGpu, AtomicsAndVotesOfTheBlock) {
  const gpu::Kernel atomics = kernel(R"(#include "gpu/device/basics.cuh"
TAMIS_KERNEL void atomics(unsigned* out) {
  __shared__ unsigned counts[4];
  __shared__ alignas(16) unsigned long long wide;
  if (threadIdx.x < 4) counts[threadIdx.x] = 0;
  if (threadIdx.x == 0) wide = 0;
  __syncthreads();
  atomicAdd(&counts[threadIdx.x % 4], threadIdx.x);
  atomicOr(&wide, 1ull << (threadIdx.x % 40));
  atomicMax(out, threadIdx.x);
  atomicMin(out + 1, threadIdx.x);
  if (atomicCAS(out + 2, 0u, 1u) == 0) atomicAdd(out + 3, 5u);
  const int odd = __syncthreads_count(threadIdx.x & 1);
  if (threadIdx.x == 0) {
    for (int k = 0; k < 4; ++k) out[4 + k] = counts[k];
    out[8] = static_cast<unsigned>(wide >> 32);
    out[9] = static_cast<unsigned>(odd);
  }
  out[10] = __syncthreads_or(threadIdx.x == 99) + 2 * __syncthreads_and(threadIdx.x < 99);
})",
                                     "atomics");
  Words in(11);
  in[1] = 1000;
  EXPECT_EQ(run(atomics, {{1, 1, 1}, {128, 1, 1}}, in),
            (Words{127, 0, 1, 5, 1984, 2016, 2048, 2080, 0xff, 64, 1}));
}

// What is used before it is written has one value, and not that of the block before.
TEST_F(SimulatedGpu, MemoryIsPoisoned) {
  const gpu::Kernel fresh = kernel(R"(#include "gpu/device/basics.cuh"
extern __shared__ unsigned char everywhere[];
TAMIS_KERNEL void fresh(unsigned* out) {
  __shared__ unsigned words[100];
  extern __shared__ __align__(16) unsigned dynamic_words[];
  out[2 * blockIdx.x] = words[99];
  out[2 * blockIdx.x + 1] = dynamic_words[9];
  words[99] = 1;
  dynamic_words[9] = 1;
  if (everywhere[36] == 1) ++out[4];
})",
                                   "fresh");
  const u32 poison = 0xcdcdcdcd;
  EXPECT_EQ(run(fresh, {{2, 1, 1}, {1, 1, 1}, 40}, Words(5)),
            (Words{poison, poison, poison, poison, 2}));
  const Buffer buffer(8, stream_);
  Words words(2);
  copy_bytes(words.data(), buffer.data(), 8, stream_);
  EXPECT_EQ(words, (Words{0xa5a5a5a5, 0xa5a5a5a5}));
}

TEST_F(SimulatedGpu, GridsOfThreeAxesAndArgumentsOfAnySize) {
  const gpu::Kernel shaped = kernel(R"(#include "gpu/device/basics.cuh"
struct Many { long long at[20]; unsigned last; };
#if TAMIS_WITH == 3
TAMIS_KERNEL void absent(unsigned* out) { out[0] = 1; }
#endif
TAMIS_KERNEL void shaped(unsigned* out, Many many, unsigned char add);
TAMIS_KERNEL void __launch_bounds__(4 * 6, 2)
shaped(unsigned* __restrict__ out, const Many many, unsigned char add) {
  const uint4 place = make_uint4(blockIdx.x, blockIdx.y, threadIdx.y, threadIdx.z);
  const auto index = [&](unsigned x) {
    return ((place.x * gridDim.y + place.y) * blockDim.y + place.z) * blockDim.z + x;
  };
  out[index(place.w)] = many.last + add + index(place.w);
})",
                                    "shaped", {{"TAMIS_WITH", 2}});
  struct Many {
    long long at[20];
    u32 last;
  };
  const Buffer buffer(96 * 4, stream_);
  Words words(96);
  const gpu::LaunchShape shape{{2, 2, 1}, {1, 4, 6}};
  shaped.launch(stream_, shape, buffer.as<u32>(), Many{{}, 1000}, std::uint8_t{200});
  copy_bytes(words.data(), buffer.data(), 96 * 4, stream_);
  Words expected(96);
  std::iota(expected.begin(), expected.end(), 1200u);
  EXPECT_EQ(words, expected);
  EXPECT_EQ(shaped.max_threads_per_block(), 24);
  EXPECT_TAMIS_ERROR(ErrorCode::kInvalidArgument, "2 arguments for shaped of test.cu",
                     shaped.launch(stream_, shape, buffer.as<u32>(), 1));
  EXPECT_TAMIS_ERROR(ErrorCode::kInvalidArgument, "argument 2 of shaped",
                     shaped.launch(stream_, shape, buffer.as<u32>(), Many{}, 1));
  EXPECT_TAMIS_ERROR(
      ErrorCode::kDevice, "more threads than __launch_bounds__ allows, 24",
      shaped.launch(stream_, {{1, 1, 1}, {25, 1, 1}}, buffer.as<u32>(), Many{}, std::uint8_t{0}));
}

constexpr const char* kAddOne = R"(#include "gpu/device/basics.cuh"
TAMIS_KERNEL void add_one(unsigned* out) { ++out[threadIdx.x]; })";

// Nothing runs before somebody waits for it.
TEST_F(SimulatedGpu, WorkIsLate) {
  const gpu::Kernel add = kernel(kAddOne, "add_one");
  const gpu::PinnedBuffer pinned(4, device_);
  u32& word = *pinned.as<u32>();
  const Buffer buffer(4, stream_);
  u32 pageable = 10;
  copy_bytes(buffer.data(), &pageable, 4, stream_);
  pageable = 20;  // has been staged
  add.launch(stream_, kOneThread, buffer.as<u32>());
  copy_bytes(&word, buffer.data(), 4, stream_);
  EXPECT_EQ(word, 0xa5a5a5a5);
  stream_.synchronize();
  EXPECT_EQ(word, 11u);
  copy_bytes(buffer.data(), &word, 4, stream_);
  word = 30;  // too early
  copy_bytes(&pageable, buffer.data(), 4, stream_);
  EXPECT_EQ(pageable, 30u);
  EXPECT_TAMIS_ERROR(ErrorCode::kDevice, "a copy of 5 bytes at offset 0 leaves an allocation of 4",
                     copy_bytes(&pageable, buffer.data(), 5, stream_));
}

TEST_F(SimulatedGpu, GraphsReplayAcrossStreams) {
  const gpu::Kernel add = kernel(kAddOne, "add_one");
  const Stream other(device_);
  gpu::Event fork(device_);
  gpu::Event join(device_);
  const Buffer a(4, stream_);
  const Buffer b(4, stream_);
  fill_bytes(b.data(), 0, 4, stream_);
  const gpu::Graph graph = gpu::Graph::capture(stream_, [&] {
    fill_bytes(a.data(), 0, 4, stream_);
    fork.record(stream_);
    fork.make_wait(other);
    add.launch(other, kOneThread, b.as<u32>());
    join.record(other);
    join.make_wait(stream_);
    add.launch(stream_, kOneThread, a.as<u32>());
  });
  for (int i = 0; i < 3; ++i) graph.launch(stream_);
  Words words(2);
  copy_bytes(&words[0], a.data(), 4, stream_);
  copy_bytes(&words[1], b.data(), 4, stream_);
  EXPECT_EQ(words, (Words{1, 3}));
  // The other stream is free again.
  add.launch(other, kOneThread, b.as<u32>());
  copy_bytes(&words[1], b.data(), 4, stream_);
  EXPECT_EQ(words[1], 4u);
}

TEST_F(SimulatedGpu, CompilersWordsReachTheUser) {
  EXPECT_TAMIS_ERROR(ErrorCode::kDevice, "test.cu:3",
                     kernel("#include \"gpu/device/basics.cuh\"\n"
                            "TAMIS_KERNEL void broken(unsigned* out) {\n"
                            "  out[0] = absent_function();\n}\n",
                            "broken"));
  EXPECT_TAMIS_ERROR(ErrorCode::kDevice, "cstdint", kernel("#include <cstdint>\n", "nothing"));
  EXPECT_TAMIS_ERROR(ErrorCode::kDevice, "there is no kernel add_two", kernel(kAddOne, "add_two"));
}

// Without its barrier the kernel is right in one order of the lanes and wrong in another.
TEST_F(SimulatedGpu, OtherOrdersFindMissingBarriers) {
  const std::string text = R"(#include "gpu/device/basics.cuh"
TAMIS_KERNEL void neighbour(unsigned* out) {
  __shared__ unsigned slots[32];
  slots[threadIdx.x] = threadIdx.x;
#if TAMIS_SYNC
  __syncwarp();
#endif
  out[threadIdx.x] = threadIdx.x == 0 ? 0 : slots[threadIdx.x - 1] + 1;
})";
  const gpu::Kernel right = kernel(text, "neighbour", {{"TAMIS_SYNC", 1}});
  const gpu::Kernel wrong = kernel(text, "neighbour", {{"TAMIS_SYNC", 0}});
  Words expected(32);
  std::iota(expected.begin(), expected.end(), 0u);
  EXPECT_EQ(run(right, kOneWave, Words(32)), expected);
  EXPECT_EQ(run(wrong, kOneWave, Words(32)), expected) << "lanes take turns from 0 on";
  int found = 0;
  for (const char* seed : {"1", "2", "3", "4"}) {
    ::setenv("TAMIS_SIMULATOR_SEED", seed, 1);
    EXPECT_EQ(run(right, kOneWave, Words(32)), expected);
    found += run(wrong, kOneWave, Words(32)) != expected ? 1 : 0;
  }
  ::unsetenv("TAMIS_SIMULATOR_SEED");
  EXPECT_EQ(found, 4);
}

}  // namespace
}  // namespace tamis::testing
