// Fuzzes the rANS tables and streams. An input is a table and a stream for it; the contexts follow
// from the codes before, as in the real decoder. What decodes must survive being modelled and
// encoded afresh.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

#include "codec/rans.hpp"
#include "tamis/error.hpp"

namespace {

using tamis::codec::count_tokens;
using tamis::codec::encode_rans;
using tamis::codec::kRansContexts;
using tamis::codec::rans_token;
using tamis::codec::RansCounts;
using tamis::codec::RansModel;
using tamis::codec::RansReader;

void require(bool condition) {
  if (!condition) std::abort();
}

template <typename I>
std::uint8_t next_context(I last) {
  return static_cast<std::uint8_t>(rans_token(last).token % kRansContexts);
}

template <typename I>
struct Decoded {
  std::vector<I> codes;
  std::vector<std::uint8_t> contexts;
};

template <typename I>
Decoded<I> decode(const RansModel& model, std::span<const std::byte> bytes, std::size_t count) {
  Decoded<I> d;
  RansReader reader(model, bytes);
  I last = 0;
  for (std::size_t i = 0; i < count; ++i) {
    d.contexts.push_back(next_context(last));
    reader.read(&last, 1, &d.contexts.back());
    d.codes.push_back(last);
  }
  reader.expect_end();
  return d;
}

template <typename I>
void encode_afresh(const Decoded<I>& d) {
  const auto count = static_cast<std::int64_t>(d.codes.size());
  auto counts = std::make_unique<RansCounts>();
  for (auto& row : *counts) row.fill(0);
  count_tokens(d.codes.data(), d.contexts.data(), count, *counts);
  std::vector<std::byte> tables;
  std::vector<std::byte> stream;
  const RansModel model = RansModel::build(*counts);
  model.write(tables);
  encode_rans(model, d.codes.data(), d.contexts.data(), count, stream);
  RansModel again = RansModel::read(tables);
  again.prepare_decoding();
  require(decode<I>(again, stream, d.codes.size()).codes == d.codes);
}

template <typename I>
void run(const RansModel& model, std::span<const std::byte> bytes, std::size_t count) {
  Decoded<I> d;
  try {
    d = decode<I>(model, bytes, count);
  } catch (const tamis::Error&) {
    return;  // refusing is right; crashing, hanging or throwing anything else is not
  }
  encode_afresh(d);
}

}  // namespace

// First four bytes: how many codes, up to 4095, their width in the top bit of the second; the size
// of the tables.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 4) return 0;
  const std::size_t count = data[0] | (data[1] & 15U) << 8;
  const auto bytes = std::as_bytes(std::span(data + 4, size - 4));
  const std::size_t split = std::min<std::size_t>(bytes.size(), data[2] | data[3] << 8);
  RansModel model;
  try {
    model = RansModel::read(bytes.first(split));
  } catch (const tamis::Error&) {
    return 0;
  }
  std::vector<std::byte> written;
  model.write(written);
  std::vector<std::byte> rewritten;
  RansModel::read(written).write(rewritten);
  require(rewritten == written);
  model.prepare_decoding();
  if ((data[1] & 128) != 0) {
    run<std::int64_t>(model, bytes.subspan(split), count);
  } else {
    run<std::int32_t>(model, bytes.subspan(split), count);
  }
  return 0;
}
