// What the encoder and the decoder do with predicted points, a few lanes at a time. (Include guard
// toggles per target.)
#if defined(TAMIS_REDUCE_CELL_STEPS_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef TAMIS_REDUCE_CELL_STEPS_INL_HPP_
#undef TAMIS_REDUCE_CELL_STEPS_INL_HPP_
#else
#define TAMIS_REDUCE_CELL_STEPS_INL_HPP_
#endif

#include <cstdint>

#include "reduce/cell.hpp"
#include "reduce/cell_lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tamis::reduce {
namespace HWY_NAMESPACE {

// A run of points of one level: row (z, y) in level indices, x = first + i among even or odd ones.
struct RowPlace {
  int level;
  int z;
  int y;
  int odd_x;
  int first;
  int count;
};

// Index arithmetic of the natural arrays, for axes z y x whatever the rank.
struct NaturalArray {
  std::int64_t row;
  std::int64_t plane;
  explicit NaturalArray(const CellShape& shape)
      : row(shape.tile + 1), plane(std::int64_t{shape.tile + 1} * (shape.tile + 1)) {}
  std::int64_t at(std::int64_t z, std::int64_t y, std::int64_t x) const {
    return z * plane + y * row + x;
  }
  std::int64_t at(const RowPlace& p) const {
    return at(std::int64_t{p.z} << p.level, std::int64_t{p.y} << p.level,
              (2 * std::int64_t{p.first} + p.odd_x) << p.level);
  }
  // Every (2 << level)-th element from a row's place.
  template <typename T>
  void gather(const T* from, const RowPlace& p, T* out) const {
    const T* begin = from + at(p);
    const std::int64_t stride = std::int64_t{2} << p.level;
    for (int i = 0; i < p.count; ++i) out[i] = begin[i * stride];
  }
};

HWY_INLINE std::uint8_t context_base(int level) {
  return static_cast<std::uint8_t>((level < 3 ? level : 3) * kActivityClasses);
}

// A step has two parts: begin_row() for each run of points, then lanes() for each group of lanes.
template <typename I>
class EncodeStep {
 public:
  using L = Lanes<I>;

  EncodeStep(CellWorkspace<I>& work, const CellShape& shape, const CellRule& rule, bool masked,
             CodeSink<I>& sink)
      : work_(work),
        natural_(shape),
        step_(static_cast<I>(rule.step)),
        masked_(masked),
        sink_(sink),
        spare_(work.rows.data()) {}

  HWY_INLINE void begin_row(const RowPlace& place) {
    fine_ = place.level == 0;
    odd_x_ = place.odd_x;
    base_ = context_base(place.level);
    if (fine_) {
      x_ = work_.input.data() + natural_.at(place) - place.odd_x;
      codes_ = sink_.fine;
      contexts_ = sink_.fine_context;
    } else {
      natural_.gather(work_.input.data(), place, spare_);
      x_ = spare_;
      codes_ = sink_.coarse;
      contexts_ = sink_.coarse_context;
    }
    if (masked_) natural_.gather(work_.valid.data(), place, work_.contexts.data());
  }

  // Points i .. i + n - 1 of the row; n may exceed the lanes' number.
  template <bool kContexts>
  HWY_INLINE void lanes(int i, int n, typename L::V p, typename L::V activity, I* r) {
    const typename L::V x = fine_ ? L::load_split(x_ + 2 * i, odd_x_) : L::load(x_ + i);
    typename L::V code = L::divide(L::sub(x, p), step_);
    if (masked_) code = L::keep_valid(code, work_.contexts.data() + i);
    L::store_some(L::add(p, L::multiply(code, step_)), r + i, n);
    if (!masked_) {
      L::store(code, codes_ + i);
      if (kContexts) L::store_contexts(activity, step_, base_, contexts_ + i);
      return;
    }
    I buffer[8];
    std::uint8_t contexts[8];
    L::store(code, buffer);
    if (kContexts) L::store_contexts(activity, step_, base_, contexts);
    const std::uint8_t* valid = work_.contexts.data() + i;
    for (int j = 0; j < (n < L::count() ? n : L::count()); ++j) {
      if (valid[j] == 0) continue;
      *codes_++ = buffer[j];
      if (kContexts) *contexts_++ = contexts[j];
    }
  }

