// Which configuration a kernel gets. Choices are remembered, so that asking again costs a look-up;
// each change of the source or of an override forgets them.
#include <map>
#include <mutex>
#include <shared_mutex>
#include <tuple>
#include <utility>

#include "tamis/tunable.hpp"

namespace tamis {

namespace {

using Key = std::tuple<std::string, std::string, Problem>;  // tunable, device, problem
// Looked up without copies.
using KeyView = std::tuple<std::string_view, std::string_view, const Problem&>;

struct KeyOrder {
  using is_transparent = void;
  template <typename A, typename B>
  bool operator()(const A& a, const B& b) const {
    return KeyView(std::get<0>(a), std::get<1>(a), std::get<2>(a)) <
           KeyView(std::get<0>(b), std::get<1>(b), std::get<2>(b));
  }
};

struct Remembered {
  ConfigChoice choice;
  bool refused = false;
};

struct Override {
  std::string tunable_id;
  Config config;
};

struct Choices {
  std::shared_mutex mutex;
  std::shared_ptr<ConfigSource> source;
  std::map<std::uint64_t, Override> overrides;  // by age
  std::uint64_t next_override = 0;
  std::uint64_t changes = 0;  // of source and overrides
  std::map<Key, Remembered, KeyOrder> remembered;
};

// Never destroyed: kernels may be launched while the process ends.
Choices& choices() {
  static auto* all = new Choices;
  return *all;
}

std::optional<Config> find_override(const Choices& all, const Tunable& tunable,
                                    const Problem& problem) {
  for (auto at = all.overrides.rbegin(); at != all.overrides.rend(); ++at) {
    const Override& given = at->second;
    if (given.tunable_id != tunable.id) continue;
    const std::string why = tunable.space.why_invalid(problem, given.config);
    if (!why.empty()) {
      throw Error(ErrorCode::kInvalidArgument,
                  "configuration given for " + tunable.id + ": " + why);
    }
    return given.config;
  }
  return std::nullopt;
}

Remembered ask(const std::shared_ptr<ConfigSource>& source, const Tunable& tunable,
               const Problem& problem, std::string_view device) {
  if (source) {
    if (std::optional<ConfigChoice> found = source->find(tunable, problem, device)) {
      if (tunable.space.is_valid(problem, found->config)) return {*std::move(found), false};
      return {{tunable.fallback, ConfigOrigin::kFallback}, true};
    }
  }
  return {{tunable.fallback, ConfigOrigin::kFallback}, false};
}

}  // namespace

const char* config_origin_name(ConfigOrigin origin) noexcept {
  switch (origin) {
    case ConfigOrigin::kOverride:
      return "override";
    case ConfigOrigin::kMeasured:
      return "measured";
    case ConfigOrigin::kShipped:
      return "shipped";
    case ConfigOrigin::kPredicted:
      return "predicted";
    case ConfigOrigin::kNeighbour:
      return "neighbour";
    case ConfigOrigin::kFallback:
      break;
  }
  return "fallback";
}

void set_config_source(std::shared_ptr<ConfigSource> source) {
  Choices& all = choices();
  const std::unique_lock lock(all.mutex);
  all.source.swap(source);
  all.remembered.clear();
  ++all.changes;
}

ConfigChoice choose(const Tunable& tunable, const Problem& problem, std::string_view device) {
  Choices& all = choices();
  const KeyView key(tunable.id, device, problem);
  std::shared_ptr<ConfigSource> source;
  std::optional<Config> given;
  std::uint64_t changes = 0;
  {
    const std::shared_lock lock(all.mutex);
    const auto at = all.remembered.find(key);
    if (at != all.remembered.end()) return at->second.choice;
    given = find_override(all, tunable, problem);
    source = all.source;
    changes = all.changes;
  }
  // Without the lock: a source may take its time, and may choose configurations itself.
  const Remembered found = given ? Remembered{{*std::move(given), ConfigOrigin::kOverride}, false}
                                 : ask(source, tunable, problem, device);
  const std::unique_lock lock(all.mutex);
  if (all.changes == changes) {
    all.remembered.insert_or_assign(Key(tunable.id, device, problem), found);
  }
  return found.choice;
}

ConfigOverride::ConfigOverride(std::string tunable_id, Config config) {
  Choices& all = choices();
  const std::unique_lock lock(all.mutex);
  number_ = all.next_override++;
  all.overrides.emplace(number_, Override{std::move(tunable_id), std::move(config)});
  all.remembered.clear();
  ++all.changes;
}

ConfigOverride::~ConfigOverride() {
  Choices& all = choices();
  const std::unique_lock lock(all.mutex);
  all.overrides.erase(number_);
  all.remembered.clear();
  ++all.changes;
}

std::vector<ChosenConfig> chosen_configs() {
  Choices& all = choices();
  const std::shared_lock lock(all.mutex);
  std::vector<ChosenConfig> list;
  for (const auto& [key, found] : all.remembered) {
    list.push_back(
        {std::get<0>(key), std::get<2>(key), std::get<1>(key), found.choice, found.refused});
  }
  return list;
}

}  // namespace tamis
