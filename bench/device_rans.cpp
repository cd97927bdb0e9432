// Times the kernels of the rANS coder on a GPU, on made codes, and compares tables, streams and
// decoded codes with the host's. Usage: device_rans SOURCE_FOLDER [BLOBS [CODES_A_STREAM]], where
// the folder is the tree's src/.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <list>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "codec/rans.hpp"
#include "gpu/event.hpp"
#include "gpu/kernel.hpp"
#include "tamis/device.hpp"
#include "tamis/error.hpp"

namespace {

using namespace tamis;  // NOLINT: a program of one file

constexpr int kBundles = 16;
// As in codec/device: bytes of tables, words of symbols and of tables laid out, at most.
constexpr std::int64_t kTableBytes = 9337;
constexpr std::int64_t kSymbolWords = 32 + 2 * 64 * 72;
constexpr std::int64_t kDecoderWords = 32 + 64 * (256 + 136);
constexpr std::int64_t kBuildSharedBytes = 50 << 10;
constexpr std::int64_t kBuildThreads = 512;

struct ModelInfo {
  std::uint32_t table_bytes;
  std::int32_t clusters;
  std::int32_t limit;
};

gpu::KernelSource load_source(const std::string& folder) {
  static std::list<std::string> texts;
  const auto load = [&](const char* name) {
    std::ifstream file(folder + "/" + name, std::ios::binary);
    texts.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    return gpu::SourceFile{name, texts.back()};
  };
  const std::vector<gpu::SourceFile> headers{
      load("codec/device/rans_tokens.cuh"), load("codec/device/rans_histogram.cuh"),
      load("codec/device/rans_tables.cuh"), load("codec/device/rans_model.cuh"),
      load("codec/device/rans_encode.cuh"), load("codec/device/rans_table_reader.cuh"),
      load("codec/device/rans_decode.cuh")};
  return gpu::KernelSource(load("codec/device/rans_streams.cu"), headers);
}

struct Field {
  std::vector<std::int32_t> codes;
  std::vector<std::uint8_t> contexts;
  std::vector<std::int32_t> counts;
};

// Widths that follow from slowly changing contexts, as in real fields: about 2 bits a code.
Field make_field(std::int64_t streams, std::int64_t capacity) {
  Field f;
  std::mt19937_64 random(1);
  const auto size = static_cast<std::size_t>(streams * capacity);
  f.codes.resize(size);
  f.contexts.resize(size);
  unsigned activity = 20;
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint64_t r = random();
    activity = std::min(63u, std::max(1u, activity + static_cast<unsigned>(r % 3)) - 1);
    const int width = static_cast<int>(activity / 8) - (r >> 2 & 1);
    const std::uint64_t value = width <= 0 ? (r >> 8) % 12 == 0 : r >> (64 - width) & r >> 8;
    f.codes[i] = static_cast<std::int32_t>(value >> 1) ^ -static_cast<std::int32_t>(value & 1);
    f.contexts[i] = static_cast<std::uint8_t>(activity);
  }
  for (std::int64_t s = 0; s < streams; ++s) {
    f.counts.push_back(static_cast<std::int32_t>(capacity - s * 37 % (capacity / 4 + 1)));
  }
  return f;
}

template <typename T>
Buffer upload(const std::vector<T>& values, const Stream& stream) {
  const auto bytes = static_cast<std::int64_t>(values.size() * sizeof(T));
  Buffer buffer(bytes, stream);
  copy_bytes(buffer.data(), values.data(), bytes, stream);
  stream.synchronize();
  return buffer;
}
template <typename T>
std::vector<T> download(const Buffer& buffer, std::int64_t count, const Stream& stream) {
  std::vector<T> values(static_cast<std::size_t>(count));
  copy_bytes(values.data(), buffer.data(), count * static_cast<std::int64_t>(sizeof(T)), stream);
  stream.synchronize();
  return values;
}

void expect(bool holds, const char* what) {
  if (holds) return;
  std::printf("FAILED: %s\n", what);
  std::exit(1);
}

