// Where machine code comes from, in which order, and what the look-up costs. The fake compiler
// counts its calls.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "core/stopwatch.hpp"
#include "gpu/compile_options.hpp"
#include "gpu/image_cache.hpp"
#include "support/expect_error.hpp"
#include "support/gpu_fixture.hpp"

namespace tamis::gpu {
namespace {

using testing::TempFolder;

const KernelSource& some_source() {
  static const KernelSource source({"k.cu", "void k();"});
  return source;
}

ImageCache::Sources sources_in(const std::string& folder) {
  return {DiskCache(folder), {}, load_compiler};
}

CompilerFinding no_compiler(DeviceKind) { return {nullptr, "", "", "no NVRTC (tried nothing)"}; }

TEST(ImageCache, CompilesThenRemembersThenReadsTheDisk) {
  FakeDriverCounts& counts = testing::use_fake_driver();
  const TempFolder temp;
  const int before = counts.compilations;
  ImageCache cache(sources_in(temp.path()));
  const KernelConfig config{{"A", 1}};
  const ImageAnswer first = cache.get(some_source(), config, "sm_90a");
  EXPECT_EQ(first.origin, KernelOrigin::kCompiled);
  EXPECT_EQ(first.image->remark, "");
  const ImageAnswer second = cache.get(some_source(), config, "sm_90a");
  EXPECT_EQ(second.origin, KernelOrigin::kMemory);
  EXPECT_EQ(second.image, first.image);
  ImageCache later(sources_in(temp.path()));
  const ImageAnswer third = later.get(some_source(), config, "sm_90a");
  EXPECT_EQ(third.origin, KernelOrigin::kDisk);
  EXPECT_EQ(third.image->code, first.image->code);
  EXPECT_EQ(later.get(some_source(), {{"A", 2}}, "sm_90a").origin, KernelOrigin::kCompiled);
  EXPECT_EQ(later.get(some_source(), config, "sm_80").origin, KernelOrigin::kCompiled);
  EXPECT_EQ(counts.compilations - before, 3);
  const KernelStatistics statistics = later.statistics();
  EXPECT_EQ(statistics.compiled, 2);
  EXPECT_EQ(statistics.from_disk, 1);
  EXPECT_EQ(statistics.from_memory, 0);
  EXPECT_EQ(cache.statistics().from_memory, 1);
}

TEST(ImageCache, DamagedFileIsReportedAndReplaced) {
  testing::use_fake_driver();
  const TempFolder temp;
  const KernelConfig config;
  ImageCache first(sources_in(temp.path()));
  const auto image = first.get(some_source(), config, "sm_80").image;
  const Hash128 key =
      image_key(content_key(some_source(), compile_options("sm_80", config)), image->compiler);
  std::ofstream(first.disk().file_of(key)) << "nonsense";
  ImageCache second(sources_in(temp.path()));
  const ImageAnswer answer = second.get(some_source(), config, "sm_80");
  EXPECT_EQ(answer.origin, KernelOrigin::kCompiled);
  EXPECT_NE(answer.image->remark.find("damaged, ignored and replaced"), std::string::npos);
  EXPECT_EQ(second.statistics().damaged_files, 1);
  ImageCache third(sources_in(temp.path()));
  EXPECT_EQ(third.get(some_source(), config, "sm_80").origin, KernelOrigin::kDisk);
}

TEST(ImageCache, WorksWithoutAFolder) {
  testing::use_fake_driver();
  ImageCache cache(sources_in(""));
  const ImageAnswer answer = cache.get(some_source(), {}, "sm_80");
  EXPECT_EQ(answer.origin, KernelOrigin::kCompiled);
  EXPECT_NE(answer.image->remark.find("not kept on disk"), std::string::npos);
}

TEST(ImageCache, PrebuiltComesFirstAndServesWithoutACompiler) {
  testing::use_fake_driver();
  const TempFolder temp;
  const std::byte code[] = {std::byte{1}, std::byte{2}};
  const KernelConfig config{{"A", 1}};
  const PrebuiltKernel table[] = {
      {content_key(some_source(), compile_options("sm_80", config)), "sm_80", "k", code}};
  ImageCache cache({DiskCache(temp.path()), table, load_compiler});
  const ImageAnswer exact = cache.get(some_source(), config, "sm_80");
  EXPECT_EQ(exact.origin, KernelOrigin::kPrebuilt);
  EXPECT_EQ(exact.image->code.size(), 2u);
  // Code made for the device is better than that for an older one ...
  EXPECT_EQ(cache.get(some_source(), config, "sm_86").origin, KernelOrigin::kCompiled);
  // ... which is better than none.
  ImageCache bare({DiskCache(""), table, no_compiler});
  const ImageAnswer older = bare.get(some_source(), config, "sm_86");
  EXPECT_EQ(older.origin, KernelOrigin::kPrebuilt);
  EXPECT_EQ(older.image->architecture, "sm_80");
  EXPECT_TAMIS_ERROR(ErrorCode::kUnavailable, "cannot be compiled: no NVRTC (tried nothing)",
                     bare.get(some_source(), {{"A", 2}}, "sm_86"));
  EXPECT_TAMIS_ERROR(ErrorCode::kUnavailable, "for sm_90a: it is not among the prebuilt kernels",
                     bare.get(some_source(), config, "sm_90a"));
  EXPECT_EQ(bare.statistics().from_prebuilt, 1);
}

TEST(ImageCache, FailureIsNotRemembered) {
  testing::use_fake_driver();
  const KernelSource bad({"bad.cu", "syntax error"});
  ImageCache cache(sources_in(""));
  for (int i = 0; i < 2; ++i) {
    EXPECT_TAMIS_ERROR(ErrorCode::kDevice, "here is a syntax error", cache.get(bad, {}, "sm_80"));
  }
  EXPECT_TAMIS_ERROR(ErrorCode::kInvalidArgument, "no architecture",
                     cache.get(some_source(), {}, "sm80"));
}

TEST(ImageCache, ManyThreadsCompileOnce) {
  FakeDriverCounts& counts = testing::use_fake_driver();
  const int before = counts.compilations;
  ImageCache cache(sources_in(""));
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) (void)cache.get(some_source(), {{"A", i}}, "sm_80");
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counts.compilations - before, 20);
}

