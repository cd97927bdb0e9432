// The cache of compiled kernels on disk: whatever lies in the folder, the worst is a miss.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "gpu/disk_cache.hpp"
#include "support/gpu_fixture.hpp"

namespace tamis::gpu {
namespace {

namespace fs = std::filesystem;
using testing::ScopedVariable;
using testing::TempFolder;

constexpr Hash128 kKey{0x1111, 0x2222};

std::vector<std::byte> some_code(std::size_t size) {
  std::vector<std::byte> code(size);
  for (std::size_t i = 0; i < size; ++i) code[i] = static_cast<std::byte>(i * 7 + i / 256);
  return code;
}

std::string read_all(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_all(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

TEST(DiskCache, KeepsWhatIsStored) {
  const TempFolder temp;
  const DiskCache cache(temp.path() + "/a/b");
  EXPECT_FALSE(cache.find(kKey).code);
  EXPECT_EQ(cache.find(kKey).damage, "");
  const auto code = some_code(5000);
  EXPECT_EQ(cache.store(kKey, code), "");
  EXPECT_EQ(cache.find(kKey).code, code);
  EXPECT_FALSE(cache.find({0x1111, 0x2223}).code);
  EXPECT_EQ(cache.store(kKey, some_code(10)), "");  // replaces
  EXPECT_EQ(cache.find(kKey).code, some_code(10));
  const DiskCache::Usage usage = cache.usage();
  EXPECT_EQ(usage.files, 1);
  EXPECT_EQ(usage.size_bytes, 50);
  EXPECT_EQ(usage.problem, "");
  for (const auto& entry : fs::directory_iterator(cache.folder())) {
    EXPECT_EQ(entry.path().extension(), ".kernel") << "a temporary file is left";
  }
}

TEST(DiskCache, EveryDamageIsAMissWithAReason) {
  const TempFolder temp;
  const DiskCache cache(temp.path());
  const auto code = some_code(300);
  ASSERT_EQ(cache.store(kKey, code), "");
  const std::string path = cache.file_of(kKey);
  const std::string whole = read_all(path);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    write_all(path, whole.substr(0, length));
    const DiskCache::Answer answer = cache.find(kKey);
    ASSERT_FALSE(answer.code) << length;
    ASSERT_NE(answer.damage.find(path), std::string::npos) << length;
  }
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x10);
    write_all(path, flipped);
    ASSERT_FALSE(cache.find(kKey).code) << at;
  }
  write_all(path, whole + "x");
  EXPECT_FALSE(cache.find(kKey).code);
  EXPECT_EQ(cache.store(kKey, code), "");  // rewritten
  EXPECT_EQ(cache.find(kKey).code, code);
}

TEST(DiskCache, AnotherKernelsFileIsNotTaken) {
  const TempFolder temp;
  const DiskCache cache(temp.path());
  ASSERT_EQ(cache.store(kKey, some_code(20)), "");
  const Hash128 other{3, 4};
  fs::copy_file(cache.file_of(kKey), cache.file_of(other));
  EXPECT_FALSE(cache.find(other).code);
  EXPECT_NE(cache.find(other).damage.find("holds another kernel"), std::string::npos);
}

TEST(DiskCache, NoFolderMeansNoCache) {
  const DiskCache none("");
  EXPECT_NE(none.store(kKey, some_code(1)).find("are not set"), std::string::npos);
  EXPECT_FALSE(none.find(kKey).code);
  const DiskCache file("/dev/null/kernels");
  EXPECT_NE(file.store(kKey, some_code(1)).find("cannot make the folder /dev/null/kernels"),
            std::string::npos);
  EXPECT_FALSE(file.find(kKey).code);
  EXPECT_NE(file.usage().problem, "");
}

TEST(DiskCache, UnwritableFolderStillServes) {
  if (::geteuid() == 0) GTEST_SKIP() << "the superuser may write everywhere";
  const TempFolder temp;
  const DiskCache cache(temp.path());
  ASSERT_EQ(cache.store(kKey, some_code(9)), "");
  fs::permissions(temp.path(), fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_NE(cache.store({5, 6}, some_code(9)).find("cannot write to"), std::string::npos);
  EXPECT_EQ(cache.find(kKey).code, some_code(9));
  fs::permissions(temp.path(), fs::perms::owner_all);
}

TEST(DiskCache, FolderOfEverybodyIsNotTrusted) {
  const TempFolder temp;
  const DiskCache cache(temp.path());
  ASSERT_EQ(cache.store(kKey, some_code(9)), "");
  ASSERT_EQ(::chmod(temp.path().c_str(), 0777), 0);
  EXPECT_NE(cache.store(kKey, some_code(9)).find("writable by everybody"), std::string::npos);
  EXPECT_FALSE(cache.find(kKey).code);
}

TEST(DiskCache, DefaultFolder) {
  const ScopedVariable home("HOME", "/h");
  {
    const ScopedVariable chosen("TAMIS_CACHE_DIR", "/t");
    const ScopedVariable xdg("XDG_CACHE_HOME", "/x");
    EXPECT_EQ(DiskCache::default_folder(), "/t/kernels");
  }
  const ScopedVariable chosen("TAMIS_CACHE_DIR", "");
  {
    const ScopedVariable xdg("XDG_CACHE_HOME", "/x");
    EXPECT_EQ(DiskCache::default_folder(), "/x/tamis/kernels");
  }
  const ScopedVariable xdg("XDG_CACHE_HOME", "relative");
  EXPECT_EQ(DiskCache::default_folder(), "/h/.cache/tamis/kernels");
  const ScopedVariable nowhere("HOME", "");
  EXPECT_EQ(DiskCache::default_folder(), "");
}

// Readers see a whole file or none while writers replace it.
TEST(DiskCache, ThreadsAtOnce) {
  const TempFolder temp;
  const DiskCache cache(temp.path());
  std::vector<std::thread> threads;
  std::atomic<int> damaged{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        if (t % 2 == 0) {
          EXPECT_EQ(cache.store(kKey, some_code(3000)), "");
        } else {
          const DiskCache::Answer answer = cache.find(kKey);
          damaged += !answer.damage.empty();
          EXPECT_TRUE(!answer.code || answer.code == some_code(3000));
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(damaged, 0);
  EXPECT_EQ(cache.usage().files, 1);
}

}  // namespace
}  // namespace tamis::gpu
