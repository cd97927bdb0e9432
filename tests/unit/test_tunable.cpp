// Spaces (against brute force over all combinations) and the choice of configurations.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "support/expect_error.hpp"
#include "tamis/tunable.hpp"

namespace tamis {
namespace {

using Values = std::span<const std::int64_t>;

Space small_space() {
  return Space({"m", "n"},
               {{"threads", {64, 128, 256}},
                {"items", {1, 2, 4, 8}},
                {"stage", {0, 1, 2}, {"none", "shared", "registers"}}},
               {{"a block covers at most m",
                 {"threads", "items", "m"},
                 [](Values v) { return v[0] * v[1] <= v[2]; }},
                {"registers hold 4 items",
                 {"items", "stage"},
                 [](Values v) { return v[1] != 2 || v[0] <= 4; }},
                {"n is even", {"n"}, [](Values v) { return v[0] % 2 == 0; }}});
}

std::vector<Config> brute_force(const Space& space, const Problem& problem) {
  std::vector<Config> valid;
  for (const std::int64_t t : {64, 128, 256}) {
    for (const std::int64_t i : {1, 2, 4, 8}) {
      for (const std::int64_t s : {0, 1, 2}) {
        const bool holds = t * i <= problem[0] && (s != 2 || i <= 4) && problem[1] % 2 == 0;
        if (holds) valid.push_back({t, i, s});
        EXPECT_EQ(space.is_valid(problem, {t, i, s}), holds) << t << ' ' << i << ' ' << s;
        EXPECT_EQ(space.why_invalid(problem, {t, i, s}).empty(), holds);
      }
    }
  }
  return valid;
}

TEST(Space, EnumeratesWhatIsValidInOrder) {
  const Space space = small_space();
  EXPECT_EQ(space.combination_count(), 36);
  for (const Problem& problem : {Problem{512, 2}, {64, 4}, {63, 2}, {100000, 6}, {512, 3}}) {
    std::vector<Config> found;
    space.each_valid(problem, [&](const Config& c) {
      found.push_back(c);
      return true;
    });
    EXPECT_EQ(found, brute_force(space, problem));
  }
}

TEST(Space, EnumerationStopsWhenTold) {
  int count = 0;
  small_space().each_valid({100000, 2}, [&](const Config&) { return ++count < 5; });
  EXPECT_EQ(count, 5);
}

TEST(Space, PrefixesAreJudgedByWhatTheyDecide) {
  const Space space = small_space();
  const auto holds = [&](const Problem& problem, const Config& prefix) {
    return space.prefix_holds(problem, prefix);
  };
  EXPECT_TRUE(holds({512, 2}, {}));
  EXPECT_FALSE(holds({512, 1}, {}));
  EXPECT_TRUE(holds({512, 2}, {256}));
  EXPECT_FALSE(holds({512, 2}, {256, 8}));
  EXPECT_TRUE(holds({4096, 2}, {256, 8}));
  EXPECT_FALSE(holds({4096, 2}, {256, 8, 2}));
}

TEST(Space, SaysWhyNot) {
  const Space space = small_space();
  EXPECT_EQ(space.why_invalid({512, 2}, {96, 1, 0}), "threads = 96; expected one of 64, 128, 256");
  EXPECT_EQ(space.why_invalid({512, 2}, {64, 1, 7}),
            "stage = 7; expected one of none, shared, registers");
  EXPECT_EQ(space.why_invalid({512, 2}, {256, 4, 0}),
            "threads = 256, items = 4, m = 512: a block covers at most m");
  EXPECT_EQ(space.why_invalid({4096, 2}, {256, 8, 2}),
            "items = 8, stage = registers: registers hold 4 items");
  EXPECT_EQ(space.why_invalid({512, 2}, {64}), "1 values; expected 3");
  EXPECT_TAMIS_ERROR(ErrorCode::kInvalidArgument, "a problem of 1 features; expected 2",
                     space.why_invalid({512}, {64, 1, 0}));
  EXPECT_EQ(space.to_string({128, 2, 1}), "threads=128 items=2 stage=shared");
}

TEST(Space, RefusesWhatIsNoSpace) {
  EXPECT_TAMIS_ERROR(ErrorCode::kInvalidArgument, "'2x' is no name", Space({"2x"}, {}));
  EXPECT_TAMIS_ERROR(ErrorCode::kInvalidArgument, "named 'm'", Space({"m"}, {{"m", {1}}}));
  EXPECT_TAMIS_ERROR(ErrorCode::kInvalidArgument, "has no values", Space({}, {{"a", {}}}));
  EXPECT_TAMIS_ERROR(ErrorCode::kInvalidArgument, "a value twice", Space({}, {{"a", {1, 1}}}));
  EXPECT_TAMIS_ERROR(ErrorCode::kInvalidArgument, "1 labels for 2",
                     Space({}, {{"a", {1, 2}, {"one"}}}));
  EXPECT_TAMIS_ERROR(ErrorCode::kInvalidArgument, "reads 'b'",
                     Space({}, {{"a", {1}}}, {{"c", {"b"}, [](Values) { return true; }}}));
  EXPECT_TAMIS_ERROR(ErrorCode::kInvalidArgument, "no predicate",
                     Space({}, {{"a", {1}}}, {{"c", {"a"}, {}}}));
}

TEST(Space, CountsSaturate) {
  std::vector<std::int64_t> many(1000);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<std::int64_t>(i);
  std::vector<Param> params;
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g"}) params.push_back({name, many});
  EXPECT_EQ(Space({}, params).combination_count(), INT64_MAX);
  EXPECT_EQ(Space({}, {}).combination_count(), 1);
}

class FixedSource final : public ConfigSource {
 public:
  explicit FixedSource(ConfigChoice choice) : choice_(std::move(choice)) {}
  std::optional<ConfigChoice> find(const Tunable&, const Problem& problem,
                                   std::string_view device) override {
    ++asked;
    if (problem[0] == 64 || device == "cpu") return std::nullopt;
    return choice_;
  }
  std::atomic<int> asked = 0;

