// Layout of a blob: coder (1 byte); for rANS the size of its tables as a varint and the tables; the
// sizes of the bundles as varints; the bundles.
#include "reduce/stream_blob.hpp"

#include <algorithm>
#include <memory>
#include <string>

#include "codec/fixed_width.hpp"
#include "codec/rice.hpp"
#include "core/byte_io.hpp"
#include "tamis/error.hpp"

namespace tamis::reduce {

namespace {

// Below this many codes tables never pay.
constexpr std::int64_t kTablesPayCodes = 256;

template <typename I>
std::vector<std::byte> encode_with(Coder coder, StreamCodes<I>& stream) {
  std::vector<std::byte> tables;
  codec::RansModel model;
  if (coder == kRansCoder) {
    auto counts = std::make_unique<codec::RansCounts>();
    for (auto& row : *counts) row.fill(0);
    codec::count_tokens(stream.codes.data(), stream.contexts.data(), stream.count, *counts);
    model = codec::RansModel::build(*counts);
    model.write(tables);
  }
  std::vector<std::byte>& payload = stream.payload;
  payload.clear();
  std::vector<std::size_t> sizes;
  std::int64_t begin = 0;
  for (const std::int64_t end : stream.bundle_ends) {
    const std::size_t before = payload.size();
    const I* codes = stream.codes.data() + begin;
    switch (coder) {
      case kRiceCoder:
        codec::encode_rice(codes, end - begin, payload);
        break;
      case kFixedWidthCoder:
        codec::encode_fixed_width(codes, end - begin, payload);
        break;
      case kRansCoder:
        codec::encode_rans(model, codes, stream.contexts.data() + begin, end - begin, payload);
        break;
      case kNoCoder:
        break;
    }
    sizes.push_back(payload.size() - before);
    begin = end;
  }
  std::vector<std::byte> blob;
  if (payload.empty()) return blob;
  constexpr std::size_t kMostVarint = 10;
  blob.reserve(1 + tables.size() + (sizes.size() + 1) * kMostVarint + payload.size());
  ByteWriter writer(blob);
  writer.u8(coder);
  if (coder == kRansCoder) {
    writer.varint(tables.size());
    writer.bytes(tables);
  }
  for (const std::size_t size : sizes) writer.varint(size);
  writer.bytes(payload);
  return blob;
}

}  // namespace

template <typename I>
void StreamCodes<I>::resize(std::int64_t new_count, bool with_contexts) {
  count = new_count;
  const auto size = static_cast<std::size_t>(count);
  if (codes.size() < size) codes.resize(size);
  if (with_contexts && contexts.size() < size) contexts.resize(size);
}

template <typename I>
std::vector<std::byte> encode_stream(Mode mode, StreamCodes<I>& stream) {
  if (mode == Mode::kFast) return encode_with(kFixedWidthCoder, stream);
  if (mode == Mode::kDefault || stream.count < kTablesPayCodes) {
    return encode_with(kRiceCoder, stream);
  }
  std::vector<std::byte> blob = encode_with(kRansCoder, stream);
  // Tables do not always pay, nor contexts.
  std::uint64_t rice = 0;
  std::int64_t begin = 0;
  for (const std::int64_t end : stream.bundle_ends) {
    rice += (codec::rice_bits(stream.codes.data() + begin, end - begin) + 7) / 8;
    begin = end;
  }
  if (rice < blob.size()) {
    std::vector<std::byte> other = encode_with(kRiceCoder, stream);
    if (other.size() < blob.size()) blob = std::move(other);
  }
  return blob;
}

template <typename I>
StreamBlob<I>::StreamBlob(std::span<const std::byte> bytes, std::int64_t bundles) {
  bundles_.resize(static_cast<std::size_t>(bundles));
  if (bytes.empty()) return;
  ByteReader reader(bytes, "stream blob");
  coder_ = reader.u8();
  if (coder_ < kRiceCoder || coder_ > kRansCoder) {
    throw Error(ErrorCode::kCorrupt,
                "stream blob: coder " + std::to_string(coder_) + "; expected 1, 2 or 3");
  }
  if (coder_ == kRansCoder) {
    model_ = codec::RansModel::read(reader.bytes(reader.varint()));
    model_.prepare_decoding();
  }
  std::vector<std::uint64_t> sizes;
  for (std::int64_t b = 0; b < bundles; ++b) sizes.push_back(reader.varint());
  for (std::size_t b = 0; b < sizes.size(); ++b) bundles_[b] = reader.bytes(sizes[b]);
  reader.expect_end();
}

template <typename I>
void StreamBlob<I>::decode(int bundle, std::int64_t count, I* codes) const {
  const auto bytes = bundles_[static_cast<std::size_t>(bundle)];
  if (coder_ == kFixedWidthCoder) {
    codec::decode_fixed_width(bytes, count, codes);
  } else {
    codec::decode_rice(bytes, count, codes);
  }
}

template <typename I>
codec::RansReader StreamBlob<I>::reader(int bundle, bool needed) const {
  if (!needed) return codec::RansReader(model_, {});
  return codec::RansReader(model_, bundles_[static_cast<std::size_t>(bundle)]);
}

template struct StreamCodes<std::int32_t>;
template struct StreamCodes<std::int64_t>;
template std::vector<std::byte> encode_stream(Mode, StreamCodes<std::int32_t>&);
template std::vector<std::byte> encode_stream(Mode, StreamCodes<std::int64_t>&);
template class StreamBlob<std::int32_t>;
template class StreamBlob<std::int64_t>;

}  // namespace tamis::reduce
