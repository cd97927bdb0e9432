// Escaping and number formatting of the report.
#include "report_text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

namespace tamis::cli::report {
namespace {

constexpr const char* kMinus = "\u2212";
constexpr const char* kReplacement = "\uFFFD";

// Length of the well-formed UTF-8 sequence at the start of `text`, 0 when there is none.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  // Overlong forms, surrogates and values past U+10FFFF show in the second byte.
  const unsigned char second = byte(1);
  if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F)) return 0;
  if ((lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F)) return 0;
  return length;
}

std::string raised(int number) {
  static constexpr const char* kDigits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string out = number < 0 ? "⁻" : "";
  for (const char c : std::to_string(std::abs(number))) out += kDigits[c - '0'];
  return out;
}

std::string with_true_minus(std::string text) {
  if (!text.empty() && text[0] == '-') text.replace(0, 1, kMinus);
  return text;
}

void strip_trailing_zeros(std::string& text) {
  if (text.find('.') == std::string::npos) return;
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
}

}  // namespace

std::string html_escape(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 16);
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const char c = text[0];
    const bool control = static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
    if (length == 0 || control) {
      out += kReplacement;
    } else if (length > 1) {
      out += text.substr(0, length);
    } else if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else if (c == '\'') {
      out += "&#39;";
    } else {
      out += c;
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

void appendf(std::string& out, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  va_list again;
  va_copy(again, arguments);
  const int length = std::vsnprintf(nullptr, 0, format, arguments);
  va_end(arguments);
  if (length > 0) {
    const std::size_t start = out.size();
    out.resize(start + static_cast<std::size_t>(length) + 1);
    std::vsnprintf(out.data() + start, static_cast<std::size_t>(length) + 1, format, again);
    out.pop_back();
  }
  va_end(again);
}

std::string format_figure(double value, int digits) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? std::string(kMinus) + "∞" : "∞";
  if (value == 0.0) return "0";
  std::string text;
  appendf(text, "%.*e", digits - 1, value);
  const std::size_t mark = text.find('e');
  const int exponent = std::atoi(text.c_str() + mark + 1);
  if (exponent < -4 || exponent > 5) {
    text.resize(mark);
    return with_true_minus(text) + "×10" + raised(exponent);
  }
  text.clear();
  appendf(text, "%.*f", std::max(0, digits - 1 - exponent), value);
  return with_true_minus(text);
}

std::string format_value(double value, int digits) {
  std::string text = format_figure(value, digits);
  const std::size_t mark = std::min(text.find("×"), text.size());
  std::string number = text.substr(0, mark);
  strip_trailing_zeros(number);
  return number + text.substr(mark);
}

std::string format_quantity(double value, const std::string& units, int digits) {
  std::string out = format_value(value, digits);
  if (!units.empty()) out += "\u00A0" + html_escape(units);
  return out;
}

std::string format_fixed(double value, int decimals) {
  if (!std::isfinite(value)) return format_value(value);
  std::string text;
  appendf(text, "%.*f", decimals, value);
  // "-0.0" is an artefact of rounding, not a number to show.
  if (text[0] == '-' && text.find_first_of("123456789") == std::string::npos) text.erase(0, 1);
  return with_true_minus(text);
}

std::string format_power_of_ten(int exponent) { return "10" + raised(exponent); }

std::string format_count(std::int64_t count) {
  std::string text = std::to_string(count);
  const std::size_t first = count < 0 ? 1 : 0;
  for (std::size_t i = text.size(); i > first + 3;) {
    i -= 3;
    text.insert(i, ",");
  }
  return with_true_minus(text);
}

std::string format_bytes(double bytes) {
  static constexpr const char* kNames[] = {"bytes", "kB", "MB", "GB", "TB"};
  int name = 0;
  while (bytes >= 999.5 && name < 4) {
    bytes /= 1000.0;
    ++name;
  }
  std::string out;
  const int decimals = name == 0 || bytes >= 99.95 ? 0 : bytes >= 9.995 ? 1 : 2;
  appendf(out, "%.*f\u00A0%s", decimals, bytes, kNames[name]);
  return out;
}

std::string format_speed(double bytes, double seconds) {
  if (!(seconds > 0.0) || !std::isfinite(seconds)) return "–";
  return format_bytes(bytes / seconds) + "/s";
}

std::string format_share(double share) {
  if (!std::isfinite(share)) return "–";
  const double percent = 100.0 * share;
  if (percent == 0.0 || percent == 100.0) return format_fixed(percent, 0) + "\u00A0%";
  if (percent > 99.99 && percent < 100.0) return "over\u00A099.99\u00A0%";
  if (percent < 0.01 && percent > 0.0) return "under\u00A00.01\u00A0%";
  return format_fixed(percent, percent >= 99.9 || percent < 1.0 ? 2 : 1) + "\u00A0%";
}

std::string format_index(std::int64_t linear, const Extents& shape) {
  if (linear < 0) return "";
  std::string text;
  for (int d = shape.rank() - 1; d >= 0; --d) {
    text = std::to_string(linear % shape[d]) + (text.empty() ? "" : ", ") + text;
    linear /= shape[d];
  }
  return "(" + text + ")";
}

std::string format_bound_share(double share) {
  if (!std::isfinite(share)) return format_value(share);
  return format_fixed(std::trunc(share * 1000.0 * (1.0 + 1e-12)) / 10.0, 1);
}

std::string format_exact(double value) {
  char buffer[64];
  const auto result = std::to_chars(buffer, buffer + sizeof(buffer), value);
  return std::string(buffer, result.ptr);
}

}  // namespace tamis::cli::report
