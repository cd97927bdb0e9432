// Pull and push (after Gortler et al. 1996), with a few averaging sweeps on the way down.
#include "reduce/void_fill.hpp"

#include <algorithm>

namespace tamis::reduce {

namespace {

constexpr int kSweeps = 2;

std::int64_t rounded_mean(std::int64_t sum, std::int64_t count) {
  const std::int64_t shifted = sum + count / 2;
  std::int64_t mean = shifted / count;
  if (shifted % count < 0) --mean;
  return mean;
}

}  // namespace

void VoidFiller::pull(const Level& fine, Level& coarse) {
  for (int k = 0; k < 3; ++k) coarse.n[k] = (fine.n[k] + 1) / 2;
  const auto size = static_cast<std::size_t>(coarse.n[0]) * coarse.n[1] * coarse.n[2];
  coarse.value.assign(size, 0);
  coarse.known.assign(size, 0);
  for (int z = 0; z < coarse.n[0]; ++z) {
    for (int y = 0; y < coarse.n[1]; ++y) {
      for (int x = 0; x < coarse.n[2]; ++x) {
        std::int64_t sum = 0;
        std::int64_t count = 0;
        for (int c = 0; c < 8; ++c) {
          const int fz = 2 * z + (c >> 2);
          const int fy = 2 * y + (c >> 1 & 1);
          const int fx = 2 * x + (c & 1);
          if (fz >= fine.n[0] || fy >= fine.n[1] || fx >= fine.n[2]) continue;
          const auto from = static_cast<std::size_t>(fine.at(fz, fy, fx));
          if (fine.known[from] == 0) continue;
          sum += fine.value[from];
          ++count;
        }
        if (count == 0) continue;
        const auto to = static_cast<std::size_t>(coarse.at(z, y, x));
        coarse.value[to] = rounded_mean(sum, count);
        coarse.known[to] = 1;
      }
    }
  }
}

void VoidFiller::push(const Level& coarse, Level& fine) {
  for (int z = 0; z < fine.n[0]; ++z) {
    for (int y = 0; y < fine.n[1]; ++y) {
      for (int x = 0; x < fine.n[2]; ++x) {
        const auto to = static_cast<std::size_t>(fine.at(z, y, x));
        if (fine.known[to] != 0) continue;
        fine.value[to] = coarse.value[static_cast<std::size_t>(coarse.at(z / 2, y / 2, x / 2))];
      }
    }
  }
}

// Each unknown point becomes the mean of its neighbours along the axes.
void VoidFiller::smooth(Level& level) {
  next_ = level.value;
  const std::int64_t stride[3] = {std::int64_t{level.n[1]} * level.n[2], level.n[2], 1};
  for (int z = 0; z < level.n[0]; ++z) {
    for (int y = 0; y < level.n[1]; ++y) {
      for (int x = 0; x < level.n[2]; ++x) {
        const std::int64_t at = level.at(z, y, x);
        if (level.known[static_cast<std::size_t>(at)] != 0) continue;
        const int here[3] = {z, y, x};
        std::int64_t sum = 0;
        std::int64_t count = 0;
        for (int k = 0; k < 3; ++k) {
          if (here[k] > 0) {
            sum += level.value[static_cast<std::size_t>(at - stride[k])];
            ++count;
          }
          if (here[k] + 1 < level.n[k]) {
            sum += level.value[static_cast<std::size_t>(at + stride[k])];
            ++count;
          }
        }
        if (count > 0) next_[static_cast<std::size_t>(at)] = rounded_mean(sum, count);
      }
    }
  }
  std::swap(level.value, next_);
}

template <typename I>
void VoidFiller::fill(I* values, const std::uint8_t* known, const int nodes[3], int side) {
  // Sums of a few 64-bit values must not overflow; a stand-in need not be exact.
  constexpr int kShift = sizeof(I) == 8 ? 4 : 0;
  if (levels_.empty()) levels_.emplace_back();
  Level& finest = levels_[0];
  std::copy_n(nodes, 3, finest.n);
  const auto size = static_cast<std::size_t>(nodes[0]) * nodes[1] * nodes[2];
  finest.value.resize(size);
  finest.known.resize(size);
  std::size_t next = 0;
  for (std::int64_t z = 0; z < nodes[0]; ++z) {
    for (std::int64_t y = 0; y < nodes[1]; ++y) {
      const std::int64_t row = (z * side + y) * side;
      for (int x = 0; x < nodes[2]; ++x, ++next) {
        finest.known[next] = known[row + x];
        finest.value[next] = known[row + x] != 0 ? values[row + x] >> kShift : 0;
      }
    }
  }
  std::size_t depth = 1;
  while (levels_[depth - 1].n[0] > 1 || levels_[depth - 1].n[1] > 1 ||
         levels_[depth - 1].n[2] > 1) {
    if (levels_.size() <= depth) levels_.emplace_back();
    pull(levels_[depth - 1], levels_[depth]);
    ++depth;
  }
  for (std::size_t l = depth - 1; l-- > 0;) {
    push(levels_[l + 1], levels_[l]);
    for (int sweep = 0; sweep < kSweeps; ++sweep) smooth(levels_[l]);
  }
  next = 0;
  for (std::int64_t z = 0; z < nodes[0]; ++z) {
    for (std::int64_t y = 0; y < nodes[1]; ++y) {
      const std::int64_t row = (z * side + y) * side;
      for (int x = 0; x < nodes[2]; ++x, ++next) {
        if (known[row + x] == 0) {
          values[row + x] = static_cast<I>(levels_[0].value[next] * (std::int64_t{1} << kShift));
        }
      }
    }
  }
}

template void VoidFiller::fill(std::int32_t*, const std::uint8_t*, const int[3], int);
template void VoidFiller::fill(std::int64_t*, const std::uint8_t*, const int[3], int);

}  // namespace tamis::reduce
