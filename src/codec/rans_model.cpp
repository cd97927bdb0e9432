// Tables of the rANS coder: clustering of contexts, normalisation to 2^12, and their compact form.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>

#include "codec/rans.hpp"
#include "tamis/error.hpp"

namespace tamis::codec {

namespace {

constexpr int kLogTableBits = 12;

// Logarithms of 1 + i / 4096 by repeated squaring.
std::array<std::uint32_t, 1 << kLogTableBits> make_log_table() {
  std::array<std::uint32_t, 1 << kLogTableBits> table{};
  for (std::uint64_t i = 0; i < table.size(); ++i) {
    std::uint64_t mantissa = ((std::uint64_t{1} << kLogTableBits) + i) << (31 - kLogTableBits);
    std::uint32_t result = 0;
    for (int bit = 15; bit >= 0; --bit) {
      mantissa = mantissa * mantissa >> 31;
      if (mantissa >= std::uint64_t{1} << 32) {
        mantissa >>= 1;
        result |= 1U << bit;
      }
    }
    table[i] = result;
  }
  return table;
}

}  // namespace

std::uint64_t log2_fixed(std::uint64_t value) {
  static const auto table = make_log_table();
  const int exponent = static_cast<int>(std::bit_width(value)) - 1;
  const std::uint64_t mantissa = exponent > kLogTableBits ? value >> (exponent - kLogTableBits)
                                                          : value << (kLogTableBits - exponent);
  return (static_cast<std::uint64_t>(exponent) << 16) +
         table[mantissa & ((1U << kLogTableBits) - 1)];
}

namespace {

constexpr int kRun = 16;               // contexts that may share a table are neighbours in a run
constexpr double kTokenTableBits = 9;  // about what write() spends on a token
constexpr double kTableBits = 9;

using Histogram = std::array<std::uint64_t, kRansTokens>;

// Bits of coding a histogram with its own table, the table included, in 1/65536. Tokens from
// `limit` on do not occur.
double cost_bits(const Histogram& h, std::size_t limit) {
  std::uint64_t total = 0;
  for (std::size_t t = 0; t < limit; ++t) total += h[t];
  if (total == 0) return 0;
  const std::uint64_t log_total = log2_fixed(total);
  double bits = kTableBits * 65536;
  for (std::size_t t = 0; t < limit; ++t) {
    const std::uint64_t c = h[t];
    if (c == 0) continue;
    bits += static_cast<double>(c) * static_cast<double>(log_total - log2_fixed(c));
    bits += kTokenTableBits * 65536;
  }
  return bits;
}

// Frequencies that sum to kRansTotal, at least one for each token that occurs.
void normalise(const Histogram& h, std::array<std::uint16_t, kRansTokens>& frequency) {
  std::uint64_t total = 0;
  for (const std::uint64_t c : h) total += c;
  std::int64_t left = kRansTotal;
  std::size_t largest = 0;
  for (std::size_t t = 0; t < h.size(); ++t) {
    frequency[t] = 0;
    if (h[t] == 0) continue;
    const std::uint64_t share = (h[t] * kRansTotal + total / 2) / total;
    frequency[t] = static_cast<std::uint16_t>(std::max<std::uint64_t>(1, share));
    left -= frequency[t];
    if (h[t] > h[largest] || h[largest] == 0) largest = t;
  }
  // Rounding errors go to the most frequent tokens, which feel them least.
  while (left != 0) {
    auto& f = frequency[largest];
    const std::int64_t change = std::max<std::int64_t>(left, 1 - static_cast<std::int64_t>(f));
    f = static_cast<std::uint16_t>(f + change);
    left -= change;
    if (left == 0) break;
    largest = static_cast<std::size_t>(std::max_element(frequency.begin(), frequency.end()) -
                                       frequency.begin());
  }
}

// Cheapest cut of a run of contexts into clusters, by dynamic programming.
std::vector<int> cut_run(const RansCounts& counts, int first, std::size_t limit) {
  std::array<double, kRun + 1> best{};
  std::array<int, kRun + 1> from{};
  for (int end = 1; end <= kRun; ++end) {
    Histogram h{};
    best[static_cast<std::size_t>(end)] = -1;
    for (int begin = end - 1; begin >= 0; --begin) {
      const auto& c = counts[static_cast<std::size_t>(first + begin)];
      for (std::size_t t = 0; t < limit; ++t) h[t] += c[t];
      const double cost = best[static_cast<std::size_t>(begin)] + cost_bits(h, limit);
      if (best[static_cast<std::size_t>(end)] < 0 || cost < best[static_cast<std::size_t>(end)]) {
        best[static_cast<std::size_t>(end)] = cost;
        from[static_cast<std::size_t>(end)] = begin;
      }
    }
  }
  std::vector<int> begins;
  for (int end = kRun; end > 0; end = from[static_cast<std::size_t>(end)]) {
    begins.push_back(from[static_cast<std::size_t>(end)]);
  }
  std::reverse(begins.begin(), begins.end());
  return begins;
}

struct Cluster {
  Histogram histogram{};
  std::vector<int> contexts;
  double cost = 0;
};

double joint_cost(const Cluster& a, const Cluster& b, std::size_t limit) {
  Histogram joint;
  for (std::size_t t = 0; t < limit; ++t) joint[t] = a.histogram[t] + b.histogram[t];
  return cost_bits(joint, limit);
}

// Joins the pair that saves most, whichever runs it comes from, until none saves anything.
void merge_clusters(std::vector<Cluster>& clusters, std::size_t limit) {
  const std::size_t n = clusters.size();
  std::vector<double> joint(n * n);
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = a + 1; b < n; ++b)
      joint[a * n + b] = joint_cost(clusters[a], clusters[b], limit);
  }
  std::vector<bool> gone(n);
  for (;;) {
    double best_gain = -1;
    std::size_t into = 0;
    std::size_t from = 0;
    for (std::size_t a = 0; a < n; ++a) {
      for (std::size_t b = a + 1; b < n && !gone[a]; ++b) {
        if (gone[b]) continue;
        const double gain = clusters[a].cost + clusters[b].cost - joint[a * n + b];
        if (gain > best_gain) {
          best_gain = gain;
          into = a;
          from = b;
        }
      }
    }
    if (best_gain < 0) break;
    Cluster& kept = clusters[into];
    for (std::size_t t = 0; t < kept.histogram.size(); ++t) {
      kept.histogram[t] += clusters[from].histogram[t];
    }
    kept.contexts.insert(kept.contexts.end(), clusters[from].contexts.begin(),
                         clusters[from].contexts.end());
    kept.cost = joint[into * n + from];
    gone[from] = true;
    for (std::size_t other = 0; other < n; ++other) {
      if (gone[other] || other == into) continue;
      joint[std::min(into, other) * n + std::max(into, other)] =
          joint_cost(kept, clusters[other], limit);
    }
  }
  std::size_t next = 0;
  for (std::size_t a = 0; a < n; ++a) {
    if (gone[a]) continue;
    if (next != a) clusters[next] = std::move(clusters[a]);
    ++next;
  }
  clusters.resize(next);
}

}  // namespace

