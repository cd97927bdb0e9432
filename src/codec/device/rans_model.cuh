// Tables of a blob from its counts, by one block: clustering of contexts and normalisation, exactly
// as RansModel::build(). The CPU's costs are doubles that hold integers below 2^53, so that sums in
// any order are the same; here they are integers: a histogram costs
// T log T - sum(c log c) + 9 for each token that occurs and for the table. Clusters without codes
// take part in no decision: they all end up in the first cluster, and are left out until then.
#pragma once

#include "codec/device/rans_histogram.cuh"
#include "codec/device/rans_tables.cuh"

namespace tamis::device {

/// For one-dimensional blocks of exactly kThreads threads; fewer than 2^31 codes.
template <typename I, int kThreads>
class RansBuilder {
 public:
  static constexpr int kWaves = kThreads / kWave;
  static constexpr int kTokens = kRansTokens<I>;
  static constexpr int kStride = kTokens + 1;  // odd: equal tokens of all rows in different banks
  static constexpr int kRun = 16;
  static constexpr int kRuns = kRansContexts / kRun;
  static constexpr int kRunPairs = kRun * (kRun + 1) / 2;  // ends above begins
  static constexpr int kMostPairs = kRansContexts * (kRansContexts - 1) / 2;
  static constexpr u64 kTokenTableBits = u64{9} << 16;
  static constexpr u64 kTableBits = u64{9} << 16;
  static_assert(kThreads % kWave == 0 && kThreads >= kRansContexts,
                "whole waves, a thread a context");
  static_assert(kWaves <= kWave, "more waves than one wave can reduce");

  /// In shared memory. Counts go into `rows`, most easily by way of `histogram`, which shares its
  /// place with what building needs.
  struct Scratch {
    u32 rows[kRansContexts * kStride];
    union {
      RansHistogram<I> histogram;
      struct {
        u16 logs[kLogTableSize];
        union {
          struct {
            u64 pair_cost[kRuns * kRunPairs];
            u32 pair_total[kRuns * kRunPairs];
          };
          u64 keys[kMostPairs];
          RansTableWriter::Staging<I> staged;
        };
      };
    };
    u64 cost[kRansContexts];  // of the clusters that have codes, and so on
    u32 total[kRansContexts];
    u64 wave_best[kWaves];
    u32 cut[kRuns];
    u32 limit;
    u8 row[kRansContexts];
    u8 root[kRansContexts];
    u8 cluster[kRansContexts];
  };

  /// From the counts in scratch.rows, all of them visible (the caller has had a barrier). Writes
  /// the tables' bytes (room: kRansTableBytes<I>, any alignment) and the encoder's symbols
  /// (kRansSymbolWords<I>, aligned to 8). All threads call and get the result.
  static TAMIS_DEVICE RansModelInfo build(Scratch& s, u8* table_bytes, u32* symbols) {
    if (threadIdx.x == 0) s.limit = 1;
    make_log_table(s.logs);
    __syncthreads();
    add_up_rows(s);
    __syncthreads();
    const int limit = static_cast<int>(s.limit);
    price_pairs(s, limit);
    __syncthreads();
    for (int run = wave_id(); run < kRuns; run += kWaves) {
      const u32 cut = cut_run(s, run);
      if (lane_id() == 0) s.cut[run] = cut;
    }
    __syncthreads();
    const Cuts cuts = take_cuts(s, limit);
    __syncthreads();
    const u64 kept = merge(s, count_ones(cuts.live), limit);
    __syncthreads();
    return finish(s, cuts, kept, limit, table_bytes, symbols);
  }

 private:
  static TAMIS_DEVICE u64 one_bit(int i) { return u64{1} << i; }
  static TAMIS_DEVICE u64 bits_below(int i) { return one_bit(i) - 1; }

  // What a token takes off the cost of its histogram, modulo 2^64.
  static TAMIS_DEVICE u64 saved(u32 count, const u16* logs) {
    return times_log2(count, logs) - (count != 0 ? kTokenTableBits : 0);
  }
  static TAMIS_DEVICE u64 cost_of(u32 total, u64 all_saved, const u16* logs) {
    return total == 0 ? 0 : kTableBits + times_log2(total, logs) - all_saved;
  }

  // Rows become sums from the beginning of their run on.
  static TAMIS_DEVICE void add_up_rows(Scratch& s) {
    for (int i = static_cast<int>(threadIdx.x); i < kRuns * kTokens; i += kThreads) {
      const int token = i % kTokens;
      u32* at = s.rows + i / kTokens * kRun * kStride + token;
      u32 sum = 0;
      for (int c = 0; c < kRun; ++c, at += kStride) *at = sum += *at;
      if (sum != 0) atomicMax(&s.limit, static_cast<u32>(token + 1));
    }
  }

