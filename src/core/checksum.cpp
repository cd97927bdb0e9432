// XXH3 through libxxhash; the header of that library is seen here only.
#include "core/checksum.hpp"

#include <xxhash.h>

#include <new>

namespace tamis {

std::uint64_t xxh3_64(std::span<const std::byte> bytes) noexcept {
  return XXH3_64bits(bytes.data(), bytes.size());
}

Hash128 xxh3_128(std::span<const std::byte> bytes) noexcept {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.low64, hash.high64};
}

Xxh3Stream::Xxh3Stream() : state_(XXH3_createState()) {
  if (!state_) throw std::bad_alloc();
  reset();
}

void Xxh3Stream::reset() noexcept { XXH3_64bits_reset(state_.get()); }

void Xxh3Stream::update(std::span<const std::byte> bytes) noexcept {
  // libxxhash reports a null pointer as an error even when there is nothing to read.
  if (!bytes.empty()) XXH3_64bits_update(state_.get(), bytes.data(), bytes.size());
}

std::uint64_t Xxh3Stream::digest() const noexcept { return XXH3_64bits_digest(state_.get()); }

void Xxh3Stream::Free::operator()(XXH3_state_s* state) const noexcept { XXH3_freeState(state); }

}  // namespace tamis