double median_us(const Stream& stream, int repeats, const std::function<void()>& work) {
  std::vector<double> times;
  for (int i = 0; i < repeats; ++i) {
    gpu::Event start(stream.device());
    gpu::Event end(stream.device());
    start.record(stream);
    work();
    end.record(stream);
    stream.synchronize();
    times.push_back(end.elapsed_us(start));
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

// Tables and streams of one blob against the host's.
void check_blob(const Field& f, std::int64_t blob, std::int64_t capacity, std::int64_t room,
                const std::vector<std::uint8_t>& tables, const std::vector<ModelInfo>& infos,
                const std::vector<std::uint8_t>& areas, const std::vector<std::uint32_t>& sizes) {
  auto counts = std::make_unique<codec::RansCounts>();
  for (auto& row : *counts) row.fill(0);
  for (std::int64_t s = blob * kBundles; s < (blob + 1) * kBundles; ++s) {
    codec::count_tokens(f.codes.data() + s * capacity, f.contexts.data() + s * capacity,
                        f.counts[static_cast<std::size_t>(s)], *counts);
  }
  const codec::RansModel model = codec::RansModel::build(*counts);
  const auto same = [](const std::vector<std::byte>& host, const std::uint8_t* device) {
    return std::equal(host.begin(), host.end(), reinterpret_cast<const std::byte*>(device));
  };
  std::vector<std::byte> bytes;
  model.write(bytes);
  expect(bytes.size() == infos[static_cast<std::size_t>(blob)].table_bytes, "size of tables");
  expect(same(bytes, tables.data() + blob * kTableBytes), "tables");
  for (std::int64_t s = blob * kBundles; s < (blob + 1) * kBundles; ++s) {
    bytes.clear();
    codec::encode_rans(model, f.codes.data() + s * capacity, f.contexts.data() + s * capacity,
                       f.counts[static_cast<std::size_t>(s)], bytes);
    const std::uint32_t size = sizes[static_cast<std::size_t>(s)];
    expect(bytes.size() == size, "size of a stream");
    expect(same(bytes, areas.data() + (s + 1) * room - size), "a stream");
  }
}

void run(const std::string& folder, std::int64_t blobs, std::int64_t capacity, int repeats) {
  const Device device = Device::first();
  const Stream stream(device);
  const gpu::KernelSource source = load_source(folder);
  const gpu::KernelConfig config{{"TAMIS_LATTICE", 4}};
  const auto kernel = [&](const char* name) {
    return gpu::get_kernel(device, source, config, name);
  };
  const std::int64_t streams = blobs * kBundles;
  const std::int64_t wave = device.info().wave_size;
  const std::int64_t room = (1 + 4 * 32 + 2 * (8 * capacity / 3 + 1) + 3) / 4 * 4;
  const Field f = make_field(streams, capacity);
  const Buffer codes = upload(f.codes, stream);
  const Buffer contexts = upload(f.contexts, stream);
  const Buffer counts = upload(f.counts, stream);
  const Buffer tables(blobs * kTableBytes, stream);
  const Buffer symbols(blobs * kSymbolWords * 4, stream);
  const Buffer infos(blobs * static_cast<std::int64_t>(sizeof(ModelInfo)), stream);
  const Buffer areas(streams * room, stream);
  const Buffer sizes(streams * 4, stream);
  const Buffer laid_out(blobs * kDecoderWords * 4, stream);
  const Buffer table_faults(blobs * 4, stream);
  const Buffer decoded(streams * capacity * 4, stream);
  const Buffer faults(streams * 4, stream);
  const double build_us = median_us(stream, repeats, [&] {
    kernel("rans_build")
        .launch(stream, {{blobs}, {kBuildThreads}, kBuildSharedBytes}, codes.data(),
                contexts.data(), counts.data(), capacity, kBundles, tables.data(), symbols.data(),
                infos.data());
  });
  const double encode_us = median_us(stream, repeats, [&] {
    kernel("rans_encode_streams")
        .launch(stream, {{blobs}, {kBundles * wave}}, symbols.data(), infos.data(), codes.data(),
                contexts.data(), counts.data(), capacity, kBundles, room, areas.data(),
                sizes.data());
  });
  const double read_us = median_us(stream, repeats, [&] {
    kernel("rans_read_tables")
        .launch(stream, {{(blobs + 3) / 4}, {4 * wave}}, tables.data(), infos.data(), blobs,
                laid_out.data(), kDecoderWords, table_faults.data());
  });
  const double decode_us = median_us(stream, repeats, [&] {
    kernel("rans_decode_streams")
        .launch(stream, {{blobs}, {kBundles * wave}}, laid_out.data(), kDecoderWords, infos.data(),
                areas.data(), room, sizes.data(), contexts.data(), counts.data(), capacity,
                kBundles, decoded.data(), faults.data());
  });
  const auto host_tables = download<std::uint8_t>(tables, blobs * kTableBytes, stream);
  const auto host_infos = download<ModelInfo>(infos, blobs, stream);
  const auto host_areas = download<std::uint8_t>(areas, streams * room, stream);
  const auto host_sizes = download<std::uint32_t>(sizes, streams, stream);
  const auto host_decoded = download<std::int32_t>(decoded, streams * capacity, stream);
  for (const std::uint32_t fault : download<std::uint32_t>(table_faults, blobs, stream)) {
    expect(fault == 0, "tables are refused");
  }
  for (const std::uint32_t fault : download<std::uint32_t>(faults, streams, stream)) {
    expect(fault == 0, "a stream is refused");
  }
  std::int64_t total = 0;
  std::int64_t bytes = 0;
  for (std::int64_t s = 0; s < streams; ++s) {
    const std::int32_t count = f.counts[static_cast<std::size_t>(s)];
    total += count;
    bytes += host_sizes[static_cast<std::size_t>(s)];
    const auto first = f.codes.begin() + s * capacity;
    expect(std::equal(first, first + count, host_decoded.begin() + s * capacity), "decoded codes");
  }
  for (std::int64_t blob = 0; blob < blobs; blob += std::max<std::int64_t>(1, blobs / 8)) {
    check_blob(f, blob, capacity, room, host_tables, host_infos, host_areas, host_sizes);
  }
  std::printf("%s: %lld blobs, %.1f M codes, %.2f bits a code, %d clusters in the first\n",
              device.info().name.c_str(), static_cast<long long>(blobs),
              static_cast<double>(total) / 1e6,
              8 * static_cast<double>(bytes) / static_cast<double>(total), host_infos[0].clusters);
  for (const auto& [name, us] : {std::pair{"histogram and models", build_us},
                                 {"encode", encode_us},
                                 {"read tables", read_us},
                                 {"decode", decode_us}}) {
    std::printf("%-22s %9.1f us  %7.1f G codes/s\n", name, us,
                static_cast<double>(total) / us / 1e3);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::puts("usage: device_rans SOURCE_FOLDER [BLOBS [CODES_A_STREAM [REPEATS]]]");
    return 2;
  }
  try {
    const auto number = [&](int i, long long otherwise) {
      return argc > i ? std::atoll(argv[i]) : otherwise;
    };
    run(argv[1], number(2, 256), number(3, 32768), static_cast<int>(number(4, 9)));
  } catch (const Error& error) {
    std::printf("FAILED: %s\n", error.what());
    return 1;
  }
  return 0;
}
