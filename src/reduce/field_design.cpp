// Samples on the host, and the contest of number maps.
#include "reduce/field_design.hpp"

#include <algorithm>
#include <memory>

#include "reduce/field_sections.hpp"

namespace tamis::reduce {

namespace {

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
  const std::int64_t row = source.count() / folded[0];
  Samples<T> samples;
  for (const Grid::Range& range : sample_rows(folded)) {
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
  std::vector<NumberMap> maps = candidate_maps<T>(source.pieces(), scan, check);
  const Samples<T> samples = load_samples(source);
  DesignContest contest(source.count());
  for (NumberMap& map : maps) {
    PlanChoice choice =
        map.wide ? plan_for<T, std::int64_t>(samples, source.count(), map, masks, options)
                 : plan_for<T, std::int32_t>(samples, source.count(), map, masks, options);
    contest.enter(std::move(map), std::move(choice));
  }
  return contest.winner();
}

void DesignContest::enter(NumberMap map, PlanChoice choice) {
  double bits = choice.bits_per_value * static_cast<double>(count_);
  if (map.kind == MapKind::kPalette) {
    bits += 8.0 * static_cast<double>(write_palette(map.palette, map.dtype).size());
  }
  if (best_bits_ >= 0 && bits >= best_bits_) return;
  best_bits_ = bits;
  best_ = {std::move(map), std::move(choice), bits / static_cast<double>(count_)};
}

template Design design_for(FieldSource<float>&, const FieldScan<float>&, const PointCheck&,
                           const FieldMasks&, const CompressOptions&);
template Design design_for(FieldSource<double>&, const FieldScan<double>&, const PointCheck&,
                           const FieldMasks&, const CompressOptions&);

}  // namespace tamis::reduce
