// What the encoder and the decoder do with predicted points, a run of them at a time: codes lie in
// lanes while they are made or used, and in rows of their cells outside. (Include guard toggles per
// target.)
#if defined(TAMIS_REDUCE_CELL_STEPS_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef TAMIS_REDUCE_CELL_STEPS_INL_HPP_
#undef TAMIS_REDUCE_CELL_STEPS_INL_HPP_
#else
#define TAMIS_REDUCE_CELL_STEPS_INL_HPP_
#endif

#include <cstdint>

#include "reduce/cell.hpp"
#include "reduce/lane_rows-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tamis::reduce {
namespace HWY_NAMESPACE {

// Points first, first + stride, ... of the natural arrays, coded one after the other.
struct PointRun {
  int level;
  bool fine;
  std::int64_t first;
  std::int64_t stride;
  int count;
};

HWY_INLINE std::uint8_t context_base(int level) {
  return static_cast<std::uint8_t>((level < 3 ? level : 3) * kActivityClasses);
}

// A step has three parts: begin_run(); then point() for each point, with its place in the natural
// array of values; then end_run().
template <typename I>
class EncodeStep {
 public:
  using L = Lanes<I>;
  using V = typename L::V;

  EncodeStep(const CellBatch<I>& batch, const CellShape& shape, const CellRule& rule, bool masked,
             std::span<CodeSink<I>> sinks)
      : step_(static_cast<I>(rule.step)),
        masked_(masked),
        sinks_(sinks),
        valid_(batch.valid()),
        codes_(batch.row_codes()),
        contexts_(batch.row_contexts()) {
    const bool lorenzo = rule.predictor == Predictor::kLorenzo;
    room_[0] = lorenzo ? 0 : shape.open_count() - shape.fine_count();
    room_[1] = shape.open_count() - room_[0];
  }

  const typename L::Step& step() const { return step_; }
  bool masked() const { return masked_; }

  HWY_INLINE void begin_run(const PointRun& run) { run_ = run; }

  template <bool kContexts>
  HWY_INLINE void point(int i, I* at, const V& predicted, const V& activity) {
    const V x = L::load(at);
    V code = L::divide(L::sub(x, predicted), step_);
    if (masked_) code = L::select(valid_at(i), code, L::set(0));
    L::store(L::add(predicted, L::multiply(code, step_)), at);
    put<kContexts>(i, code, activity);
  }

  template <bool kContexts>
  HWY_INLINE void put(int i, const V& code, const V& activity) {
    const std::int64_t at = std::int64_t{i} * L::count();
    L::store(code, codes_ + at);
    if (kContexts) L::store_contexts(activity, step_, context_base(run_.level), contexts_ + at);
  }

  HWY_INLINE const std::uint8_t* valid_at(int i) const {
    return valid_ + (run_.first + i * run_.stride) * L::count();
  }

  template <bool kContexts>
  HWY_INLINE void end_run() {
    const auto codes = run_.fine ? &CodeSink<I>::fine : &CodeSink<I>::coarse;
    const auto contexts = run_.fine ? &CodeSink<I>::fine_context : &CodeSink<I>::coarse_context;
    const int used = static_cast<int>(sinks_.size());
    if (masked_) {
      for (int l = 0; l < used; ++l) {
        CodeSink<I>& sink = sinks_[static_cast<std::size_t>(l)];
        for (int i = 0; i < run_.count; ++i) {
          if (valid_at(i)[l] == 0) continue;
          *(sink.*codes)++ = codes_[i * L::count() + l];
          if (kContexts) *(sink.*contexts)++ = contexts_[i * L::count() + l];
        }
      }
      return;
    }
    I* to[kMaxLanes];
    for (int l = 0; l < used; ++l) to[l] = sinks_[static_cast<std::size_t>(l)].*codes;
    std::int64_t& room = room_[run_.fine ? 1 : 0];
    transpose_lanes(codes_, used, run_.count, room, to);
    room -= run_.count;
    for (int l = 0; l < used; ++l) {
      CodeSink<I>& sink = sinks_[static_cast<std::size_t>(l)];
      sink.*codes += run_.count;
      if (!kContexts) continue;
      for (int i = 0; i < run_.count; ++i) *(sink.*contexts)++ = contexts_[i * L::count() + l];
    }
  }

 private:
  typename L::Step step_;
  bool masked_;
  std::span<CodeSink<I>> sinks_;
  const std::uint8_t* valid_;
  I* codes_;
  std::uint8_t* contexts_;
  std::int64_t room_[2];
  PointRun run_{};
};

template <typename I>
class DecodeStep {
 public:
  using L = Lanes<I>;
  using V = typename L::V;

