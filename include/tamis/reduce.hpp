// Error-bounded compression of floating-point fields: the public face of the `reduce` layer.
//
// compress() writes a self-describing container; decompress() needs nothing but its bytes. Every
// decoded value is within the promised bound of the original, checked in the decoder's own
// arithmetic before the container is returned. The byte format is docs/format.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tamis/error.hpp"
#include "tamis/tensor.hpp"

namespace tamis::reduce {

/// What is promised about the error e = |original - decoded| at each finite, unmasked point.
enum class BoundKind : std::uint8_t {
  kAbsolute = 1,           // e <= value
  kRelative = 2,           // e <= value * (max - min of the finite, unmasked values)
  kPointwiseRelative = 3,  // e <= value * |original|; zeros stay zero, signs stay
  kPsnr = 4,               // 20 log10(range / rms error) >= value, in decibels
  kLossless = 5,           // every bit comes back, -0 and NaN payloads included
};

struct Bound {
  BoundKind kind = BoundKind::kRelative;
  double value = 1e-3;  // ignored for kLossless

  static Bound absolute(double e) { return {BoundKind::kAbsolute, e}; }
  static Bound relative(double e) { return {BoundKind::kRelative, e}; }
  static Bound pointwise_relative(double e) { return {BoundKind::kPointwiseRelative, e}; }
  static Bound psnr(double decibels) { return {BoundKind::kPsnr, decibels}; }
  static Bound lossless() { return {BoundKind::kLossless, 0.0}; }
};

enum class Mode : std::uint8_t {
  kDefault = 1,  // adaptive Golomb-Rice: high ratio at high speed
  kRatio = 2,    // context-modelled rANS: highest ratio
  kFast = 3,     // fixed-width bit planes: highest speed
};

/// "default", "ratio" or "fast"; "abs", "rel", "pwrel", "psnr" or "lossless".
const char* mode_name(Mode mode) noexcept;
const char* bound_kind_name(BoundKind kind) noexcept;

struct CompressOptions {
  Bound bound;
  Mode mode = Mode::kDefault;
  /// Points equal to this value (NaN matches every NaN) are masked: kept exactly, and no part of
  /// ranges or predictions.
  std::optional<double> fill_value;
  /// Look for the usual fill values (1e20, 9.96921e36, -1e34, NaN ...) when none is declared.
  bool detect_fill = true;
  /// Worker threads; 0 = OMP_NUM_THREADS or the number of cores. The bytes do not depend on it.
  int threads = 0;
  /// Called now and then with the fraction done, from the calling thread; may be empty.
  std::function<void(double)> progress;
};

/// What a container promises and how it was made.
struct Info {
  DType dtype = DType::kF32;
  Extents shape;
  Bound bound;  // as the user asked
  Mode mode = Mode::kDefault;
  double absolute_bound =
      0.0;                 // the pointwise bound that holds; 0 when lossless or pointwise relative
  double min_value = 0.0;  // over finite, unmasked points; NaN when there are none
  double max_value = 0.0;
  std::optional<double> fill_value;  // declared or detected
  bool fill_detected = false;
  std::int64_t masked_count = 0;     // points equal to the fill value
  std::int64_t nonfinite_count = 0;  // NaN and infinities, masked ones included
  std::int64_t exact_count = 0;      // points stored verbatim because no code met the bound
  std::int64_t compressed_bytes = 0;
  std::int64_t raw_bytes = 0;
  int format_version = 0;
  int level_count = 0;     // decompress(level) accepts 0 .. level_count - 1
  std::string number_map;  // how reals became integers, e.g. "affine", "lattice", "ordered"
  std::vector<std::string> sections;  // "name: bytes", in file order
};

struct CompressResult {
  std::vector<std::byte> bytes;
  Info info;
};

/// Compresses a strided f32 or f64 view of rank 1 to kMaxRank, any extents (zero included).
/// Throws Error(kInvalidArgument) for a bound that is negative, NaN or infinite, a null pointer
/// with a non-empty shape, or a rank of 0; Error(kOutOfMemory) when the working set cannot be had.
CompressResult compress(const ConstTensorView& field, const CompressOptions& options);

/// Rows [first, first + count) of the slowest dimension, contiguous, written to `out`.
using ReadRows = std::function<void(std::int64_t first, std::int64_t count, void* out)>;
/// Container bytes in file order.
using WriteBytes = std::function<void(std::span<const std::byte>)>;

/// compress() for fields larger than memory: reads rows through `read` (each row more than once, in
/// ascending order in each pass) and writes the container through `write`. Same bytes as
/// compress(), unless the field turns out not to shrink although its sample promised to: compress()
/// stores it raw then.
Info compress_stream(DType dtype, const Extents& shape, const ReadRows& read,
                     const WriteBytes& write, const CompressOptions& options);

/// A box of the field: `origin` and `extent` have the field's rank.
struct Box {
  Extents origin;
  Extents extent;
};

struct DecompressOptions {
  /// Only this part; chunks outside of it are neither read nor checked.
  std::optional<Box> box;
  /// Preview: the points whose full-resolution index is a multiple of 2^level along each dimension;
  /// 0 = full resolution. With `box`, still given in full-resolution indices, those of them that
  /// lie within it: none where a side holds no such index, and the result is empty then.
  int level = 0;
  int threads = 0;
  /// Refuse with Error(kOutOfMemory) when the output would exceed this many bytes; 0 = no limit.
  std::int64_t max_output_bytes = 0;
  std::function<void(double)> progress;
};

/// Shape of what decompress() would return.
Extents decompressed_shape(const Info& info, const DecompressOptions& options);

/// Throws Error(kCorrupt) when the bytes are not a valid container or a checksum differs,
/// Error(kUnsupported) for a newer format version, Error(kInvalidArgument) for a box or level
/// outside the field.
Tensor decompress(std::span<const std::byte> container, const DecompressOptions& options = {});

/// Same, into memory of the caller with the shape of decompressed_shape() and the field's dtype.
void decompress_into(std::span<const std::byte> container, const TensorView& out,
                     const DecompressOptions& options = {});

/// Reads the header only. Throws as decompress() does.
Info inspect(std::span<const std::byte> container);

/// Measured difference between a field and its reconstruction.
struct Difference {
  double max_abs_error = 0.0;  // over points finite in the original
  double max_pointwise_relative = 0.0;
  double rms_error = 0.0;
  double psnr = 0.0;  // infinite when the rms error is 0
  double range = 0.0;
  std::int64_t violations =
      0;  // points outside info's bound, or non-finite/masked bits that differ
  std::int64_t first_violation = -1;  // linear index, -1 when none
};

/// Compares in double (the subtraction is exact for f32; for f64 it is made exact). Shapes and
/// types must agree, else Error(kInvalidArgument).
Difference compare(const ConstTensorView& original, const ConstTensorView& decoded,
                   const Info& info, int threads = 0);

}  // namespace tamis::reduce
