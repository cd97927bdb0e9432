// What a mask costs: a field with fill values against the same field whose fill points were
// replaced by the smoothest surface through the others (Laplace's equation), which no compressor
// could have for free. Asked: the masked file is not larger, and its mask at most 5 % of it.
// Besides the real fields with fill, three masks are laid over a field without.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "bound_oracle.hpp"
#include "field_files.hpp"
#include "tamis/reduce.hpp"

namespace {

using namespace tamis;
using namespace tamis::bench;
using reduce::Bound;
using reduce::Mode;

constexpr double kShareAsked = 0.05;

struct Masked {
  std::string name;
  Extents shape;
  std::vector<float> values;
  float fill = 0;
};

struct Row {
  std::string name;
  double rel = 0;
  Mode mode = Mode::kDefault;
  double masked_share = 0;  // of the points
  std::int64_t masked_bytes = 0, mask_bytes = 0, replaced_bytes = 0, violations = 0;
};

/// Mean of the neighbours inside the field.
float neighbour_mean(const std::vector<float>& v, const Extents& shape, const Extents& strides,
                     std::int64_t index) {
  double sum = 0;
  int count = 0;
  for (int d = 0; d < shape.rank(); ++d) {
    const std::int64_t at = index / strides[d] % shape[d];
    if (at > 0) sum += v[static_cast<std::size_t>(index - strides[d])], ++count;
    if (at + 1 < shape[d]) sum += v[static_cast<std::size_t>(index + strides[d])], ++count;
  }
  return count > 0 ? static_cast<float>(sum / count) : 0.0F;
}

/// Known points kept; the others start as the nearest known value in memory order and relax.
std::vector<float> replaced_smoothly(const Masked& field) {
  std::vector<float> v = field.values;
  std::vector<std::int64_t> unknown;
  const auto first = std::find_if(v.begin(), v.end(), [&](float x) { return x != field.fill; });
  float last = first == v.end() ? 0.0F : *first;
  for (std::size_t i = 0; i < v.size(); ++i) {
    if (v[i] != field.fill) {
      last = v[i];
    } else {
      v[i] = last;
      unknown.push_back(static_cast<std::int64_t>(i));
    }
  }
  const Extents strides = field.shape.contiguous_strides();
  constexpr float kOverRelaxation = 1.9F;
  for (int sweep = 0; sweep < 1000; ++sweep) {
    // Plain averages at the end smooth what over-relaxation leaves.
    const float step = sweep < 900 ? kOverRelaxation : 1.0F;
    for (const std::int64_t i : unknown) {
      float& x = v[static_cast<std::size_t>(i)];
      x += step * (neighbour_mean(v, field.shape, strides, i) - x);
    }
  }
  return v;
}

Masked real_field(const FieldFile& file) {
  const Tensor raw = load_field(file);
  const auto* data = static_cast<const float*>(raw.data());
  return {file.name,
          file.shape,
          {data, data + raw.element_count()},
          static_cast<float>(*file.fill_value)};
}

/// A copy of a two-dimensional field with the points chosen by `covers(row, column)` set to 1e20.
Masked covered(const Masked& field, const std::string& label,
               const std::function<bool(std::int64_t, std::int64_t)>& covers) {
  Masked out = field;
  out.name += ", " + label;
  out.fill = 1e20F;
  const std::int64_t columns = field.shape[1];
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(out.values.size()); ++i) {
    if (covers(i / columns, i % columns)) out.values[static_cast<std::size_t>(i)] = out.fill;
  }
  return out;
}

std::vector<Masked> with_made_masks(const FieldFile& file) {
  FieldFile plain = file;
  plain.fill_value = 1e20;
  const Masked field = real_field(plain);
  std::vector<Masked> out;
  out.push_back(covered(field, "continents", [](std::int64_t y, std::int64_t x) {
    const double u = static_cast<double>(x) * 0.0087, v = static_cast<double>(y) * 0.0087;
    return std::sin(u * 2) * std::cos(v * 3) + 0.4 * std::sin(u * 7 + v * 5) +
               0.15 * std::sin(u * 31 - v * 23) + 0.05 * std::sin(u * 97 + v * 113) >
           0.35;
  }));
  out.push_back(covered(field, "swath gaps",
                        [](std::int64_t y, std::int64_t x) { return (x * 3 + y) % 270 < 40; }));
  std::uint64_t state = 42;
  out.push_back(covered(field, "1 % specks", [&state](std::int64_t, std::int64_t) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return (state >> 33) % 100 == 0;
  }));
  return out;
}

reduce::CompressResult compress(const std::vector<float>& values, const Extents& shape,
                                double absolute, Mode mode, std::optional<double> fill) {
  reduce::CompressOptions options;
  options.bound = Bound::absolute(absolute);
  options.mode = mode;
  options.fill_value = fill;
  options.detect_fill = false;
  options.threads = 1;
  return reduce::compress(make_view(values.data(), shape), options);
}

