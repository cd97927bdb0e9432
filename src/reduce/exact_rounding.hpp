// What rounding did to a sum or a product of doubles: bounds and checks must not profit from it.
#pragma once

#include <cmath>

namespace tamis::reduce {

/// Exact value of (high - low) minus its rounded value. Two-sum (Knuth).
inline double difference_error(double high, double low) {
  const double difference = high - low;
  const double back = difference - high;
  return (high - (difference - back)) + (-low - back);
}

/// a * b >= 0, or the double below where rounding made it too large.
inline double product_rounded_down(double a, double b) {
  const double product = a * b;
  if (product == 0 || !std::isfinite(product)) return product;
  // Below the normal range the error of the product has no exact double.
  const bool coarse = product < 0x1p-960;
  return coarse || std::fma(a, b, -product) < 0 ? std::nextafter(product, 0.0) : product;
}

}  // namespace tamis::reduce
