// Cells in shared memory, the threads that work on them, and predictions (docs/format.md, section
// 11). Walks go through the points of a cell level by level; the points of one phase (a level's
// points with equally many odd axes) do not depend on each other, so a group of threads takes them
// together and meets between phases.
#pragma once

#include "gpu/device/warp.cuh"
#include "reduce/device/number_map.cuh"
#include "reduce/device/tile.cuh"

namespace tamis::device {

constexpr TAMIS_DEVICE int power(int base, int exponent) {
  int result = 1;
  for (int i = 0; i < exponent; ++i) result *= base;
  return result;
}

/// Nodes of a cell of kRank axes in shared memory. A row holds its even nodes first, then the odd
/// ones, both from an even place on: the finest level, which is most of the work, then reads and
/// writes without bank conflicts. Rows are padded so that four of them cover all banks.
template <int kRank>
struct CellPlaces {
  static constexpr int kOdds = kSide / 2 + 2;  // place of the first odd node
  static constexpr int kPitch = kSide + 4;
  static constexpr int kPlane = (kSide + 1) * kPitch;
  static constexpr int kSlots = kPitch * power(kSide + 1, kRank - 1);

  static TAMIS_DEVICE int in_row(int x) { return (x & 1) * kOdds + (x >> 1); }
  /// Distance of neighbours along an axis other than 0.
  static constexpr TAMIS_DEVICE int stride(int axis) { return axis == 1 ? kPitch : kPlane; }
  static TAMIS_DEVICE int at(const int c[kRank]) {
    int place = in_row(c[0]);
#pragma unroll
    for (int axis = 1; axis < kRank; ++axis) place += c[axis] * stride(axis);
    return place;
  }
  /// The inverse.
  static TAMIS_DEVICE void nodes_of(int place, int c[kRank]) {
#pragma unroll
    for (int axis = kRank - 1; axis > 0; --axis) {
      c[axis] = place / stride(axis);
      place %= stride(axis);
    }
    c[0] = place < kOdds ? 2 * place : 2 * (place - kOdds) + 1;
  }
};

/// What a walk needs to know of a cell. Axis 0 is the fastest.
template <int kRank>
struct CellForm {
  int nodes[kRank];
  bool far[kRank];    // the last of them is a boundary
  int prefer[kRank];  // higher = preferred

  TAMIS_DEVICE bool is_full() const {
    bool full = true;
#pragma unroll
    for (int axis = 0; axis < kRank; ++axis) full = full && nodes[axis] == kSide + 1;
    return full;
  }
};

/// The threads that work on one cell.
struct WholeBlock {
  static constexpr int kThreads = TAMIS_THREADS;
  TAMIS_DEVICE int rank() const { return static_cast<int>(threadIdx.x); }
  TAMIS_DEVICE int size() const { return static_cast<int>(blockDim.x); }
  TAMIS_DEVICE void sync() const { __syncthreads(); }
  /// sync(), and whether the flag is set in all threads.
  TAMIS_DEVICE bool sync_all(bool flag) const { return block_all(flag); }
};
struct OneWave {
  static constexpr int kThreads = kWave;
  TAMIS_DEVICE int rank() const { return lane_id(); }
  static constexpr TAMIS_DEVICE int size() { return kWave; }
  TAMIS_DEVICE void sync() const { sync_wave(); }
  TAMIS_DEVICE bool sync_all(bool flag) const {
    sync_wave();
    return wave_all(flag);
  }
};

/// A point of a walk. Visitors have one(point, predicted, activity), and column<n, m>(place, gap,
/// code, weight, turns, predicted, activity) for m to n points of the finest level whose places
/// are `gap` and whose codes are `weight` apart.
struct WalkPoint {
  int place;  // in shared memory
  int code;   // position among the codes of its part
  int level;  // log2 of the stride; 0 = fine part
};

template <typename I>
TAMIS_DEVICE I magnitude_of(I a) {
  const I m = a < 0 ? wrap_sub(I{0}, a) : a;
  return m < 0 ? I{0} : m;
}

/// The preferred one of a set of axes.
template <int kRank>
TAMIS_DEVICE int preferred_axis(const int prefer[kRank], int set) {
  int best = 0;
  int rank = -1;
#pragma unroll
  for (int axis = 0; axis < kRank; ++axis) {
    if ((set >> axis & 1) == 0 || prefer[axis] <= rank) continue;
    rank = prefer[axis];
    best = axis;
  }
  return best;
}

}  // namespace tamis::device
