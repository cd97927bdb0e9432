// How "-o" and INPUT are read: formats, variables, and colons that belong to file names.
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "field_input.hpp"
#include "field_output.hpp"
#include "output_file.hpp"
#include "support/expect_error.hpp"

namespace tamis::cli {
namespace {

constexpr auto kInvalid = ErrorCode::kInvalidArgument;

TEST(OutputTarget, ByExtension) {
  EXPECT_EQ(parse_output_target("a.npy", "").format, OutputFormat::kNpy);
  EXPECT_EQ(parse_output_target("a.f32", "").format, OutputFormat::kRaw);
  EXPECT_EQ(parse_output_target("-", "").format, OutputFormat::kRaw);
  const OutputTarget netcdf = parse_output_target("dir.nc/a.nc:tos", "");
  EXPECT_EQ(netcdf.format, OutputFormat::kNetcdf);
  EXPECT_EQ(netcdf.path, "dir.nc/a.nc");
  EXPECT_EQ(netcdf.variable, "tos");
  const OutputTarget hdf5 = parse_output_target("a.h5:/g/x:y", "");
  EXPECT_EQ(hdf5.format, OutputFormat::kHdf5);
  EXPECT_EQ(hdf5.variable, "/g/x:y");
}

TEST(OutputTarget, FormatOverrides) {
  EXPECT_EQ(parse_output_target("-", "npy").format, OutputFormat::kNpy);
  const OutputTarget named = parse_output_target("out.dat:tos", "nc");
  EXPECT_EQ(named.path, "out.dat");
  EXPECT_EQ(named.variable, "tos");
  // A colon in a raw file's name is part of the name.
  EXPECT_EQ(parse_output_target("12:30.f32", "").path, "12:30.f32");
  EXPECT_EQ(parse_output_target("a.nc:tos", "raw").path, "a.nc:tos");
  EXPECT_TAMIS_ERROR(kInvalid, "expected raw, npy, nc or h5", parse_output_target("a", "png"));
  EXPECT_TAMIS_ERROR(kInvalid, "empty", parse_output_target("a.nc:", ""));
  EXPECT_TAMIS_ERROR(kInvalid, "standard output", parse_output_target("-", "h5"));
}

class InFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + "tamis_cli_" + std::to_string(::getpid());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  std::string content(const std::string& name) const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::size_t file_count() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder_),
                                                  std::filesystem::directory_iterator()));
  }

 private:
  std::string folder_;
};

TEST_F(InFolder, SplitVariable) {
  std::ofstream(path("a.nc")) << "x";
  std::ofstream(path("12:30.nc")) << "x";
  using Pair = std::pair<std::string, std::string>;
  EXPECT_EQ(split_variable(path("a.nc")), (Pair{path("a.nc"), ""}));
  EXPECT_EQ(split_variable(path("a.nc:tos")), (Pair{path("a.nc"), "tos"}));
  EXPECT_EQ(split_variable(path("a.nc:/g/x:y")), (Pair{path("a.nc"), "/g/x:y"}));
  EXPECT_EQ(split_variable(path("12:30.nc")), (Pair{path("12:30.nc"), ""}));
  EXPECT_EQ(split_variable(path("12:30.nc:tos")), (Pair{path("12:30.nc"), "tos"}));
  EXPECT_EQ(split_variable(path("none:tos")), (Pair{path("none:tos"), ""}));
}

TEST_F(InFolder, OutputAppearsOnCommitOnly) {
  {
    OutputFile file(path("out"));
    file.write("hello");
    EXPECT_FALSE(std::filesystem::exists(path("out")));
    file.commit();
    EXPECT_EQ(content("out"), "hello");
  }
  {
    OutputFile file(path("out"));
    file.write("other");
  }
  EXPECT_EQ(content("out"), "hello");
  EXPECT_EQ(file_count(), 1U);
}

TEST_F(InFolder, LongNamesAndBadFolders) {
  const std::string name(255, 'n');
  {
    OutputFile file(path(name));
    file.commit();
  }
  EXPECT_TRUE(std::filesystem::exists(path(name)));
  EXPECT_TAMIS_ERROR(ErrorCode::kIo, "cannot create a file in", OutputFile(path("none/out")));
  EXPECT_TAMIS_ERROR(ErrorCode::kIo, "Is a directory", OutputFile(path("")));
  EXPECT_TAMIS_ERROR(kInvalid, "empty", OutputFile(""));
}

}  // namespace
}  // namespace tamis::cli
