// Decoding and comparing, in one piece or in slabs of rows when the memory budget asks for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "field.hpp"
#include "tamis/reduce.hpp"

namespace tamis::cli {

/// Thrown when decoded data break the promise; main() turns it into exit code 1.
class BoundViolation : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct RowRange {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// fn(piece) for pieces of [first, first + rows) of about `piece_bytes`, cut at multiples of 64
/// rows where possible (else 32, 16 ...), so that few of the container's blocks are decoded twice.
void each_piece(std::int64_t first, std::int64_t rows, std::int64_t row_bytes,
                std::int64_t piece_bytes, const std::function<void(const RowRange&)>& fn);

/// Receives decoded rows of the output, in order.
using WriteRows = std::function<void(std::int64_t first, std::int64_t count, const void* data)>;

/// Decodes what `options` selects and hands it on, whole or in slabs.
void decode_rows(std::span<const std::byte> container, const reduce::Info& info,
                 const reduce::DecompressOptions& options, std::int64_t budget,
                 const WriteRows& write);

struct CheckResult {
  reduce::Difference difference;
  double decompress_seconds = 0.0;
  std::optional<Tensor> decoded;  // set unless the check was made in slabs
};

/// Decodes and compares with the original.
CheckResult check_field(std::span<const std::byte> container, const reduce::Info& info,
                        Field& field, std::int64_t budget, int threads,
                        const std::function<void(double)>& progress);

/// Does the measured difference keep what `info` promises?
bool keeps_promise(const reduce::Info& info, const reduce::Difference& difference);

/// What went wrong, for the error message.
std::string describe_violation(const reduce::Info& info, const reduce::Difference& difference);

}  // namespace tamis::cli
