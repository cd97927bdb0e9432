// How cells get into shared memory and out of it: field values, boundaries from the planes,
// reconstructed values back to the planes, and where a cell's codes lie.
#pragma once

#include "gpu/device/copy.cuh"
#include "reduce/device/cell_places.cuh"

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

/// fn(c, i) for the nodes first[r] .. first[r] + count[r] - 1 along each axis.
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

/// fn(c) for the open points: whole rows of kSide threads each, which divides by powers of two.
template <int kRank, typename Group, typename Fn>
TAMIS_DEVICE void each_open_node(const CellForm<kRank>& form, const Group& group, const Fn& fn) {
  int total = kSide;
#pragma unroll
  for (int r = 1; r < kRank; ++r) total = r + 1 == kRank ? total * form.nodes[r] : total * kSide;
#pragma unroll 4
  for (int i = group.rank(); i < total; i += Group::kThreads) {
    int c[kRank];
    bool open = true;
#pragma unroll
    for (int r = 0; r < kRank; ++r) {
      c[r] = r + 1 == kRank && kRank > 1 ? i >> (r * kLevels) : (i >> (r * kLevels)) & (kSide - 1);
      open = open && c[r] != 0 && c[r] <= open_nodes(form.nodes[r]);
    }
    if (open) fn(c);
  }
}

/// A row of a full tile in pieces of 16 bytes: what a thread reads or writes, turn by turn. Its
/// place along the row stays, the row moves on by constants.
template <int kRank, int kThreads>
struct RowPieces {
  using Places = CellPlaces<kRank>;
  static constexpr int kValues = 16 / static_cast<int>(sizeof(Value));  // of a piece
  static constexpr int kInRow = kSide / kValues;
  static constexpr int kTurns = power(kSide, kRank) / kValues / kThreads;
  static constexpr int kRowsOn = kThreads / kInRow;  // from turn to turn
  static_assert(kRank == 1 || kRowsOn <= kSide || kRowsOn % kSide == 0, "a constant step");

  int x;         // first node of the first piece
  int row[2];    // along axes 1 and 2
  i64 node_on;   // from turn to turn, in linear indices
  int place_on;  // and in shared memory

  TAMIS_DEVICE RowPieces(const i64 node_step[kRank], int thread) {
    x = thread % kInRow * kValues;
    const int first = thread / kInRow;
    row[0] = first % kSide;
    row[1] = first / kSide;
    if constexpr (kRank == 1) {
      node_on = kThreads * kValues;
      place_on = kThreads * kValues / 2;
    } else if constexpr (kRank == 2 || kRowsOn < kSide) {
      node_on = kRowsOn * node_step[1];
      place_on = kRowsOn * Places::kPitch;
    } else {
      node_on = kRowsOn / kSide * node_step[kRank - 1];
      place_on = kRowsOn / kSide * Places::kPlane;
    }
  }
  /// Row of a turn: its coordinate along an axis from 1 on.
  TAMIS_DEVICE int at(int turn, int axis) const {
    if (kRank == 2 || kRowsOn < kSide) return axis == 1 ? row[0] + turn * kRowsOn : row[1];
    return axis == 1 ? row[0] : row[1] + turn * (kRowsOn / kSide);
  }
  TAMIS_DEVICE bool is_open(int turn) const {
    bool open = true;
#pragma unroll
    for (int axis = 1; axis < kRank; ++axis) open = open && at(turn, axis) != 0;
    return open;
  }
  /// Whether the tile owns the piece; form.nodes[0] is a multiple of kValues, or kSide + 1.
  TAMIS_DEVICE bool is_owned(int turn, const CellForm<kRank>& form) const {
    bool owned = x + (kRank == 1 ? turn * kThreads * kValues : 0) < owned_nodes(form.nodes[0]);
#pragma unroll
    for (int axis = 1; axis < kRank; ++axis) {
      owned = owned && at(turn, axis) < owned_nodes(form.nodes[axis]);
    }
    return owned;
  }
  TAMIS_DEVICE int first_place() const {
    return x / 2 + (kRank > 1 ? row[0] * Places::kPitch : 0) +
           (kRank > 2 ? row[1] * Places::kPlane : 0);
  }
  TAMIS_DEVICE i64 first_node(const i64 node_step[kRank]) const {
    i64 node = x;
    if constexpr (kRank > 1) node += row[0] * node_step[1];
    if constexpr (kRank > 2) node += row[1] * node_step[2];
    return node;
  }
};

