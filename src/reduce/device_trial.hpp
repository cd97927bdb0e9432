// What sample encodings cost, found out on the device: the numbers of HostTrialPricer. Trials that
// a search is likely to ask for are made before it asks, all in one go.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <tuple>
#include <vector>

#include "reduce/device_session.hpp"
#include "reduce/plan_search.hpp"

namespace tamis::reduce {

/// A field in device memory.
struct TrialField {
  const void* data = nullptr;
  int value_bytes = 4;
};

class DeviceTrialPricer final : public TrialPricer {
 public:
  /// Gives the first trials to the stream and waits for nothing.
  DeviceTrialPricer(const TrialField& field, const NumberMap& map, Mode mode,
                    DeviceSamples& samples, TrialMemory& memory, DeviceSession& session);

  const SamplePlan& samples() const override { return samples_.plan(); }
  double anchor_share(std::uint32_t active_mask) override {
    return samples_.cut(active_mask).anchors;
  }
  void price(std::vector<Trial>& trials) override;
  void price_frozen(std::span<Trial* const> trials) override;

 private:
  struct Way {
    GridPlan plan;
    Predictor predictor;
  };
  using Key = std::tuple<std::uint32_t, std::array<std::uint8_t, kMaxCellRank>, Predictor>;
  struct Price {
    std::int64_t codes = 0;
    double bits = 0;  // this and the next: of modes without tables
    std::vector<double> tile_bits;
    std::shared_ptr<CodePricer> pricer;
  };
  enum class Task : std::uint8_t { kPrice, kLearn, kPriceByTables };

  static Way canonical(const GridPlan& plan, Predictor predictor);
  static Key key_of(const Way& way);
  static void add_all_ways(std::uint32_t mask, std::vector<Way>& ways);
  static void add_judging_ways(std::uint32_t mask, std::vector<Way>& ways);

  std::vector<Way> first_ways() const;
  std::vector<Way> with_likely(const std::vector<Way>& asked) const;
  void launch(std::vector<Way> ways);
  void start(Task task, const std::vector<Way>& ways, const std::vector<std::uint32_t>& tables);
  void collect();

  TrialField field_;
  const NumberMap& map_;
  Mode mode_;
  DeviceSamples& samples_;
  TrialMemory& memory_;
  DeviceSession& session_;
  std::vector<Way> in_flight_;  // by number of axes
  const std::byte* arriving_ = nullptr;
  std::map<Key, Price> prices_;
};

/// Gives the choice of a predictor for each tile of the grid to the stream: the cheapest of the
/// ranking, written to `predictors`.
void choose_predictors_on_device(const TrialField& field, const DeviceGridCodec& codec, Mode mode,
                                 const std::vector<RankedPredictor>& ranking,
                                 unsigned char* predictors, TrialMemory& memory,
                                 DeviceSession& session);

}  // namespace tamis::reduce