  template <bool kContexts>
  HWY_INLINE void end_row(int count) {
    I*& codes = fine_ ? sink_.fine : sink_.coarse;
    std::uint8_t*& contexts = fine_ ? sink_.fine_context : sink_.coarse_context;
    codes = masked_ ? codes_ : codes_ + count;
    if (kContexts) contexts = masked_ ? contexts_ : contexts_ + count;
  }

 private:
  CellWorkspace<I>& work_;
  NaturalArray natural_;
  typename L::Step step_;
  bool masked_;
  CodeSink<I>& sink_;
  I* spare_;
  bool fine_ = false;
  int odd_x_ = 0;
  std::uint8_t base_ = 0;
  const I* x_ = nullptr;
  I* codes_ = nullptr;
  std::uint8_t* contexts_ = nullptr;
};

template <typename I>
class DecodeStep {
 public:
  using L = Lanes<I>;

  DecodeStep(CellWorkspace<I>& work, const CellShape& shape, const CellRule& rule, bool masked,
             CodeSource<I>& coarse, CodeSource<I>& fine)
      : work_(work),
        natural_(shape),
        step_(static_cast<I>(rule.step)),
        masked_(masked),
        coarse_(coarse),
        fine_(fine),
        spare_(work.rows.data()),
        predictions_(work.rows.data() + shape.tile + 2 * kRowSlack) {}

  HWY_INLINE void begin_row(const RowPlace& place) {
    source_ = place.level == 0 ? &fine_ : &coarse_;
    base_ = context_base(place.level);
    place_ = place;
    buffered_ = source_->decoded == nullptr;
    if (buffered_) return;  // codes come at the end of the row, when its contexts are known
    if (masked_) {
      spread_valid();
    } else {
      codes_ = source_->decoded;
      source_->decoded += place.count;
    }
  }

  template <bool kContexts>
  HWY_INLINE void lanes(int i, int n, typename L::V p, typename L::V activity, I* r) {
    if (kContexts && buffered_) {
      L::store(p, predictions_ + i);
      L::store_contexts(activity, step_, base_, work_.contexts.data() + i);
      r_ = r;
      return;
    }
    const typename L::V code = L::load(codes_ + i);
    L::store_some(L::add(p, L::multiply(code, step_)), r + i, n);
  }

  template <bool kContexts>
  HWY_INLINE void end_row(int count) {
    if (!kContexts || !buffered_) return;
    std::uint8_t* contexts = work_.contexts.data();
    const I* codes = spare_;
    if (masked_) {
      const std::uint8_t* valid = work_.valid.data() + natural_.at(place_);
      const std::int64_t stride = std::int64_t{2} << place_.level;
      int found = 0;
      for (int i = 0; i < count; ++i) {
        if (valid[i * stride] != 0) contexts[found++] = contexts[i];
      }
      source_->reader->read(spare_, found, contexts);
      for (int i = count - 1; i >= 0; --i) {
        spare_[i] = valid[i * stride] != 0 ? spare_[--found] : I{0};
      }
    } else {
      source_->reader->read(spare_, count, contexts);
    }
    for (int i = 0; i < count; i += L::count()) {
      L::store_some(L::add(L::load(predictions_ + i), L::multiply(L::load(codes + i), step_)),
                    r_ + i, count - i);
    }
  }

 private:
  // Codes of the valid points at their places, zeros between.
  void spread_valid() {
    const std::uint8_t* valid = work_.valid.data() + natural_.at(place_);
    const std::int64_t stride = std::int64_t{2} << place_.level;
    for (int i = 0; i < place_.count; ++i) {
      spare_[i] = valid[i * stride] != 0 ? *source_->decoded++ : I{0};
    }
    codes_ = spare_;
  }

  CellWorkspace<I>& work_;
  NaturalArray natural_;
  typename L::Step step_;
  bool masked_;
  CodeSource<I>& coarse_;
  CodeSource<I>& fine_;
  I* spare_;
  I* predictions_;
  CodeSource<I>* source_ = nullptr;
  std::uint8_t base_ = 0;
  RowPlace place_{};
  bool buffered_ = false;
  const I* codes_ = nullptr;
  I* r_ = nullptr;
};

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace tamis::reduce
HWY_AFTER_NAMESPACE();

#endif  // include guard
