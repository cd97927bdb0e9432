// What can be tuned about a kernel, as data: its problems, its parameters and which combinations of
// them are valid; and how a configuration is chosen for a problem. Kernels ask choose(); where its
// answers come from is the business of the ConfigSource that a program sets.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tamis/error.hpp"

namespace tamis {

/// A parameter and its legal values, each once. `labels` has a word for each value where the
/// numbers only count alternatives, and is empty otherwise.
struct Param {
  std::string name;  // an identifier
  std::vector<std::int64_t> values;
  std::vector<std::string> labels = {};
};

/// A condition on a problem and a configuration.
struct Constraint {
  std::string name;                // what must hold, for messages: "a wave divides the threads"
  std::vector<std::string> reads;  // features and parameters
  /// Gets the values of what it reads, in that order.
  std::function<bool(std::span<const std::int64_t>)> holds;
};

/// The values of a tunable's features, in their order.
using Problem = std::vector<std::int64_t>;
/// The values of a space's parameters, in their order.
using Config = std::vector<std::int64_t>;

/// Parameters in the order in which they are decided, and the constraints between them. Immutable.
class Space {
 public:
  Space() = default;
  /// Throws Error(kInvalidArgument) for names that are no identifiers or occur twice, parameters
  /// without a value or with one twice, labels of another number than the values, and constraints
  /// without a predicate or that read an unknown name.
  Space(std::vector<std::string> features, std::vector<Param> params,
        std::vector<Constraint> constraints = {});

  const std::vector<std::string>& features() const noexcept { return features_; }
  const std::vector<Param>& params() const noexcept { return params_; }
  const std::vector<Constraint>& constraints() const noexcept { return constraints_; }
  /// Position of a parameter; -1 when there is none of that name.
  int index_of(std::string_view param) const noexcept;
  /// Combinations of values, constraints aside; INT64_MAX when there are more.
  std::int64_t combination_count() const noexcept;

  /// Why it is not valid for the problem: "threads = 96; expected one of 64, 128", or "threads =
  /// 64, teams = 8: a wave divides a team"; empty when it is valid. Throws Error(kInvalidArgument)
  /// for a problem of another number of features.
  std::string why_invalid(const Problem& problem, const Config& config) const;
  bool is_valid(const Problem& problem, const Config& config) const;
  /// Whether the constraints that the first values decide all hold. The values must be legal ones.
  bool prefix_holds(const Problem& problem, std::span<const std::int64_t> prefix) const;
  /// Calls fn(configuration) for each valid one, in the order of values, the last parameter
  /// fastest, until it returns false.
  void each_valid(const Problem& problem, const std::function<bool(const Config&)>& fn) const;

  /// "threads=128 teams=4", with labels where there are any.
  std::string to_string(const Config& config) const;

 private:
  struct Reading {
    std::vector<int> slots;  // features, then parameters
    int decided_by = -1;     // the last parameter that it reads
  };
  bool holds(std::size_t constraint, const Problem& problem,
             std::span<const std::int64_t> values) const;
  bool step_holds(int param, const Problem& problem, std::span<const std::int64_t> values) const;
  void check_problem(const Problem& problem) const;

  std::vector<std::string> features_;
  std::vector<Param> params_;
  std::vector<Constraint> constraints_;
  std::vector<Reading> readings_;                    // one a constraint
  std::vector<std::vector<std::size_t>> decisions_;  // [parameter + 1]: constraints it decides
};

/// A kernel, or a family of kernels that share their parameters, that can be tuned.
struct Tunable {
  std::string id;    // "reduce.encode_cells"
  int revision = 1;  // raised with every change after which old measurements say nothing
  Space space;
  Config fallback;  // valid for every problem
};

/// Where a configuration came from, best first.
enum class ConfigOrigin : std::uint8_t {
  kOverride,   // the user said so
  kMeasured,   // best of those measured on this device for this problem
  kShipped,    // likewise, measured before by the makers
  kPredicted,  // by a model
  kNeighbour,  // that of a similar problem
  kFallback,   // the tunable's own
};

/// "override", "measured", "shipped", "predicted", "neighbour" or "fallback".
const char* config_origin_name(ConfigOrigin origin) noexcept;

struct ConfigChoice {
  Config config;
  ConfigOrigin origin = ConfigOrigin::kFallback;
};

/// Knows configurations. Called from any thread, once for each problem on each device.
class ConfigSource {
 public:
  virtual ~ConfigSource() = default;
  /// `device` is a name as DeviceInfo::name has it, or "cpu". Nothing when it knows none.
  virtual std::optional<ConfigChoice> find(const Tunable& tunable, const Problem& problem,
                                           std::string_view device) = 0;
};

/// Of the whole process; null for none, as at the start. What was chosen before is chosen anew.
void set_config_source(std::shared_ptr<ConfigSource> source);

/// The configuration for a problem: the override, else what the source knows, else the fallback;
/// remembered until source or overrides change. Throws Error(kInvalidArgument) when an override is
/// not valid for the problem; a source's answer that is not is passed over, and counted in
/// ChosenConfig::refused.
ConfigChoice choose(const Tunable& tunable, const Problem& problem, std::string_view device);

/// Makes choose() return `config` for a tunable, whatever the problem, while it lives; the latest
/// of several counts.
class ConfigOverride {
 public:
  ConfigOverride(std::string tunable_id, Config config);
  ~ConfigOverride();
  ConfigOverride(const ConfigOverride&) = delete;
  ConfigOverride& operator=(const ConfigOverride&) = delete;

 private:
  std::uint64_t number_;
};

/// A choice that was made in this process.
struct ChosenConfig {
  std::string tunable_id;
  Problem problem;
  std::string device;
  ConfigChoice choice;
  bool refused = false;  // the source's answer was not valid
};
/// All that are remembered, by tunable, device and problem.
std::vector<ChosenConfig> chosen_configs();

}  // namespace tamis