/// Whether the rows of a cell can be read and written 16 bytes at a time.
template <int kRank, int kThreads>
TAMIS_DEVICE bool has_row_pieces(const Cell<kRank>& cell, const void* values) {
  constexpr i64 kValues = 16 / static_cast<i64>(sizeof(Value));
  if (owned_nodes(cell.form.nodes[0]) % kValues != 0 || cell.node_step[0] != 1) return false;
  if (power(kSide, kRank) / kValues % kThreads != 0) return false;
  const Value* first = static_cast<const Value*>(values) + cell.origin;
  bool aligned = (reinterpret_cast<u64>(first) & 15) == 0;
#pragma unroll
  for (int r = 1; r < kRank; ++r) aligned = aligned && cell.node_step[r] % kValues == 0;
  return aligned;
}

union RowPiece {
  Vec16 words;
  Value values[16 / sizeof(Value)];
};

/// Puts a piece into a row, even and odd nodes apart.
TAMIS_DEVICE void put_piece(Slot* v, int odds, const RowPiece& piece) {
  constexpr int kPairs = 8 / static_cast<int>(sizeof(Value));
#pragma unroll
  for (int i = 0; i < kPairs; ++i) {
    v[i] = slot_of(piece.values[2 * i]);
    v[odds + i] = slot_of(piece.values[2 * i + 1]);
  }
}

/// Values of the open points; returns whether all that this thread met are plain. The near boundary
/// may get values too, so it may be put in its place only after a sync().
template <int kRank, typename Group>
TAMIS_DEVICE bool load_open(const CellArgs& args, const Cell<kRank>& cell, const Group& group,
                            Slot* v) {
  using Places = CellPlaces<kRank>;
  const Value* source = static_cast<const Value*>(args.source);
  bool plain = true;
  if (has_row_pieces<kRank, Group::kThreads>(cell, source)) {
    using Pieces = RowPieces<kRank, Group::kThreads>;
    const Pieces pieces(cell.node_step, group.rank());
    const Value* from = source + cell.origin + pieces.first_node(cell.node_step);
    Slot* to = v + pieces.first_place();
#pragma unroll
    for (int turn = 0; turn < Pieces::kTurns; turn += 4) {
      RowPiece piece[4];
#pragma unroll
      for (int i = 0; i < 4 && turn + i < Pieces::kTurns; ++i) {
        if (!pieces.is_open(turn + i) || !pieces.is_owned(turn + i, cell.form)) continue;
        piece[i].words = load_16_streaming(from + i * pieces.node_on);
      }
#pragma unroll
      for (int i = 0; i < 4 && turn + i < Pieces::kTurns; ++i) {
        if (!pieces.is_open(turn + i) || !pieces.is_owned(turn + i, cell.form)) continue;
#pragma unroll
        for (int n = 0; n < Pieces::kValues; ++n) {
          plain = plain && is_plain(args.lattice, piece[i].values[n]);
        }
        put_piece(to + i * pieces.place_on, Places::kOdds, piece[i]);
      }
      from += 4 * pieces.node_on;
      to += 4 * pieces.place_on;
    }
    return plain;
  }
  each_open_node<kRank>(cell.form, group, [&](const int c[kRank]) {
    const Value value = source[cell.node(c)];
    plain = plain && is_plain(args.lattice, value);
    v[Places::at(c)] = slot_of(value);
  });
  return plain;
}

/// fn(c, side) for each boundary node of a cell, once. Sides are taken axis by axis from the
/// slowest; those of later axes leave out what earlier ones had.
template <int kRank, bool kFull, typename Group, typename Fn>
TAMIS_DEVICE void each_on_side(const CellForm<kRank>& form, int side, const Group& group,
                               const Fn& fn) {
  int first[kRank];
  int count[kRank];
#pragma unroll
  for (int r = 0; r < kRank; ++r) {
    const int nodes = kFull ? kSide + 1 : form.nodes[r];
    first[r] = r > side ? 1 : 0;
    count[r] = r == side ? (nodes == kSide + 1 ? 2 : 1) : r > side ? open_nodes(nodes) : nodes;
  }
  each_in_box<kRank>(first, count, group, fn);
}

/// Reconstructed boundary of an interior, node by node.
template <typename Group>
TAMIS_DEVICE void load_sides(const CellArgs& args, const Tile& tile, const CellForm<kAxes>& form,
                             const Group& group, Slot* v) {
  const int corner[kAxes] = {};
#pragma unroll
  for (int side = kAxes - 1; side >= 0; --side) {
    const int k = kAxes - 1 - side;
    const Lattice* plane =
        static_cast<const Lattice*>(args.planes) + plane_element(args.grid, tile, side, corner);
    each_on_side<kAxes, false>(form, side, group, [&](int c[kAxes], int) {
      i64 at = c[side] * args.grid.plane_tile[k];
#pragma unroll
      for (int other = 0; other < kAxes; ++other) {
        if (other != side) at += c[other] * args.grid.plane_stride[k][kAxes - 1 - other];
      }
      c[side] *= kSide;
      v[CellPlaces<kAxes>::at(c)] = slot_of(plane[at]);
    });
  }
}

