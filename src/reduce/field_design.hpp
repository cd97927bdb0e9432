// Number map, plan and predictors of a field, found by sample encodings.
#pragma once

#include "reduce/field_masks.hpp"
#include "reduce/map_choice.hpp"
#include "reduce/plan_search.hpp"

namespace tamis::reduce {

struct Design {
  NumberMap map;
  PlanChoice choice;
  double bits_per_value = 0;  // estimate, palette included
};

template <typename T>
Design design_for(FieldSource<T>& source, const FieldScan<T>& scan, const PointCheck& check,
                  const FieldMasks& masks, const CompressOptions& options);

}  // namespace tamis::reduce
