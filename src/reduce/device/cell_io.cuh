// How cells get into shared memory and out of it: field values, boundaries from the planes,
// reconstructed values back to the planes, and where a cell's codes lie.
#pragma once

#include "reduce/device/cell_walk.cuh"

namespace tamis::device {

#if TAMIS_LATTICE == 8
using Lattice = i64;
#else
using Lattice = i32;
#endif
// What the source and target of a grid hold: values of the field, or lattice integers where the
// grid is one of anchors.
#if TAMIS_VALUE == 8
using Value = double;
#elif TAMIS_VALUE == 4
using Value = float;
#else
using Value = Lattice;
#endif
inline constexpr bool kIsField = TAMIS_VALUE != 0;

/// A node in shared memory: a value on its way in (its bits), then a lattice integer.
template <int kBytes>
struct SlotOf {
  using Type = u32;
};
template <>
struct SlotOf<8> {
  using Type = u64;
};
using Slot = SlotOf<(sizeof(Value) > sizeof(Lattice) ? sizeof(Value) : sizeof(Lattice))>::Type;

TAMIS_DEVICE Slot slot_of(float v) { return bits_of(v); }
TAMIS_DEVICE Slot slot_of(double v) { return static_cast<Slot>(bits_of(v)); }
TAMIS_DEVICE Slot slot_of(i32 v) { return static_cast<Slot>(v); }
TAMIS_DEVICE Slot slot_of(i64 v) { return static_cast<Slot>(v); }
TAMIS_DEVICE Value value_in(Slot slot) {
  if constexpr (!kIsField) {
    return static_cast<Value>(slot);
  } else {
    return value_of(static_cast<BitsOf<Value>::U>(slot));
  }
}

/// A cell of a tile: kRank of the tile's axes are free, ascending from the fastest. Everything that
/// depends on which axes these are is worked out once, so that nothing is indexed at run time.
template <int kRank>
struct Cell {
  static constexpr int kNormals = kAxes - kRank;
  int mask;  // as in the format: bit 0 = slowest axis
  CellForm<kRank> form;
  i64 origin;
  i64 node_step[kRank];
  // The cell in the planes of the axes that are not free.
  i64 plane_at[kNormals > 0 ? kNormals : 1];
  i64 plane_step[kNormals > 0 ? kNormals : 1][kRank];

  TAMIS_DEVICE Cell(const GridArgs& grid, const Tile& tile, int cell_mask)
      : mask(cell_mask), origin(tile.origin) {
    const int corner[kAxes] = {};
    int next = 0;
    int normals = 0;
#pragma unroll
    for (int a = 0; a < kAxes; ++a) {
      const int k = kAxes - 1 - a;
      if (kNormals > 0 && (cell_mask >> k & 1) == 0) {
        const i64 at = plane_element(grid, tile, a, corner);
#pragma unroll
        for (int n = 0; n < kNormals; ++n) {
          if (n != normals) continue;
          plane_at[n] = at;
          int free = 0;
#pragma unroll
          for (int other = 0; other < kAxes; ++other) {
            if ((cell_mask >> (kAxes - 1 - other) & 1) == 0) continue;
#pragma unroll
            for (int r = 0; r < kRank; ++r) {
              if (r == free) plane_step[n][r] = grid.plane_stride[k][kAxes - 1 - other];
            }
            ++free;
          }
        }
        ++normals;
        continue;
      }
      int preference = 0;
#pragma unroll
      for (int i = 0; i < kAxes; ++i) {
        if (grid.order[i] == k) preference = i;
      }
#pragma unroll
      for (int r = 0; r < kRank; ++r) {
        if (r != next) continue;
        node_step[r] = tile.stride[a];
        form.nodes[r] = tile.nodes[a];
        form.far[r] = tile.nodes[a] == kSide + 1;
        form.prefer[r] = preference;
      }
      ++next;
    }
  }

