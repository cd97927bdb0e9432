// Layout: size of the base stream as a varint and the stream (each node predicted by the one
// before it); then, from the coarsest grid to the finest of them, its blobs in the order in which
// encode_grid emits them, each behind its size as a varint.
#include "reduce/anchors.hpp"

#include "codec/rice.hpp"
#include "core/byte_io.hpp"
#include "reduce/blob_table.hpp"
#include "reduce/field_rows.hpp"
#include "reduce/grid_codec.hpp"
#include "tamis/error.hpp"

namespace tamis::reduce {

namespace {

template <typename T>
std::vector<T> take_anchors(const Grid& grid, const std::vector<T>& nodes) {
  std::vector<T> anchors(static_cast<std::size_t>(grid.tile_count()));
  for (std::int64_t t = 0; t < grid.tile_count(); ++t) {
    anchors[static_cast<std::size_t>(t)] = nodes[static_cast<std::size_t>(grid.tile_at(t).origin)];
  }
  return anchors;
}

std::vector<Predictor> uniform_predictors(const Grid& grid) {
  return std::vector<Predictor>(static_cast<std::size_t>(grid.tile_count()),
                                Predictor::kLinearAveraged);
}

}  // namespace

template <typename I>
void encode_anchor_base(std::vector<I>& nodes, std::int64_t step, std::vector<std::byte>& out) {
  std::vector<I> codes;
  I last = 0;
  for (I& node : nodes) {
    codes.push_back(divide_nearest(wrap_sub(node, last), static_cast<I>(step)));
    last = wrap_add(last, wrap_mul(codes.back(), static_cast<I>(step)));
    node = last;
  }
  std::vector<std::byte> stream;
  codec::encode_rice(codes.data(), static_cast<std::int64_t>(codes.size()), stream);
  ByteWriter writer(out);
  writer.varint(stream.size());
  writer.bytes(stream);
}

namespace {

template <typename I>
std::vector<I> decode_base(std::int64_t count, std::int64_t step, ByteReader& reader) {
  std::vector<I> nodes(static_cast<std::size_t>(count));
  codec::decode_rice(reader.bytes(reader.varint()), count, nodes.data());
  I last = 0;
  for (I& node : nodes) {
    last = wrap_add(last, wrap_mul(node, static_cast<I>(step)));
    node = last;
  }
  return nodes;
}

}  // namespace

template <typename I>
std::vector<std::byte> encode_anchors(const Grid& finest, std::int64_t step,
                                      std::vector<I>& anchors) {
  const std::vector<Grid> grids = coarser_grids(finest);
  std::vector<std::vector<I>> nodes{anchors};
  for (const Grid& grid : grids) nodes.push_back(take_anchors(grid, nodes.back()));
  std::vector<std::byte> bytes;
  ByteWriter writer(bytes);
  encode_anchor_base(nodes.back(), step, bytes);
  for (std::size_t g = grids.size(); g-- > 0;) {
    std::vector<I> result(nodes[g].size());
    ArrayRows<I> rows(&nodes[g], &result);
    GridEncoding how;
    how.step = step;
    how.threads = 1;
    const std::vector<Predictor> predictors = uniform_predictors(grids[g]);
    encode_grid<I>(grids[g], how, predictors, nodes[g + 1], rows,
                   [&](std::int64_t, int, std::vector<std::byte> blob) {
                     writer.varint(blob.size());
                     writer.bytes(blob);
                   });
    nodes[g] = std::move(result);
  }
  anchors = std::move(nodes[0]);
  return bytes;
}

template <typename I>
std::vector<I> decode_anchors(const Grid& finest, std::int64_t step,
                              std::span<const std::byte> bytes) {
  const std::vector<Grid> grids = coarser_grids(finest);
  ByteReader reader(bytes, "anchors");
  const std::int64_t base_count = grids.empty() ? finest.tile_count() : grids.back().tile_count();
  std::vector<I> nodes = decode_base<I>(base_count, step, reader);
  for (std::size_t g = grids.size(); g-- > 0;) {
    const BlobTable table(grids[g]);
    std::vector<std::span<const std::byte>> blobs(static_cast<std::size_t>(table.count()));
    table.each([&](std::int64_t slot) {
      blobs[static_cast<std::size_t>(slot)] = reader.bytes(reader.varint());
    });
    std::vector<I> result(static_cast<std::size_t>(grids[g].node_count()));
    ArrayRows<I> rows(nullptr, &result);
    GridDecoding how;
    how.step = step;
    how.threads = 1;
    how.blob = [&](std::int64_t chunk, int blob) {
      return blobs[static_cast<std::size_t>(table.slot(chunk, blob))];
    };
    decode_grid<I>(grids[g], how, nodes, rows);
    nodes = std::move(result);
  }
  reader.expect_end();
  return nodes;
}

template void encode_anchor_base(std::vector<std::int32_t>&, std::int64_t, std::vector<std::byte>&);
template void encode_anchor_base(std::vector<std::int64_t>&, std::int64_t, std::vector<std::byte>&);
template std::vector<std::byte> encode_anchors(const Grid&, std::int64_t,
                                               std::vector<std::int32_t>&);
template std::vector<std::byte> encode_anchors(const Grid&, std::int64_t,
                                               std::vector<std::int64_t>&);
template std::vector<std::int32_t> decode_anchors(const Grid&, std::int64_t,
                                                  std::span<const std::byte>);
template std::vector<std::int64_t> decode_anchors(const Grid&, std::int64_t,
                                                  std::span<const std::byte>);

}  // namespace tamis::reduce
