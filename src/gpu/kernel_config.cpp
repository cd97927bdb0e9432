// KernelConfig: a short sorted list beats any map at the sizes there are.
#include "gpu/kernel_config.hpp"

#include <algorithm>
#include <cctype>
#include <span>

#include "core/checksum.hpp"
#include "tamis/error.hpp"

namespace tamis::gpu {
namespace {

bool is_identifier(std::string_view name) {
  const auto is_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0 &&
         std::all_of(name.begin(), name.end(), is_word);
}

std::uint64_t hash_text(std::string_view text) {
  return xxh3_64(std::as_bytes(std::span(text.data(), text.size())));
}

}  // namespace

KernelConfig& KernelConfig::set(std::string_view name, std::string_view value) {
  if (!is_identifier(name)) {
    throw Error(ErrorCode::kInvalidArgument,
                "no name of a macro: '" + std::string(name) + "'; expected an identifier");
  }
  if (value.find_first_of("\r\n") != std::string_view::npos) {
    throw Error(ErrorCode::kInvalidArgument,
                "the value of " + std::string(name) + " has a line break");
  }
  const auto at = std::lower_bound(entries_.begin(), entries_.end(), name,
                                   [](const Entry& e, std::string_view n) { return e.first < n; });
  if (at != entries_.end() && at->first == name) {
    at->second = value;
  } else {
    entries_.emplace(at, name, value);
  }
  return *this;
}

KernelConfig& KernelConfig::set(std::string_view name, std::int64_t value) {
  return set(name, std::string_view(std::to_string(value)));
}

std::uint64_t KernelConfig::hash() const noexcept {
  std::uint64_t hash = entries_.size();
  for (const auto& [name, value] : entries_) {
    // An odd multiplier between the parts keeps their order significant.
    hash = (hash ^ hash_text(name)) * 0x9e3779b97f4a7c15u;
    hash = (hash ^ hash_text(value)) * 0x9e3779b97f4a7c15u;
  }
  return hash ^ (hash >> 32);
}

std::string KernelConfig::to_string() const {
  std::string text;
  for (const auto& [name, value] : entries_) {
    text += (text.empty() ? "" : " ") + name + "=" + value;
  }
  return text;
}

}  // namespace tamis::gpu
