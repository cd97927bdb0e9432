// Samples are up to three windows of rows, so that a streaming source can deliver them.
#include "reduce/field_design.hpp"

#include <algorithm>
#include <memory>

#include "reduce/field_sections.hpp"

namespace tamis::reduce {

namespace {

constexpr std::int64_t kSampleRows = 65;
constexpr std::int64_t kSampleElements = 32768;

/// Sample windows of a field, loaded once.
template <typename T>
struct Samples {
  struct Window {
    Extents extents;
    std::int64_t begin = 0;  // linear index of its first element
    std::vector<T> copy;     // streaming sources only
    const T* data = nullptr;
  };
  std::vector<Window> windows;
};

template <typename T>
Samples<T> load_samples(FieldSource<T>& source) {
  const Extents& folded = source.folded();
  const std::int64_t rows = folded[0];
  const std::int64_t row = source.count() / rows;
  const std::int64_t height = std::max(kSampleRows, (kSampleElements + row - 1) / row + 1);
  std::vector<Grid::Range> ranges;
  if (rows <= 3 * height) {
    ranges.push_back({0, rows});
  } else {
    for (const std::int64_t sixth : {1, 3, 5}) {
      const std::int64_t begin = (rows - height) * sixth / 6 / 64 * 64;
      ranges.push_back({begin, begin + height});
    }
  }
  Samples<T> samples;
  for (const Grid::Range& range : ranges) {
    typename Samples<T>::Window window;
    window.extents = folded;
    window.extents[0] = range.size();
    window.begin = range.begin * row;
    source.load(range);
    const T* data = source.data() + (window.begin - source.begin());
    if (!source.in_memory()) window.copy.assign(data, data + range.size() * row);
    window.data = source.in_memory() ? data : nullptr;
    samples.windows.push_back(std::move(window));
  }
  for (auto& w : samples.windows) {
    if (w.data == nullptr) w.data = w.copy.data();
  }
  return samples;
}

template <typename T, typename I>
PlanChoice plan_for(const Samples<T>& samples, std::int64_t count, const NumberMap& map,
                    const FieldMasks& masks, const CompressOptions& options) {
  std::vector<std::unique_ptr<FieldRows<T, I>>> rows;
  std::vector<SampleWindow<I>> windows;
  for (const auto& w : samples.windows) {
    rows.push_back(std::make_unique<FieldRows<T, I>>(
        w.data, 0, map, masks.any_voids ? &masks.voids : nullptr, PointCheck{}));
    rows.back()->shift_voids(w.begin);
    windows.push_back({w.extents, rows.back().get()});
  }
  HostTrialPricer<I> pricer(windows, count, map.step, options.mode, options.threads);
  return search_plan(pricer, options.mode);
}

}  // namespace

template <typename T>
Design design_for(FieldSource<T>& source, const FieldScan<T>& scan, const PointCheck& check,
                  const FieldMasks& masks, const CompressOptions& options) {
  const Samples<T> samples = load_samples(source);
  Design best;
  double best_bits = -1;
  for (NumberMap& map : candidate_maps<T>(source.pieces(), scan, check)) {
    PlanChoice choice =
        map.wide ? plan_for<T, std::int64_t>(samples, source.count(), map, masks, options)
                 : plan_for<T, std::int32_t>(samples, source.count(), map, masks, options);
    double bits = choice.bits_per_value * static_cast<double>(source.count());
    if (map.kind == MapKind::kPalette) {
      bits += 8.0 * static_cast<double>(write_palette(map.palette, map.dtype).size());
    }
    if (best_bits < 0 || bits < best_bits) {
      best_bits = bits;
      best = {std::move(map), std::move(choice), bits / static_cast<double>(source.count())};
    }
  }
  return best;
}

template Design design_for(FieldSource<float>&, const FieldScan<float>&, const PointCheck&,
                           const FieldMasks&, const CompressOptions&);
template Design design_for(FieldSource<double>&, const FieldScan<double>&, const PointCheck&,
                           const FieldMasks&, const CompressOptions&);

}  // namespace tamis::reduce
