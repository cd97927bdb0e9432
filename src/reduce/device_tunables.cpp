// The spaces are small on purpose: what is not listed was slower by its nature or does not compile.
#include "reduce/device_tunables.hpp"

#include <bit>

namespace tamis::reduce {

namespace {

std::vector<std::string> features() {
  return {"axes", "value_bytes", "lattice_bytes", "contexts", "log2_values"};
}

// What a block may have: whole waves of 64.
Param threads(std::vector<std::int64_t> values) { return {"threads", std::move(values)}; }
// The compiler keeps registers so low that a multiprocessor holds so many blocks.
Param blocks(const char* name, std::vector<std::int64_t> values) {
  return {name, std::move(values)};
}

Constraint fits(const char* blocks) {
  return {"a multiprocessor holds 2048 threads",
          {"threads", blocks},
          [](std::span<const std::int64_t> v) { return v[0] * v[1] <= 2048; }};
}

Space cells_space() {
  return Space(features(),
               {threads({64, 128, 256}), blocks("face_blocks", {2, 3, 4, 6, 8, 12, 16}),
                blocks("interior_blocks", {2, 3, 4, 5, 6, 7, 8, 10})},
               {fits("face_blocks"), fits("interior_blocks")});
}

Space threads_space(std::vector<std::int64_t> values) {
  return Space(features(), {threads(std::move(values))});
}

std::vector<Tunable> make_tunables() {
  return {
      {"reduce.encode_cells", 1, cells_space(), {128, 8, 7}},
      {"reduce.decode_cells", 1, cells_space(), {128, 8, 8}},
      {"reduce.grid_tables", 1, threads_space({64, 128, 256, 512}), {128}},
      {"reduce.write_blobs", 1, threads_space({128, 256, 512}), {256}},
      {"reduce.open_blobs", 1, threads_space({128, 256, 512}), {256}},
      {"reduce.bundle_streams", 1, threads_space({64, 128, 256, 512}), {256}},
      {"reduce.finish_values", 1, threads_space({64, 128, 256, 512}), {256}},
      {"reduce.field_scan", 1, threads_space({64, 128, 256, 512}), {256}},
      {"reduce.trial_cells", 1, threads_space({64, 128}), {128}},
      {"reduce.coded_streams", 1, threads_space({128, 256, 512}), {512}},
      // Of a team; a launch takes fewer teams where shared memory does not suffice.
      {"reduce.coded_cells",
       1,
       Space(features(), {threads({128}), {"most_teams", {1, 2, 4}}}),
       {128, 4}},
      {"reduce.coded_trials", 1, threads_space({64, 128, 256}), {128}},
  };
}

FamilyLaunch launch_of(const Tunable& tunable, const Config& config) {
  const auto value = [&](const char* param) {
    const int at = tunable.space.index_of(param);
    return at < 0 ? 0 : static_cast<int>(config[static_cast<std::size_t>(at)]);
  };
  return {value("threads"), value("face_blocks"), value("interior_blocks"), value("most_teams")};
}

}  // namespace

std::span<const Tunable> codec_tunables() {
  static const std::vector<Tunable> kAll = make_tunables();
  return kAll;
}

const Tunable& codec_tunable(CodecFamily family) {
  return codec_tunables()[static_cast<std::size_t>(family)];
}

Problem launch_problem(const CodecVariant& variant, std::int64_t values) {
  const auto size = static_cast<std::uint64_t>(values);
  return {variant.axes, variant.value_bytes, variant.lattice_bytes, variant.contexts ? 1 : 0,
          size < 2 ? 0 : static_cast<int>(std::bit_width(size - 1))};
}

void choose_launches(CodecVariant& variant, std::string_view device, std::int64_t values) {
  const Problem problem = launch_problem(variant, values);
  for (std::size_t i = 0; i < kCodecFamilies; ++i) {
    const Tunable& tunable = codec_tunables()[i];
    variant.launches[i] = launch_of(tunable, choose(tunable, problem, device).config);
  }
}

const CodecLaunches& fallback_launches() {
  static const CodecLaunches kLaunches = [] {
    CodecLaunches launches;
    for (std::size_t i = 0; i < kCodecFamilies; ++i) {
      launches[i] = launch_of(codec_tunables()[i], codec_tunables()[i].fallback);
    }
    return launches;
  }();
  return kLaunches;
}

}  // namespace tamis::reduce
