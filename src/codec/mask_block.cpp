// Sets up what a block's contexts look at, and runs the model over it in either direction.
#include "codec/mask_block.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <string>

#include "codec/binary_range_coder.hpp"
#include "codec/mask_model.hpp"
#include "tamis/error.hpp"

namespace tamis::codec {
namespace {

// The block's bits behind its history, and the sources of its contexts.
class BlockSetting {
 public:
  BlockSetting(const MaskGeometry& geometry, MaskBlockPointers blocks, std::int64_t block, int axis)
      : geometry_(geometry),
        blocks_(blocks),
        start_(block * kMaskBlockPoints),
        points_(geometry.block_points(block)),
        stride_(geometry.strides[axis]),
        has_reference_(geometry.has_reference(block, axis)),
        origin_(mask_history_bits(geometry, axis)),
        self_(static_cast<std::size_t>(origin_ / 64 + (points_ + 63) / 64 + 2)) {
    if (has_reference_) read_slab(start_ - origin_, origin_, self_.data());
    row_ = make_source(geometry.row_stride(), buffers_[0]);
    second_row_ = make_source(2 * geometry.row_stride(), buffers_[1]);
    far_ = make_source(stride_, buffers_[2]);
  }

  std::uint64_t* block_words() noexcept { return self_.data() + origin_ / 64; }

  template <typename Coder>
  void run(Coder& coder) {
    MaskModel<Coder> model(coder, self_.data(), origin_, row_, second_row_, far_);
    model.code_block(points_);
  }

 private:
  // Without a reference the points before the block read as zero, so that a source which reaches
  // behind the block's start from every point says nothing.
  MaskSource make_source(std::int64_t distance, std::vector<std::uint64_t>& buffer) {
    if (distance == 0 || (!has_reference_ && distance >= points_)) return {};
    if (distance <= kMaskNearDistance) return {self_.data(), origin_ - distance, distance};
    const std::int64_t bits = points_ + 3 * kMaskMargin;
    buffer.resize(static_cast<std::size_t>(bits / 64 + 2));
    read_slab(start_ - distance - kMaskMargin, bits, buffer.data());
    return {buffer.data(), kMaskMargin, distance};
  }

  void read_slab(std::int64_t begin, std::int64_t count, std::uint64_t* to) const {
    for_each_slab_run(
        begin, count, stride_, [&](std::int64_t point, std::int64_t run, std::int64_t offset) {
          copy_bits(blocks_[point / kMaskBlockPoints], point % kMaskBlockPoints, to, offset, run);
        });
  }

