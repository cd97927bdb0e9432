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

enum Coder : std::uint8_t { kNoCoder = 0, kRiceCoder = 1, kFixedWidthCoder = 2, kRansCoder = 3 };

// Below this many codes tables may cost more than they save, so both coders are tried.
constexpr std::int64_t kTryBothCodes = 1 << 16;
// Below this many they never pay.
constexpr std::int64_t kTablesPayCodes = 256;

template <typename I>
std::vector<std::byte> encode_with(Coder coder, const StreamCodes<I>& stream) {
  std::vector<std::byte> tables;
  codec::RansModel model;
  if (coder == kRansCoder) {
    auto counts = std::make_unique<codec::RansCounts>();
    for (auto& row : *counts) row.fill(0);
    codec::count_tokens(stream.codes.data(), stream.contexts.data(), stream.count, *counts);
    model = codec::RansModel::build(*counts);
    model.write(tables);
  }
  std::vector<std::byte> payload;
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
void StreamCodes<I>::reserve(std::int64_t more, bool with_contexts) {
  const auto size = static_cast<std::size_t>(count + more + kRowSlack);
  if (codes.size() < size) codes.resize(std::max(size, codes.size() * 3 / 2));
  if (with_contexts && contexts.size() < size) {
    contexts.resize(std::max(size, contexts.size() * 3 / 2));
  }
}

template <typename I>
std::vector<std::byte> encode_stream(Mode mode, const StreamCodes<I>& stream) {
  if (mode == Mode::kFast) return encode_with(kFixedWidthCoder, stream);
  if (mode == Mode::kDefault || stream.count < kTablesPayCodes) {
    return encode_with(kRiceCoder, stream);
  }
  std::vector<std::byte> blob = encode_with(kRansCoder, stream);
  if (stream.count <= kTryBothCodes) {
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
CodeSource<I> StreamBlob<I>::open(std::int64_t bundle, std::int64_t count, std::vector<I>& buffer,
                                  codec::RansReader& reader) const {
  const auto bytes = bundles_[static_cast<std::size_t>(bundle)];
  CodeSource<I> source;
  if (coder_ == kRansCoder && !bytes.empty()) {
    reader = codec::RansReader(model_, bytes);
    source.reader = &reader;
    return source;
  }
  const auto room = static_cast<std::size_t>(count + codec::kRiceSegment);
  if (buffer.size() < room) buffer.resize(room);
  if (coder_ == kFixedWidthCoder) {
    codec::decode_fixed_width(bytes, count, buffer.data());
  } else {
    codec::decode_rice(bytes, count, buffer.data());
  }
  source.decoded = buffer.data();
  return source;
}

template <typename I>
void StreamBlob<I>::finish(const CodeSource<I>& source, std::int64_t count,
                           const std::vector<I>& buffer) const {
  if (source.reader != nullptr) {
    source.reader->expect_end();
  } else if (source.decoded != buffer.data() + count) {
    throw Error(ErrorCode::kCorrupt, "stream blob: a bundle holds another number of codes");
  }
}

template struct StreamCodes<std::int32_t>;
template struct StreamCodes<std::int64_t>;
template std::vector<std::byte> encode_stream(Mode, const StreamCodes<std::int32_t>&);
template std::vector<std::byte> encode_stream(Mode, const StreamCodes<std::int64_t>&);
template class StreamBlob<std::int32_t>;
template class StreamBlob<std::int64_t>;

}  // namespace tamis::reduce