// Each process compiles or reads; all end with the same code and no damaged file.
TEST(ImageCache, ProcessesAtOnce) {
  testing::use_fake_driver();
  const TempFolder temp;
  std::vector<pid_t> children;
  for (int p = 0; p < 4; ++p) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ImageCache cache(sources_in(temp.path()));
      for (int i = 0; i < 25; ++i) (void)cache.get(some_source(), {{"A", i}}, "sm_80");
      ::_exit(cache.statistics().damaged_files == 0 ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  ImageCache cache(sources_in(temp.path()));
  for (int i = 0; i < 25; ++i) {
    EXPECT_EQ(cache.get(some_source(), {{"A", i}}, "sm_80").origin, KernelOrigin::kDisk);
  }
  EXPECT_EQ(cache.disk().usage().files, 25);
}

TEST(ImageCache, CompileAnewReplaces) {
  testing::use_fake_driver();
  const std::byte code[] = {std::byte{1}};
  const PrebuiltKernel table[] = {
      {content_key(some_source(), compile_options("sm_80", {})), "sm_80", "k", code}};
  ImageCache cache({DiskCache(""), table, load_compiler});
  EXPECT_EQ(cache.get(some_source(), {}, "sm_80").image->code.size(), 1u);
  EXPECT_EQ(cache.compile_anew(some_source(), {}, "sm_80").origin, KernelOrigin::kCompiled);
  EXPECT_GT(cache.get(some_source(), {}, "sm_80").image->code.size(), 1u);
}

// The hot path: building a configuration as a call site does, and finding the code.
TEST(ImageCache, LookUpTakesFarLessThanFiveMicroseconds) {
  testing::use_fake_driver();
  ImageCache cache(sources_in(""));
  for (int i = 0; i < 1000; ++i) (void)cache.get(some_source(), {{"TAMIS_TILE", i}}, "sm_80");
  constexpr int kCalls = 2000;
  double best_us = 1e9;
  for (int repeat = 0; repeat < 20; ++repeat) {
    const Stopwatch stopwatch;
    for (int i = 0; i < kCalls; ++i) {
      (void)cache.get(some_source(), {{"TAMIS_TILE", i % 1000}}, "sm_80");
    }
    best_us = std::min(best_us, stopwatch.seconds() * 1e6 / kCalls);
  }
  RecordProperty("look_up_ns", static_cast<int>(best_us * 1e3));
  std::printf("look-up among 1000 kernels: %.3f us\n", best_us);
  EXPECT_LT(best_us, 5.0);
}

}  // namespace
}  // namespace tamis::gpu