  const MaskGeometry& geometry_;
  MaskBlockPointers blocks_;
  std::int64_t start_;
  std::int64_t points_;
  std::int64_t stride_;
  bool has_reference_;
  std::int64_t origin_;
  std::vector<std::uint64_t> self_;
  std::array<std::vector<std::uint64_t>, 3> buffers_;
  MaskSource row_;
  MaskSource second_row_;
  MaskSource far_;
};

std::vector<std::byte> encode_with_axis(const MaskGeometry& geometry, MaskBlockPointers blocks,
                                        std::int64_t block, int axis) {
  std::vector<std::byte> payload = {static_cast<std::byte>(axis)};
  BlockSetting setting(geometry, blocks, block, axis);
  std::copy_n(blocks[block], geometry.block_words(block), setting.block_words());
  BinaryEncoder encoder(payload);
  setting.run(encoder);
  encoder.finish();
  return payload;
}

// Bit i of the result: point i of the block differs from its neighbour along an axis.
std::vector<std::uint64_t> find_changes(const MaskGeometry& geometry, MaskBlockPointers blocks,
                                        std::int64_t block, int axis) {
  const std::int64_t points = geometry.block_points(block);
  const std::int64_t stride = geometry.strides[axis];
  std::vector<std::uint64_t> changes(static_cast<std::size_t>(geometry.block_words(block)));
  const std::int64_t outside = std::min(stride, points);
  if (geometry.has_reference(block, axis)) {
    for_each_slab_run(block * kMaskBlockPoints - stride, outside, stride,
                      [&](std::int64_t point, std::int64_t run, std::int64_t offset) {
                        copy_bits(blocks[point / kMaskBlockPoints], point % kMaskBlockPoints,
                                  changes.data(), offset, run);
                      });
  }
  copy_bits(blocks[block], 0, changes.data(), outside, points - outside);
  for (std::size_t w = 0; w < changes.size(); ++w) changes[w] ^= blocks[block][w];
  return changes;
}

std::int64_t count_ones(std::span<const std::uint64_t> words, std::int64_t begin,
                        std::int64_t end) noexcept {
  std::int64_t ones = 0;
  for (std::int64_t i = begin; i < end;) {
    const std::int64_t step = std::min(64 - i % 64, end - i);
    ones += std::popcount(words[i / 64] >> i % 64 & ~std::uint64_t{0} >> (64 - step));
    i += step;
  }
  return ones;
}

}  // namespace

std::int64_t mask_history_bits(const MaskGeometry& geometry, int axis) noexcept {
  std::int64_t longest = 0;
  for (const std::int64_t distance :
       {geometry.row_stride(), 2 * geometry.row_stride(), geometry.strides[axis]}) {
    if (distance <= kMaskNearDistance) longest = std::max(longest, distance);
  }
  return (longest + 63) / 64 * 64 + kMaskMargin;
}

std::vector<std::byte> encode_mask_block(const MaskGeometry& geometry, MaskBlockPointers blocks,
                                         std::int64_t block) {
  // A row up is part of the contexts in any case; naming it as the axis only adds the first row as
  // what lies before the block, which long rows alone are worth.
  constexpr std::int64_t kLongRow = 4096;
  const std::int64_t points = geometry.block_points(block);
  int best_axis = 0;
  std::int64_t best_changes = points + 1;
  std::int64_t row_changes = 0;
  std::vector<std::uint64_t> row;
  for (int axis = 1; axis <= geometry.axis_count; ++axis) {
    const bool reference = geometry.has_reference(block, axis);
    if (axis == 1 ? !reference || geometry.row_stride() < kLongRow
                  : !reference && geometry.strides[axis] >= points) {
      continue;
    }
    if (row.empty()) {
      row = find_changes(geometry, blocks, block, 1);
      row_changes = count_ones(row, 0, points);
    }
    // Points without a neighbour along the axis will lean on the row above.
    const std::int64_t alone = reference ? 0 : geometry.strides[axis];
    const std::int64_t changes =
        count_ones(row, 0, alone) +
        count_ones(find_changes(geometry, blocks, block, axis), alone, points);
    if (changes < best_changes) {
      best_axis = axis;
      best_changes = changes;
    }
  }
  // Where the counts do not settle it, coding both ways does, except for rough blocks: they take
  // long.
  const bool rough = best_changes > points / 16;
  if (best_axis == 0 || best_changes > (rough ? row_changes : 2 * row_changes)) {
    return encode_with_axis(geometry, blocks, block, 0);
  }
  std::vector<std::byte> payload = encode_with_axis(geometry, blocks, block, best_axis);
  if (best_changes > row_changes / 4 && !rough) {
    std::vector<std::byte> plain = encode_with_axis(geometry, blocks, block, 0);
    if (plain.size() < payload.size()) return plain;
  }
  return payload;
}

int mask_block_axis(const MaskGeometry& geometry, std::span<const std::byte> payload) {
  if (payload.empty()) throw Error(ErrorCode::kCorrupt, "mask: empty block");
  const int axis = std::to_integer<int>(payload[0]);
  if (axis > geometry.axis_count) {
    throw Error(ErrorCode::kCorrupt, "mask: a block names axis " + std::to_string(axis) + " of " +
                                         std::to_string(geometry.axis_count));
  }
  return axis;
}

void decode_mask_block(const MaskGeometry& geometry, MaskBlockPointers blocks, std::int64_t block,
                       std::span<const std::byte> payload, std::uint64_t* words) {
  BlockSetting setting(geometry, blocks, block, mask_block_axis(geometry, payload));
  BinaryDecoder decoder(payload.subspan(1));
  setting.run(decoder);
  if (!decoder.finished()) {
    throw Error(ErrorCode::kCorrupt, "mask: a block's bytes do not end where its points do");
  }
  std::copy_n(setting.block_words(), geometry.block_words(block), words);
}

}  // namespace tamis::codec
