// A launch for each number of axes, one copy back. See reduce/device/trial_cells.cu.
#include "reduce/device_trial.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "gpu/kernel.hpp"
#include "reduce/device/trial_memory.hpp"
#include "reduce/device_lattice.hpp"

namespace tamis::reduce {

namespace {

// More trials than that are made only when they are asked for.
constexpr std::size_t kMostLikelyWays = 48;

int last_axis(const GridPlan& plan) {
  return plan.order[static_cast<std::size_t>(std::popcount(plan.active_mask) - 1)];
}

bool averages(Predictor p) {
  return p == Predictor::kLinearAveraged || p == Predictor::kCubicAveraged;
}

// fn(mask) for the sets of so many axes within `all`.
template <typename Fn>
void each_mask(std::uint32_t all, int axes, const Fn& fn) {
  for (std::uint32_t mask = 1; mask <= all; ++mask) {
    if ((mask & ~all) == 0 && std::popcount(mask) == axes) fn(mask);
  }
}

gpu::Kernel trial_kernel(const Device& device, int axes, int value_bytes, int lattice_bytes,
                         const char* entry) {
  CodecVariant variant;
  variant.axes = axes;
  variant.value_bytes = value_bytes;
  variant.lattice_bytes = lattice_bytes;
  return gpu::get_kernel(device, codec_source(CodecFamily::kTrialCells),
                         codec_config(CodecFamily::kTrialCells, variant), entry);
}

template <int kAxes>
int shared_bytes(int lattice_bytes) {
  using Sizes = device::TrialSizes<kAxes>;
  return lattice_bytes == 4 ? Sizes::template kBytes<4> : Sizes::template kBytes<8>;
}

gpu::LaunchShape trial_shape(std::int64_t tiles, std::int64_t ways, int axes, int lattice_bytes) {
  return {{tiles, ways},
          {block_threads(CodecFamily::kTrialCells, {})},
          axes == 1   ? shared_bytes<1>(lattice_bytes)
          : axes == 2 ? shared_bytes<2>(lattice_bytes)
                      : shared_bytes<3>(lattice_bytes)};
}

int coder_of(Mode mode) { return mode == Mode::kFast ? 2 : 1; }

}  // namespace

DeviceTrialPricer::DeviceTrialPricer(const TrialField& field, const NumberMap& map, Mode mode,
                                     DeviceSamples& samples, TrialMemory& memory,
                                     DeviceSession& session)
    : field_(field), map_(map), mode_(mode), samples_(samples), memory_(memory), session_(session) {
  launch(first_ways());
}

// Ways that make the same codes become one.
DeviceTrialPricer::Way DeviceTrialPricer::canonical(const GridPlan& plan, Predictor predictor) {
  const int axes = std::popcount(plan.active_mask);
  Way way{plan, predictor};
  if (axes == 1 && averages(predictor)) {
    way.predictor =
        predictor == Predictor::kLinearAveraged ? Predictor::kLinear : Predictor::kCubic;
  }
  if (predictor == Predictor::kLorenzo || (axes == 2 && averages(predictor))) {
    way.plan = plan_with_last(plan.active_mask, axes - 1);
  }
  return way;
}

DeviceTrialPricer::Key DeviceTrialPricer::key_of(const Way& way) {
  return {way.plan.active_mask, way.plan.order, way.predictor};
}

// What the search may want to know of a set of axes once it has decided for it.
void DeviceTrialPricer::add_all_ways(std::uint32_t mask, std::vector<Way>& ways) {
  const int axes = std::popcount(mask);
  for (int last = axes - 1; last >= 0; --last) {
    for (int p = 0; p < kPredictorCount; ++p) {
      const auto predictor = static_cast<Predictor>(p);
      const Way way = canonical(plan_with_last(mask, last), predictor);
      if (way.predictor == predictor && last_axis(way.plan) == last) ways.push_back(way);
    }
  }
}

// By which sets of axes are compared.
void DeviceTrialPricer::add_judging_ways(std::uint32_t mask, std::vector<Way>& ways) {
  const GridPlan plan = plan_with_last(mask, std::popcount(mask) - 1);
  for (const Predictor p :
       {Predictor::kLinearAveraged, Predictor::kCubicAveraged, Predictor::kLorenzo}) {
    ways.push_back(canonical(plan, p));
  }
}

std::vector<DeviceTrialPricer::Way> DeviceTrialPricer::first_ways() const {
  const Extents& extents = samples_.plan().windows().front();
  std::uint32_t all = 0;
  for (int d = 0; d < extents.rank(); ++d) all |= extents[d] > 1 ? 1U << d : 0;
  std::vector<Way> ways;
  if (all == 0) return ways;
  each_mask(all, std::min(std::popcount(all), kMaxCellRank),
            [&](std::uint32_t mask) { add_judging_ways(mask, ways); });
  return with_likely(ways);
}

// What is asked for and what may follow from it: all about these axes, and the judgement of one
// axis less.
std::vector<DeviceTrialPricer::Way> DeviceTrialPricer::with_likely(
    const std::vector<Way>& asked) const {
  std::vector<Way> candidates;
  const auto each_asked = [&](const auto& fn) {
    std::uint32_t previous = 0;
    for (const Way& way : asked) {
      if (way.plan.active_mask != previous) fn(way.plan.active_mask);
      previous = way.plan.active_mask;
    }
  };
  each_asked([&](std::uint32_t mask) { add_all_ways(mask, candidates); });
  each_asked([&](std::uint32_t mask) {
    each_mask(mask, std::popcount(mask) - 1,
              [&](std::uint32_t less) { add_judging_ways(less, candidates); });
  });
  std::vector<Way> ways;
  std::map<Key, int> seen;
  for (const Way& way : candidates) {
    if (prices_.contains(key_of(way)) || !seen.try_emplace(key_of(way)).second) continue;
    ways.push_back(way);
  }
  return ways.size() <= kMostLikelyWays ? ways : asked;
}

void DeviceTrialPricer::launch(std::vector<Way> ways) {
  if (ways.empty()) return;
  std::stable_sort(ways.begin(), ways.end(), [](const Way& a, const Way& b) {
    return std::popcount(a.plan.active_mask) < std::popcount(b.plan.active_mask);
  });
  // The palette, the ways, the tiles of each set of axes: one upload.
  std::vector<device::TrialWay> told;
  std::vector<device::TrialTile> tiles;
  std::map<std::uint32_t, int> first_tile;
  int price_count = 0;
  for (const Way& way : ways) {
    const DeviceSamples::Cut& cut = samples_.cut(way.plan.active_mask);
    const auto [at, is_new] =
        first_tile.try_emplace(way.plan.active_mask, static_cast<int>(tiles.size()));
    if (is_new) tiles.insert(tiles.end(), cut.tiles.begin(), cut.tiles.end());
    device::TrialWay t{};
    for (int k = 0; k < cut.axes; ++k) {
      t.strides[k] = cut.strides[k];
      t.order[k] = way.plan.order[static_cast<std::size_t>(k)];
    }
    t.predictor = static_cast<int>(way.predictor);
    t.first_tile = at->second;
    t.tile_count = static_cast<int>(cut.tiles.size());
    t.first_price = price_count;
    price_count += t.tile_count;
    told.push_back(t);
  }
  const std::int64_t palette_bytes = static_cast<std::int64_t>(map_.palette.size() * 8);
  const auto ways_bytes = static_cast<std::int64_t>(told.size() * sizeof(told[0]));
  const auto tiles_bytes = static_cast<std::int64_t>(tiles.size() * sizeof(tiles[0]));
  const std::int64_t upload = palette_bytes + ways_bytes + tiles_bytes;
  const std::int64_t download = price_count * std::int64_t{sizeof(device::TrialPrice)};
  const Stream& stream = session_.stream();
  auto* host = memory_.host.get<std::byte>(upload + download, stream.device());
  const auto put = [](std::byte* to, const void* from, std::int64_t size) {
    if (size > 0) std::memcpy(to, from, static_cast<std::size_t>(size));
  };
  put(host, map_.palette.data(), palette_bytes);
  put(host + palette_bytes, told.data(), ways_bytes);
  put(host + palette_bytes + ways_bytes, tiles.data(), tiles_bytes);
  memory_.device.reset(gpu::Workspace::bytes<std::byte>(upload) +
                       gpu::Workspace::bytes<device::TrialPrice>(price_count));
  auto* on_device = memory_.device.take<std::byte>(upload);
  auto* prices = memory_.device.take<device::TrialPrice>(price_count);
  copy_bytes(on_device, host, upload, stream);

  const int lattice_bytes = map_.wide ? 8 : 4;
  device::TrialArgs args{};
  args.lattice = lattice_args(map_, lattice_bytes, reinterpret_cast<const double*>(on_device));
  args.source = field_.data;
  args.coder = coder_of(mode_);
  args.tiles = reinterpret_cast<const device::TrialTile*>(on_device + palette_bytes + ways_bytes);
  args.prices = prices;
  const auto* all = reinterpret_cast<const device::TrialWay*>(on_device + palette_bytes);
  for (std::size_t begin = 0, end = 0; begin < ways.size(); begin = end) {
    const int axes = std::popcount(ways[begin].plan.active_mask);
    std::int64_t most_tiles = 0;
    for (; end < ways.size() && std::popcount(ways[end].plan.active_mask) == axes; ++end) {
      most_tiles = std::max<std::int64_t>(most_tiles, told[end].tile_count);
    }
    args.ways = all + begin;
    args.way_count = static_cast<int>(end - begin);
    trial_kernel(stream.device(), axes, field_.value_bytes, lattice_bytes, "price_trials")
        .launch(stream, trial_shape(most_tiles, args.way_count, axes, lattice_bytes), args);
  }
  copy_bytes(host + upload, prices, download, stream);
  arriving_ = reinterpret_cast<const device::TrialPrice*>(host + upload);
  in_flight_ = std::move(ways);
}

void DeviceTrialPricer::collect() {
  if (in_flight_.empty()) return;
  session_.wait();
  const device::TrialPrice* next = arriving_;
  for (const Way& way : in_flight_) {
    Price price;
    const std::size_t tiles = samples_.cut(way.plan.active_mask).tiles.size();
    for (std::size_t i = 0; i < tiles; ++i, ++next) {
      price.codes += static_cast<std::int64_t>(next->codes);
      price.tile_bits.push_back(static_cast<double>(next->bits));
      price.bits += price.tile_bits.back();
    }
    prices_[key_of(way)] = std::move(price);
  }
  in_flight_.clear();
}

void DeviceTrialPricer::price(std::vector<Trial>& trials) {
  collect();
  std::vector<Way> missing;
  for (const Trial& t : trials) {
    const Way way = canonical(t.plan, t.predictor);
    if (!prices_.contains(key_of(way))) missing.push_back(way);
  }
  if (!missing.empty()) {
    launch(with_likely(missing));
    collect();
  }
  for (Trial& t : trials) {
    const Price& price = prices_.at(key_of(canonical(t.plan, t.predictor)));
    t.codes = price.codes;
    t.bits = price.bits;
    t.tile_bits = price.tile_bits;
    t.pricer = std::make_shared<CodePricer>(mode_);
  }
}

void choose_predictors_on_device(const TrialField& field, const DeviceGridCodec& codec, Mode mode,
                                 const std::vector<RankedPredictor>& ranking,
                                 unsigned char* predictors, TrialMemory& memory,
                                 DeviceSession& session) {
  const Stream& stream = session.stream();
  const auto count = static_cast<std::int64_t>(ranking.size());
  const std::int64_t size = count * std::int64_t{sizeof(device::TrialWay)};
  auto* ways = memory.host.get<device::TrialWay>(count, stream.device());
  for (std::size_t i = 0; i < ranking.size(); ++i) {
    ways[i] = {};
    ways[i].predictor = static_cast<int>(ranking[i].predictor);
  }
  memory.device.reset(gpu::Workspace::bytes<device::TrialWay>(count));
  auto* on_device = memory.device.take<device::TrialWay>(count);
  copy_bytes(on_device, ways, size, stream);
  device::TrialArgs args{};
  args.lattice = codec.lattice();
  args.source = field.data;
  args.coder = coder_of(mode);
  args.way_count = static_cast<int>(count);
  args.ways = on_device;
  args.grid = codec.grid().args();
  args.sliced = mode == Mode::kRatio ? 0 : 1;
  args.predictors = predictors;
  const int axes = codec.grid().axes();
  const int lattice_bytes = codec.lattice_bytes();
  trial_kernel(stream.device(), axes, field.value_bytes, lattice_bytes, "choose_predictors")
      .launch(stream, trial_shape(codec.grid().tile_count(), 1, axes, lattice_bytes), args);
}

}  // namespace tamis::reduce