RansModel RansModel::build(const RansCounts& counts) {
  std::size_t limit = 1;
  for (const auto& row : counts) {
    for (std::size_t t = limit; t < row.size(); ++t) {
      if (row[t] != 0) limit = t + 1;
    }
  }
  std::vector<Cluster> clusters;
  for (int first = 0; first < kRansContexts; first += kRun) {
    const std::vector<int> begins = cut_run(counts, first, limit);
    for (std::size_t i = 0; i < begins.size(); ++i) {
      const int end = i + 1 < begins.size() ? begins[i + 1] : kRun;
      Cluster cluster;
      for (int c = first + begins[i]; c < first + end; ++c) {
        const auto& own = counts[static_cast<std::size_t>(c)];
        for (std::size_t t = 0; t < own.size(); ++t) cluster.histogram[t] += own[t];
        cluster.contexts.push_back(c);
      }
      cluster.cost = cost_bits(cluster.histogram, limit);
      clusters.push_back(std::move(cluster));
    }
  }
  merge_clusters(clusters, limit);
  RansModel model;
  for (Cluster& cluster : clusters) {
    Histogram& h = cluster.histogram;
    if (std::all_of(h.begin(), h.end(), [](std::uint64_t c) { return c == 0; })) h[0] = 1;
    for (const int c : cluster.contexts) {
      model.cluster_[static_cast<std::size_t>(c)] = static_cast<std::uint8_t>(model.tables_.size());
    }
    Table table;
    normalise(h, table.frequency);
    model.tables_.push_back(table);
  }
  model.set_symbols();
  return model;
}

