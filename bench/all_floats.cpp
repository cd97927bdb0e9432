// All 2^32 float bit patterns as one-dimensional fields, slabs of consecutive patterns in bit
// order: denormals, every exponent, infinities and every NaN. Compressed, decompressed and judged
// at five absolute bounds; what is done is kept in a state file, one line a piece, so a run may be
// stopped.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "bound_oracle.hpp"
#include "core/stopwatch.hpp"
#include "field_files.hpp"
#include "tamis/reduce.hpp"

namespace {

using namespace tamis;
using namespace tamis::bench;
using reduce::Bound;
using reduce::BoundKind;
using reduce::Mode;

constexpr int kSlabLog2 = 26;
constexpr std::int64_t kSlabValues = std::int64_t{1} << kSlabLog2;
constexpr int kSlabCount = 1 << (32 - kSlabLog2);
// Zero and denormals; up to 1.99; from 2 on; the last exponents, infinity and NaN; the same
// negative.
constexpr int kSampleSlabs[] = {0, 15, 16, 31, 32, 47, 48, 63};

struct Piece {
  std::string order;
  int slab = 0;
  std::string bound;  // "abs 0.001"
  std::string mode;
  bool operator<(const Piece& o) const {
    return std::tie(order, slab, bound, mode) < std::tie(o.order, o.slab, o.bound, o.mode);
  }
};

struct Outcome {
  std::int64_t bytes = 0, violations = 0, exact = 0;
  std::string first_pattern = "-";  // of the first violation, hexadecimal
  double compress_s = 0, decompress_s = 0;
  double worst = 0;
};

struct Options {
  bool sample = false;     // kSampleSlabs only
  bool fresh = false;      // forget the state file
  bool pointwise = false;  // also pwrel 1e-3 and lossless
  int threads = 1;
  std::vector<std::string> orders = {"rising", "shuffled", "scattered"};
  std::vector<std::string> paths;  // state file, results folder
};

std::string bound_text(const Bound& bound) {
  char text[64];
  std::snprintf(text, sizeof text, "%s %g", reduce::bound_kind_name(bound.kind), bound.value);
  return text;
}

std::vector<Bound> bounds_of(const Options& options) {
  std::vector<Bound> out;
  for (const double value : {1e-38, 1e-10, 1e-3, 1.0, 1e10}) out.push_back(Bound::absolute(value));
  if (options.pointwise) {
    out.push_back(Bound::pointwise_relative(1e-3));
    out.push_back(Bound::lossless());
  }
  return out;
}

/// The default mode everywhere; the others on every 16th slab and on those with infinities and NaN.
bool wanted(const Options& options, int slab, Mode mode) {
  const bool sampled =
      std::find(std::begin(kSampleSlabs), std::end(kSampleSlabs), slab) != std::end(kSampleSlabs);
  if (options.sample) return sampled;
  return mode == Mode::kDefault || slab % 16 == 0 || slab % 32 == 31;
}

/// The pattern at a place; multiplying by an odd number permutes the residues of a power of two.
std::uint32_t pattern_at(const std::string& order, int slab, std::int64_t i) {
  constexpr std::uint32_t kOdd = 0x9e3779b1;
  const auto index = static_cast<std::uint32_t>(i);
  const auto base = static_cast<std::uint32_t>(slab * kSlabValues);
  if (order == "shuffled") return base + ((index * kOdd) & (kSlabValues - 1));
  if (order == "scattered") return (base + index) * kOdd;
  return base + index;
}

std::vector<float> patterns_of(const std::string& order, int slab) {
  std::vector<float> out(static_cast<std::size_t>(kSlabValues));
  for (std::int64_t i = 0; i < kSlabValues; ++i) {
    out[static_cast<std::size_t>(i)] = std::bit_cast<float>(pattern_at(order, slab, i));
  }
  return out;
}

Outcome run_piece(const std::vector<float>& field, const Bound& bound, Mode mode, int threads) {
  Outcome outcome;
  reduce::CompressOptions options;
  options.bound = bound;
  options.mode = mode;
  options.threads = threads;
  Stopwatch watch;
  const Extents shape{kSlabValues};
  const reduce::CompressResult result = reduce::compress(make_view(field.data(), shape), options);
  outcome.compress_s = watch.seconds();
  reduce::DecompressOptions back;
  back.threads = threads;
  watch.restart();
  const Tensor decoded = reduce::decompress(result.bytes, back);
  outcome.decompress_s = watch.seconds();
  const Oracle<float> oracle(field.data(), kSlabValues, result.info.fill_value);
  const Verdict v = oracle.judge(static_cast<const float*>(decoded.data()), bound);
  outcome.bytes = result.info.compressed_bytes;
  outcome.exact = result.info.exact_count;
  outcome.violations = v.violations;
  outcome.worst = static_cast<double>(v.worst);
  if (v.violations > 0) {
    char text[32];
    const auto at = static_cast<std::size_t>(v.first_violation);
    std::snprintf(text, sizeof text, "0x%08x", std::bit_cast<std::uint32_t>(field[at]));
    outcome.first_pattern = text;
  }
  return outcome;
}

// --- the state file: one header line with the build, then one line a piece
// ---------------------------

using State = std::map<Piece, Outcome>;

State read_state(const std::string& path) {
  State state;
  std::ifstream in(path);
  std::string line;
  if (!std::getline(in, line)) return state;
  if (line != machine_line()) {
    throw std::runtime_error("the state file was made by another build or machine; use --fresh");
  }
  while (std::getline(in, line)) {
    std::istringstream fields(line);
    Piece p;
    Outcome o;
    std::string kind, value;
    fields >> p.order >> p.slab >> kind >> value >> p.mode >> o.bytes >> o.violations >> o.exact >>
        o.first_pattern >> o.compress_s >> o.decompress_s >> o.worst;
    if (!fields) continue;  // a line cut off by a stop: that piece is done again
    p.bound = kind + " " + value;
    state[p] = o;
  }
  return state;
}

void append_state(const std::string& path, const Piece& p, const Outcome& o) {
  std::ofstream out(path, std::ios::app);
  out << p.order << ' ' << p.slab << ' ' << p.bound << ' ' << p.mode << ' ' << o.bytes << ' '
      << o.violations << ' ' << o.exact << ' ' << o.first_pattern << ' ' << o.compress_s << ' '
      << o.decompress_s << ' ' << o.worst << '\n';
}

// --- the report ---------------------------------------------------------------------------------

struct Sum {
  int slabs = 0;
  std::int64_t bytes = 0, violations = 0, exact = 0;
  double compress_s = 0, decompress_s = 0, worst = 0;
};

std::string report(const State& state) {
  std::map<std::tuple<std::string, std::string, std::string>, Sum> sums;
  Sum all;
  for (const auto& [p, o] : state) {
    for (Sum* s : {&sums[{p.order, p.bound, p.mode}], &all}) {
      ++s->slabs;
      s->bytes += o.bytes;
      s->violations += o.violations;
      s->exact += o.exact;
      s->compress_s += o.compress_s;
      s->decompress_s += o.decompress_s;
      s->worst = std::max(s->worst, o.worst);
    }
  }
  const double values = static_cast<double>(kSlabValues);
  char text[1024];
  std::snprintf(
      text, sizeof text,
      "# All floats\n\nMade by `bench_all_floats` on %s.\n\nEvery 32-bit pattern is a value "
      "of a one-dimensional field; a slab is 2^%d consecutive patterns, %d slabs are all.\n"
      "NaN and infinities must come back bit for bit.\n\n%d pieces, %.4g values: **%lld "
      "violations**. Compressing took %.0f s, decompressing %.0f s.\n\n"
      "| order | bound | mode | slabs | violations | worst error / bound | verbatim | ratio | "
      "c MB/s | d MB/s |\n|---|---|---|--:|--:|--:|--:|--:|--:|--:|\n",
      machine_line().c_str(), kSlabLog2, kSlabCount, all.slabs, all.slabs * values,
      static_cast<long long>(all.violations), all.compress_s, all.decompress_s);
  std::string out = text;
  for (const auto& [key, s] : sums) {
    const auto& [order, bound, mode] = key;
    const double raw = 4 * values * s.slabs;
    std::snprintf(text, sizeof text,
                  "| %s | %s | %s | %d of %d | %lld | %.7f | %.3f %% | %.3f | %.0f | %.0f |\n",
                  order.c_str(), bound.c_str(), mode.c_str(), s.slabs, kSlabCount,
                  static_cast<long long>(s.violations), s.worst,
                  400.0 * static_cast<double>(s.exact) / raw, raw / static_cast<double>(s.bytes),
                  raw * 1e-6 / s.compress_s, raw * 1e-6 / s.decompress_s);
    out += text;
  }
  for (const auto& [p, o] : state) {
    if (o.violations == 0) continue;
    out += "\nViolated: " + p.order + " slab " + std::to_string(p.slab) + ", " + p.bound + ", " +
           p.mode + ", first at pattern " + o.first_pattern + "\n";
  }
  return out;
}

void run_slab(const Options& options, const std::string& order, int slab, State& state) {
  std::vector<float> field;
  for (const Bound& bound : bounds_of(options)) {
    for (const Mode mode : {Mode::kDefault, Mode::kRatio, Mode::kFast}) {
      const Piece piece{order, slab, bound_text(bound), reduce::mode_name(mode)};
      if (!wanted(options, slab, mode) || state.contains(piece)) continue;
      if (field.empty()) field = patterns_of(order, slab);
      const Outcome o = run_piece(field, bound, mode, options.threads);
      state[piece] = o;
      append_state(options.paths[0], piece, o);
      std::printf("%-9s slab %2d  %-11s %-8s %lld violations, ratio %.3f, %.1f s + %.1f s\n",
                  order.c_str(), slab, piece.bound.c_str(), piece.mode.c_str(),
                  static_cast<long long>(o.violations),
                  4.0 * static_cast<double>(kSlabValues) / static_cast<double>(o.bytes),
                  o.compress_s, o.decompress_s);
      std::fflush(stdout);
    }
  }
}

void run(const Options& options) {
  if (options.fresh) std::filesystem::remove(options.paths[0]);
  State state = read_state(options.paths[0]);
  if (state.empty()) std::ofstream(options.paths[0]) << machine_line() << '\n';
  for (const std::string& order : options.orders) {
    for (int slab = 0; slab < kSlabCount; ++slab) run_slab(options, order, slab, state);
  }
  const std::string text = report(state);
  std::filesystem::create_directories(options.paths[1]);
  std::ofstream(options.paths[1] + "/all_floats.md") << text;
  std::cout << text;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    Options options;
    for (int i = 1; i < argc; ++i) {
      const std::string arg = argv[i];
      if (arg == "--sample") {
        options.sample = true;
      } else if (arg == "--fresh") {
        options.fresh = true;
      } else if (arg == "--pointwise") {
        options.pointwise = true;
      } else if (arg == "--threads" && i + 1 < argc) {
        options.threads = std::stoi(argv[++i]);
      } else if (arg == "--order" && i + 1 < argc) {
        options.orders = {argv[++i]};
      } else {
        options.paths.push_back(arg);
      }
    }
    if (options.paths.size() != 2) {
      std::fprintf(stderr,
                   "usage: bench_all_floats [--sample] [--fresh] [--pointwise] [--threads N] "
                   "[--order rising|shuffled|scattered] "
                   "STATE_FILE RESULTS\n");
      return 2;
    }
    run(options);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_all_floats: %s\n", error.what());
    return 1;
  }
}
