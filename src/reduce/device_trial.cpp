// A launch for each number of axes, one copy back. See reduce/device/trial_cells.cu.
#include "reduce/device_trial.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "gpu/kernel.hpp"
#include "reduce/device/trial_memory.hpp"
#include "reduce/device_lattice.hpp"
#include "reduce/device_tunables.hpp"

namespace tamis::reduce {

namespace {

constexpr std::int64_t kTileNodes = 4096;  // of a whole tile, whatever its shape

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

// How and on how much a trial kernel runs.
struct TrialLaunch {
  CodecFamily family;
  const char* entry;
  int axes;
  int value_bytes;
  int lattice_bytes;
  std::int64_t tiles;
  std::int64_t ways;
  int shared_bytes;
};

void launch_trial(const Stream& stream, const TrialLaunch& trial, const device::TrialArgs& args) {
  CodecVariant variant;
  variant.axes = trial.axes;
  variant.value_bytes = trial.value_bytes;
  variant.lattice_bytes = trial.lattice_bytes;
  choose_launches(variant, stream.device().info().name, trial.tiles * kTileNodes);
  gpu::get_kernel(stream.device(), codec_source(trial.family), codec_config(trial.family, variant),
                  trial.entry)
      .launch(
          stream,
          {{trial.tiles, trial.ways}, {block_threads(trial.family, variant)}, trial.shared_bytes},
          args);
}

// Of blocks that price by codes without tables, and of those that learn tables.
template <int kAxes>
int price_bytes(int lattice_bytes) {
  using Sizes = device::TrialSizes<kAxes>;
  return lattice_bytes == 4 ? Sizes::template kBytes<4> : Sizes::template kBytes<8>;
}
template <int kAxes>
int learn_bytes(int lattice_bytes) {
  using Sizes = device::TrialSizes<kAxes>;
  return lattice_bytes == 4 ? Sizes::template kLearnBytes<4> : Sizes::template kLearnBytes<8>;
}
int price_bytes(int axes, int lattice_bytes) {
  return axes == 1   ? price_bytes<1>(lattice_bytes)
         : axes == 2 ? price_bytes<2>(lattice_bytes)
                     : price_bytes<3>(lattice_bytes);
}
int learn_bytes(int axes, int lattice_bytes) {
  return axes == 1   ? learn_bytes<1>(lattice_bytes)
         : axes == 2 ? learn_bytes<2>(lattice_bytes)
                     : learn_bytes<3>(lattice_bytes);
}

// Numbers of a table of tokens, and tokens of a context.
std::int64_t table_size(int lattice_bytes) {
  using Sizes = device::TrialSizes<1>;
  return lattice_bytes == 4 ? Sizes::kTableSize<4> : Sizes::kTableSize<8>;
}
int table_tokens(int lattice_bytes) {
  return static_cast<int>(table_size(lattice_bytes)) / codec::kRansContexts;
}

// Adds the prices of a pricer.
void add_table(const CodePricer& pricer, int lattice_bytes, std::vector<std::uint32_t>& tables) {
  const std::size_t at = tables.size();
  tables.resize(at + static_cast<std::size_t>(table_size(lattice_bytes)));
  pricer.write_prices(tables.data() + at, table_tokens(lattice_bytes));
}

void put(std::byte* to, const void* from, std::int64_t size) {
  if (size > 0) std::memcpy(to, from, static_cast<std::size_t>(size));
}

template <typename E>
std::int64_t bytes_of(const std::vector<E>& v) {
  return static_cast<std::int64_t>(v.size() * sizeof(E));
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
  start(mode_ == Mode::kRatio ? Task::kLearn : Task::kPrice, ways, {});
  in_flight_ = std::move(ways);
}

// Results go to arriving_: of each way in turn, prices of its tiles, or a table of counts.
void DeviceTrialPricer::start(Task task, const std::vector<Way>& ways,
                              const std::vector<std::uint32_t>& tables) {
  // The palette, the ways, the tiles of each set of axes, tables: one upload.
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
  const int lattice_bytes = map_.wide ? 8 : 4;
  const std::int64_t table = table_size(lattice_bytes);
  const std::int64_t ways_at = bytes_of(map_.palette);
  const std::int64_t tiles_at = ways_at + bytes_of(told);
  const std::int64_t tables_at = tiles_at + bytes_of(tiles);
  const std::int64_t upload = tables_at + bytes_of(tables);
  const std::int64_t download = task == Task::kLearn
                                    ? static_cast<std::int64_t>(ways.size()) * table * 4
                                    : price_count * std::int64_t{sizeof(device::TrialPrice)};
  const Stream& stream = session_.stream();
  auto* host = memory_.host.get<std::byte>(upload + download, stream.device());
  put(host, map_.palette.data(), ways_at);
  put(host + ways_at, told.data(), bytes_of(told));
  put(host + tiles_at, tiles.data(), bytes_of(tiles));
  put(host + tables_at, tables.data(), bytes_of(tables));
  memory_.device.reset(gpu::Workspace::bytes<std::byte>(upload) +
                       gpu::Workspace::bytes<std::byte>(download));
  auto* on_device = memory_.device.take<std::byte>(upload);
  auto* results = memory_.device.take<std::byte>(download);
  copy_bytes(on_device, host, upload, stream);
  if (task == Task::kLearn) fill_bytes(results, 0, download, stream);

  device::TrialArgs args{};
  args.lattice = lattice_args(map_, lattice_bytes, reinterpret_cast<const double*>(on_device));
  args.source = field_.data;
  args.coder = coder_of(mode_);
  args.tiles = reinterpret_cast<const device::TrialTile*>(on_device + tiles_at);
  const auto* all = reinterpret_cast<const device::TrialWay*>(on_device + ways_at);
  const CodecFamily family =
      task == Task::kPrice ? CodecFamily::kTrialCells : CodecFamily::kCodedTrials;
  const char* entry = task == Task::kPrice   ? "price_trials"
                      : task == Task::kLearn ? "learn_trials"
                                             : "price_coded_trials";
  for (std::size_t begin = 0, end = 0; begin < ways.size(); begin = end) {
    const int axes = std::popcount(ways[begin].plan.active_mask);
    std::int64_t most_tiles = 0;
    for (; end < ways.size() && std::popcount(ways[end].plan.active_mask) == axes; ++end) {
      most_tiles = std::max<std::int64_t>(most_tiles, told[end].tile_count);
    }
    args.ways = all + begin;
    args.way_count = static_cast<int>(end - begin);
    const std::int64_t first = static_cast<std::int64_t>(begin) * table;
    args.prices = reinterpret_cast<device::TrialPrice*>(results);
    args.counts = reinterpret_cast<unsigned*>(results) + first;
    args.tables = reinterpret_cast<const unsigned*>(on_device + tables_at) + first;
    const int shared = task == Task::kPrice   ? price_bytes(axes, lattice_bytes)
                       : task == Task::kLearn ? learn_bytes(axes, lattice_bytes)
                                              : 0;
    launch_trial(stream,
                 {family, entry, axes, field_.value_bytes, lattice_bytes, most_tiles,
                  args.way_count, shared},
                 args);
  }
  copy_bytes(host + upload, results, download, stream);
  arriving_ = host + upload;
}

void DeviceTrialPricer::collect() {
  if (in_flight_.empty()) return;
  session_.wait();
  const int lattice_bytes = map_.wide ? 8 : 4;
  const auto* next = reinterpret_cast<const device::TrialPrice*>(arriving_);
  const auto* counts = reinterpret_cast<const std::uint32_t*>(arriving_);
  for (const Way& way : in_flight_) {
    Price price;
    price.pricer = std::make_shared<CodePricer>(mode_);
    const std::size_t tiles = samples_.cut(way.plan.active_mask).tiles.size();
    if (price.pricer->wants_contexts()) {
      price.pricer->learn_counts(counts, table_tokens(lattice_bytes));
      price.codes = price.pricer->learned_codes();
      counts += table_size(lattice_bytes);
    } else {
      for (std::size_t i = 0; i < tiles; ++i, ++next) {
        price.codes += static_cast<std::int64_t>(next->codes);
        price.tile_bits.push_back(static_cast<double>(next->bits));
        price.bits += price.tile_bits.back();
      }
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
    t.bits = price.pricer->wants_contexts() ? price.pricer->learned_bits() : price.bits;
    t.tile_bits = price.tile_bits;
    t.pricer = price.pricer;
  }
}

void DeviceTrialPricer::price_frozen(std::span<Trial* const> trials) {
  collect();
  std::vector<Way> ways;
  std::vector<std::uint32_t> tables;
  for (const Trial* t : trials) {
    ways.push_back(canonical(t->plan, t->predictor));
    add_table(*t->pricer, map_.wide ? 8 : 4, tables);
  }
  start(Task::kPriceByTables, ways, tables);
  session_.wait();
  const auto* next = reinterpret_cast<const device::TrialPrice*>(arriving_);
  for (Trial* t : trials) {
    t->tile_bits.clear();
    const std::size_t tiles = samples_.cut(t->plan.active_mask).tiles.size();
    for (std::size_t i = 0; i < tiles; ++i, ++next) {
      t->tile_bits.push_back(static_cast<double>(next->bits) / 65536);
    }
  }
}

void choose_predictors_on_device(const TrialField& field, const DeviceGridCodec& codec, Mode mode,
                                 const std::vector<RankedPredictor>& ranking,
                                 unsigned char* predictors, TrialMemory& memory,
                                 DeviceSession& session) {
  const Stream& stream = session.stream();
  const bool coded = mode == Mode::kRatio;
  const int axes = codec.grid().axes();
  const int lattice_bytes = codec.lattice_bytes();
  std::vector<device::TrialWay> ways(ranking.size());
  std::vector<std::uint32_t> tables;
  for (std::size_t i = 0; i < ranking.size(); ++i) {
    ways[i].predictor = static_cast<int>(ranking[i].predictor);
    if (coded) add_table(*ranking[i].pricer, lattice_bytes, tables);
  }
  const std::int64_t tables_at = bytes_of(ways);
  const std::int64_t upload = tables_at + bytes_of(tables);
  auto* host = memory.host.get<std::byte>(upload, stream.device());
  put(host, ways.data(), tables_at);
  put(host + tables_at, tables.data(), bytes_of(tables));
  memory.device.reset(gpu::Workspace::bytes<std::byte>(upload));
  auto* on_device = memory.device.take<std::byte>(upload);
  copy_bytes(on_device, host, upload, stream);
  device::TrialArgs args{};
  args.lattice = codec.lattice();
  args.source = field.data;
  args.coder = coder_of(mode);
  args.way_count = static_cast<int>(ways.size());
  args.ways = reinterpret_cast<const device::TrialWay*>(on_device);
  args.tables = reinterpret_cast<const unsigned*>(on_device + tables_at);
  args.grid = codec.grid().args();
  args.sliced = coded ? 0 : 1;
  args.predictors = predictors;
  const CodecFamily family = coded ? CodecFamily::kCodedTrials : CodecFamily::kTrialCells;
  launch_trial(
      stream,
      {family, coded ? "choose_coded_predictors" : "choose_predictors", axes, field.value_bytes,
       lattice_bytes, codec.grid().tile_count(), 1, coded ? 0 : price_bytes(axes, lattice_bytes)},
      args);
}

}  // namespace tamis::reduce
