// Violations over every shared field x mode x kind of bound x value, judged by bound_oracle.hpp;
// the expected count is 0. Each field is swept as it is and "spiked": with NaN, infinities, -0 and
// denormals sprinkled in, since those are what breaks other compressors.
#include <algorithm>
#include <bit>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
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

struct Options {
  std::string manifest;
  std::string results;
  std::string only;
  bool quick = false;  // every second bound, no spiked fields
  int threads = 1;
};

struct Row {
  std::string field;
  Bound bound;
  reduce::Mode mode = reduce::Mode::kDefault;
  Verdict verdict;
  reduce::Info info;
};

std::vector<Bound> bounds_of_sweep(bool quick) {
  std::vector<Bound> out;
  const auto add = [&](BoundKind kind, const std::vector<double>& values) {
    for (std::size_t i = 0; i < values.size(); i += quick ? 2 : 1) out.push_back({kind, values[i]});
  };
  add(BoundKind::kRelative, {1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8});
  // As fractions of the range; made absolute for each field.
  add(BoundKind::kAbsolute, {1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8});
  add(BoundKind::kPointwiseRelative, {1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6});
  add(BoundKind::kPsnr, {20, 40, 60, 80, 100, 120});
  out.push_back(Bound::lossless());
  return out;
}

template <typename T>
void spike(T* data, std::int64_t count) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  using Limits = std::numeric_limits<T>;
  // A NaN with a payload of its own, which must come back bit for bit.
  const T odd_nan = std::bit_cast<T>(std::bit_cast<Bits>(Limits::quiet_NaN()) | Bits{0x2a5});
  const T spikes[] = {odd_nan, Limits::infinity(),   -Limits::infinity(),
                      T(-0.0), Limits::denorm_min(), -3 * Limits::denorm_min(),
                      T(0),    Limits::min()};
  for (std::int64_t i = 0, k = 0; i < count; i += 61 + (k * k) % 97, ++k) {
    data[i] = spikes[static_cast<std::size_t>(k % 8)];
  }
}

template <typename T>
void sweep(const Options& options, const FieldFile& file, const Tensor& field,
           const std::string& label, std::vector<Row>& rows) {
  const T* data = static_cast<const T*>(field.data());
  // The range of the bound's promise: with the declared fill, or the one that Tamis says it found.
  const Oracle<T> declared(data, field.element_count(), file.fill_value);
  for (const Bound& bound : bounds_of_sweep(options.quick)) {
    for (const auto mode : {reduce::Mode::kDefault, reduce::Mode::kRatio, reduce::Mode::kFast}) {
      Row row{label, bound, mode, {}, {}};
      if (bound.kind == BoundKind::kAbsolute) {
        row.bound.value *= static_cast<double>(declared.range());
      }
      reduce::CompressOptions compress;
      compress.bound = row.bound;
      compress.mode = mode;
      compress.threads = options.threads;
      compress.fill_value = file.fill_value;
      const reduce::CompressResult result = reduce::compress(field.view(), compress);
      reduce::DecompressOptions back;
      back.threads = options.threads;
      const Tensor decoded = reduce::decompress(result.bytes, back);
      row.info = result.info;
      const Oracle<T> oracle(data, field.element_count(), row.info.fill_value);
      row.verdict = oracle.judge(static_cast<const T*>(decoded.data()), row.bound);
      if (row.verdict.violations > 0) {
        std::printf("VIOLATION %s %s %.17g %s: %lld points, first %lld\n", label.c_str(),
                    reduce::bound_kind_name(row.bound.kind), row.bound.value,
                    reduce::mode_name(mode), static_cast<long long>(row.verdict.violations),
                    static_cast<long long>(row.verdict.first_violation));
      }
      rows.push_back(std::move(row));
    }
  }
}

void sweep_field(const Options& options, const FieldFile& file, std::vector<Row>& rows) {
  Tensor field = load_field(file);
  const auto pass = [&](const std::string& label) {
    if (field.dtype() == DType::kF32) {
      sweep<float>(options, file, field, label, rows);
    } else {
      sweep<double>(options, file, field, label, rows);
    }
  };
  pass(file.name);
  if (options.quick) return;
  if (field.dtype() == DType::kF32) {
    spike(static_cast<float*>(field.data()), field.element_count());
  } else {
    spike(static_cast<double*>(field.data()), field.element_count());
  }
  pass(file.name + " spiked");
}

/// A judge that never convicts proves nothing: an error equal to the bound must pass, the next
/// representable one must not, and a changed sign, NaN payload or fill value must be seen.
void check_the_oracle() {
  const float nan = std::bit_cast<float>(0x7fc00123U),
              other_nan = std::bit_cast<float>(0x7fc00124U);
  const std::vector<float> original = {0.0F, 1.0F, -3.0F, nan, 1e20F, 8.0F};
  const Oracle<float> oracle(original.data(), 6, 1e20);
  const auto violations = [&](std::size_t at, float value, const Bound& bound) {
    std::vector<float> decoded = original;
    decoded[at] = value;
    return oracle.judge(decoded.data(), bound).violations;
  };
  const auto expect = [](bool good, const char* what) {
    if (!good) throw std::runtime_error(std::string("the oracle is wrong: ") + what);
  };
  const float edge = 1.5F, beyond = std::nextafter(edge, 2.0F);
  expect(oracle.range() == 11, "range");
  for (const Bound& b : {Bound::absolute(0.5), Bound::pointwise_relative(0.5)}) {
    expect(violations(1, edge, b) == 0, "an error equal to the bound");
    expect(violations(1, beyond, b) == 1, "an error just above the bound");
  }
  const double just_enough = 0.5 / 11;  // times 11 is 0.5 in double, a little more in truth
  expect(violations(1, edge, Bound::relative(just_enough)) == 0, "relative, above by 2^-55");
  expect(violations(1, edge, Bound::relative(std::nextafter(just_enough, 0.0))) == 1,
         "relative, below by 2^-55");
  expect(violations(1, 1.0F + 11.0F / 64, Bound::relative(1.0 / 64)) == 0, "relative, equal");
  expect(violations(0, -0.0F, Bound::pointwise_relative(0.5)) == 1, "the sign of zero");
  expect(violations(3, other_nan, Bound::absolute(1)) == 1, "the payload of a NaN");
  expect(violations(4, 1.00001e20F, Bound::absolute(1e30)) == 1, "a fill value");
  expect(violations(2, nan, Bound::absolute(1e30)) == 1, "NaN for a number");
  expect(violations(2, -3.0000002F, Bound::lossless()) == 1, "lossless");
  // One error of 0.1 in four values of range 11 makes 46.85 dB.
  expect(violations(2, -3.1F, Bound::psnr(46.8)) == 0, "psnr reached");
  expect(violations(2, -3.1F, Bound::psnr(46.9)) == 1, "psnr missed");
}

