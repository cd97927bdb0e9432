// Numbers and strings as the report prints them: escaped, with units, in typographic form (true
// minus, raised exponents). Everything returned here is UTF-8.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tamis/tensor.hpp"

namespace tamis::cli::report {

/// Safe inside an element or a quoted attribute. Control bytes and broken UTF-8 become U+FFFD.
std::string html_escape(std::string_view text);

/// printf onto the end of `out`.
void appendf(std::string& out, const char* format, ...) __attribute__((format(printf, 2, 3)));

/// `digits` significant digits; "1.23×10⁻²⁰" outside of 1e-4 .. 1e6; "NaN", "∞" and "−∞".
std::string format_value(double value, int digits = 4);
/// As format_value, but keeps trailing zeros: 9.30 beside 11.7 shows the same precision.
std::string format_figure(double value, int digits);
/// As format_value, followed by escaped units when there are any.
std::string format_quantity(double value, const std::string& units, int digits = 4);
/// Fixed decimals with a true minus.
std::string format_fixed(double value, int decimals);
/// "10⁻³".
std::string format_power_of_ten(int exponent);
/// "1,038,240".
std::string format_count(std::int64_t count);
/// "4.15 MB", decimal multiples.
std::string format_bytes(double bytes);
/// Bytes over seconds, e.g. "212 MB/s"; a dash when the time is not positive.
std::string format_speed(double bytes, double seconds);
/// A share of one in percent that never rounds to 0 or 100 unless it is exactly that.
std::string format_share(double share);
/// "721 × 1440", slowest first.
template <typename Sizes>
std::string format_shape(const Sizes& sizes) {
  std::string out;
  for (const std::int64_t size : sizes) {
    if (!out.empty()) out += " × ";
    out += std::to_string(size);
  }
  return out.empty() ? "scalar" : out;
}
/// A linear index as a tuple, slowest first: "(0, 12, 7)"; empty when it is negative.
std::string format_index(std::int64_t linear, const Extents& shape);
/// A share of the bound in percent, rounded towards zero: 99.98 % must not read as 100 %.
std::string format_bound_share(double share);
/// Shortest decimal text that reads back as the same double; for command lines.
std::string format_exact(double value);

}  // namespace tamis::cli::report
