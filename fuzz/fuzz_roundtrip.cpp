// Fuzzes the whole way there and back: bytes become a shape, a type, a bound, a mode and values;
// the promise is judged by tests/support/field_oracle.hpp, and the stream interface must give the
// same bytes or at least the same promise.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "support/field_oracle.hpp"
#include "tamis/error.hpp"
#include "tamis/reduce.hpp"

namespace {

using tamis::Extents;
using tamis::reduce::Bound;
using tamis::reduce::BoundKind;
using tamis::reduce::CompressOptions;

constexpr std::int64_t kMaxPoints = 3000;

class Input {
 public:
  explicit Input(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
  std::uint8_t byte() {
    if (next_ >= bytes_.size()) return 0;
    return bytes_[next_++];
  }
  template <typename T>
  T value() {
    std::uint8_t raw[sizeof(T)];
    for (auto& b : raw) b = byte();
    T v;
    std::memcpy(&v, raw, sizeof v);
    return v;
  }
  bool empty() const { return next_ >= bytes_.size(); }

 private:
  std::span<const std::uint8_t> bytes_;
  std::size_t next_ = 0;
};

Extents read_shape(Input& in) {
  const int rank = 1 + in.byte() % 6;
  Extents shape = Extents::filled(rank, 1);
  std::int64_t points = 1;
  for (int d = 0; d < rank; ++d) {
    const int code = in.byte();
    const std::int64_t extent = code < 200 ? code % 70 : std::int64_t{code - 199} * 100;
    shape[d] = std::min(extent, kMaxPoints / std::max<std::int64_t>(points, 1));
    points *= shape[d];
  }
  return shape;
}

CompressOptions read_options(Input& in) {
  CompressOptions options;
  options.threads = 1;
  options.mode = static_cast<tamis::reduce::Mode>(1 + in.byte() % 3);
  options.bound.kind = static_cast<BoundKind>(1 + in.byte() % 5);
  options.bound.value = in.value<double>();
  const std::uint8_t flags = in.byte();
  options.detect_fill = (flags & 1) != 0;
  if ((flags & 2) != 0) options.fill_value = in.value<double>();
  return options;
}

// Each run of values begins with how they are made: literal bits, a ramp, a repetition.
template <typename T>
std::vector<T> read_field(Input& in, std::int64_t count) {
  std::vector<T> field;
  while (static_cast<std::int64_t>(field.size()) < count) {
    const std::uint8_t how = in.empty() ? 255 : in.byte();
    const T first = in.value<T>();
    const T step = how % 3 == 1 ? in.value<T>() : T{0};
    std::int64_t run = how % 3 == 0 ? 1 : 1 + how / 3 * 4;
    if (how == 255) run = count;
    for (; run > 0 && static_cast<std::int64_t>(field.size()) < count; --run) {
      field.push_back(static_cast<T>(first + step * static_cast<T>(field.size() % 61)));
    }
  }
  return field;
}

void require(const std::string& trouble) {
  if (trouble.empty()) return;
  std::fprintf(stderr, "%s\n", trouble.c_str());
  std::abort();
}

template <typename T>
std::string judge(const std::vector<T>& field, std::span<const std::byte> container,
                  const CompressOptions& options) {
  tamis::reduce::DecompressOptions how;
  how.threads = 1;
  const tamis::Tensor decoded = tamis::reduce::decompress(container, how);
  const std::span<const T> values(static_cast<const T*>(decoded.data()), field.size());
  const auto fill =
      options.fill_value ? options.fill_value : tamis::reduce::inspect(container).fill_value;
  return tamis::testing::broken_promise(std::span<const T>(field), values, options.bound, fill);
}

template <typename T>
void there_and_back(Input& in, const Extents& shape, const CompressOptions& options) {
  const std::vector<T> field = read_field<T>(in, shape.element_count());
  const auto view = tamis::make_view(field.data(), shape);
  tamis::reduce::CompressResult result;
  try {
    result = tamis::reduce::compress(view, options);
  } catch (const tamis::Error& e) {
    // Bounds without meaning; everything else can be compressed.
    if (e.code() != tamis::ErrorCode::kInvalidArgument) std::abort();
    return;
  }
  if (result.bytes.size() > field.size() * sizeof(T) + 1024) std::abort();
  require(judge(field, result.bytes, options));

  std::vector<std::byte> streamed;
  const std::int64_t row = shape[0] > 0 ? shape.element_count() / shape[0] : 0;
  tamis::reduce::compress_stream(
      view.dtype, shape,
      [&](std::int64_t first, std::int64_t count, void* out) {
        std::memcpy(out, field.data() + first * row,
                    static_cast<std::size_t>(count * row) * sizeof(T));
      },
      [&](std::span<const std::byte> bytes) {
        streamed.insert(streamed.end(), bytes.begin(), bytes.end());
      },
      options);
  if (streamed != result.bytes) require(judge(field, streamed, options));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input in({data, size});
  const bool wide = (in.byte() & 1) != 0;
  const Extents shape = read_shape(in);
  const CompressOptions options = read_options(in);
  if (wide) {
    there_and_back<double>(in, shape, options);
  } else {
    there_and_back<float>(in, shape, options);
  }
  return 0;
}
