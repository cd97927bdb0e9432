// Prediction, quantisation and reconstruction of cells, for every instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reduce/cell_kernels.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
//
#include "reduce/cell.hpp"
#include "reduce/cell_levels-inl.hpp"
#include "reduce/cell_lorenzo-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tamis::reduce {
namespace HWY_NAMESPACE {

template <typename I>
int lanes_any() {
  return Lanes<I>::count();
}

template <typename I>
void encode_any(const CellBatch<I>& batch, const CellShape& shape, const CellRule& rule,
                const CodingOptions& options, std::span<CodeSink<I>> sinks) {
  if (shape.open_count() == 0) return;
  EncodeStep<I> step(batch, shape, rule, options.masked, sinks);
  if (rule.predictor == Predictor::kLorenzo) {
    options.contexts ? encode_lorenzo<true>(batch, shape, step)
                     : encode_lorenzo<false>(batch, shape, step);
    return;
  }
  Interpolation<I>(batch, shape, rule).run(0, options.contexts, step);
}

template <typename I>
void decode_any(const CellBatch<I>& batch, const CellShape& shape, const CellRule& rule,
                const CodingOptions& options, std::span<CellSource<I>> sources) {
  if (shape.open_count() == 0) return;
  DecodeStep<I> step(batch, rule, options.masked, sources);
  if (rule.predictor == Predictor::kLorenzo) {
    if (options.coarse_only) return;
    step.fine_streamed() ? decode_lorenzo<true>(batch, shape, step)
                         : decode_lorenzo<false>(batch, shape, step);
    return;
  }
  Interpolation<I>(batch, shape, rule).run(options.coarse_only ? 1 : 0, step.any_streamed(), step);
}

using I32 = std::int32_t;
using I64 = std::int64_t;
int lanes32() { return lanes_any<I32>(); }
int lanes64() { return lanes_any<I64>(); }
void encode32(const CellBatch<I32>& batch, const CellShape& shape, const CellRule& rule,
              const CodingOptions& options, std::span<CodeSink<I32>> sinks) {
  encode_any(batch, shape, rule, options, sinks);
}
void encode64(const CellBatch<I64>& batch, const CellShape& shape, const CellRule& rule,
              const CodingOptions& options, std::span<CodeSink<I64>> sinks) {
  encode_any(batch, shape, rule, options, sinks);
}
void decode32(const CellBatch<I32>& batch, const CellShape& shape, const CellRule& rule,
              const CodingOptions& options, std::span<CellSource<I32>> sources) {
  decode_any(batch, shape, rule, options, sources);
}
void decode64(const CellBatch<I64>& batch, const CellShape& shape, const CellRule& rule,
              const CodingOptions& options, std::span<CellSource<I64>> sources) {
  decode_any(batch, shape, rule, options, sources);
}
void to_lanes32(const I32* const* rows, int used, int count, I32* out) {
  transpose_rows(rows, used, count, out);
}
void to_lanes64(const I64* const* rows, int used, int count, I64* out) {
  transpose_rows(rows, used, count, out);
}
void to_rows32(const I32* lanes, int used, int count, I32* const* rows) {
  transpose_lanes(lanes, used, count, count + 3, rows);
}
void to_rows64(const I64* lanes, int used, int count, I64* const* rows) {
  transpose_lanes(lanes, used, count, count + 3, rows);
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace tamis::reduce
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tamis::reduce {

HWY_EXPORT(lanes32);
HWY_EXPORT(lanes64);
HWY_EXPORT(encode32);
HWY_EXPORT(encode64);
HWY_EXPORT(decode32);
HWY_EXPORT(decode64);
HWY_EXPORT(to_lanes32);
HWY_EXPORT(to_lanes64);
HWY_EXPORT(to_rows32);
HWY_EXPORT(to_rows64);

template <>
int cell_lanes<std::int32_t>() {
  return HWY_DYNAMIC_DISPATCH(lanes32)();
}
template <>
int cell_lanes<std::int64_t>() {
  return HWY_DYNAMIC_DISPATCH(lanes64)();
}

template <>
void encode_cells(const CellBatch<std::int32_t>& batch, const CellShape& shape,
                  const CellRule& rule, const CodingOptions& options,
                  std::span<CodeSink<std::int32_t>> sinks) {
  HWY_DYNAMIC_DISPATCH(encode32)(batch, shape, rule, options, sinks);
}
template <>
void encode_cells(const CellBatch<std::int64_t>& batch, const CellShape& shape,
                  const CellRule& rule, const CodingOptions& options,
                  std::span<CodeSink<std::int64_t>> sinks) {
  HWY_DYNAMIC_DISPATCH(encode64)(batch, shape, rule, options, sinks);
}
template <>
void decode_cells(const CellBatch<std::int32_t>& batch, const CellShape& shape,
                  const CellRule& rule, const CodingOptions& options,
                  std::span<CellSource<std::int32_t>> sources) {
  HWY_DYNAMIC_DISPATCH(decode32)(batch, shape, rule, options, sources);
}
template <>
void decode_cells(const CellBatch<std::int64_t>& batch, const CellShape& shape,
                  const CellRule& rule, const CodingOptions& options,
                  std::span<CellSource<std::int64_t>> sources) {
  HWY_DYNAMIC_DISPATCH(decode64)(batch, shape, rule, options, sources);
}

template <>
void rows_to_lanes(const std::int32_t* const* rows, int used, int count, std::int32_t* lanes_out) {
  HWY_DYNAMIC_DISPATCH(to_lanes32)(rows, used, count, lanes_out);
}
template <>
void rows_to_lanes(const std::int64_t* const* rows, int used, int count, std::int64_t* lanes_out) {
  HWY_DYNAMIC_DISPATCH(to_lanes64)(rows, used, count, lanes_out);
}
template <>
void lanes_to_rows(const std::int32_t* lanes, int used, int count, std::int32_t* const* rows) {
  HWY_DYNAMIC_DISPATCH(to_rows32)(lanes, used, count, rows);
}
template <>
void lanes_to_rows(const std::int64_t* lanes, int used, int count, std::int64_t* const* rows) {
  HWY_DYNAMIC_DISPATCH(to_rows64)(lanes, used, count, rows);
}

}  // namespace tamis::reduce
#endif  // HWY_ONCE
