// One look at a field before it is encoded: range of the finite values, fill values, special
// values.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>

#include "reduce/bit_map.hpp"
#include "reduce/device/field_tally.hpp"
#include "tamis/reduce.hpp"

namespace tamis::reduce {

/// Calls fn(first linear index, count, data) for consecutive pieces of the field, in order, until
/// it returns false.
template <typename T>
using EachPiece =
    std::function<void(const std::function<bool(std::int64_t, std::int64_t, const T*)>&)>;

template <typename T>
struct FieldScan {
  double min_value = 0;  // of finite, unmasked values; NaN when there are none
  double max_value = 0;
  double max_magnitude = 0;
  std::int64_t valid_count = 0;      // unmasked points
  std::int64_t finite_count = 0;     // unmasked and finite
  std::int64_t nonfinite_count = 0;  // masked ones included
  bool has_negative = false;         // a sign bit among unmasked values, -0 included
  bool may_have_zeros = false;       // false: certainly none; the bytes do not depend on it
  std::optional<T> fill;             // bits of the masked points
  bool fill_detected = false;
  std::int64_t masked_count = 0;
};

/// What one pass over a field finds when some value, or none, is taken for its fill.
template <typename T>
struct Tally {
  T low = std::numeric_limits<T>::infinity();  // of finite, unmasked values
  T high = -std::numeric_limits<T>::infinity();
  std::int64_t nan = 0;
  std::int64_t infinite = 0;
  std::int64_t masked = 0;
  std::int64_t masked_special = 0;  // NaN or infinite; not in the counts above
  bool zero = false;                // may be true without need
  bool negative = false;            // a sign bit among unmasked values, NaN and -0 included
  std::optional<T> first_nan;       // of the field, masked or not
};

/// One pass, by whoever has the field.
template <typename T>
using TallyField = std::function<Tally<T>(std::optional<T> fill)>;

/// Decides about the fill by one to four tallies. Uses the fill options. A fill of NaN matches
/// every NaN; the first one's bits become the fill's, others are patched.
template <typename T>
FieldScan<T> scan_by_tallies(const TallyField<T>& tally, std::int64_t count,
                             const CompressOptions& options);

/// The same with tallies by this processor. Uses the threads, too.
template <typename T>
FieldScan<T> scan_field(const EachPiece<T>& pieces, std::int64_t count,
                        const CompressOptions& options);

/// What the kernel field_tally found.
template <typename T>
Tally<T> tally_of(const device::FieldTally& found);

/// True for the points that the mask covers.
template <typename T>
bool is_fill(T value, T fill);

}  // namespace tamis::reduce