#if TAMIS_AXES == 3 && TAMIS_LATTICE == 4
/// Boundary of the interior of a full tile, rows of planes 16 bytes at a time; false when they do
/// not lie on multiples of that. Nodes on several sides are written more than once, alike.
template <typename Group>
TAMIS_DEVICE bool load_full_sides(const CellArgs& args, const Tile& tile, const Group& group,
                                  Slot* v) {
  using Places = CellPlaces<3>;
  const GridArgs& grid = args.grid;
  const Lattice* planes = static_cast<const Lattice*>(args.planes);
  const int corner[3] = {};
  // Planes of z and y have rows along x, those of x along y; rows of 4 pieces and an end.
  constexpr int kPieces = kSide / 4;
  constexpr int kRows = kSide + 1;
#pragma unroll
  for (int side = 0; side < 3; ++side) {
    const int k = 2 - side;
    const int slow = side == 2 ? 1 : 2;  // in the plane
    const i64 first = plane_element(grid, tile, side, corner);
    const i64 row_step = grid.plane_stride[k][2 - slow];
    if (((first | row_step | grid.plane_tile[k]) & 3) != 0) return false;
    const Lattice* plane = planes + first;
    for (int i = group.rank(); i < 2 * kRows * kPieces; i += Group::kThreads) {
      const int far = i >= kRows * kPieces ? 1 : 0;
      const int piece = i % kPieces;
      const int row = i / kPieces - far * kRows;
      const Lattice* from = plane + far * grid.plane_tile[k] + row * row_step + 4 * piece;
      const Vec16 words = load_16(from);
      if (side == 0) {
        Slot* to = v + row * Places::kPlane + 4 * piece * Places::kPitch + far * (kSide / 2);
#pragma unroll
        for (int n = 0; n < 4; ++n) to[n * Places::kPitch] = static_cast<Slot>(words.word[n]);
      } else {
        Slot* to = v + row * Places::stride(slow) + far * kSide * Places::stride(side) + 2 * piece;
        to[0] = static_cast<Slot>(words.word[0]);
        to[1] = static_cast<Slot>(words.word[2]);
        to[Places::kOdds] = static_cast<Slot>(words.word[1]);
        to[Places::kOdds + 1] = static_cast<Slot>(words.word[3]);
      }
    }
    // The last node of each row.
    for (int i = group.rank(); i < 2 * kRows; i += Group::kThreads) {
      const int far = i >= kRows ? 1 : 0;
      const int row = i - far * kRows;
      int c[3];
      c[side] = far * kSide;
      c[slow] = row;
      c[3 - side - slow] = kSide;
      v[Places::at(c)] = slot_of(plane[far * grid.plane_tile[k] + row * row_step + kSide]);
    }
  }
  return true;
}
#else
template <typename Group>
TAMIS_DEVICE bool load_full_sides(const CellArgs&, const Tile&, const Group&, Slot*) {
  return false;
}
#endif

template <int kRank, typename Group>
TAMIS_DEVICE void load_boundary(const CellArgs& args, const Tile& tile, const Cell<kRank>& cell,
                                const Group& group, Slot* v) {
  if constexpr (kRank == kAxes) {
    if (cell.form.is_full() && load_full_sides(args, tile, group, v)) return;
    load_sides(args, tile, cell.form, group, v);
  } else {
    const Lattice* planes = static_cast<const Lattice*>(args.planes);
#pragma unroll
    for (int side = kRank - 1; side >= 0; --side) {
      each_on_side<kRank, false>(cell.form, side, group, [&](int c[kRank], int) {
        c[side] *= kSide;
        v[CellPlaces<kRank>::at(c)] = slot_of(planes[cell.element(0, c)]);
      });
    }
  }
}

/// Open points of a cell that is no interior, into the planes of all its normals.
template <int kRank, typename Group>
TAMIS_DEVICE void store_open(const CellArgs& args, const Cell<kRank>& cell, const Group& group,
                             const Slot* v) {
  Lattice* planes = static_cast<Lattice*>(args.planes);
  each_open_node<kRank>(cell.form, group, [&](const int c[kRank]) {
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
