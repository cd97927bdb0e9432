// Bit matrices and bit fields: transposition across lanes, and gathering or scattering the bits
// that a mask selects (pext and pdep of x86, which GPUs lack; the rounds are those of H. S. Warren,
// "Hacker's Delight", 2nd ed., 7-4 and 7-5).
#pragma once

#include "gpu/device/warp.cuh"

namespace tamis::device {

/// Index of the highest set bit; -1 when there is none.
TAMIS_DEVICE int highest_one(u32 value) { return bit_width(value) - 1; }
TAMIS_DEVICE int highest_one(u64 value) { return bit_width(value) - 1; }

/// The `count` lowest bits set, count from 0 to the width.
TAMIS_DEVICE u32 low_bits_32(int count) { return count >= 32 ? ~0u : (1u << count) - 1; }
TAMIS_DEVICE u64 low_bits_64(int count) { return count >= 64 ? ~u64{0} : (u64{1} << count) - 1; }

/// Ones of `value` below bit `position`.
TAMIS_DEVICE int count_ones_below(u32 value, int position) {
  return count_ones(value & low_bits_32(position));
}
TAMIS_DEVICE int count_ones_below(u64 value, int position) {
  return count_ones(value & low_bits_64(position));
}

/// Transposes the 32 x 32 bit matrix whose row r is the word of lane r: lane r gets bit r of every
/// lane, that of lane 0 lowest. With 64 lanes the two halves hold a matrix each.
TAMIS_DEVICE u32 transpose_bits(u32 row) {
  u32 stay = 0x0000ffffu;  // bits whose index lacks the bit `step`
#pragma unroll
  for (int step = 16; step > 0; step /= 2) {
    const u32 other = shuffle_xor(row, step);
    row = (lane_id() & step) == 0 ? (row & stay) | ((other & stay) << step)
                                  : (row & ~stay) | ((other & ~stay) >> step);
    stay ^= stay << (step / 2);
  }
  return row;
}

/// Bit i of the result says whether an odd number of bits up to i are set.
TAMIS_DEVICE u32 prefix_parity(u32 value) {
#pragma unroll
  for (int step = 1; step < 32; step *= 2) value ^= value << step;
  return value;
}

/// Gathers the bits of `value` under `mask` to the low end, in order; the others are 0. A bit moves
/// by the number of zeros of the mask below it, one binary digit of that number a round.
TAMIS_DEVICE u32 extract_bits(u32 value, u32 mask) {
  value &= mask;
  u32 zeros = ~mask << 1;
#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    const u32 parity = prefix_parity(zeros);
    const u32 moving = parity & mask;
    mask = (mask ^ moving) | (moving >> step);
    const u32 bits = value & moving;
    value = (value ^ bits) | (bits >> step);
    zeros &= ~parity;
  }
  return value;
}

/// Scatters the low bits of `value` to the ones of `mask`, in order: the inverse of extract_bits().
TAMIS_DEVICE u32 deposit_bits(u32 value, u32 mask) {
  const u32 kept = mask;
  u32 moves[5];
  u32 zeros = ~mask << 1;
#pragma unroll
  for (int round = 0; round < 5; ++round) {
    const u32 parity = prefix_parity(zeros);
    moves[round] = parity & mask;
    mask = (mask ^ moves[round]) | (moves[round] >> (1 << round));
    zeros &= ~parity;
  }
#pragma unroll
  for (int round = 4; round >= 0; --round) {
    const u32 moved = value << (1 << round);
    value = (value & ~moves[round]) | (moved & moves[round]);
  }
  return value & kept;
}

TAMIS_DEVICE u64 extract_bits(u64 value, u64 mask) {
  const u32 low_mask = static_cast<u32>(mask);
  const u64 low = extract_bits(static_cast<u32>(value), low_mask);
  const u64 high = extract_bits(static_cast<u32>(value >> 32), static_cast<u32>(mask >> 32));
  return low | (high << count_ones(low_mask));
}
TAMIS_DEVICE u64 deposit_bits(u64 value, u64 mask) {
  const u32 low_mask = static_cast<u32>(mask);
  const u64 low = deposit_bits(static_cast<u32>(value), low_mask);
  const u64 rest = value >> count_ones(low_mask);
  const u64 high = deposit_bits(static_cast<u32>(rest), static_cast<u32>(mask >> 32));
  return low | (high << 32);
}

}  // namespace tamis::device
