// Typed, range-checked access to fields of a container's CBOR meta data. nlohmann::json converts
// silently (3.7 to 3, -1 to 2^64 - 1) and throws its own types; these throw Error(kCorrupt) only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

namespace tamis {

/// Decodes one CBOR value that fills `bytes`, at most `max_depth` arrays and maps deep. The error
/// names `what`.
nlohmann::json decode_cbor(std::span<const std::byte> bytes, int max_depth, const char* what);

/// Throws Error(kUnsupported) when `value` is nested more than `max_depth` deep.
std::vector<std::byte> encode_cbor(const nlohmann::json& value, int max_depth);

// `object` must be a map with `key`; the value must have the type and lie in the range.
const nlohmann::json& meta_field(const nlohmann::json& object, const char* key);
bool meta_has(const nlohmann::json& object, const char* key) noexcept;
std::int64_t meta_int(const nlohmann::json& object, const char* key,
                      std::int64_t min_value = std::numeric_limits<std::int64_t>::min(),
                      std::int64_t max_value = std::numeric_limits<std::int64_t>::max());
std::uint64_t meta_u64(const nlohmann::json& object, const char* key);
/// Integers are accepted too; NaN and infinities are not refused.
double meta_double(const nlohmann::json& object, const char* key);
bool meta_bool(const nlohmann::json& object, const char* key);
/// Refuses text that is not UTF-8, so that it can be printed and written as JSON.
std::string meta_string(const nlohmann::json& object, const char* key);
std::vector<std::int64_t> meta_int_list(const nlohmann::json& object, const char* key,
                                        std::size_t max_count, std::int64_t min_value,
                                        std::int64_t max_value);

}  // namespace tamis
