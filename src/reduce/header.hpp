// The directory's meta data of a compressed field, and the shape that the codec works on.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "reduce/grid.hpp"
#include "reduce/number_map.hpp"
#include "tamis/reduce.hpp"

namespace tamis::reduce {

/// Most axes the codec distinguishes; longer shapes are folded from the front.
inline constexpr int kMaxFoldedRank = 5;

/// Extents without those of 1, leading ones multiplied together until at most kMaxFoldedRank are
/// left; rank 1 with one node for a scalar.
Extents fold_extents(const Extents& shape);

struct Header {
  Info info;      // without compressed_bytes and sections
  NumberMap map;  // without the palette
  GridPlan plan;
  std::uint64_t fill_bits = 0;  // when info.fill_value is set
  bool stored_raw = false;      // the values themselves, no codes

  nlohmann::json to_json() const;
  /// Checks every field against its range. Throws Error(kCorrupt) or Error(kUnsupported).
  static Header from_json(const nlohmann::json& meta);
};

/// Number of preview levels of a shape: the last one has one node along each axis.
int count_levels(const Extents& shape);

}  // namespace tamis::reduce