void write_csv(const std::string& path, const std::vector<Row>& rows) {
  std::ofstream out(path);
  out << "field,kind,value,mode,violations,first_violation,worst_over_bound,exact_points,points,"
         "compressed_bytes,raw_bytes,number_map\n";
  for (const Row& r : rows) {
    char line[512];
    std::snprintf(line, sizeof line, "%s,%s,%.9g,%s,%lld,%lld,%.7Lf,%lld,%lld,%lld,%lld,%s\n",
                  r.field.c_str(), reduce::bound_kind_name(r.bound.kind), r.bound.value,
                  reduce::mode_name(r.mode), static_cast<long long>(r.verdict.violations),
                  static_cast<long long>(r.verdict.first_violation), r.verdict.worst,
                  static_cast<long long>(r.info.exact_count),
                  static_cast<long long>(r.info.raw_bytes / dtype_bytes(r.info.dtype)),
                  static_cast<long long>(r.info.compressed_bytes),
                  static_cast<long long>(r.info.raw_bytes), r.info.number_map.c_str());
    out << line;
  }
}

struct Sum {
  std::int64_t runs = 0, violations = 0, points = 0, exact = 0;
  long double worst = 0;
};

std::string summary(const std::vector<Row>& rows, double seconds) {
  std::map<std::pair<std::string, std::string>, Sum> sums;  // (kind, mode)
  Sum all;
  for (const Row& r : rows) {
    for (Sum* s :
         {&sums[{reduce::bound_kind_name(r.bound.kind), reduce::mode_name(r.mode)}], &all}) {
      ++s->runs;
      s->violations += r.verdict.violations;
      s->points += r.info.raw_bytes / dtype_bytes(r.info.dtype);
      s->exact += r.info.exact_count;
      s->worst = std::max(s->worst, r.verdict.worst);
    }
  }
  char text[1024];
  std::snprintf(
      text, sizeof text,
      "# Bound sweep\n\nMade by `bench_bound_sweep` on %s, in %.0f s.\n\n"
      "%lld compressions, %.3g values: **%lld violations**. Worst error / bound %.7Lf.\n\n"
      "For psnr the error is the root mean square. Exact: values stored verbatim.\n\n"
      "| bound | mode | runs | violations | worst error / bound | exact values |\n"
      "|---|---|--:|--:|--:|--:|\n",
      machine_line().c_str(), seconds, static_cast<long long>(all.runs),
      static_cast<double>(all.points), static_cast<long long>(all.violations), all.worst);
  std::string out = text;
  for (const auto& [key, s] : sums) {
    std::snprintf(text, sizeof text, "| %s | %s | %lld | %lld | %.7Lf | %.4f %% |\n",
                  key.first.c_str(), key.second.c_str(), static_cast<long long>(s.runs),
                  static_cast<long long>(s.violations), s.worst,
                  100.0 * static_cast<double>(s.exact) / static_cast<double>(s.points));
    out += text;
  }
  return out;
}

Options parse(int argc, char** argv) {
  Options o;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (arg == "--quick") {
      o.quick = true;
    } else if (arg == "--only" && i + 1 < argc) {
      o.only = argv[++i];
    } else if (arg == "--threads" && i + 1 < argc) {
      o.threads = std::stoi(argv[++i]);
    } else if (o.manifest.empty()) {
      o.manifest = arg;
    } else {
      o.results = arg;
    }
  }
  return o;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Options options = parse(argc, argv);
    if (options.results.empty()) {
      std::fprintf(
          stderr,
          "usage: bench_bound_sweep [--quick] [--only NAME] [--threads N] MANIFEST RESULTS\n");
      return 2;
    }
    check_the_oracle();
    std::vector<Row> rows;
    Stopwatch watch;
    for (const FieldFile& file : list_fields(options.manifest)) {
      if (file.name.find(options.only) == std::string::npos) continue;
      sweep_field(options, file, rows);
      std::fprintf(stderr, "  %s (%.0f s)\n", file.name.c_str(), watch.seconds());
    }
    std::filesystem::create_directories(options.results);
    write_csv(options.results + "/bound_sweep.csv", rows);
    const std::string text = summary(rows, watch.seconds());
    std::ofstream(options.results + "/bound_sweep.md") << text;
    std::cout << text;
    const auto bad = [](const Row& r) { return r.verdict.violations > 0; };
    return std::any_of(rows.begin(), rows.end(), bad) ? 1 : 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_bound_sweep: %s\n", error.what());
    return 1;
  }
}
