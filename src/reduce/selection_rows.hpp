// Receives the reconstructed rows of a grid and writes the selected nodes to the output.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "reduce/bit_map.hpp"
#include "reduce/field_decoder.hpp"
#include "reduce/field_rows.hpp"
#include "reduce/grid_codec.hpp"
#include "reduce/map_rows.hpp"
#include "reduce/number_map.hpp"

namespace tamis::reduce {

/// Maps linear indices of the field to linear indices of the output.
class SelectionMap {
 public:
  SelectionMap(const Extents& shape, const Selection& selection)
      : shape_(shape),
        selection_(selection),
        strides_(shape.contiguous_strides()),
        out_strides_(selection.extent.contiguous_strides()) {}

  /// Index in the output, or -1.
  std::int64_t find(std::int64_t linear) const {
    std::int64_t out = 0;
    for (int d = 0; d < shape_.rank(); ++d) {
      const std::int64_t x = linear / strides_[d];
      linear -= x * strides_[d];
      const std::int64_t offset = x - selection_.origin[d];
      if (offset < 0 || offset % selection_.step != 0) return -1;
      const std::int64_t at = offset / selection_.step;
      if (at >= selection_.extent[d]) return -1;
      out += at * out_strides_[d];
    }
    return out;
  }

  /// fn(linear index, output index) for every selected node.
  template <typename Fn>
  void each(const Fn& fn) const {
    const std::int64_t count = selection_.extent.element_count();
    const int rank = shape_.rank();
    for (std::int64_t i = 0; i < count; ++i) {
      std::int64_t rest = i;
      std::int64_t linear = 0;
      for (int d = 0; d < rank; ++d) {
        const std::int64_t at = rest / out_strides_[d];
        rest -= at * out_strides_[d];
        linear += (selection_.origin[d] + at * selection_.step) * strides_[d];
      }
      fn(linear, i);
    }
  }

 private:
  Extents shape_;
  Selection selection_;
  Extents strides_;
  Extents out_strides_;
};

template <typename T, typename I>
class SelectionRows final : public LatticeRows<I> {
 public:
  SelectionRows(const NumberMap& map, const BitMap* voids, const SelectionMap& selected,
                bool everything, T* out)
      : map_(map), voids_(voids), selected_(selected), everything_(everything), out_(out) {}

  void read(const NodeBlock&, I*) const override {}
  void read_run(const RowRun&, I*) const override {}
  bool read_valid(const NodeBlock& block, std::uint8_t* out) const override {
    return read_clear_bits(voids_, 0, block, out);
  }
  void accept_run(const RowRun& run, const I* values) override {
    if constexpr (sizeof(I) == 4) {
      if (everything_ && run.stride == 1 && map_.is_affine()) {
        ValueRows<T> rows{{}, static_cast<int>(run.blocks.size()), run.count};
        for (int b = 0; b < rows.used; ++b) {
          rows.data[b] = out_ + run.first(static_cast<std::size_t>(b));
        }
        reconstruct_rows(map_, values, kRunPitch, rows);
        return;
      }
    }
    for (std::size_t b = 0; b < run.blocks.size(); ++b, values += kRunPitch) {
      accept_row(run.first(b), run.stride, run.count, values);
    }
  }
  /// A single row, for nodes that belong to no block.
  void accept_row(std::int64_t first, std::int64_t stride, int count, const I* values) {
    if (everything_ && stride == 1) {
      map_.reconstruct(values, count, out_ + first);
      return;
    }
    constexpr int kPiece = 256;
    std::array<T, kPiece> decoded;
    for (int at = 0; at < count; at += kPiece) {
      const int n = std::min(kPiece, count - at);
      map_.reconstruct(values + at, n, decoded.data());
      for (int i = 0; i < n; ++i) {
        const std::int64_t linear = first + (at + i) * stride;
        const std::int64_t to = everything_ ? linear : selected_.find(linear);
        if (to >= 0) out_[to] = decoded[static_cast<std::size_t>(i)];
      }
    }
  }

 private:
  const NumberMap& map_;
  const BitMap* voids_;
  const SelectionMap& selected_;
  bool everything_;
  T* out_;
};

}  // namespace tamis::reduce
