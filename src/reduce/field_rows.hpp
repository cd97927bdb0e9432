// Rows of a user's field as lattice values, and the check of each reconstructed row against the
// bound, in the decoder's own arithmetic. Points that miss it are collected as patches.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "reduce/bit_map.hpp"
#include "reduce/grid_codec.hpp"
#include "reduce/number_map.hpp"

namespace tamis::reduce {

/// What a reconstructed value has to satisfy.
struct PointCheck {
  enum class Kind : std::uint8_t { kAbsolute, kPointwise, kExact } kind = Kind::kExact;
  double bound = 0;
};

/// True when r may stand for x. Non-finite x needs the same bits.
template <typename T>
bool point_holds(const PointCheck& check, T x, T r);

/// Same for a whole row; false when any point fails.
template <typename T>
bool row_holds(const PointCheck& check, const T* x, const T* r, int count);

/// out = 1 where the bit is clear; false, leaving `out` alone, when all are. `bits` may be null and
/// begins at index -shift of the block's field.
bool read_clear_bits(const BitMap* bits, std::int64_t shift, const NodeBlock& block,
                     std::uint8_t* out);

/// A point stored verbatim: its linear index and bits.
struct Patch {
  std::int64_t index;
  std::uint64_t bits;
};

template <typename T, typename I>
class FieldRows final : public LatticeRows<I> {
 public:
  /// `data` holds nodes from linear index `begin` on. `voids` marks points without a code and may
  /// be null. All of them must outlive the rows.
  FieldRows(const T* data, std::int64_t begin, const NumberMap& map, const BitMap* voids,
            PointCheck check)
      : data_(data), begin_(begin), map_(map), voids_(voids), check_(check) {}

  /// Index 0 of these rows is index `shift` of `voids`.
  void shift_voids(std::int64_t shift) { void_shift_ = shift; }
  /// Adds up squared errors, for a bound on their mean.
  void measure_errors(double scale) { error_scale_ = scale; }
  /// Sum of (error / scale)^2, rounded up per point to 2^-24. Exact, hence independent of the
  /// order.
  double squared_errors() const { return static_cast<double>(squared_errors_.load()) * 0x1p-24; }

  /// Another window of the field.
  void move_window(const T* data, std::int64_t begin) {
    data_ = data;
    begin_ = begin;
  }

  void read(const NodeBlock& block, I* out) const override;
  void read_run(const RowRun& run, I* out) const override;
  bool read_valid(const NodeBlock& block, std::uint8_t* out) const override {
    return read_clear_bits(voids_, void_shift_, block, out);
  }
  void accept_run(const RowRun& run, const I* values) override;

  /// Patches found so far, in no particular order.
  std::vector<Patch> take_patches() { return std::move(patches_); }
  /// Once more patches than this are found, the rest is dropped: the encoding is given up.
  void set_patch_limit(std::int64_t limit) { patch_limit_ = limit; }
  bool over_limit() const { return static_cast<std::int64_t>(patches_.size()) > patch_limit_; }

 private:
  void accept_row(std::int64_t first, std::int64_t stride, int count, const I* values);
  void add_errors(const T* x, const T* r, std::int64_t begin, std::int64_t stride, int count);

  const T* data_;
  std::int64_t begin_;
  const NumberMap& map_;
  const BitMap* voids_;
  PointCheck check_;
  std::int64_t void_shift_ = 0;
  double error_scale_ = 0;
  std::atomic<std::uint64_t> squared_errors_ = 0;
  std::mutex mutex_;
  std::vector<Patch> patches_;
  std::int64_t patch_limit_ = INT64_MAX;
};

/// Rows of an integer array in memory: coarse grids read their input from one and write the result
/// to another.
template <typename I>
class ArrayRows final : public LatticeRows<I> {
 public:
  ArrayRows(const std::vector<I>* input, std::vector<I>* output) : input_(input), output_(output) {}
  void read(const NodeBlock& block, I* out) const override {
    block.each_row([&](std::int64_t first, std::int64_t natural) {
      for (int i = 0; i < block.count[2]; ++i) {
        out[natural + i] = (*input_)[static_cast<std::size_t>(first + i * block.stride[2])];
      }
    });
  }
  void read_run(const RowRun& run, I* out) const override {
    for (std::size_t b = 0; b < run.blocks.size(); ++b, out += kRunPitch) {
      for (int i = 0; i < run.count; ++i) {
        out[i] = (*input_)[static_cast<std::size_t>(run.first(b) + i * run.stride)];
      }
    }
  }
  bool read_valid(const NodeBlock&, std::uint8_t*) const override { return false; }
  void accept_run(const RowRun& run, const I* values) override {
    if (output_ == nullptr) return;
    for (std::size_t b = 0; b < run.blocks.size(); ++b, values += kRunPitch) {
      for (int i = 0; i < run.count; ++i) {
        (*output_)[static_cast<std::size_t>(run.first(b) + i * run.stride)] = values[i];
      }
    }
  }

 private:
  const std::vector<I>* input_;
  std::vector<I>* output_;
};

}  // namespace tamis::reduce