void measure(const Masked& field, std::vector<Row>& rows) {
  const std::vector<float> replaced = replaced_smoothly(field);
  const auto count = static_cast<std::int64_t>(field.values.size());
  const Oracle<float> oracle(field.values.data(), count, field.fill);
  for (const double rel : {1e-2, 1e-3, 1e-4, 1e-5}) {
    const double absolute = rel * static_cast<double>(oracle.range());
    for (const Mode mode : {Mode::kDefault, Mode::kRatio, Mode::kFast}) {
      const auto ours = compress(field.values, field.shape, absolute, mode, field.fill);
      const Tensor decoded = reduce::decompress(ours.bytes);
      const Verdict verdict =
          oracle.judge(static_cast<const float*>(decoded.data()), Bound::absolute(absolute));
      const auto theirs = compress(replaced, field.shape, absolute, mode, std::nullopt);
      rows.push_back({field.name, rel, mode,
                      static_cast<double>(ours.info.masked_count) / static_cast<double>(count),
                      ours.info.compressed_bytes, section_bytes(ours.info, "mask"),
                      theirs.info.compressed_bytes, verdict.violations});
    }
  }
}

double share(const Row& r) {
  return static_cast<double>(r.mask_bytes) / static_cast<double>(r.masked_bytes);
}
double gain(const Row& r) {
  return static_cast<double>(r.replaced_bytes) / static_cast<double>(r.masked_bytes);
}

/// The gain were the mask free: what prediction around masked points costs or saves.
double gain_of_values(const Row& r) {
  return static_cast<double>(r.replaced_bytes) / static_cast<double>(r.masked_bytes - r.mask_bytes);
}

std::string report(const std::vector<Row>& rows) {
  std::int64_t violations = 0, smaller = 0, cheap = 0;
  for (const Row& r : rows) {
    violations += r.violations;
    smaller += gain(r) >= 1;
    cheap += share(r) <= kShareAsked;
  }
  char text[512];
  const auto total = static_cast<std::int64_t>(rows.size());
  std::string out =
      "# What a mask costs\n\nMade by `bench_mask_cost` on " + machine_line() + ".\n\n";
  out +=
      "Gain: size with the fill points replaced smoothly / size with the mask, at the same "
      "absolute "
      "bound\n(rel x range of the unmasked values). Asked: gain >= 1, mask <= 5 % of the file.\n\n";
  std::snprintf(text, sizeof text,
                "Gain met in %lld of %lld, mask share met in %lld of %lld; %lld violations.\n\n"
                "| field | masked points | rel | mode | bytes | mask | gain | without mask |\n"
                "|---|--:|--:|---|--:|--:|--:|--:|\n",
                static_cast<long long>(smaller), static_cast<long long>(total),
                static_cast<long long>(cheap), static_cast<long long>(total),
                static_cast<long long>(violations));
  out += text;
  for (const Row& r : rows) {
    std::snprintf(text, sizeof text,
                  "| %s | %.1f %% | %g | %s | %lld | %.2f %%%s | %.3f%s | %.3f |\n", r.name.c_str(),
                  100 * r.masked_share, r.rel, reduce::mode_name(r.mode),
                  static_cast<long long>(r.masked_bytes), 100 * share(r),
                  share(r) <= kShareAsked ? "" : " **over**", gain(r),
                  gain(r) >= 1 ? "" : " **below**", gain_of_values(r));
    out += text;
  }
  return out;
}

void write_csv(const std::string& path, const std::vector<Row>& rows) {
  std::ofstream out(path);
  out << "field,masked_share,rel,mode,masked_bytes,mask_bytes,replaced_bytes,violations\n";
  for (const Row& r : rows) {
    out << '"' << r.name << "\"," << r.masked_share << ',' << r.rel << ','
        << reduce::mode_name(r.mode) << ',' << r.masked_bytes << ',' << r.mask_bytes << ','
        << r.replaced_bytes << ',' << r.violations << '\n';
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: bench_mask_cost MANIFEST RESULTS\n");
    return 2;
  }
  try {
    std::vector<Row> rows;
    for (const FieldFile& file : list_fields(argv[1])) {
      if (file.dtype != DType::kF32) continue;
      if (file.fill_value) measure(real_field(file), rows);
      if (file.name != "era5_t850.f32") continue;
      for (const Masked& field : with_made_masks(file)) measure(field, rows);
    }
    const std::string results = argv[2];
    std::filesystem::create_directories(results);
    write_csv(results + "/mask_cost.csv", rows);
    const std::string text = report(rows);
    std::ofstream(results + "/mask_cost.md") << text;
    std::cout << text;
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_mask_cost: %s\n", error.what());
    return 1;
  }
}