 private:
  ConfigChoice choice_;
};

class Choose : public ::testing::Test {
 protected:
  ~Choose() override { set_config_source(nullptr); }
  Tunable tunable_{"test.kernel", 1, small_space(), {64, 1, 0}};
};

TEST_F(Choose, FallsBackWithoutASource) {
  const ConfigChoice choice = choose(tunable_, {512, 2}, "NVIDIA H200");
  EXPECT_EQ(choice.config, tunable_.fallback);
  EXPECT_EQ(choice.origin, ConfigOrigin::kFallback);
}

TEST_F(Choose, AsksTheSourceOnceForEachProblemAndDevice) {
  auto source = std::make_shared<FixedSource>(ConfigChoice{{128, 2, 1}, ConfigOrigin::kMeasured});
  set_config_source(source);
  for (int i = 0; i < 3; ++i) {
    const ConfigChoice choice = choose(tunable_, {512, 2}, "NVIDIA H200");
    EXPECT_EQ(choice.config, (Config{128, 2, 1}));
    EXPECT_EQ(choice.origin, ConfigOrigin::kMeasured);
    EXPECT_EQ(choose(tunable_, {64, 2}, "NVIDIA H200").origin, ConfigOrigin::kFallback);
    EXPECT_EQ(choose(tunable_, {512, 2}, "cpu").origin, ConfigOrigin::kFallback);
  }
  EXPECT_EQ(source->asked, 3);
  EXPECT_EQ(chosen_configs().size(), 3U);
}

TEST_F(Choose, PassesOverInvalidAnswersAndTells) {
  set_config_source(
      std::make_shared<FixedSource>(ConfigChoice{{256, 8, 2}, ConfigOrigin::kPredicted}));
  EXPECT_EQ(choose(tunable_, {512, 2}, "gpu").config, tunable_.fallback);
  ASSERT_EQ(chosen_configs().size(), 1U);
  EXPECT_TRUE(chosen_configs()[0].refused);
  EXPECT_EQ(chosen_configs()[0].choice.origin, ConfigOrigin::kFallback);
}

TEST_F(Choose, TheLatestOverrideCountsWhileItLives) {
  set_config_source(
      std::make_shared<FixedSource>(ConfigChoice{{128, 2, 1}, ConfigOrigin::kMeasured}));
  {
    const ConfigOverride first("test.kernel", {64, 2, 0});
    EXPECT_EQ(choose(tunable_, {512, 2}, "gpu").config, (Config{64, 2, 0}));
    {
      const ConfigOverride second("test.kernel", {64, 4, 0});
      const ConfigOverride other("test.other", {1});
      EXPECT_EQ(choose(tunable_, {512, 2}, "gpu").config, (Config{64, 4, 0}));
      EXPECT_EQ(choose(tunable_, {512, 2}, "gpu").origin, ConfigOrigin::kOverride);
    }
    EXPECT_EQ(choose(tunable_, {512, 2}, "gpu").config, (Config{64, 2, 0}));
    EXPECT_TAMIS_ERROR(ErrorCode::kInvalidArgument,
                       "configuration given for test.kernel: threads = 64, items = 2, m = 100: a "
                       "block covers at most m",
                       choose(tunable_, {100, 2}, "gpu"));
  }
  EXPECT_EQ(choose(tunable_, {512, 2}, "gpu").origin, ConfigOrigin::kMeasured);
}

TEST_F(Choose, ServesThreads) {
  auto source = std::make_shared<FixedSource>(ConfigChoice{{128, 2, 1}, ConfigOrigin::kMeasured});
  set_config_source(source);
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        const ConfigChoice choice = choose(tunable_, {512 + i % 7, 2}, "gpu");
        right += choice.config == Config{128, 2, 1} ? 1 : 0;
        if (i % 100 == 99) const ConfigOverride passing("test.other", {1});
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(right, 2000);
}

TEST(ConfigOrigin, Names) {
  EXPECT_STREQ(config_origin_name(ConfigOrigin::kOverride), "override");
  EXPECT_STREQ(config_origin_name(ConfigOrigin::kNeighbour), "neighbour");
  EXPECT_STREQ(config_origin_name(ConfigOrigin::kFallback), "fallback");
}

}  // namespace
}  // namespace tamis