void RansModel::set_symbols() {
  symbols_.resize(tables_.size() * kRansTokens);
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    std::uint32_t start = 0;
    for (std::size_t t = 0; t < kRansTokens; ++t) {
      const std::uint32_t f = tables_[i].frequency[t];
      symbols_[i * kRansTokens + t] = {f, start, f > 0 ? (std::uint64_t{1} << 43) / f : 0};
      start += f;
    }
  }
}

// The number of clusters less one (6 bits); per context a bit "as the context before" and, when
// that is 0, its cluster in as many bits as the largest needs; per cluster the number of tokens up
// to the last that occurs (8 bits), and for each its frequency as width (4 bits) and the bits below
// the leading one.
void RansModel::write(std::vector<std::byte>& out) const {
  BitWriter bits(out);
  bits.put(tables_.size() - 1, 6);
  const int index_bits = static_cast<int>(std::bit_width(tables_.size() - 1));
  std::uint8_t last = 0;
  for (const std::uint8_t c : cluster_) {
    bits.put(c == last ? 1 : 0, 1);
    if (c != last) bits.put(c, index_bits);
    last = c;
  }
  for (const Table& table : tables_) {
    std::size_t tokens = table.frequency.size();
    while (table.frequency[tokens - 1] == 0) --tokens;
    bits.put(tokens, 8);
    for (std::size_t t = 0; t < tokens; ++t) {
      const std::uint32_t f = table.frequency[t];
      const int width = static_cast<int>(std::bit_width(f));
      bits.put(static_cast<std::uint64_t>(width), 4);
      if (width > 1) bits.put(f & ((1U << (width - 1)) - 1), width - 1);
    }
  }
  bits.flush();
}

RansModel RansModel::read(std::span<const std::byte> bytes) {
  RansModel model;
  BitReader bits(bytes);
  const std::size_t clusters = bits.get(6) + 1;
  const int index_bits = static_cast<int>(std::bit_width(clusters - 1));
  std::uint8_t last = 0;
  for (std::uint8_t& c : model.cluster_) {
    if (bits.get(1) == 0) last = static_cast<std::uint8_t>(bits.get(index_bits));
    if (last >= clusters) {
      throw Error(ErrorCode::kCorrupt, "rANS tables: cluster " + std::to_string(last) +
                                           "; there are " + std::to_string(clusters));
    }
    c = last;
  }
  model.tables_.resize(clusters);
  for (Table& table : model.tables_) {
    const std::size_t tokens = bits.get(8);
    if (tokens == 0 || tokens > table.frequency.size()) {
      throw Error(ErrorCode::kCorrupt, "rANS tables: " + std::to_string(tokens) +
                                           " tokens; expected 1 to " +
                                           std::to_string(table.frequency.size()));
    }
    std::uint32_t sum = 0;
    for (std::size_t t = 0; t < tokens; ++t) {
      const int width = static_cast<int>(bits.get(4));
      std::uint32_t f = width == 0 ? 0 : 1;
      if (width > 1) f = 1U << (width - 1) | static_cast<std::uint32_t>(bits.get(width - 1));
      sum += f;
      table.frequency[t] = static_cast<std::uint16_t>(f);
    }
    if (sum != kRansTotal) {
      throw Error(ErrorCode::kCorrupt, "rANS tables: frequencies sum to " + std::to_string(sum) +
                                           "; expected " + std::to_string(kRansTotal));
    }
  }
  bits.expect_end();
  model.set_symbols();
  return model;
}

void RansModel::prepare_decoding() {
  slots_.resize(tables_.size() * kRansTotal);
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    std::uint32_t* slot = slots_.data() + i * kRansTotal;
    for (std::size_t t = 0; t < kRansTokens; ++t) {
      const std::uint32_t f = tables_[i].frequency[t];
      for (std::uint32_t offset = 0; offset < f; ++offset) {
        *slot++ = (f - 1) | offset << 12 | static_cast<std::uint32_t>(t) << 24;
      }
    }
  }
  for (std::size_t c = 0; c < kRansContexts; ++c) {
    slot_of_context_[c] = slots_.data() + cluster_[c] * std::size_t{kRansTotal};
  }
}

}  // namespace tamis::codec