  /// Linear index of a node of the cell.
  TAMIS_DEVICE i64 node(const int c[kRank]) const {
    i64 index = origin;
#pragma unroll
    for (int r = 0; r < kRank; ++r) index += c[r] * node_step[r];
    return index;
  }
  /// Element of a node in the plane of the n-th axis that is not free.
  TAMIS_DEVICE i64 element(int n, const int c[kRank]) const {
    i64 element = plane_at[n];
#pragma unroll
    for (int r = 0; r < kRank; ++r) element += c[r] * plane_step[n][r];
    return element;
  }
};

/// fn(c, i) for the nodes first[r] .. first[r] + count[r] - 1 along each axis; with kFull the last
/// two of these are constants that the caller passes.
template <int kRank, typename Group, typename Fn>
TAMIS_DEVICE void each_in_box(const int first[kRank], const int count[kRank], const Group& group,
                              const Fn& fn) {
  int total = 1;
#pragma unroll
  for (int r = 0; r < kRank; ++r) total *= count[r];
  for (int i = group.rank(); i < total; i += group.size()) {
    int c[kRank];
    int rest = i;
#pragma unroll
    for (int r = 0; r < kRank; ++r) {
      c[r] = first[r] + (r + 1 == kRank ? rest : rest % count[r]);
      rest = r + 1 == kRank ? 0 : rest / count[r];
    }
    fn(c, i);
  }
}

/// A value that affine maps and absolute bounds need no care with.
TAMIS_DEVICE bool is_plain(const LatticeArgs& lattice, Value value) {
  if constexpr (kIsField) {
    return value >= static_cast<Value>(lattice.low) && value <= static_cast<Value>(lattice.high);
  } else {
    return true;
  }
}

/// Values of the open points; returns whether all that this thread met are plain. Rows of full
/// cells are read from their beginning, so that accesses are aligned; the boundary is put in its
/// place afterwards.
template <int kRank, typename Group>
TAMIS_DEVICE bool load_open(const CellArgs& args, const Cell<kRank>& cell, const Group& group,
                            Slot* v) {
  using Places = CellPlaces<kRank>;
  const Value* source = static_cast<const Value*>(args.source);
  bool plain = true;
  const auto put = [&](const int c[kRank]) {
    const Value value = source[cell.node(c)];
    plain = plain && is_plain(args.lattice, value);
    v[Places::at(c)] = slot_of(value);
  };
  if (cell.form.is_full()) {
    constexpr int kNodes = power(kSide, kRank);
#pragma unroll 4
    for (int i = group.rank(); i < kNodes; i += group.size()) {
      int c[kRank];
      bool open = true;
#pragma unroll
      for (int r = 0; r < kRank; ++r) {
        c[r] = (i >> (r * kLevels)) & (kSide - 1);
        open = open && c[r] != 0;
      }
      if (open) put(c);
    }
    return plain;
  }
  int first[kRank];
  int count[kRank];
#pragma unroll
  for (int r = 0; r < kRank; ++r) {
    first[r] = 1;
    count[r] = open_nodes(cell.form.nodes[r]);
  }
  each_in_box<kRank>(first, count, group, [&](const int c[kRank], int) { put(c); });
  return plain;
}

/// fn(c) for each boundary node of a cell, once. Sides are taken axis by axis from the slowest;
/// those of later axes leave out what earlier ones had.
template <int kRank, bool kFull, typename Group, typename Fn>
TAMIS_DEVICE void each_on_sides(const CellForm<kRank>& form, const Group& group, const Fn& fn) {
#pragma unroll
  for (int side = kRank - 1; side >= 0; --side) {
    int first[kRank];
    int count[kRank];
#pragma unroll
    for (int r = 0; r < kRank; ++r) {
      const int nodes = kFull ? kSide + 1 : form.nodes[r];
      first[r] = r > side ? 1 : 0;
      count[r] = r == side ? (nodes == kSide + 1 ? 2 : 1) : r > side ? open_nodes(nodes) : nodes;
    }
    each_in_box<kRank>(first, count, group, [&](int c[kRank], int) {
      c[side] *= kSide;
      fn(c, side);
    });
  }
}

/// Reconstructed boundary of an interior.
template <bool kFull, typename Group>
TAMIS_DEVICE void load_sides(const CellArgs& args, const Tile& tile, const CellForm<kAxes>& form,
                             const Group& group, Slot* v) {
  const Lattice* planes = static_cast<const Lattice*>(args.planes);
  each_on_sides<kAxes, kFull>(form, group, [&](const int c[kAxes], int side) {
    v[CellPlaces<kAxes>::at(c)] = slot_of(planes[plane_element(args.grid, tile, side, c)]);
  });
}

template <int kRank, typename Group>
TAMIS_DEVICE void load_boundary(const CellArgs& args, const Tile& tile, const Cell<kRank>& cell,
                                const Group& group, Slot* v) {
  if constexpr (kRank == kAxes) {
    if (cell.form.is_full()) {
      load_sides<true>(args, tile, cell.form, group, v);
    } else {
      load_sides<false>(args, tile, cell.form, group, v);
    }
  } else {
    const Lattice* planes = static_cast<const Lattice*>(args.planes);
    each_on_sides<kRank, false>(cell.form, group, [&](const int c[kRank], int) {
      v[CellPlaces<kRank>::at(c)] = slot_of(planes[cell.element(0, c)]);
    });
  }
}

/// Open points of a cell that is no interior, into the planes of all its normals.
template <int kRank, typename Group>
TAMIS_DEVICE void store_open(const CellArgs& args, const Cell<kRank>& cell, const Group& group,
                             const Slot* v) {
  Lattice* planes = static_cast<Lattice*>(args.planes);
  int first[kRank];
  int count[kRank];
#pragma unroll
  for (int r = 0; r < kRank; ++r) {
    first[r] = 1;
    count[r] = open_nodes(cell.form.nodes[r]);
  }
  each_in_box<kRank>(first, count, group, [&](const int c[kRank], int) {
    const Lattice value = static_cast<Lattice>(v[CellPlaces<kRank>::at(c)]);
#pragma unroll
    for (int n = 0; n < Cell<kRank>::kNormals; ++n) planes[cell.element(n, c)] = value;
  });
}

/// First codes of a cell's coarse and fine part, among all codes of the grid.
struct CodePlaces {
  i64 coarse;
  i64 fine;
};
template <int kRank>
TAMIS_DEVICE CodePlaces code_places(const CellArgs& args, const Tile& tile, i64 bundle,
                                    const Cell<kRank>& cell, bool lorenzo) {
  const GridArgs& grid = args.grid;
  const u32* at = args.cell_at + (tile.index << kAxes);
  CodePlaces places;
  const int stream = kRank - 1;
  places.coarse = grid.codes_at[stream] + bundle * grid.code_room[stream] + at[cell.mask];
  if constexpr (kRank == kAxes) {
    places.fine = grid.codes_at[kAxes] + bundle * grid.code_room[kAxes] + at[0];
  } else {
    places.fine = places.coarse + (lorenzo ? 0 : coarse_count(tile, cell.mask));
  }
  return places;
}

/// Cells of a rank in a tile, and the mask of one of them.
template <int kRank>
constexpr TAMIS_DEVICE int cells_of_rank() {
  return kRank == kAxes ? 1 : kAxes;
}
template <int kRank>
TAMIS_DEVICE int mask_of_cell(int index) {
  if (kRank == kAxes) return kFullMask;
  if (kRank == 1) return 1 << index;
  return index == 2 ? 6 : 3 + 2 * index;  // two of three axes: 3, 5, 6
}

}  // namespace tamis::device