  // Costs of the contexts begin .. end - 1 of a run under one table.
  static TAMIS_DEVICE void price_pairs(Scratch& s, int limit) {
    for (int i = static_cast<int>(threadIdx.x); i < kRuns * kRunPairs; i += kThreads) {
      int begin = i % kRunPairs;
      int end = 1;
      while (begin >= end) begin -= end++;
      const u32* through = s.rows + (i / kRunPairs * kRun + end - 1) * kStride;
      const u32* before = through - (end - begin) * kStride;
      u64 all_saved = 0;
      u32 total = 0;
      for (int t = 0; t < limit; ++t) {
        const u32 count = through[t] - (begin > 0 ? before[t] : 0);
        total += count;
        all_saved += saved(count, s.logs);
      }
      s.pair_cost[i] = cost_of(total, all_saved, s.logs);
      s.pair_total[i] = total;
    }
  }

  static TAMIS_DEVICE int pair_index(int run, int begin, int end) {
    return run * kRunPairs + end * (end - 1) / 2 + begin;
  }

  // Cheapest cut of a run, by dynamic programming; of equal ones that with the later beginning. A
  // bit for each context that begins a cluster. By a wave: lane e holds the best cut up to e.
  static TAMIS_DEVICE u32 cut_run(const Scratch& s, int run) {
    u64 best = 0;
    u32 mask = 0;
    for (int end = 1; end <= kRun; ++end) {
      u64 key = ~u64{0};
      if (lane_id() < end) {
        const u64 cost = best + s.pair_cost[pair_index(run, lane_id(), end)];
        key = cost << 4 | static_cast<u64>(kRun - 1 - lane_id());
      }
      key = wave_min(key);
      const int begin = kRun - 1 - static_cast<int>(key & (kRun - 1));
      const u32 cuts = shuffle(mask, begin) | 1u << begin;
      if (lane_id() == end) {
        best = key >> 4;
        mask = cuts;
      }
    }
    return shuffle(mask, kRun);
  }

  // Bits by contexts: where clusters end, and which of those have codes.
  struct Cuts {
    u64 ends;
    u64 live;
  };

  static TAMIS_DEVICE int begin_of(u64 ends, int last) {
    const u64 earlier = ends & bits_below(last);
    return earlier == 0 ? 0 : highest_one(earlier) + 1;
  }

  // Leaves each cluster's histogram in the row of its last context, and lists those with codes.
  static TAMIS_DEVICE Cuts take_cuts(Scratch& s, int limit) {
    u64 begins = 0;
#pragma unroll
    for (int run = 0; run < kRuns; ++run) begins |= u64{s.cut[run]} << (run * kRun);
    Cuts cuts{begins >> 1 | one_bit(kRansContexts - 1), 0};
    u64 costs[kRansContexts / kWave];
    u32 totals[kRansContexts / kWave];
#pragma unroll
    for (int part = 0; part < kRansContexts / kWave; ++part) {
      const int last = part * kWave + lane_id();
      const int run = last / kRun;
      const int pair = pair_index(run, begin_of(cuts.ends, last) - run * kRun, last % kRun + 1);
      const bool ends = (cuts.ends >> last & 1) != 0;
      totals[part] = ends ? s.pair_total[pair] : 0;
      costs[part] = ends ? s.pair_cost[pair] : 0;
      cuts.live |= static_cast<u64>(wave_ballot(totals[part] != 0)) << (part * kWave);
    }
    if (wave_id() == 0) {
#pragma unroll
      for (int part = 0; part < kRansContexts / kWave; ++part) {
        const int last = part * kWave + lane_id();
        if (totals[part] == 0) continue;
        const int slot = count_ones(cuts.live & bits_below(last));
        s.row[slot] = static_cast<u8>(last);
        s.total[slot] = totals[part];
        s.cost[slot] = costs[part];
      }
    }
    for (int i = static_cast<int>(threadIdx.x); i < kRuns * limit; i += kThreads) {
      u32* column = s.rows + i % limit;
      const int first = i / limit * kRun;
      for (u64 left = cuts.ends >> first & bits_below(kRun); left != 0;) {
        const int last = first + highest_one(left);
        left &= bits_below(last - first);
        if (left != 0) column[last * kStride] -= column[(first + highest_one(left)) * kStride];
      }
    }
    return cuts;
  }

  // Gain of joining a < b, above the bits that make the first of equal gains the largest. 0 when
  // there is a loss.
  static TAMIS_DEVICE u64 key_of(u64 apart, u64 joint, int a, int b) {
    if (apart < joint) return 0;
    return (apart - joint + 1) << 12 | static_cast<u64>((63 - a) << 6 | (63 - b));
  }
  static TAMIS_DEVICE int key_index(int a, int b) { return b * (b - 1) / 2 + a; }

  static TAMIS_DEVICE void price_joints(Scratch& s, int clusters, int limit) {
    const int pairs = clusters * (clusters - 1) / 2;
    int b = 1;
    int a = static_cast<int>(threadIdx.x);
    for (int i = a; i < pairs; i += kThreads, a += kThreads) {
      while (a >= b) a -= b++;
      const u32* one = s.rows + s.row[a] * kStride;
      const u32* other = s.rows + s.row[b] * kStride;
      u64 all_saved = 0;
      for (int t = 0; t < limit; ++t) all_saved += saved(one[t] + other[t], s.logs);
      s.keys[i] =
          key_of(s.cost[a] + s.cost[b], cost_of(s.total[a] + s.total[b], all_saved, s.logs), a, b);
    }
  }

