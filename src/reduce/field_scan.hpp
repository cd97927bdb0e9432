// One look at a field before it is encoded: range of the finite values, fill values, special
// values.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "reduce/bit_map.hpp"
#include "tamis/reduce.hpp"

namespace tamis::reduce {

/// Calls fn(first linear index, count, data) for consecutive pieces of the field, in order.
template <typename T>
using EachPiece =
    std::function<void(const std::function<void(std::int64_t, std::int64_t, const T*)>&)>;

template <typename T>
struct FieldScan {
  double min_value = 0;  // of finite, unmasked values; NaN when there are none
  double max_value = 0;
  double max_magnitude = 0;
  std::int64_t valid_count = 0;      // unmasked points
  std::int64_t finite_count = 0;     // unmasked and finite
  std::int64_t nonfinite_count = 0;  // masked ones included
  bool has_negative = false;         // a sign bit among unmasked values, -0 included
  bool may_have_zeros = false;       // false: certainly none among the unmasked
  std::optional<T> fill;             // bits of the masked points
  bool fill_detected = false;
  std::int64_t masked_count = 0;
};

/// Uses the fill options and threads. A fill of NaN matches every NaN; the first one's bits become
/// the fill's, others are patched.
template <typename T>
FieldScan<T> scan_field(const EachPiece<T>& pieces, std::int64_t count,
                        const CompressOptions& options);

/// True for the points that the mask covers.
template <typename T>
bool is_fill(T value, T fill);

}  // namespace tamis::reduce
