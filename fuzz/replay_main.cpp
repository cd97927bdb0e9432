// Runs a fuzz target without libFuzzer: every seed file of the folder given, then a fixed series of
// mutations of each (bit flips, truncations, overwrites), so that every test run exercises
// decoders. A second argument says how many mutations.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(file), {});
}

void run_one(const Bytes& bytes) { LLVMFuzzerTestOneInput(bytes.data(), bytes.size()); }

Bytes mutate(Bytes bytes, std::mt19937_64& random) {
  if (bytes.empty()) return bytes;
  const auto below = [&](std::size_t limit) { return static_cast<std::size_t>(random() % limit); };
  const std::size_t edits = 1 + below(4);
  for (std::size_t edit = 0; edit < edits && !bytes.empty(); ++edit) {
    const std::size_t position = below(bytes.size());
    switch (below(4)) {
      case 0:
        bytes[position] ^= static_cast<std::uint8_t>(1u << below(8));
        break;
      case 1:
        bytes[position] = static_cast<std::uint8_t>(random());
        break;
      case 2:
        bytes.resize(position);
        break;
      default: {
        const Bytes repeated(bytes.begin() + static_cast<std::ptrdiff_t>(position), bytes.end());
        bytes.insert(bytes.end(), repeated.begin(), repeated.end());
        break;
      }
    }
  }
  return bytes;
}

}  // namespace

int main(int argc, char** argv) {
  const int mutations = argc > 2 ? std::atoi(argv[2]) : 500;
  std::vector<std::filesystem::path> paths;
  if (argc > 1 && std::filesystem::is_directory(argv[1])) {
    for (const auto& entry : std::filesystem::directory_iterator(argv[1])) {
      paths.push_back(entry.path());
    }
  }
  std::sort(paths.begin(), paths.end());

  std::mt19937_64 random(1);
  run_one({});
  for (const auto& path : paths) {
    const Bytes seed = read_file(path);
    run_one(seed);
    for (int i = 0; i < mutations; ++i) run_one(mutate(seed, random));
  }
  std::printf("%zu seeds, %d mutations of each\n", paths.size(), mutations);
  return 0;
}
