// Spaces of configurations. A constraint is judged as soon as the last parameter that it reads has
// a value, so enumeration leaves a branch at the first value that cannot be.
#include <algorithm>
#include <cctype>
#include <set>

#include "tamis/tunable.hpp"

namespace tamis {

namespace {

bool is_identifier(std::string_view name) {
  const auto is_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0 &&
         std::all_of(name.begin(), name.end(), is_word);
}

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorCode::kInvalidArgument, what);
}

void check_name(const std::string& name, std::set<std::string>& names) {
  if (!is_identifier(name)) refuse("'" + name + "' is no name of a feature or parameter");
  if (!names.insert(name).second) refuse("two features or parameters named '" + name + "'");
}

void check_param(const Param& param) {
  const std::string who = "parameter " + param.name;
  if (param.values.empty()) refuse(who + " has no values");
  if (std::set(param.values.begin(), param.values.end()).size() != param.values.size()) {
    refuse(who + " has a value twice");
  }
  if (!param.labels.empty() && param.labels.size() != param.values.size()) {
    refuse(who + " has " + std::to_string(param.labels.size()) + " labels for " +
           std::to_string(param.values.size()) + " values");
  }
}

bool is_legal(const Param& param, std::int64_t value) {
  return std::find(param.values.begin(), param.values.end(), value) != param.values.end();
}

std::string value_text(const Param& param, std::int64_t value) {
  const auto at = std::find(param.values.begin(), param.values.end(), value);
  if (param.labels.empty() || at == param.values.end()) return std::to_string(value);
  return param.labels[static_cast<std::size_t>(at - param.values.begin())];
}

}  // namespace

Space::Space(std::vector<std::string> features, std::vector<Param> params,
             std::vector<Constraint> constraints)
    : features_(std::move(features)),
      params_(std::move(params)),
      constraints_(std::move(constraints)) {
  std::set<std::string> names;
  for (const std::string& name : features_) check_name(name, names);
  for (const Param& param : params_) {
    check_name(param.name, names);
    check_param(param);
  }
  decisions_.resize(params_.size() + 1);
  for (std::size_t i = 0; i < constraints_.size(); ++i) {
    const Constraint& c = constraints_[i];
    if (!c.holds) refuse("constraint '" + c.name + "' has no predicate");
    Reading reading;
    for (const std::string& name : c.reads) {
      const auto feature = std::find(features_.begin(), features_.end(), name);
      const int param = index_of(name);
      if (feature == features_.end() && param < 0) {
        refuse("constraint '" + c.name + "' reads '" + name +
               "', which is neither a feature nor a parameter");
      }
      const auto before = static_cast<int>(features_.size());
      reading.slots.push_back(param >= 0 ? before + param
                                         : static_cast<int>(feature - features_.begin()));
      reading.decided_by = std::max(reading.decided_by, param);
    }
    decisions_[static_cast<std::size_t>(reading.decided_by + 1)].push_back(i);
    readings_.push_back(std::move(reading));
  }
}

int Space::index_of(std::string_view param) const noexcept {
  const auto at =
      std::find_if(params_.begin(), params_.end(), [&](const Param& p) { return p.name == param; });
  return at == params_.end() ? -1 : static_cast<int>(at - params_.begin());
}

std::int64_t Space::combination_count() const noexcept {
  std::int64_t count = 1;
  for (const Param& param : params_) {
    if (__builtin_mul_overflow(count, static_cast<std::int64_t>(param.values.size()), &count)) {
      return INT64_MAX;
    }
  }
  return count;
}

void Space::check_problem(const Problem& problem) const {
  if (problem.size() == features_.size()) return;
  refuse("a problem of " + std::to_string(problem.size()) + " features; expected " +
         std::to_string(features_.size()));
}

bool Space::holds(std::size_t constraint, const Problem& problem,
                  std::span<const std::int64_t> values) const {
  const std::vector<int>& slots = readings_[constraint].slots;
  const auto features = static_cast<int>(features_.size());
  std::vector<std::int64_t> read(slots.size());
  for (std::size_t i = 0; i < slots.size(); ++i) {
    read[i] = slots[i] < features ? problem[static_cast<std::size_t>(slots[i])]
                                  : values[static_cast<std::size_t>(slots[i] - features)];
  }
  return constraints_[constraint].holds(read);
}

// The constraints that a parameter decides; -1: those that the problem alone does.
bool Space::step_holds(int param, const Problem& problem,
                       std::span<const std::int64_t> values) const {
  const std::vector<std::size_t>& decided = decisions_[static_cast<std::size_t>(param + 1)];
  return std::all_of(decided.begin(), decided.end(),
                     [&](std::size_t c) { return holds(c, problem, values); });
}

std::string Space::why_invalid(const Problem& problem, const Config& config) const {
  check_problem(problem);
  if (config.size() != params_.size()) {
    return std::to_string(config.size()) + " values; expected " + std::to_string(params_.size());
  }
  for (std::size_t i = 0; i < params_.size(); ++i) {
    const Param& param = params_[i];
    if (is_legal(param, config[i])) continue;
    std::string legal;
    for (const std::int64_t value : param.values) {
      legal += (legal.empty() ? "" : ", ") + value_text(param, value);
    }
    return param.name + " = " + std::to_string(config[i]) + "; expected one of " + legal;
  }
  for (std::size_t c = 0; c < constraints_.size(); ++c) {
    if (holds(c, problem, config)) continue;
    std::string read;
    for (const std::string& name : constraints_[c].reads) {
      const int param = index_of(name);
      const auto feature = std::find(features_.begin(), features_.end(), name);
      const std::string value =
          param >= 0
              ? value_text(params_[static_cast<std::size_t>(param)],
                           config[static_cast<std::size_t>(param)])
              : std::to_string(problem[static_cast<std::size_t>(feature - features_.begin())]);
      read += (read.empty() ? "" : ", ") + name + " = " + value;
    }
    return read + ": " + constraints_[c].name;
  }
  return {};
}

bool Space::is_valid(const Problem& problem, const Config& config) const {
  check_problem(problem);
  if (config.size() != params_.size()) return false;
  for (std::size_t i = 0; i < params_.size(); ++i) {
    if (!is_legal(params_[i], config[i])) return false;
  }
  return prefix_holds(problem, config);
}

bool Space::prefix_holds(const Problem& problem, std::span<const std::int64_t> prefix) const {
  check_problem(problem);
  for (int p = -1; p < static_cast<int>(prefix.size()); ++p) {
    if (!step_holds(p, problem, prefix)) return false;
  }
  return true;
}

void Space::each_valid(const Problem& problem, const std::function<bool(const Config&)>& fn) const {
  check_problem(problem);
  if (!step_holds(-1, problem, {})) return;
  Config config(params_.size());
  const std::function<bool(std::size_t)> go_on = [&](std::size_t at) {
    if (at == params_.size()) return fn(config);
    for (const std::int64_t value : params_[at].values) {
      config[at] = value;
      if (step_holds(static_cast<int>(at), problem, config) && !go_on(at + 1)) return false;
    }
    return true;
  };
  go_on(0);
}

std::string Space::to_string(const Config& config) const {
  std::string text;
  for (std::size_t i = 0; i < std::min(config.size(), params_.size()); ++i) {
    text += (text.empty() ? "" : " ") + params_[i].name + "=" + value_text(params_[i], config[i]);
  }
  return text;
}

}  // namespace tamis
