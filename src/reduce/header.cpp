// Meta data keys are short because small fields are common; docs/format.md lists them.
#include "reduce/header.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>

#include "core/container.hpp"
#include "core/meta.hpp"
#include "tamis/error.hpp"

namespace tamis::reduce {

namespace {

constexpr std::int64_t kMaxCount = std::int64_t{1} << 60;

[[noreturn]] void throw_corrupt(const std::string& what) {
  throw Error(ErrorCode::kCorrupt, "field header: " + what);
}

void read_map(const nlohmann::json& meta, Header& h) {
  h.map.kind = static_cast<MapKind>(meta_int(meta, "map", 1, 5));
  h.map.dtype = h.info.dtype;
  h.map.wide = meta_bool(meta, "wide");
  // 32-bit cells divide in single precision, 64-bit cells in 64-bit integers.
  h.map.step = meta_int(meta, "step", 1, h.map.wide ? std::int64_t{1} << 52 : 255);
  if (h.map.step % 2 == 0) throw_corrupt("step " + std::to_string(h.map.step) + " is not odd");
  h.map.offset = meta_double(meta, "offset");
  h.map.unit = meta_double(meta, "unit");
  if (!std::isfinite(h.map.offset) || !std::isfinite(h.map.unit)) {
    throw_corrupt("offset or unit is not finite");
  }
  const bool bits_map = h.map.kind == MapKind::kOrdered || h.map.kind == MapKind::kLogarithm;
  if (bits_map && h.info.dtype == DType::kF64 && !h.map.wide) {
    throw_corrupt("a map of 64-bit floats needs wide lattice values");
  }
}

void read_plan(const nlohmann::json& meta, Header& h) {
  const int rank = fold_extents(h.info.shape).rank();
  h.plan.active_mask = static_cast<std::uint32_t>(meta_int(meta, "axes", 1, (1 << rank) - 1));
  const int axes = std::popcount(h.plan.active_mask);
  if (axes > kMaxCellRank) throw_corrupt(std::to_string(axes) + " active axes; at most 3");
  const auto order = meta_int_list(meta, "order", kMaxCellRank, 0, axes - 1);
  if (static_cast<int>(order.size()) != axes) throw_corrupt("order does not name each active axis");
  unsigned seen = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    h.plan.order[i] = static_cast<std::uint8_t>(order[i]);
    seen |= 1U << order[i];
  }
  if (seen != (1U << axes) - 1) throw_corrupt("order repeats an axis");
  for (int i = axes; i < kMaxCellRank; ++i) {
    h.plan.order[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(i);
  }
}

}  // namespace

Extents fold_extents(const Extents& shape) {
  std::vector<std::int64_t> kept;
  for (const std::int64_t n : shape) {
    if (n != 1) kept.push_back(n);
  }
  if (kept.empty()) kept.push_back(1);
  while (static_cast<int>(kept.size()) > kMaxFoldedRank) {
    kept[1] *= kept[0];
    kept.erase(kept.begin());
  }
  return Extents(kept);
}

int count_levels(const Extents& shape) {
  std::int64_t longest = 1;
  for (const std::int64_t n : shape) longest = std::max(longest, n);
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(longest - 1))) + 1;
}

nlohmann::json Header::to_json() const {
  nlohmann::json meta;
  meta["type"] = "field";
  meta["dtype"] = static_cast<int>(info.dtype);
  meta["shape"] = std::vector<std::int64_t>(info.shape.begin(), info.shape.end());
  meta["bound"] = static_cast<int>(info.bound.kind);
  meta["value"] = info.bound.value;
  meta["mode"] = static_cast<int>(info.mode);
  meta["abs"] = info.absolute_bound;
  meta["min"] = info.min_value;
  meta["max"] = info.max_value;
  if (info.fill_value) {
    meta["fill"] = fill_bits;
    meta["found"] = info.fill_detected;
    meta["masked"] = info.masked_count;
  }
  if (info.nonfinite_count != 0) meta["special"] = info.nonfinite_count;
  if (info.exact_count != 0) meta["exact"] = info.exact_count;
  if (stored_raw) {
    meta["raw"] = true;
    return meta;
  }
  meta["map"] = static_cast<int>(map.kind);
  meta["wide"] = map.wide;
  meta["step"] = map.step;
  meta["offset"] = map.offset;
  meta["unit"] = map.unit;
  meta["axes"] = plan.active_mask;
  meta["order"] =
      std::vector<int>(plan.order.begin(), plan.order.begin() + std::popcount(plan.active_mask));
  return meta;
}

Header Header::from_json(const nlohmann::json& meta) {
  Header h;
  Info& info = h.info;
  if (meta_string(meta, "type") != "field") throw_corrupt("the container holds no field");
  info.format_version = static_cast<int>(kFormatVersion);
  info.dtype = static_cast<DType>(meta_int(meta, "dtype", 1, 2));
  info.shape = Extents(meta_int_list(meta, "shape", kMaxRank, 0, kMaxCount));
  if (info.shape.rank() == 0) throw_corrupt("no shape");
  std::int64_t count = 0;
  try {
    count = info.shape.element_count();
  } catch (const Error& e) {
    throw_corrupt(e.what());
  }
  if (count > INT64_MAX / dtype_bytes(info.dtype)) throw_corrupt("more bytes than can be counted");
  info.bound.kind = static_cast<BoundKind>(meta_int(meta, "bound", 1, 5));
  info.bound.value = meta_double(meta, "value");
  info.mode = static_cast<Mode>(meta_int(meta, "mode", 1, 3));
  info.absolute_bound = meta_double(meta, "abs");
  info.min_value = meta_double(meta, "min");
  info.max_value = meta_double(meta, "max");
  if (meta_has(meta, "fill")) {
    h.fill_bits = meta_u64(meta, "fill");
    if (info.dtype == DType::kF32 && h.fill_bits >> 32 != 0) throw_corrupt("fill has 64 bits");
    info.fill_value =
        info.dtype == DType::kF32
            ? static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(h.fill_bits)))
            : std::bit_cast<double>(h.fill_bits);
    info.fill_detected = meta_bool(meta, "found");
    info.masked_count = meta_int(meta, "masked", 0, count);
  }
  if (meta_has(meta, "special")) info.nonfinite_count = meta_int(meta, "special", 0, count);
  if (meta_has(meta, "exact")) info.exact_count = meta_int(meta, "exact", 0, count);
  info.raw_bytes = count * dtype_bytes(info.dtype);
  info.level_count = count_levels(info.shape);
  h.stored_raw = meta_has(meta, "raw") && meta_bool(meta, "raw");
  if (h.stored_raw) {
    info.number_map = "raw";
  } else if (count > 0) {
    read_map(meta, h);
    read_plan(meta, h);
    info.number_map = map_kind_name(h.map.kind);
  } else {
    info.number_map = "empty";
  }
  return h;
}

}  // namespace tamis::reduce
