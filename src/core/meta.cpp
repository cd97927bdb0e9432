// CBOR in and out, and typed fields. CBOR is read twice: a first pass that stores nothing refuses
// deep nesting, because the parser recurses once per level and hostile bytes could exhaust the
// stack.
#include "core/meta.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tamis/error.hpp"

namespace tamis {
namespace {

using nlohmann::json;

// Follows a parse without storing anything and stops it at a depth limit.
class DepthLimit : public nlohmann::json_sax<json> {
 public:
  explicit DepthLimit(int max_depth) : max_depth_(max_depth) {}
  bool exceeded() const { return exceeded_; }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return enter(); }
  bool key(string_t&) override { return true; }
  bool end_object() override { return leave(); }
  bool start_array(std::size_t) override { return enter(); }
  bool end_array() override { return leave(); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  bool enter() {
    exceeded_ = ++depth_ > max_depth_;
    return !exceeded_;
  }
  bool leave() {
    --depth_;
    return true;
  }

  int max_depth_;
  int depth_ = 0;
  bool exceeded_ = false;
};

[[noreturn]] void corrupt(const std::string& message) { throw Error(ErrorCode::kCorrupt, message); }

[[noreturn]] void wrong_type(const char* key, const json& value, const char* expected) {
  corrupt(std::string("field '") + key + "' is " + value.type_name() + ", expected " + expected);
}

// The value of a CBOR integer as int64, when it is one and fits.
bool to_int64(const json& value, std::int64_t& out) {
  if (!value.is_number_integer()) return false;
  if (value.is_number_unsigned()) {
    const auto magnitude = value.get<std::uint64_t>();
    if (magnitude > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      return false;
    }
  }
  out = value.get<std::int64_t>();
  return true;
}

std::int64_t checked_int(const json& value, const char* key, std::int64_t min_value,
                         std::int64_t max_value) {
  std::int64_t result = 0;
  if (!value.is_number_integer()) wrong_type(key, value, "an integer");
  if (!to_int64(value, result) || result < min_value || result > max_value) {
    corrupt(std::string("field '") + key + "' is " + value.dump() + ", expected " +
            std::to_string(min_value) + " to " + std::to_string(max_value));
  }
  return result;
}

int depth_of(const json& value, int limit) {
  if (!value.is_structured()) return 0;
  if (limit == 0) return 1;
  int deepest = 0;
  for (const json& child : value) deepest = std::max(deepest, depth_of(child, limit - 1));
  return deepest + 1;
}

}  // namespace

json decode_cbor(std::span<const std::byte> bytes, int max_depth, const char* what) {
  const auto* first = reinterpret_cast<const std::uint8_t*>(bytes.data());
  const auto* last = first + bytes.size();
  try {
    DepthLimit limit(max_depth);
    static_cast<void>(json::sax_parse(first, last, &limit, json::input_format_t::cbor));
    if (limit.exceeded()) {
      corrupt(std::string(what) + ": CBOR nested more than " + std::to_string(max_depth) + " deep");
    }
    return json::from_cbor(first, last);
  } catch (const nlohmann::json::exception& error) {
    corrupt(std::string(what) + ": invalid CBOR: " + error.what());
  }
}

std::vector<std::byte> encode_cbor(const json& value, int max_depth) {
  if (depth_of(value, max_depth) > max_depth) {
    throw Error(ErrorCode::kUnsupported,
                "meta data nested more than " + std::to_string(max_depth) + " deep");
  }
  const std::vector<std::uint8_t> cbor = json::to_cbor(value);
  const auto bytes = std::as_bytes(std::span(cbor));
  return {bytes.begin(), bytes.end()};
}

bool meta_has(const json& object, const char* key) noexcept {
  return object.is_object() && object.contains(key);
}

const json& meta_field(const json& object, const char* key) {
  if (!object.is_object()) {
    corrupt(std::string("field '") + key + "' looked up in " + object.type_name() +
            ", expected a map");
  }
  const auto found = object.find(key);
  if (found == object.end()) corrupt(std::string("field '") + key + "' is missing");
  return *found;
}

std::int64_t meta_int(const json& object, const char* key, std::int64_t min_value,
                      std::int64_t max_value) {
  return checked_int(meta_field(object, key), key, min_value, max_value);
}

std::uint64_t meta_u64(const json& object, const char* key) {
  const json& value = meta_field(object, key);
  if (!value.is_number_unsigned()) wrong_type(key, value, "a non-negative integer");
  return value.get<std::uint64_t>();
}

double meta_double(const json& object, const char* key) {
  const json& value = meta_field(object, key);
  if (!value.is_number()) wrong_type(key, value, "a number");
  return value.get<double>();
}

bool meta_bool(const json& object, const char* key) {
  const json& value = meta_field(object, key);
  if (!value.is_boolean()) wrong_type(key, value, "true or false");
  return value.get<bool>();
}

std::string meta_string(const json& object, const char* key) {
  const json& value = meta_field(object, key);
  if (!value.is_string()) wrong_type(key, value, "a string");
  try {
    static_cast<void>(value.dump());  // throws when the text is not UTF-8
  } catch (const json::exception&) {
    corrupt(std::string("field '") + key + "' is not valid UTF-8");
  }
  return value.get<std::string>();
}

std::vector<std::int64_t> meta_int_list(const json& object, const char* key, std::size_t max_count,
                                        std::int64_t min_value, std::int64_t max_value) {
  const json& value = meta_field(object, key);
  if (!value.is_array()) wrong_type(key, value, "an array");
  if (value.size() > max_count) {
    corrupt(std::string("field '") + key + "' has " + std::to_string(value.size()) +
            " entries, expected at most " + std::to_string(max_count));
  }
  std::vector<std::int64_t> result;
  result.reserve(value.size());
  for (const json& entry : value) result.push_back(checked_int(entry, key, min_value, max_value));
  return result;
}

}  // namespace tamis
