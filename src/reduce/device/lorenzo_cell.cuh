// Lorenzo cells (docs/format.md, section 12). Values are multiples of the step, so an encoder needs
// no reconstruction and a decoder inverts the prediction by prefix sums along each axis: what the
// boundary alone predicts, plus the sum of all codes before a point.
#pragma once

#include "reduce/device/cell_places.cuh"

namespace tamis::device {

template <int kRank, bool kContexts, typename I>
struct LorenzoCell {
  using Places = CellPlaces<kRank>;

  /// Replaces the near boundary by its nearest multiples of the step, in units of it.
  template <typename Slot, typename Group>
  static TAMIS_DEVICE void scale_boundary(Slot* v, const CellForm<kRank>& form,
                                          const LatticeArgs& lattice, const Group& group) {
    each_node(form, 0, group, [&](const int c[kRank], int) {
      if (!on_boundary(c)) return;
      Slot& slot = v[Places::at(c)];
      slot = static_cast<Slot>(
          divide_nearest(static_cast<I>(slot), static_cast<I>(lattice.step), lattice.reciprocal));
    });
  }

  /// visit(point, c) for all open points, of coordinates c, in raster order of their codes.
  template <typename Group, typename Visit>
  static TAMIS_DEVICE void each_open(const CellForm<kRank>& form, const Group& group,
                                     const Visit& visit) {
    each_node(form, 1, group, [&](const int c[kRank], int i) {
      visit(WalkPoint{Places::at(c), i, 0}, c);
    });
  }

  /// What the neighbours of an open point predict, in units of the step.
  template <typename Slot>
  static TAMIS_DEVICE I predicted(const Slot* v, const int c[kRank]) {
    I sum = I{0};
#pragma unroll
    for (int set = 1; set < 1 << kRank; ++set) {
      int n[kRank];
#pragma unroll
      for (int axis = 0; axis < kRank; ++axis) n[axis] = c[axis] - (set >> axis & 1);
      const I value = static_cast<I>(v[Places::at(n)]);
      const bool odd = (set == 1 || set == 2 || set == 4 || set == 7);
      sum = odd ? wrap_add(sum, value) : wrap_sub(sum, value);
    }
    return sum;
  }

  /// Of the context of an open point, from the codes in the row above and the plane behind;
  /// `code(c)` gives that of an open point.
  template <typename Code>
  static TAMIS_DEVICE I activity(const int c[kRank], const LatticeArgs& lattice, const Code& code) {
    I sum = I{0};
    int found = 0;
#pragma unroll
    for (int axis = 1; axis < kRank; ++axis) {
      if (c[axis] == 1) continue;
      int n[kRank];
#pragma unroll
      for (int k = 0; k < kRank; ++k) n[k] = c[k] - (k == axis ? 1 : 0);
      sum = wrap_add(sum, magnitude_of(code(n)));
      ++found;
    }
    sum = wrap_mul(sum, static_cast<I>(lattice.step));
    return kRank == 3 && found == 1 ? wrap_add(sum, sum) : sum;
  }

  /// Open points hold their codes; afterwards they hold the values in units of the step. The
  /// boundary stays as it is.
  template <typename Slot, typename Group>
  static TAMIS_DEVICE void invert(Slot* v, const CellForm<kRank>& form, const LatticeArgs& lattice,
                                  const Group& group) {
    group.sync();
    if constexpr (kRank == 1) {
      scan_long_row(v, form, group);
    } else {
#pragma unroll
      for (int axis = 0; axis < kRank; ++axis) {
        scan_lines(v, form, axis, group);
        group.sync();
      }
    }
    each_node(form, 1, group, [&](const int c[kRank], int) {
      Slot& slot = v[Places::at(c)];
      slot = static_cast<Slot>(wrap_add(static_cast<I>(slot), extension(v, c, lattice)));
    });
  }

 private:
  static TAMIS_DEVICE bool on_boundary(const int c[kRank]) {
    bool any = false;
#pragma unroll
    for (int axis = 0; axis < kRank; ++axis) any = any || c[axis] == 0;
    return any;
  }

