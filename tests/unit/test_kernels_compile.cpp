// Compiles every device header and every shipped kernel with the real run-time compilers; neither
// needs a GPU. For AMD this is all that is checked: those kernels have not been run.
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "catalog/shipped_kernels.hpp"
#include "gpu/architecture.hpp"
#include "gpu/compile_options.hpp"
#include "gpu/prebuilt.hpp"
#include "gpu/runtime_compiler.hpp"
#include "gpu/self_test_kernels.hpp"
#include "support/expect_error.hpp"

// Compilers of others leak, and keep threads on which the leak checker stumbles. The symbol has to
// be visible, for the run-time library looks it up by name.
extern "C" __attribute__((visibility("default"))) int __lsan_is_turned_off();
extern "C" int __lsan_is_turned_off() { return 1; }

namespace tamis::gpu {
namespace {

class CompileFor : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const DeviceKind kind = architecture_kind(GetParam());
    const CompilerFinding& finding = shared_compiler(kind);
    if (!finding.compiler)
      GTEST_SKIP() << "not compiled for " << GetParam() << ": " << finding.problem;
    compiler_ = finding.compiler.get();
    if (!compiler_->supports(GetParam())) {
      GTEST_SKIP() << compiler_->name() << " " << compiler_->version() << " does not know "
                   << GetParam();
    }
    if (kind == DeviceKind::kHip) {
      std::printf("%s: compile-checked only; not run on any AMD device\n", GetParam());
    }
  }

  const RuntimeCompiler* compiler_ = nullptr;
};

TEST_P(CompileFor, EveryHeaderAlone) {
  for (const SourceFile& header : device_headers()) {
    // Twice: the guard has to hold. A kernel, so that there is code.
    const std::string include = "#include \"" + std::string(header.name) + "\"\n";
    const std::string text = include + include + "TAMIS_KERNEL void nothing() {}\n";
    EXPECT_GT(compiler_->compile(KernelSource({"alone.cu", text}), {}, GetParam()).size(), 100u)
        << header.name;
  }
}

TEST_P(CompileFor, EveryShippedKernel) {
  for (const KernelSpec& spec : catalog::shipped_kernels()) {
    const auto code = compiler_->compile(*spec.source, spec.config, GetParam());
    EXPECT_GT(code.size(), 1000u) << spec.name << " " << spec.config.to_string();
  }
}

TEST_P(CompileFor, SelfTestInOtherConfigurations) {
  for (const auto& [threads, items] : {std::pair{64, 1}, std::pair{1024, 4}}) {
    EXPECT_NO_THROW(
        compiler_->compile(self_test_source(), self_test_config(threads, items), GetParam()));
  }
}

TEST_P(CompileFor, ErrorsNameFileAndLine) {
  const KernelSource bad(
      {"family/broken.cu", "#include \"gpu/device/basics.cuh\"\nnot_a_type x;\n"});
  EXPECT_TAMIS_ERROR(ErrorCode::kDevice, "not_a_type", compiler_->compile(bad, {}, GetParam()));
  EXPECT_TAMIS_ERROR(ErrorCode::kDevice, "family/broken.cu",
                     compiler_->compile(bad, {}, GetParam()));
  try {
    compiler_->compile(bad, {{"X", 3}}, GetParam());
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_TRUE(text.find("broken.cu(2)") != std::string::npos ||
                text.find("broken.cu:2") != std::string::npos)
        << text;
    EXPECT_NE(text.find("[X=3] for " + std::string(GetParam())), std::string::npos) << text;
  }
}

INSTANTIATE_TEST_SUITE_P(Cuda, CompileFor, ::testing::Values("sm_80", "sm_90a", "sm_100"));
INSTANTIATE_TEST_SUITE_P(Hip, CompileFor, ::testing::Values("gfx90a", "gfx942"));

TEST(RuntimeCompiler, UnknownArchitectureIsRefusedBeforeItCompiles) {
  for (const auto& [kind, architecture] :
       {std::pair{DeviceKind::kCuda, "sm_10"}, std::pair{DeviceKind::kHip, "gfx999"}}) {
    const CompilerFinding& finding = shared_compiler(kind);
    if (!finding.compiler || finding.compiler->architectures().empty()) continue;
    EXPECT_TAMIS_ERROR(ErrorCode::kUnsupported, "it knows",
                       finding.compiler->compile(self_test_source(), {}, architecture));
  }
}

TEST(ShippedKernels, NamesAreUniqueWithinConfigurations) {
  std::vector<std::string> names;
  for (const KernelSpec& spec : catalog::shipped_kernels()) {
    names.push_back(spec.name + " " + spec.config.to_string());
    ASSERT_NE(spec.source, nullptr) << spec.name;
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

// The table made by tamis_pack holds what this build would ask for.
TEST(Prebuilt, TableServesEveryShippedKernel) {
  const auto table = prebuilt_kernels();
  if (table.empty()) GTEST_SKIP() << "the build found no NVRTC, so nothing is prebuilt";
  std::vector<std::string_view> architectures;
  for (const PrebuiltKernel& kernel : table) {
    if (std::find(architectures.begin(), architectures.end(), kernel.architecture) ==
        architectures.end()) {
      architectures.push_back(kernel.architecture);
    }
    ASSERT_GT(kernel.code.size(), 1000u);
    EXPECT_EQ(std::memcmp(kernel.code.data(), "\177ELF", 4), 0) << "no machine code";
  }
  const auto specs = catalog::shipped_kernels();
  EXPECT_EQ(table.size(), specs.size() * architectures.size());
  for (const std::string_view architecture : architectures) {
    for (const KernelSpec& spec : specs) {
      const Hash128 key = content_key(*spec.source, compile_options(architecture, spec.config));
      EXPECT_TRUE(std::any_of(table.begin(), table.end(),
                              [&](const PrebuiltKernel& k) { return k.content == key; }))
          << spec.name << " for " << architecture;
    }
  }
}

}  // namespace
}  // namespace tamis::gpu
