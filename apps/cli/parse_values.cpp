// Parsers of command-line values. Each takes the whole text or fails: "12abc" is never 12.
#include "parse_values.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "failure.hpp"

namespace tamis::cli {
namespace {

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || end != text.data() + text.size() || text.empty()) return {};
  return value;
}

std::optional<double> parse_real(const std::string& text) {
  // strtod takes leading blanks and hexadecimal; blanks are refused here because they come from
  // a quoting mistake, not from a wish.
  if (text.empty() || std::isspace(static_cast<unsigned char>(text.front()))) return {};
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (end != text.c_str() + text.size()) return {};
  return value;
}

struct Range {
  std::int64_t first;
  std::int64_t last;  // exclusive
};

Range parse_range(const std::string& text, std::int64_t size, const std::string& whole, int d) {
  const std::string where =
      "--box " + whole + ": dimension " + std::to_string(d) + " (\"" + text + "\"): ";
  const auto resolve = [&](const std::string& part, std::int64_t otherwise) {
    if (part.empty()) return otherwise;
    const auto value = parse_integer(part);
    if (!value) reject(where + "expected FIRST:LAST, an index or \":\"");
    return *value < 0 ? *value + size : *value;
  };
  const std::vector<std::string> parts = split_text(text, ':');
  if (parts.size() > 2) reject(where + "steps are not supported, expected FIRST:LAST");
  if (parts.size() == 1) {
    if (text.empty()) reject(where + "expected FIRST:LAST, an index or \":\"");
    const std::int64_t index = resolve(parts[0], 0);
    if (index < 0 || index >= size) {
      reject(where + "index outside 0.." + std::to_string(size - 1) +
             " (negative ones count from the end)");
    }
    return {index, index + 1};
  }
  const Range range{resolve(parts[0], 0), resolve(parts[1], size)};
  if (range.first < 0 || range.last > size || range.first >= range.last) {
    reject(where + "expected 0 <= FIRST < LAST <= " + std::to_string(size) +
           " once negative ones are counted from the end");
  }
  return range;
}

}  // namespace

std::vector<std::string> split_text(std::string_view text, char separator) {
  std::vector<std::string> parts;
  std::size_t start = 0;
  for (std::size_t at = text.find(separator); at != std::string_view::npos;
       at = text.find(separator, start)) {
    parts.emplace_back(text.substr(start, at - start));
    start = at + 1;
  }
  parts.emplace_back(text.substr(start));
  return parts;
}

Extents parse_shape(const std::string& text) {
  const bool commas = text.find(',') != std::string::npos;
  const std::string expected =
      "--shape \"" + text + "\": expected sizes like 100x200x300, the slowest dimension first";
  std::vector<std::int64_t> sizes;
  for (const std::string& part : split_text(lower_case(text), commas ? ',' : 'x')) {
    const auto size = parse_integer(part);
    if (!size || *size < 0) reject(expected);
    sizes.push_back(*size);
  }
  if (sizes.size() > static_cast<std::size_t>(kMaxRank)) {
    reject("--shape \"" + text + "\": " + std::to_string(sizes.size()) + " dimensions, at most " +
           std::to_string(kMaxRank) + " are supported");
  }
  Extents shape(sizes);
  (void)shape.element_count();  // throws when the product is beyond any real field
  return shape;
}

DType parse_dtype(const std::string& text) {
  const std::string name = lower_case(text);
  if (name == "f32" || name == "float32" || name == "float") return DType::kF32;
  if (name == "f64" || name == "float64" || name == "double") return DType::kF64;
  reject("--dtype \"" + text + "\": expected f32 or f64");
}

reduce::Mode parse_mode(const std::string& text) {
  for (const auto mode : {reduce::Mode::kDefault, reduce::Mode::kRatio, reduce::Mode::kFast}) {
    if (text == reduce::mode_name(mode)) return mode;
  }
  reject("mode \"" + text + "\": expected default, ratio or fast");
}

double parse_number(const std::string& option, const std::string& text) {
  const auto value = parse_real(text);
  if (!value) reject(option + " \"" + text + "\": expected a number such as 1e-3");
  return *value;
}

std::vector<double> parse_number_list(const std::string& option, const std::string& text) {
  std::vector<double> values;
  for (const std::string& part : split_text(text, ',')) {
    values.push_back(parse_number(option, part));
  }
  return values;
}

std::int64_t parse_byte_size(const std::string& option, const std::string& text) {
  const std::string expected =
      option + " \"" + text + "\": expected a size in bytes such as 2000000, 512M or 1.5G";
  std::string digits = lower_case(text);
  for (const char* tail : {"ib", "b"}) {
    if (digits.size() > 1 && digits.ends_with(tail)) {
      digits.resize(digits.size() - std::string_view(tail).size());
      break;
    }
  }
  double factor = 1.0;
  constexpr std::string_view kSuffixes = "kmgtp";
  if (!digits.empty()) {
    const std::size_t power = kSuffixes.find(digits.back());
    if (power != std::string_view::npos) {
      factor = std::ldexp(1.0, 10 * (static_cast<int>(power) + 1));
      digits.pop_back();
    }
  }
  const auto value = parse_real(digits);
  if (!value || !(*value > 0.0) || *value * factor >= 0x1p62 || *value * factor < 1.0) {
    reject(expected);
  }
  return static_cast<std::int64_t>(*value * factor);
}

reduce::Box parse_box(const std::string& text, const Extents& shape) {
  const std::vector<std::string> parts = split_text(text, ',');
  if (static_cast<int>(parts.size()) != shape.rank()) {
    reject("--box \"" + text + "\": " + std::to_string(parts.size()) + " ranges given, the field " +
           shape.to_string() + " needs " + std::to_string(shape.rank()) +
           " (slowest first, \":\" for all of a dimension)");
  }
  reduce::Box box{Extents::filled(shape.rank(), 0), Extents::filled(shape.rank(), 0)};
  for (int d = 0; d < shape.rank(); ++d) {
    const std::string& part = parts[static_cast<std::size_t>(d)];
    // ":" is all of a dimension even where its size is zero.
    const Range range = part == ":" ? Range{0, shape[d]} : parse_range(part, shape[d], text, d);
    box.origin[d] = range.first;
    box.extent[d] = range.last - range.first;
  }
  return box;
}

}  // namespace tamis::cli
