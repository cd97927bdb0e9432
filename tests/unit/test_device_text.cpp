// The device headers, run on the host lane by lane: built once for waves of 32 and once for 64, so
// that the logic of both is checked on any machine.
#include "simulator/host_block.hpp"

#include "gpu/device/bits.cuh"
#include "gpu/device/block_scan.cuh"
#include "gpu/device/lookback.cuh"
#include "gpu/device/warp.cuh"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace tamis::device {
namespace {

using simt::run_block;

std::vector<u64> random_words(std::size_t count, u64 seed) {
  std::mt19937_64 engine(seed);
  std::vector<u64> words(count);
  for (u64& word : words) word = engine();
  return words;
}

TEST(DeviceText, Arithmetic) {
  EXPECT_EQ(bit_width(u32{0}), 0);
  EXPECT_EQ(bit_width(u32{1}), 1);
  EXPECT_EQ(bit_width(~u32{0}), 32);
  EXPECT_EQ(bit_width(u64{1} << 63), 64);
  EXPECT_EQ(lowest_one(u32{0}), -1);
  EXPECT_EQ(highest_one(u64{0}), -1);
  EXPECT_EQ(lowest_one(u64{1} << 40), 40);
  EXPECT_EQ(count_ones_below(~u32{0}, 32), 32);
  EXPECT_EQ(count_ones_below(~u64{0}, 0), 0);
  EXPECT_EQ(ceil_div(7, 4), 2);
  EXPECT_EQ(ceil_div(8u, 4u), 2u);
  EXPECT_EQ(ceil_div(~u64{0}, u64{2}), u64{1} << 63);
  EXPECT_EQ(clamp_to(5, 7, 9), 7);
}

u64 extract_reference(u64 value, u64 mask) {
  u64 result = 0;
  for (int to = 0; mask != 0; mask &= mask - 1, ++to) {
    result |= ((value >> std::countr_zero(mask)) & 1) << to;
  }
  return result;
}

TEST(DeviceText, ExtractAndDeposit) {
  const auto values = random_words(3000, 1);
  auto masks = random_words(3000, 2);
  for (std::size_t i = 0; i + 4 < masks.size(); i += 4) {
    masks[i] &= masks[i + 1] & masks[i + 2];
    masks[i + 1] |= masks[i + 2] | masks[i + 3];
  }
  masks[0] = 0;
  masks[1] = ~u64{0};
  masks[2] = u64{1} << 63;
  masks[3] = 1;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const u64 value = values[i];
    const u64 mask = masks[i];
    const auto value32 = static_cast<u32>(value);
    const auto mask32 = static_cast<u32>(mask >> 16);
    ASSERT_EQ(extract_bits(value, mask), extract_reference(value, mask));
    ASSERT_EQ(extract_bits(value32, mask32), extract_reference(value32, mask32));
    // The inverse, and nothing outside of the mask.
    ASSERT_EQ(extract_bits(deposit_bits(value, mask), mask), value & low_bits_64(count_ones(mask)));
    ASSERT_EQ(deposit_bits(value, mask) & ~mask, 0u);
    ASSERT_EQ(extract_bits(deposit_bits(value32, mask32), mask32),
              value32 & low_bits_32(count_ones(mask32)));
    ASSERT_EQ(deposit_bits(value32, mask32) & ~mask32, 0u);
  }
}

TEST(DeviceText, WaveOperations) {
  const auto values = random_words(kWave, 3);
  run_block(kWave, [&] {
    const auto lane = static_cast<std::size_t>(lane_id());
    const u64 mine = values[lane];
    const auto at = [&](std::size_t count) {
      return values.begin() + static_cast<std::ptrdiff_t>(count);
    };
    EXPECT_EQ(wave_sum(mine), std::accumulate(values.begin(), values.end(), u64{0}));
    EXPECT_EQ(wave_min(mine), *std::min_element(values.begin(), values.end()));
    EXPECT_EQ(wave_max(mine), *std::max_element(values.begin(), values.end()));
    EXPECT_EQ(wave_inclusive_sum(mine), std::accumulate(values.begin(), at(lane + 1), u64{0}));
    EXPECT_EQ(wave_exclusive_sum(mine), std::accumulate(values.begin(), at(lane), u64{0}));
    EXPECT_EQ(shuffle_xor(mine, 3), values[lane ^ 3]);
    EXPECT_EQ(shuffle_up(mine, 4), values[lane < 4 ? lane : lane - 4]);
    EXPECT_EQ(shuffle_down(mine, 4), values[lane + 4 < kWave ? lane + 4 : lane]);
    const LaneMask odd = wave_ballot((mine & 1) != 0);
    LaneMask expected_odd = 0;
    LaneMask expected_same = 0;
    for (std::size_t k = 0; k < kWave; ++k) {
      expected_odd |= static_cast<LaneMask>(values[k] & 1) << k;
      expected_same |= static_cast<LaneMask>(values[k] % 7 == mine % 7) << k;
    }
    EXPECT_EQ(odd, expected_odd);
    EXPECT_EQ(lanes_with_same(static_cast<u32>(mine % 7)), expected_same);
    EXPECT_EQ(count_ones(lanes_before()), lane_id());
    EXPECT_TRUE(wave_all(true));
    EXPECT_FALSE(wave_any(false));
    EXPECT_TRUE(wave_any(lane_id() == kWave - 1));
    sync_wave();
  });
}