  DecodeStep(const CellBatch<I>& batch, const CellRule& rule, bool masked,
             std::span<CellSource<I>> sources)
      : step_(static_cast<I>(rule.step)),
        masked_(masked),
        sources_(sources),
        valid_(batch.valid()),
        codes_(batch.row_codes()),
        predictions_(batch.row_values()),
        contexts_(batch.row_contexts()) {
    for (int part = 0; part < 2; ++part) {
      streamed_[part] = !sources.empty() && source(part, 0).decoded == nullptr;
    }
  }

  const typename L::Step& step() const { return step_; }
  bool masked() const { return masked_; }
  // Whether the codes of this run are known only after its contexts.
  bool streamed() const { return streamed_[run_.fine ? 1 : 0]; }
  bool fine_streamed() const { return streamed_[1]; }
  bool any_streamed() const { return streamed_[0] || streamed_[1]; }

  HWY_INLINE void begin_run(const PointRun& run) {
    run_ = run;
    if (!streamed()) take_decoded();
  }

  template <bool kContexts>
  HWY_INLINE void point(int i, I* at, const V& predicted, const V& activity) {
    if (kContexts && streamed()) {
      L::store(predicted, predictions_ + std::int64_t{i} * L::count());
      put_context(i, activity);
      return;
    }
    L::store(L::add(predicted, L::multiply(code(i), step_)), at);
  }

  HWY_INLINE void put_context(int i, const V& activity) {
    L::store_contexts(activity, step_, context_base(run_.level),
                      contexts_ + std::int64_t{i} * L::count());
  }
  HWY_INLINE V code(int i) const { return L::load(codes_ + std::int64_t{i} * L::count()); }

  template <bool kContexts>
  HWY_INLINE void end_run(I* values) {
    if (!kContexts || !streamed()) return;
    take_streamed();
    I* at = values + run_.first * L::count();
    for (int i = 0; i < run_.count; ++i, at += run_.stride * L::count()) {
      const V predicted = L::load(predictions_ + std::int64_t{i} * L::count());
      L::store(L::add(predicted, L::multiply(code(i), step_)), at);
    }
  }

  // Codes of a run whose contexts are all there.
  HWY_INLINE void take_streamed() {
    constexpr int kPart = 64;
    I codes[kPart];
    std::uint8_t contexts[kPart];
    const int lanes = L::count();
    for (int l = 0; l < static_cast<int>(sources_.size()); ++l) {
      codec::RansReader& reader = *source(run_.fine ? 1 : 0, l).reader;
      for (int begin = 0; begin < run_.count; begin += kPart) {
        const int end = begin + kPart < run_.count ? begin + kPart : run_.count;
        int found = 0;
        for (int i = begin; i < end; ++i) {
          contexts[found] = contexts_[i * lanes + l];
          found += has_code(i, l);
        }
        reader.read(codes, found, contexts);
        found = 0;
        for (int i = begin; i < end; ++i) {
          const bool has = has_code(i, l);
          codes_[i * lanes + l] = has ? codes[found] : I{0};
          found += has;
        }
      }
    }
  }

 private:
  CodeSource<I>& source(int part, int lane) const {
    CellSource<I>& s = sources_[static_cast<std::size_t>(lane)];
    return part == 1 ? s.fine : s.coarse;
  }

  HWY_INLINE bool has_code(int i, int lane) const {
    return !masked_ || valid_[(run_.first + i * run_.stride) * L::count() + lane] != 0;
  }

  HWY_INLINE void take_decoded() {
    const int used = static_cast<int>(sources_.size());
    const int part = run_.fine ? 1 : 0;
    if (!masked_) {
      const I* from[kMaxLanes];
      for (int l = 0; l < used; ++l) {
        from[l] = source(part, l).decoded;
        source(part, l).decoded += run_.count;
      }
      transpose_rows(from, used, run_.count, codes_);
      return;
    }
    for (int l = 0; l < used; ++l) {
      const I*& from = source(part, l).decoded;
      for (int i = 0; i < run_.count; ++i) {
        codes_[i * L::count() + l] = has_code(i, l) ? *from++ : I{0};
      }
    }
  }

  typename L::Step step_;
  bool masked_;
  std::span<CellSource<I>> sources_;
  const std::uint8_t* valid_;
  I* codes_;
  I* predictions_;
  std::uint8_t* contexts_;
  bool streamed_[2];
  PointRun run_{};
};

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace tamis::reduce
HWY_AFTER_NAMESPACE();

#endif  // include guard
