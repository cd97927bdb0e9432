// The check of reconstructed rows. A rounded difference below the bound proves that the exact one
// is within it, since rounding is monotonic; only a tie needs the exact difference.
#include "reduce/field_rows.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "reduce/exact_rounding.hpp"
#include "reduce/map_blocks.hpp"
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

void prefetch_block(const void* data, const NodeBlock& block, std::size_t bytes) {
  constexpr std::int64_t kLine = 64;
  const auto size = static_cast<std::int64_t>(bytes);
  const std::int64_t step = std::max(kLine, block.stride[2] * size);
  const std::int64_t length = ((block.count[2] - 1) * block.stride[2] + 1) * size;
  block.each_row([&](std::int64_t first, std::int64_t) {
    const char* row = static_cast<const char*>(data) + first * size;
    for (std::int64_t at = 0; at < length; at += step) __builtin_prefetch(row + at);
  });
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

// Gathers the block into a dense array first, so that it can be quantised in vectors.
template <typename T, typename I>
bool FieldRows<T, I>::quantise_strided(const T* data, const NodeBlock& block,
                                       std::int32_t* out) const {
  static thread_local std::vector<T> dense;
  NodeBlock copy = block;
  copy.first = 0;
  copy.stride[2] = 1;
  copy.stride[1] = block.count[2];
  copy.stride[0] = copy.stride[1] * block.count[1];
  const auto size = static_cast<std::size_t>(copy.stride[0] * block.count[0]);
  if (dense.size() < size) dense.resize(size);
  T* to = dense.data();
  block.each_row([&](std::int64_t first, std::int64_t) {
    for (int i = 0; i < block.count[2]; ++i) *to++ = data[first + i * block.stride[2]];
  });
  return quantise_block(map_, dense.data(), copy, out);
}

template <typename T, typename I>
void FieldRows<T, I>::read(const NodeBlock& block, I* out) const {
  const T* data = data_ - begin_;
  if constexpr (sizeof(I) == 4) {
    if (map_.is_affine()) {
      if (block.stride[2] == 1) {
        // Values without a lattice value are fill as a rule, and then any will do.
        if (quantise_block(map_, data, block, out) || voids_ != nullptr) return;
      } else if (quantise_strided(data, block, out) || voids_ != nullptr) {
        return;
      }
    }
  }
  block.each_row([&](std::int64_t first, std::int64_t natural) {
    map_.quantise(data + first, block.stride[2], block.count[2], out + natural);
  });
}

template <typename T, typename I>
void FieldRows<T, I>::accept(const NodeBlock& block, const I* values) {
  if constexpr (sizeof(I) == 4) {
    if (block.stride[2] == 1 && map_.is_affine() && error_scale_ == 0 &&
        check_.kind == PointCheck::Kind::kAbsolute &&
        check_block(map_, data_ - begin_, block, values, check_.bound)) {
      return;
    }
  }
  block.each_row([&](std::int64_t first, std::int64_t natural) {
    accept_row(first, block.stride[2], block.count[2], values + natural);
  });
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
