// The configuration of a kernel: names and values that its text sees as macros, sorted by name.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tamis::gpu {

class KernelConfig {
 public:
  using Entry = std::pair<std::string, std::string>;

  KernelConfig() = default;
  KernelConfig(std::initializer_list<std::pair<std::string_view, std::int64_t>> numbers) {
    for (const auto& [name, value] : numbers) set(name, value);
  }

  /// Adds or replaces. Throws Error(kInvalidArgument) for a name that is no identifier or a value
  /// with line breaks: both would change the meaning of the compiler's command line.
  KernelConfig& set(std::string_view name, std::string_view value);
  KernelConfig& set(std::string_view name, std::int64_t value);

  const std::vector<Entry>& entries() const noexcept { return entries_; }
  std::uint64_t hash() const noexcept;
  /// "TAMIS_ITEMS=8 TAMIS_THREADS=256"; empty for no entries.
  std::string to_string() const;
  bool operator==(const KernelConfig&) const = default;

 private:
  std::vector<Entry> entries_;
};

}  // namespace tamis::gpu