  static TAMIS_DEVICE int open(const CellForm<kRank>& form, int axis) {
    return form.nodes[axis] - (form.far[axis] ? 2 : 1);
  }

  // fn(c, i) for all nodes from `first` (0 or 1) along each axis up to the last open one.
  template <typename Group, typename Fn>
  static TAMIS_DEVICE void each_node(const CellForm<kRank>& form, int first, const Group& group,
                                     const Fn& fn) {
    int count[kRank];
    int total = 1;
#pragma unroll
    for (int axis = 0; axis < kRank; ++axis) {
      count[axis] = open(form, axis) + 1 - first;
      total *= count[axis];
    }
    for (int i = group.rank(); i < total; i += group.size()) {
      int c[kRank];
      int rest = i;
#pragma unroll
      for (int axis = 0; axis < kRank; ++axis) {
        c[axis] = first + (axis + 1 == kRank ? rest : rest % count[axis]);
        rest = axis + 1 == kRank ? 0 : rest / count[axis];
      }
      fn(c, i);
    }
  }

  // A thread sums up a line.
  template <typename Slot, typename Group>
  static TAMIS_DEVICE void scan_lines(Slot* v, const CellForm<kRank>& form, int axis,
                                      const Group& group) {
    int lines = 1;
#pragma unroll
    for (int k = 0; k < kRank; ++k) lines *= k == axis ? 1 : open(form, k);
    for (int i = group.rank(); i < lines; i += group.size()) {
      int c[kRank];
      int rest = i;
#pragma unroll
      for (int k = 0; k < kRank; ++k) {
        if (k == axis) continue;
        c[k] = 1 + rest % open(form, k);
        rest /= open(form, k);
      }
      I sum = I{0};
      for (c[axis] = 1; c[axis] <= open(form, axis); ++c[axis]) {
        Slot& slot = v[Places::at(c)];
        sum = wrap_add(sum, static_cast<I>(slot));
        slot = static_cast<Slot>(sum);
      }
    }
  }

  // Each thread sums up a part, then adds the ends of the parts before it.
  template <typename Slot, typename Group>
  static TAMIS_DEVICE void scan_long_row(Slot* v, const CellForm<kRank>& form, const Group& group) {
    const int count = open(form, 0);
    const int part = ceil_div(max_of(count, 1), group.size());
    const int begin = min_of(group.rank() * part, count);
    const int end = min_of(begin + part, count);
    I sum = I{0};
    for (int i = begin; i < end; ++i) {
      Slot& slot = v[Places::in_row(1 + i)];
      sum = wrap_add(sum, static_cast<I>(slot));
      slot = static_cast<Slot>(sum);
    }
    group.sync();
    I before = I{0};
    for (int last = part; last <= begin && begin < end; last += part) {
      before = wrap_add(before, static_cast<I>(v[Places::in_row(last)]));
    }
    group.sync();
    for (int i = begin; i < end; ++i) {
      Slot& slot = v[Places::in_row(1 + i)];
      slot = static_cast<Slot>(wrap_add(static_cast<I>(slot), before));
    }
    group.sync();
  }

  // The value that the near boundary alone predicts: the Lorenzo polynomial with all codes 0.
  template <typename Slot>
  static TAMIS_DEVICE I extension(const Slot* v, const int c[kRank], const LatticeArgs& lattice) {
    I sum = I{0};
#pragma unroll
    for (int set = 1; set < 1 << kRank; ++set) {
      int n[kRank];
#pragma unroll
      for (int axis = 0; axis < kRank; ++axis) n[axis] = (set >> axis & 1) != 0 ? 0 : c[axis];
      const I value = divide_nearest(static_cast<I>(v[Places::at(n)]), static_cast<I>(lattice.step),
                                     lattice.reciprocal);
      const bool odd = (set == 1 || set == 2 || set == 4 || set == 7);
      sum = odd ? wrap_add(sum, value) : wrap_sub(sum, value);
    }
    return sum;
  }
};

}  // namespace tamis::device
