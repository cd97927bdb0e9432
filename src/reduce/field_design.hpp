// Number map, plan and predictors of a field, found by sample encodings.
#pragma once

#include <cstdint>
#include <utility>

#include "reduce/field_masks.hpp"
#include "reduce/field_source.hpp"
#include "reduce/map_choice.hpp"
#include "reduce/plan_search.hpp"

namespace tamis::reduce {

struct Design {
  NumberMap map;
  PlanChoice choice;
  double bits_per_value = 0;  // estimate, palette included
};

/// Keeps the cheapest design; of equal ones the first.
class DesignContest {
 public:
  explicit DesignContest(std::int64_t count) : count_(count) {}
  void enter(NumberMap map, PlanChoice choice);
  /// At least one must have been entered.
  Design winner() { return std::move(best_); }

 private:
  std::int64_t count_;
  double best_bits_ = -1;
  Design best_;
};

template <typename T>
Design design_for(FieldSource<T>& source, const FieldScan<T>& scan, const PointCheck& check,
                  const FieldMasks& masks, const CompressOptions& options);

}  // namespace tamis::reduce
