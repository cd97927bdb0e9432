// Prediction, quantisation and reconstruction of one cell, for every instruction set. The levels of
// an interpolated cell live in arrays of their own whose rows keep even and odd points apart, so
// that each step of the hierarchy is a few contiguous row operations.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reduce/cell_kernels.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
//
#include <algorithm>
#include <cstring>

#include "reduce/cell.hpp"
#include "reduce/cell_levels-inl.hpp"
#include "reduce/cell_lorenzo-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tamis::reduce {
namespace HWY_NAMESPACE {

template <typename I>
void encode_any(CellWorkspace<I>& work, const CellShape& shape, const CellRule& rule, bool masked,
                CodeSink<I>& sink) {
  if (rule.predictor == Predictor::kLorenzo) {
    encode_lorenzo(work, shape, rule, masked, sink);
    return;
  }
  EncodeStep<I> step(work, shape, rule, masked, sink);
  Interpolation<I> cell(work, shape, rule);
  cell.run(0, sink.fine_context != nullptr, step);
}

template <typename I>
void decode_any(CellWorkspace<I>& work, const CellShape& shape, const CellRule& rule, bool masked,
                bool coarse_only, CodeSource<I>& coarse, CodeSource<I>& fine) {
  if (rule.predictor == Predictor::kLorenzo) {
    if (!coarse_only) decode_lorenzo(work, shape, rule, masked, fine);
    return;
  }
  DecodeStep<I> step(work, shape, rule, masked, coarse, fine);
  Interpolation<I> cell(work, shape, rule);
  cell.run(coarse_only ? 1 : 0, coarse.decoded == nullptr || fine.decoded == nullptr, step);
}

void encode32(CellWorkspace<std::int32_t>& work, const CellShape& shape, const CellRule& rule,
              bool masked, CodeSink<std::int32_t>& sink) {
  encode_any(work, shape, rule, masked, sink);
}
void encode64(CellWorkspace<std::int64_t>& work, const CellShape& shape, const CellRule& rule,
              bool masked, CodeSink<std::int64_t>& sink) {
  encode_any(work, shape, rule, masked, sink);
}
void decode32(CellWorkspace<std::int32_t>& work, const CellShape& shape, const CellRule& rule,
              bool masked, bool coarse_only, CodeSource<std::int32_t>& coarse,
              CodeSource<std::int32_t>& fine) {
  decode_any(work, shape, rule, masked, coarse_only, coarse, fine);
}
void decode64(CellWorkspace<std::int64_t>& work, const CellShape& shape, const CellRule& rule,
              bool masked, bool coarse_only, CodeSource<std::int64_t>& coarse,
              CodeSource<std::int64_t>& fine) {
  decode_any(work, shape, rule, masked, coarse_only, coarse, fine);
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace tamis::reduce
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tamis::reduce {

HWY_EXPORT(encode32);
HWY_EXPORT(encode64);
HWY_EXPORT(decode32);
HWY_EXPORT(decode64);

template <>
void encode_cell(CellWorkspace<std::int32_t>& work, const CellShape& shape, const CellRule& rule,
                 bool masked, CodeSink<std::int32_t>& sink) {
  HWY_DYNAMIC_DISPATCH(encode32)(work, shape, rule, masked, sink);
}
template <>
void encode_cell(CellWorkspace<std::int64_t>& work, const CellShape& shape, const CellRule& rule,
                 bool masked, CodeSink<std::int64_t>& sink) {
  HWY_DYNAMIC_DISPATCH(encode64)(work, shape, rule, masked, sink);
}
template <>
void decode_cell(CellWorkspace<std::int32_t>& work, const CellShape& shape, const CellRule& rule,
                 bool masked, bool coarse_only, CodeSource<std::int32_t>& coarse,
                 CodeSource<std::int32_t>& fine) {
  HWY_DYNAMIC_DISPATCH(decode32)(work, shape, rule, masked, coarse_only, coarse, fine);
}
template <>
void decode_cell(CellWorkspace<std::int64_t>& work, const CellShape& shape, const CellRule& rule,
                 bool masked, bool coarse_only, CodeSource<std::int64_t>& coarse,
                 CodeSource<std::int64_t>& fine) {
  HWY_DYNAMIC_DISPATCH(decode64)(work, shape, rule, masked, coarse_only, coarse, fine);
}

}  // namespace tamis::reduce
#endif  // HWY_ONCE