  static TAMIS_DEVICE u64 best_of_all(const u64* keys, int count, u64* wave_best) {
    u64 best = 0;
    for (int i = static_cast<int>(threadIdx.x); i < count; i += kThreads) {
      best = max_of(best, keys[i]);
    }
    best = wave_max(best);
    if (lane_id() == 0) wave_best[wave_id()] = best;
    __syncthreads();
    return wave_max(lane_id() < kWaves ? wave_best[lane_id()] : u64{0});
  }

  // Joins the pair that saves most until none saves anything; returns which clusters are left.
  // s.root gets the cluster that each went into.
  static TAMIS_DEVICE u64 merge(Scratch& s, int clusters, int limit) {
    price_joints(s, clusters, limit);
    __syncthreads();
    const int pairs = clusters * (clusters - 1) / 2;
    const int thread = static_cast<int>(threadIdx.x);
    int root = thread;
    u64 left = clusters == 64 ? ~u64{0} : bits_below(clusters);
    for (;;) {
      const u64 best = best_of_all(s.keys, pairs, s.wave_best);
      if (best == 0) break;
      const int into = 63 - static_cast<int>(best >> 6 & 63);
      const int from = 63 - static_cast<int>(best & 63);
      left &= ~one_bit(from);
      if (root == from) root = into;
      u32* kept = s.rows + s.row[into] * kStride;
      const u32* joined = s.rows + s.row[from] * kStride;
      const u32 total = s.total[into] + s.total[from];
      const u64 cost = s.cost[into] + s.cost[from] - ((best >> 12) - 1);
      for (int other = wave_id(); other < clusters; other += kWaves) {
        if (other == into) continue;
        const int with_from = key_index(min_of(from, other), max_of(from, other));
        if (other != from && lane_id() == 0) s.keys[with_from] = 0;
        if ((left >> other & 1) == 0) continue;
        const u32* third = s.rows + s.row[other] * kStride;
        u64 all_saved = 0;
        for (int t = lane_id(); t < limit; t += kWave) {
          all_saved += saved(kept[t] + joined[t] + third[t], s.logs);
        }
        all_saved = wave_sum(all_saved);
        const u64 joint = cost_of(total + s.total[other], all_saved, s.logs);
        const int a = min_of(into, other);
        const int b = max_of(into, other);
        if (lane_id() == 0) s.keys[key_index(a, b)] = key_of(cost + s.cost[other], joint, a, b);
      }
      if (thread == 0) s.keys[key_index(into, from)] = 0;
      __syncthreads();  // before the next barrier nobody reads what changes here
      for (int t = thread; t < limit; t += kThreads) kept[t] += joined[t];
      if (thread == 0) {
        s.total[into] = total;
        s.cost[into] = cost;
      }
    }
    if (thread < clusters) s.root[thread] = static_cast<u8>(root);
    return left;
  }

  static TAMIS_DEVICE RansModelInfo finish(Scratch& s, const Cuts& cuts, u64 kept, int limit,
                                           u8* table_bytes, u32* symbols) {
    const int thread = static_cast<int>(threadIdx.x);
    const int clusters = max_of(count_ones(kept), 1);
    if (kept == 0 && thread == 0) {  // no codes at all
      s.rows[0] = 1;
      s.row[0] = 0;
    }
    if (thread < kRansContexts) {
      const int last = thread + lowest_one(cuts.ends >> thread);
      int cluster = 0;
      if ((cuts.live >> last & 1) != 0) {
        const int slot = count_ones(cuts.live & bits_below(last));
        cluster = count_ones(kept & bits_below(s.root[slot]));
      }
      s.cluster[thread] = static_cast<u8>(cluster);
      reinterpret_cast<u16*>(symbols)[thread] = static_cast<u16>(cluster * limit);
    }
    RansTableWriter::clear(s.staged);
    __syncthreads();
    u64 left = max_of(kept, u64{1});
    for (int cluster = 0; cluster < clusters; ++cluster, left &= left - 1) {
      if (cluster % kWaves != wave_id()) continue;
      u32* row = s.rows + s.row[lowest_one(left)] * kStride;
      normalise_rans(row, limit);
      put_rans_symbols(row, limit, rans_symbols_of(symbols) + cluster * limit);
      RansTableWriter::measure(s.staged, row, limit, cluster);
    }
    __syncthreads();
    RansTableWriter::put_clusters(s.staged, s.cluster, clusters);
    left = max_of(kept, u64{1});
    for (int cluster = 0; cluster < clusters; ++cluster, left &= left - 1) {
      if (cluster % kWaves != wave_id()) continue;
      const u32* row = s.rows + s.row[lowest_one(left)] * kStride;
      RansTableWriter::put_row(s.staged, row, s.cluster, clusters, cluster);
    }
    __syncthreads();
    const u32 bytes = RansTableWriter::copy_out(s.staged, s.cluster, clusters, table_bytes);
    return {bytes, clusters, limit};
  }
};

}  // namespace tamis::device
