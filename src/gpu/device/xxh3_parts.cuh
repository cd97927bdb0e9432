// The parts of XXH3-64 (seed 0, default secret) that need no block: constants, arithmetic, inputs
// of up to 16 bytes. Written from the description of the algorithm (Y. Collet, "xxHash fast digest
// algorithm", version 0.2.0, the xxHash project's doc/xxhash_spec.md).
#pragma once

#include "gpu/device/copy.cuh"
#include "gpu/device/warp.cuh"

namespace tamis::device {

namespace xxh3 {

inline constexpr u32 kPrime32A = 0x9e3779b1;
inline constexpr u32 kPrime32B = 0x85ebca77;
inline constexpr u32 kPrime32C = 0xc2b2ae3d;
inline constexpr u64 kPrime64A = 0x9e3779b185ebca87;
inline constexpr u64 kPrime64B = 0xc2b2ae3d27d4eb4f;
inline constexpr u64 kPrime64C = 0x165667b19e3779f9;
inline constexpr u64 kPrime64D = 0x85ebca77c2b2ae63;
inline constexpr u64 kPrime64E = 0x27d4eb2f165667c5;
inline constexpr u64 kInversePrime32A = 0xcfa4a56b0e8b2f51;  // modulo 2^64
static_assert(kInversePrime32A * kPrime32A == 1, "the inverse of the prime");

inline constexpr int kSecretWords = 24;
inline constexpr u64 kStripeBytes = 64;
inline constexpr u64 kBlockBytes = 1024;
inline constexpr int kBlockStripes = 16;
inline constexpr int kLastStripeKey = 121;  // where in the secret, in bytes, here and below
inline constexpr int kMergeKey = 11;
inline constexpr u64 kShortest = 17;  // of the sizes that are mixed in pieces of 16 bytes
inline constexpr u64 kLongest = 240;

/// The default secret as little-endian words.
TAMIS_DEVICE u64 secret_word(int index) {
  static constexpr u64 kWords[kSecretWords] = {
      0xbe4ba423396cfeb8, 0x1cad21f72c81017c, 0xdb979083e96dd4de, 0x1f67b3b7a4a44072,
      0x78e5c0cc4ee679cb, 0x2172ffcc7dd05a82, 0x8e2443f7744608b8, 0x4c263a81e69035e0,
      0xcb00c391bb52283c, 0xa32e531b8b65d088, 0x4ef90da297486471, 0xd8acdea946ef1938,
      0x3f349ce33f76faa8, 0x1d4f0bc7c7bbdcf9, 0x3159b4cd4be0518a, 0x647378d9c97e9fc8,
      0xc3ebd33483acc5ea, 0xeb6313faffa081c5, 0x49daf0b751dd0d17, 0x9e68d429265516d3,
      0xfca1477d58be162b, 0xce31d07ad1b8f88f, 0x280416958f3acb45, 0x7e404bbbcafbd7af};
  return kWords[index];
}

/// 16 bytes: two words of the input, of the secret, or two neighbouring sums.
struct Pair {
  u64 low;
  u64 high;
};

TAMIS_DEVICE Pair to_pair(Vec16 v) {
  return {v.word[0] | u64{v.word[1]} << 32, v.word[2] | u64{v.word[3]} << 32};
}
TAMIS_DEVICE Vec16 to_vec(Pair p) {
  return {{static_cast<u32>(p.low), static_cast<u32>(p.low >> 32), static_cast<u32>(p.high),
           static_cast<u32>(p.high >> 32)}};
}

/// 16 bytes from byte `skew` (0 to 15) of `here` on, the rest of them from `next`.
TAMIS_DEVICE Pair cut_16(Vec16 here, Vec16 next, u32 skew) {
  const u32 words[8] = {here.word[0], here.word[1], here.word[2], here.word[3],
                        next.word[0], next.word[1], next.word[2], next.word[3]};
  u32 by_two[6];
#pragma unroll
  for (int i = 0; i < 6; ++i) by_two[i] = (skew & 8) != 0 ? words[i + 2] : words[i];
  u32 by_one[5];
#pragma unroll
  for (int i = 0; i < 5; ++i) by_one[i] = (skew & 4) != 0 ? by_two[i + 1] : by_two[i];
  Vec16 result;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const u64 both = by_one[i] | u64{by_one[i + 1]} << 32;
    result.word[i] = static_cast<u32>(both >> (8 * (skew & 3)));
  }
  return to_pair(result);
}

TAMIS_DEVICE u32 skew_of(const u8* bytes) {
  return static_cast<u32>(reinterpret_cast<u64>(bytes) & 15);
}

/// The first min(size, 16) bytes; what follows them is anything. `size` is not 0.
TAMIS_DEVICE Pair read_16(const u8* bytes, u64 size) {
  const u32 skew = skew_of(bytes);
  const Vec16 here = load_16(bytes - skew);
  return cut_16(here, skew + min_of(size, u64{16}) > 16 ? load_16(bytes - skew + 16) : here, skew);
}

TAMIS_DEVICE u64 high_of_product(u64 a, u64 b) {
  const u64 a_low = static_cast<u32>(a);
  const u64 b_low = static_cast<u32>(b);
  const u64 a_high = a >> 32;
  const u64 b_high = b >> 32;
  const u64 cross = a_low * b_high;
  const u64 middle = (a_low * b_low >> 32) + static_cast<u32>(cross) + a_high * b_low;
  return a_high * b_high + (cross >> 32) + (middle >> 32);
}
TAMIS_DEVICE u64 fold_product(u64 a, u64 b) { return a * b ^ high_of_product(a, b); }

TAMIS_DEVICE u64 avalanche(u64 h) {
  h ^= h >> 37;
  h *= 0x165667919e3779f9;
  return h ^ h >> 32;
}
TAMIS_DEVICE u64 avalanche_64(u64 h) {
  h ^= h >> 33;
  h *= kPrime64B;
  h ^= h >> 29;
  h *= kPrime64C;
  return h ^ h >> 32;
}
TAMIS_DEVICE u64 rotate_left(u64 value, int count) {
  return value << count | value >> (64 - count);
}
TAMIS_DEVICE u64 swap_bytes(u64 value) {
  u64 result = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) result |= (value >> (8 * i) & 0xff) << (56 - 8 * i);
  return result;
}

