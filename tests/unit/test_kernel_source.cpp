// Kernel texts, configurations, compiler options and keys: everything that can be said of a kernel
// before there is a compiler.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "gpu/architecture.hpp"
#include "gpu/compile_options.hpp"
#include "gpu/kernel_config.hpp"
#include "gpu/kernel_source.hpp"
#include "gpu/self_test_kernels.hpp"
#include "support/expect_error.hpp"

namespace tamis::gpu {
namespace {

constexpr auto kInvalid = ErrorCode::kInvalidArgument;

TEST(Architecture, Names) {
  EXPECT_EQ(architecture_kind("sm_80"), DeviceKind::kCuda);
  EXPECT_EQ(architecture_kind("sm_90a"), DeviceKind::kCuda);
  EXPECT_EQ(architecture_kind("sm_103"), DeviceKind::kCuda);
  EXPECT_EQ(architecture_kind("gfx90a"), DeviceKind::kHip);
  EXPECT_EQ(architecture_kind("gfx1100"), DeviceKind::kHip);
  for (const char* bad : {"", "sm_", "sm_9", "sm_9x", "sm_90ab", "gfx", "gfx9", "gfx90a:xnack-",
                          "gfxzzz", "compute_80", "90", "sm_80 "}) {
    EXPECT_TAMIS_ERROR(kInvalid, "expected a name like sm_90a or gfx90a", architecture_kind(bad));
  }
}

TEST(Architecture, WaveSizes) {
  EXPECT_EQ(architecture_wave_size("sm_80"), 32);
  EXPECT_EQ(architecture_wave_size("gfx90a"), 64);
  EXPECT_EQ(architecture_wave_size("gfx942"), 64);
  EXPECT_EQ(architecture_wave_size("gfx1030"), 32);
}

TEST(Architecture, RunsOnLaterMinorsOnly) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(cuda_architecture(9, 0), "sm_90a");
  EXPECT_EQ(cuda_architecture(8, 6), "sm_86");
  EXPECT_EQ(cuda_architecture(10, 3), "sm_103");
  EXPECT_EQ(runnable_architectures("sm_80"), Names{"sm_80"});
  const Names names = runnable_architectures("sm_86");
  EXPECT_EQ(names.front(), "sm_86");
  EXPECT_EQ(names.back(), "sm_80");
  EXPECT_EQ(runnable_architectures("sm_90a"), (Names{"sm_90a", "sm_90"}));
  EXPECT_EQ(runnable_architectures("gfx90a"), Names{"gfx90a"});
}

TEST(KernelConfig, SortedAndReplaced) {
  KernelConfig config{{"B", 2}, {"A", -1}};
  EXPECT_EQ(config.to_string(), "A=-1 B=2");
  config.set("B", 3).set("TYPE", "unsigned int");
  EXPECT_EQ(config.to_string(), "A=-1 B=3 TYPE=unsigned int");
  EXPECT_EQ(KernelConfig().to_string(), "");
  EXPECT_EQ((KernelConfig{{"A", 1}, {"B", 2}}), (KernelConfig{{"B", 2}, {"A", 1}}));
}

TEST(KernelConfig, RefusesWhatIsNoMacro) {
  KernelConfig config;
  for (const char* bad : {"", "1A", "A B", "A-", "A=1"}) {
    EXPECT_TAMIS_ERROR(kInvalid, "expected an identifier", config.set(bad, 1));
  }
  EXPECT_TAMIS_ERROR(kInvalid, "line break", config.set("A", "1\n-DB"));
}

TEST(KernelConfig, HashTellsEntriesApart) {
  std::set<std::uint64_t> hashes;
  int count = 0;
  for (int a = 0; a < 30; ++a) {
    for (int b = 0; b < 30; ++b, ++count) hashes.insert(KernelConfig{{"A", a}, {"B", b}}.hash());
  }
  hashes.insert(KernelConfig().hash());
  hashes.insert(KernelConfig().set("A", "B").set("C", "").hash());
  hashes.insert(KernelConfig().set("A", "").set("B", "C").hash());
  EXPECT_EQ(hashes.size(), static_cast<std::size_t>(count) + 3);
}

TEST(KernelSource, FollowsIncludesOnce) {
  const SourceFile own[] = {{"x/a.cuh", "#pragma once\n#include \"x/b.cuh\"\n"},
                            {"x/b.cuh", "#include \"gpu/device/warp.cuh\"\n#include \"x/a.cuh\""},
                            {"x/unused.cuh", "#include \"absent\""}};
  const KernelSource source({"x/k.cu", "  #  include \"x/a.cuh\"\n// #include \"absent\"\n"}, own);
  std::set<std::string_view> names;
  for (const SourceFile& header : source.headers()) names.insert(header.name);
  EXPECT_EQ(names, (std::set<std::string_view>{"x/a.cuh", "x/b.cuh", "gpu/device/warp.cuh",
                                               "gpu/device/basics.cuh"}));
  EXPECT_EQ(source.headers().size(), names.size());
}

TEST(KernelSource, RefusesForeignIncludes) {
  EXPECT_NO_THROW(KernelSource({"k.cu", "#ifdef HOST\n#include <cstdint>\n#endif\n"}));
  EXPECT_TAMIS_ERROR(kInvalid, "k.cu includes \"absent.cuh\", which is not among its headers",
                     KernelSource({"k.cu", "#include \"absent.cuh\"\n"}));
}

TEST(KernelSource, ShippedHeadersIncludeOnlyEachOther) {
  for (const SourceFile& header : device_headers()) {
    EXPECT_NO_THROW(KernelSource{header}) << header.name;
    EXPECT_NE(header.text.find("#pragma once"), std::string_view::npos) << header.name;
  }
}

TEST(CompileOptions, ForceTheSameBits) {
  const auto cuda = compile_options("sm_90a", {{"X", 7}});
  for (const char* option : {"-arch=sm_90a", "--fmad=false", "--std=c++17", "-DTAMIS_WAVE=32",
                             "-DTAMIS_GPU_CUDA=1", "-DX=7"}) {
    EXPECT_EQ(std::count(cuda.begin(), cuda.end(), option), 1) << option;
  }
  const auto hip = compile_options("gfx90a", {});
  for (const char* option :
       {"--offload-arch=gfx90a", "-ffp-contract=off", "-DTAMIS_WAVE=64", "-DTAMIS_GPU_HIP=1"}) {
    EXPECT_EQ(std::count(hip.begin(), hip.end(), option), 1) << option;
  }
}

// Every ingredient alone changes the key.
TEST(Keys, EveryIngredientCounts) {
  const SourceFile header{"h.cuh", "int h;"};
  const SourceFile other_header{"h.cuh", "int g;"};
  const SourceFile main{"k.cu", "#include \"h.cuh\"\nint k;"};
  const SourceFile other_text{"k.cu", "#include \"h.cuh\"\nint j;"};
  const SourceFile other_name{"l.cu", "#include \"h.cuh\"\nint k;"};
  const auto key = [](const SourceFile& file, const SourceFile& h, const char* architecture,
                      const KernelConfig& config, const char* compiler) {
    return key_text(image_key(
        content_key(KernelSource(file, {&h, 1}), compile_options(architecture, config)), compiler));
  };
  std::set<std::string> keys{key(main, header, "sm_80", {{"A", 1}}, "c 1"),
                             key(other_text, header, "sm_80", {{"A", 1}}, "c 1"),
                             key(other_name, header, "sm_80", {{"A", 1}}, "c 1"),
                             key(main, other_header, "sm_80", {{"A", 1}}, "c 1"),
                             key(main, header, "sm_86", {{"A", 1}}, "c 1"),
                             key(main, header, "sm_80", {{"A", 2}}, "c 1"),
                             key(main, header, "sm_80", {{"B", 1}}, "c 1"),
                             key(main, header, "sm_80", {}, "c 1"),
                             key(main, header, "sm_80", {{"A", 1}}, "c 2")};
  EXPECT_EQ(keys.size(), 9u);
  EXPECT_EQ(keys.begin()->size(), 32u);
  keys.insert(key(main, header, "sm_80", {{"A", 1}}, "c 1"));
  EXPECT_EQ(keys.size(), 9u);
}

TEST(Keys, TextIsMostSignificantFirst) {
  EXPECT_EQ(key_text({0xffu, 0x0123456789abcdefu}), "0123456789abcdef00000000000000ff");
}

}  // namespace
}  // namespace tamis::gpu
