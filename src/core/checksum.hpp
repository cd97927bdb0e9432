// XXH3-64, the checksum of every byte that Tamis stores, in one piece or incrementally; XXH3-128
// where a hash has to serve as a name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

struct XXH3_state_s;

namespace tamis {

std::uint64_t xxh3_64(std::span<const std::byte> bytes) noexcept;

struct Hash128 {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  bool operator==(const Hash128&) const = default;
};
/// Wide enough that two inputs never share a value by chance.
Hash128 xxh3_128(std::span<const std::byte> bytes) noexcept;

/// Gives the same value as xxh3_64() of all bytes given to update(), however they are split.
class Xxh3Stream {
 public:
  Xxh3Stream();
  void update(std::span<const std::byte> bytes) noexcept;
  std::uint64_t digest() const noexcept;
  void reset() noexcept;

 private:
  struct Free {
    void operator()(XXH3_state_s* state) const noexcept;
  };
  std::unique_ptr<XXH3_state_s, Free> state_;
};

}  // namespace tamis