/// Up to 16 bytes, by each thread alone.
TAMIS_DEVICE u64 hash_16(const u8* bytes, u64 size) {
  if (size == 0) return avalanche_64(secret_word(7) ^ secret_word(8));
  const Pair v = read_16(bytes, size);
  const int bits = 8 * static_cast<int>(size);
  if (size <= 3) {
    const u64 first = v.low & 0xff;
    const u64 middle = v.low >> (8 * (size >> 1)) & 0xff;
    const u64 last = v.low >> (bits - 8) & 0xff;
    const u64 key = static_cast<u32>(secret_word(0)) ^ secret_word(0) >> 32;
    return avalanche_64((first << 16 | middle << 24 | last | size << 8) ^ key);
  }
  if (size <= 8) {
    const u64 last = static_cast<u32>(v.low >> (bits - 32));
    u64 h = (last + (v.low << 32)) ^ secret_word(1) ^ secret_word(2);
    h ^= rotate_left(h, 49) ^ rotate_left(h, 24);
    h *= 0x9fb21c651e98df25;
    h ^= (h >> 35) + size;
    h *= 0x9fb21c651e98df25;
    return h ^ h >> 28;
  }
  const u64 last = size == 16 ? v.high : v.low >> (bits - 64) | v.high << (128 - bits);
  const u64 low = v.low ^ secret_word(3) ^ secret_word(4);
  const u64 high = last ^ secret_word(5) ^ secret_word(6);
  return avalanche(size + swap_bytes(low) + high + fold_product(low, high));
}

/// Scrambles the low and the high half of a sum side by side, and adds the next block's. This is
/// the serial part: five dependent instructions a block.
TAMIS_DEVICE u64 scramble_and_add(u64 x, u64 key, u64 sum) {
  const u32 high = static_cast<u32>(x >> 32);
  const u32 a = static_cast<u32>(x) ^ high >> 15 ^ static_cast<u32>(key);
  const u32 b = high ^ static_cast<u32>(key >> 32);
  return u64{a} * kPrime32A + (sum + (u64{b * kPrime32A} << 32));
}
/// What scrambling turns into `wanted`.
TAMIS_DEVICE u64 unscramble(u64 wanted, u64 key) {
  const u64 x = wanted * kInversePrime32A ^ key;
  return x ^ x >> 47;
}

/// The value of each sum before the first block.
TAMIS_DEVICE u64 first_sum(int index) {
  static constexpr u64 kFirst[8] = {kPrime32C, kPrime64A, kPrime64B, kPrime64C,
                                    kPrime64D, kPrime32B, kPrime64E, kPrime32A};
  return kFirst[index];
}

}  // namespace xxh3

}  // namespace tamis::device
