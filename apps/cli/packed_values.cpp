// CF unpacking: value = stored * scale_factor + add_offset, in double, rounded once to the type
// that the attributes have. Masked points become NaN, which no packed value can produce.
#include "packed_values.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "summary_text.hpp"
#include "tamis/error.hpp"

namespace tamis::cli {
namespace {

constexpr double kMaxExactInteger = 0x1p53;

template <typename Value>
void convert_to(const Unpacking& plan, const double* stored, std::int64_t count, Value* out) {
  for (std::int64_t i = 0; i < count; ++i) {
    const double packed = stored[i] < 0.0 ? stored[i] + plan.wrap : stored[i];
    if (!(std::fabs(packed) < kMaxExactInteger)) {
      throw Error(ErrorCode::kUnsupported,
                  "the " + plan.storage.name() +
                      " variable holds values beyond 2^53, which f64 cannot hold exactly");
    }
    bool masked = false;
    for (const double fill : plan.fills) masked = masked || stored[i] == fill || packed == fill;
    if (masked) {
      out[i] = std::numeric_limits<Value>::quiet_NaN();
    } else {
      out[i] = static_cast<Value>(plan.scaled ? packed * plan.scale + plan.offset : packed);
    }
  }
}

DType unpacked_dtype(const IntegerStorage& storage, const ValueAttributes& attributes) {
  // CF: the attributes' type is the type of the unpacked data. Unscaled integers up to 16 bits are
  // exact in f32; wider ones need f64, and so does a 32-bit integer with single attributes.
  bool single = storage.bytes <= 2;
  if (attributes.scale_factor) single = single && attributes.scale_factor->single;
  if (attributes.add_offset) single = single && attributes.add_offset->single;
  return single ? DType::kF32 : DType::kF64;
}

}  // namespace

std::string IntegerStorage::name() const {
  return (is_signed ? "int" : "uint") + std::to_string(8 * bytes);
}

void Unpacking::convert(const double* stored, std::int64_t count, void* out) const {
  if (dtype == DType::kF32) {
    convert_to(*this, stored, count, static_cast<float*>(out));
  } else {
    convert_to(*this, stored, count, static_cast<double*>(out));
  }
}

void read_unpacked_rows(const Unpacking& plan, const Extents& shape, const ReadStored& read,
                        std::int64_t first, std::int64_t count, void* out) {
  constexpr std::int64_t kBlockElements = std::int64_t{1} << 20;
  const std::int64_t row = row_elements(shape);
  if (row == 0 || count == 0) return;
  const std::int64_t step = std::max<std::int64_t>(1, kBlockElements / row);
  std::vector<double> stored(static_cast<std::size_t>(std::min(step, count) * row));
  auto* to = static_cast<std::byte*>(out);
  for (std::int64_t done = 0; done < count; done += step) {
    const std::int64_t some = std::min(step, count - done);
    read(first + done, some, stored.data());
    plan.convert(stored.data(), some * row, to + done * row * dtype_bytes(plan.dtype));
  }
}

Unpacking plan_unpacking(const IntegerStorage& storage, const ValueAttributes& attributes,
                         const std::optional<double>& fill_option, Field& field) {
  Unpacking plan;
  plan.storage = storage;
  plan.dtype = unpacked_dtype(storage, attributes);
  plan.scaled = attributes.scale_factor || attributes.add_offset;
  if (attributes.scale_factor) plan.scale = attributes.scale_factor->value;
  if (attributes.add_offset) plan.offset = attributes.add_offset->value;
  if (attributes.is_unsigned && storage.is_signed) plan.wrap = std::ldexp(1.0, 8 * storage.bytes);

  std::string origin;
  if (fill_option) {
    plan.fills.push_back(*fill_option);
    origin = "--fill " + format_number(*fill_option);
  } else {
    if (attributes.fill_value) {
      plan.fills.push_back(attributes.fill_value->value);
      origin = "_FillValue " + format_number(attributes.fill_value->value);
    }
    if (attributes.missing_value &&
        (plan.fills.empty() || plan.fills.front() != attributes.missing_value->value)) {
      plan.fills.push_back(attributes.missing_value->value);
      origin += (origin.empty() ? "" : ", ") + std::string("missing_value ") +
                format_number(attributes.missing_value->value);
    }
  }
  field.dtype = plan.dtype;
  std::string note = "the variable is stored as " + storage.name() + " (" +
                     std::to_string(storage.bytes) + " bytes a value)";
  if (plan.scaled) {
    note += ", unpacked to " + std::string(dtype_name(plan.dtype)) + " with scale_factor " +
            format_number(plan.scale) + " and add_offset " + format_number(plan.offset);
  } else {
    note += ", converted exactly to " + std::string(dtype_name(plan.dtype));
  }
  field.notes.push_back(note + "; the ratio counts " + dtype_name(plan.dtype) + " bytes");
  if (!plan.fills.empty()) {
    field.fill = DeclaredFill{std::numeric_limits<double>::quiet_NaN(), origin};
    field.notes.push_back("stored values equal to " + origin + " become NaN and are masked");
  }
  return plan;
}

double round_to_dtype(double value, DType dtype) {
  if (dtype == DType::kF64 || !std::isfinite(value)) return value;
  // Beyond the range of float the conversion would be undefined; such a fill matches nothing.
  if (std::fabs(value) > static_cast<double>(std::numeric_limits<float>::max())) return value;
  return static_cast<double>(static_cast<float>(value));
}

void declare_fill(const ValueAttributes& attributes, const std::optional<double>& fill_option,
                  Field& field) {
  const auto& fill = attributes.fill_value;
  const auto& missing = attributes.missing_value;
  if (fill_option) {
    field.fill = DeclaredFill{round_to_dtype(*fill_option, field.dtype), "--fill"};
  } else if (fill) {
    field.fill = DeclaredFill{round_to_dtype(fill->value, field.dtype), "_FillValue"};
  } else if (missing) {
    field.fill = DeclaredFill{round_to_dtype(missing->value, field.dtype), "missing_value"};
  }
  if (!fill_option && fill && missing &&
      round_to_dtype(missing->value, field.dtype) != field.fill->value &&
      !(std::isnan(missing->value) && std::isnan(fill->value))) {
    field.notes.push_back(
        "_FillValue and missing_value differ; only _FillValue is masked, give "
        "--fill " +
        format_number(missing->value) + " to mask the other");
  }
  if (attributes.scale_factor || attributes.add_offset) {
    field.notes.push_back("scale_factor and add_offset are left alone: the stored " +
                          std::string(dtype_name(field.dtype)) + " values are compressed");
  }
}

}  // namespace tamis::cli