TEST(DeviceText, Transpose) {
  const auto words = random_words(kWave, 4);
  run_block(kWave, [&] {
    const auto row = static_cast<u32>(words[static_cast<std::size_t>(lane_id())]);
    const u32 column = transpose_bits(row);
    const std::size_t first = static_cast<std::size_t>(lane_id()) / 32 * 32;
    for (std::size_t k = 0; k < 32; ++k) {
      EXPECT_EQ(column >> k & 1, words[first + k] >> (lane_id() % 32) & 1);
    }
    EXPECT_EQ(transpose_bits(column), row);
  });
}

TEST(DeviceText, BlockScan) {
  constexpr int kThreads = 4 * kWave;
  using Scan = BlockScan<kThreads, u64>;
  const auto values = random_words(kThreads, 5);
  Scan::Scratch scratch;
  run_block(kThreads, [&] {
    const u64 mine = values[threadIdx.x];
    for (int again = 0; again < 3; ++again) {
      u64 total = 0;
      const u64 before = Scan::exclusive_sum(mine, scratch, total);
      EXPECT_EQ(before, std::accumulate(values.begin(), values.begin() + threadIdx.x, u64{0}));
      EXPECT_EQ(total, std::accumulate(values.begin(), values.end(), u64{0}));
      EXPECT_EQ(Scan::sum(mine, scratch), total);
    }
  });
}

// Predecessors in every state that a scan can meet: the nearest complete tile at some distance, and
// partial ones nearer.
TEST(DeviceText, LookBackFindsTheNearestCompleteTile) {
  const auto sums = random_words(300, 6);
  for (const i64 tile : {1, 2, 31, 32, 33, 63, 64, 65, 66, 128, 129, 250}) {
    for (const i64 distance : {1, 2, 32, 33, 64, 65, 100, 129, 1000}) {
      std::vector<u64> words(301);
      u64 earlier = 0;
      for (i64 t = 0; t < tile; ++t) {
        const u64 sum = sums[static_cast<std::size_t>(t)] >> 20;
        earlier += sum;
        const bool complete = t == 0 || t == tile - distance;
        words[static_cast<std::size_t>(t + 1)] =
            complete ? kTileComplete | earlier : kTilePartial | sum;
      }
      const ScanState state{words.data()};
      run_block(kWave, [&] { EXPECT_EQ(sum_of_earlier_tiles(state, tile, 5), earlier); });
      EXPECT_EQ(words[static_cast<std::size_t>(tile + 1)], kTileComplete | (earlier + 5));
    }
  }
}

// All tiles at once, each a wave of one block, the last tile first.
TEST(DeviceText, LookBackWhileOthersRun) {
  constexpr i64 kTiles = 2 * kWave / 16 + 3;
  std::vector<u64> words(kTiles + 1);
  std::vector<u64> earlier(kTiles);
  const ScanState state{words.data()};
  run_block(kTiles * kWave, [&] {
    const i64 tile = kTiles - 1 - wave_id();
    const u64 sum = sum_of_earlier_tiles(state, tile, static_cast<u64>(tile + 1));
    if (lane_id() == 0) earlier[static_cast<std::size_t>(tile)] = sum;
  });
  for (i64 t = 0; t < kTiles; ++t) {
    EXPECT_EQ(earlier[static_cast<std::size_t>(t)], static_cast<u64>(t * (t + 1) / 2));
  }
}

TEST(DeviceText, TilesAreNumberedInOrder) {
  std::vector<u64> words(4);
  const ScanState state{words.data()};
  for (i64 expected = 0; expected < 3; ++expected) {
    i64 slot = -1;
    run_block(kWave, [&] { EXPECT_EQ(take_tile(state, slot), expected); });
  }
}

}  // namespace
}  // namespace tamis::device
