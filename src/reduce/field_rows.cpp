// The check of reconstructed rows. A rounded difference below the bound proves that the exact one
// is within it, since rounding is monotonic; only a tie needs the exact difference.
#include "reduce/field_rows.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "reduce/exact_rounding.hpp"
#include "reduce/map_rows.hpp"
#include "reduce/value_bits.hpp"

namespace tamis::reduce {

namespace {

// |x - r| <= bound exactly, for |x - r| that rounds to the bound.
bool tie_holds(double x, double r, double bound) {
  const double high = std::max(x, r);
  const double low = std::min(x, r);
  const double difference = high - low;
  const double error = difference_error(high, low);
  return difference < bound || (difference == bound && error <= 0);
}

}  // namespace

template <typename T>
bool point_holds(const PointCheck& check, T x, T r) {
  if (bits_of(x) == bits_of(r)) return true;
  const double a = static_cast<double>(x);
  const double b = static_cast<double>(r);
  switch (check.kind) {
    case PointCheck::Kind::kExact:
      return false;
    case PointCheck::Kind::kAbsolute: {
      if (!std::isfinite(a)) return false;
      const double error = std::fabs(a - b);
      return error < check.bound || (error == check.bound && tie_holds(a, b, check.bound));
    }
    case PointCheck::Kind::kPointwise: {
      if (!std::isfinite(a) || a == 0 || std::signbit(a) != std::signbit(b)) return false;
      // Rounding of the product is covered by asking for a little less.
      const double allowed = check.bound * std::fabs(a) * (1 - 0x1p-50);
      return std::fabs(a - b) < allowed;
    }
  }
  return false;
}

template <typename T>
bool row_holds(const PointCheck& check, const T* x, const T* r, int count) {
  if (check.kind == PointCheck::Kind::kAbsolute) {
    return within_bound(x, r, count, check.bound);
  }
  if (check.kind == PointCheck::Kind::kExact) {
    return std::memcmp(x, r, static_cast<std::size_t>(count) * sizeof(T)) == 0;
  }
  for (int i = 0; i < count; ++i) {
    if (!point_holds(check, x[i], r[i])) return false;
  }
  return true;
}

bool read_clear_bits(const BitMap* bits, std::int64_t shift, const NodeBlock& block,
                     std::uint8_t* out) {
  if (bits == nullptr) return false;
  const int n = block.count[2];
  const std::int64_t stride = block.stride[2];
  bool any = false;
  block.each_row([&](std::int64_t first, std::int64_t) {
    if (any) return;
    if (stride == 1) {
      any = bits->any(first + shift, n);
    } else {
      for (int i = 0; i < n && !any; ++i) any = bits->get(first + shift + i * stride);
    }
  });
  if (!any) return false;
  block.each_row([&](std::int64_t first, std::int64_t natural) {
    std::uint8_t* to = out + natural;
    if (stride != 1) {
      for (int i = 0; i < n; ++i) to[i] = bits->get(first + shift + i * stride) ? 0 : 1;
      return;
    }
    for (int at = 0; at < n; at += 64) {
      const int part = std::min(64, n - at);
      const std::uint64_t clear = ~bits->window(first + shift + at, part);
      for (int i = 0; i < part; ++i) to[at + i] = static_cast<std::uint8_t>(clear >> i & 1U);
    }
  });
  return true;
}

template <typename T, typename I>
void FieldRows<T, I>::read(const NodeBlock& block, I* out) const {
  const T* data = data_ - begin_;
  block.each_row([&](std::int64_t first, std::int64_t natural) {
    map_.quantise(data + first, block.stride[2], block.count[2], out + natural);
  });
}

template <typename T, typename I>
void FieldRows<T, I>::read_run(const RowRun& run, I* out) const {
  const T* data = data_ - begin_;
  const std::int64_t stride = run.stride;
  std::uint32_t slow = ~0U;
  if constexpr (sizeof(I) == 4) {
    if (map_.is_affine()) {
      ValueRows<const T> rows{{}, static_cast<int>(run.blocks.size()), run.count};
      T dense[kMaxLanes * kRunNodes];
      for (int b = 0; b < rows.used; ++b) {
        const T* from = data + run.first(static_cast<std::size_t>(b));
        rows.data[b] = from;
        if (stride == 1) continue;
        T* to = dense + b * kRunNodes;
        for (int i = 0; i < run.count; ++i) to[i] = from[i * stride];
        rows.data[b] = to;
      }
      slow = quantise_rows(map_, rows, out, kRunPitch);
    }
  }
  if (slow == 0) return;
  for (std::size_t b = 0; b < run.blocks.size(); ++b) {
    if ((slow >> b & 1U) == 0) continue;
    map_.quantise(data + run.first(b), stride, run.count,
                  out + static_cast<std::int64_t>(b) * kRunPitch);
  }
}

template <typename T, typename I>
void FieldRows<T, I>::accept_run(const RowRun& run, const I* values) {
  std::uint32_t slow = ~0U;
  if constexpr (sizeof(I) == 4) {
    if (run.stride == 1 && map_.is_affine() && error_scale_ == 0 &&
        check_.kind == PointCheck::Kind::kAbsolute) {
      ValueRows<const T> rows{{}, static_cast<int>(run.blocks.size()), run.count};
      for (int b = 0; b < rows.used; ++b) {
        rows.data[b] = data_ - begin_ + run.first(static_cast<std::size_t>(b));
      }
      slow = check_rows(map_, rows, values, kRunPitch, check_.bound);
    }
  }
  if (slow == 0) return;
  for (std::size_t b = 0; b < run.blocks.size(); ++b) {
    if ((slow >> b & 1U) == 0) continue;
    accept_row(run.first(b), run.stride, run.count,
               values + static_cast<std::int64_t>(b) * kRunPitch);
  }
}

template <typename T, typename I>
void FieldRows<T, I>::accept_row(std::int64_t first, std::int64_t stride, int count,
                                 const I* values) {
  constexpr int kPiece = 256;
  std::array<T, kPiece> decoded;
  std::array<T, kPiece> gathered;
  const bool magnitudes = map_.kind == MapKind::kLogarithm;
  for (int at = 0; at < count; at += kPiece) {
    const int n = std::min(kPiece, count - at);
    const std::int64_t begin = first + at * stride;
    map_.reconstruct(values + at, n, decoded.data());
    const T* original = data_ + (begin - begin_);
    const T* x = original;
    if (stride != 1 || magnitudes) {
      for (int i = 0; i < n; ++i) {
        const T value = original[i * stride];
        gathered[static_cast<std::size_t>(i)] = magnitudes ? std::fabs(value) : value;
      }
      x = gathered.data();
    }
    if (error_scale_ > 0) add_errors(x, decoded.data(), begin, stride, n);
    if (row_holds(check_, x, decoded.data(), n)) continue;
    for (int i = 0; i < n; ++i) {
      const std::int64_t index = begin + i * stride;
      if (voids_ != nullptr && voids_->get(index)) continue;
      if (point_holds(check_, x[i], decoded[static_cast<std::size_t>(i)])) continue;
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!over_limit()) patches_.push_back({index, bits_of(original[i * stride])});
    }
  }
}

template <typename T, typename I>
void FieldRows<T, I>::add_errors(const T* x, const T* r, std::int64_t begin, std::int64_t stride,
                                 int count) {
  std::uint64_t sum = 0;
  for (int i = 0; i < count; ++i) {
    if (voids_ != nullptr && voids_->get(begin + i * stride)) continue;
    const double error = (static_cast<double>(x[i]) - static_cast<double>(r[i])) / error_scale_;
    // A point that misses the bound is patched and then exact.
    if (std::fabs(error) <= 1) sum += static_cast<std::uint64_t>(std::ceil(error * error * 0x1p24));
  }
  squared_errors_ += sum;
}

template bool point_holds(const PointCheck&, float, float);
template bool point_holds(const PointCheck&, double, double);
template bool row_holds(const PointCheck&, const float*, const float*, int);
template bool row_holds(const PointCheck&, const double*, const double*, int);
template class FieldRows<float, std::int32_t>;
template class FieldRows<float, std::int64_t>;
template class FieldRows<double, std::int32_t>;
template class FieldRows<double, std::int64_t>;

}  // namespace tamis::reduce
