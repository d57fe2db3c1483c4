// The benchmark: spreads, losses that must agree, and a run of all cases on a small model.
#include "src/bench/bench.h"

#include <gtest/gtest.h>

#include "src/base/allocation_counter.h"
#include "src/bench/idle_passes.h"
#include "src/device/no_room.h"
#include "src/model/model_file.h"
#include "src/passes/decisions.h"
#include "src/passes/pipeline.h"

namespace cgrun {
namespace {

constexpr char kModel[] = R"(cgrun: 1
model: small
data:
  train: {format: synthetic, samples: 64, classes: 4}
inputs:
  x: {type: f32, shape: [8]}
  label: {type: int32, shape: []}
paths:
  classify:
    ops:
      - {op: linear, in: x, units: 16, activation: relu}
      - logits: {op: linear, units: 4}
    loss: {op: softmax_cross_entropy, in: [logits, label]}
train: {epochs: 1, batch: 16, optimizer: {op: sgd, lr: 0.1, momentum: 0.9}}
)";

constexpr char kConvModel[] = R"(cgrun: 1
model: convolutions
data:
  train: {format: synthetic, samples: 16, classes: 4}
inputs:
  image: {type: f32, shape: [3, 12, 12]}
  label: {type: int32, shape: []}
paths:
  classify:
    ops:
      - {op: conv, in: image, filters: 8, kernel: 3, activation: relu}
      - {op: max_pool, kernel: 2}
      - {op: flatten}
      - logits: {op: linear, units: 4}
    loss: {op: softmax_cross_entropy, in: [logits, label]}
train: {epochs: 1, batch: 8, optimizer: {op: sgd, lr: 0.05, momentum: 0.9}}
)";

class Watch : public BenchObserver {
 public:
  void OnCase(const std::string& name, int64_t, int64_t) override { seen.push_back(name); }
  std::vector<std::string> seen;
};

class Bench : public testing::Test {
 protected:
  std::optional<BenchResult> Run(const std::vector<BenchCase>& cases, bool infer = false,
                                 const std::string& device = "reference",
                                 const char* text = kModel) {
    Diagnostics diagnostics;
    const auto model = ParseModel({"small.yaml", text}, {}, diagnostics);
    EXPECT_TRUE(model.has_value()) << diagnostics.ToString();
    BenchOptions options;
    options.infer = infer;
    options.device = device;
    options.rounds = 3;
    options.steps = 4;
    auto result = RunBench(*model, cases, options, watch_, diagnostics);
    EXPECT_FALSE(diagnostics.has_errors()) << diagnostics.ToString();
    return result;
  }

  static std::vector<std::string> IdlePasses(const std::string& text) {
    Diagnostics diagnostics;
    const auto model = ParseModel({"small.yaml", text}, {}, diagnostics);
    EXPECT_TRUE(model.has_value()) << diagnostics.ToString();
    return FindIdlePasses(*model, BenchEntry(*model, /*infer=*/false),
                          *FindKernelLibrary("reference"), {});
  }

  Watch watch_;
};

TEST(SpeedupOf, IsTheMedianOfTheRatiosInARound) {
  const Speedup speedup = SpeedupOf({1, 2, 4}, {2, 6, 4});  // 2, 3 and 1 times as fast
  EXPECT_DOUBLE_EQ(speedup.median, 2);
  EXPECT_FALSE(speedup.interval.has_value());
}

// The ranks of the interval are those of tables of the sign test: for 7 samples the least and the
// greatest, for 21 the sixth and the sixth to last.
TEST(SpeedupOf, HasAnIntervalFromSixRoundsOn) {
  const auto interval = [](int rounds) {
    std::vector<double> ratios(rounds);
    for (int i = 0; i < rounds; ++i) ratios[i] = i + 1;
    return SpeedupOf(std::vector<double>(rounds, 1), ratios).interval;
  };
  EXPECT_FALSE(interval(5).has_value());
  EXPECT_EQ(interval(6), std::pair(1.0, 6.0));
  EXPECT_EQ(interval(7), std::pair(1.0, 7.0));
  EXPECT_EQ(interval(21), std::pair(6.0, 16.0));
  EXPECT_EQ(interval(1000), std::pair(469.0, 532.0));
  EXPECT_EQ(interval(5000), std::pair(2431.0, 2570.0));
}

TEST(SpeedupApart, IsTheRatioOfTheMedians) {
  const Speedup speedup = SpeedupApart({1, 2, 4}, {9, 3, 4, 8});
  EXPECT_DOUBLE_EQ(speedup.median, 3);
  EXPECT_FALSE(speedup.interval.has_value());
}

// Both medians are held by 97.5 % each: of 7 samples by the least and the greatest, of 21 by the
// fifth and the fifth to last.
TEST(SpeedupApart, HasAnIntervalFromSevenRoundsOn) {
  const auto interval = [](int rounds) {
    std::vector<double> seconds(rounds), baseline(rounds);
    for (int i = 0; i < rounds; ++i) {
      seconds[i] = i + 1;
      baseline[rounds - 1 - i] = 100 * (i + 1);
    }
    return SpeedupApart(seconds, baseline).interval;
  };
  EXPECT_FALSE(interval(kLeastRoundsApart - 1).has_value());
  EXPECT_EQ(interval(kLeastRoundsApart), std::pair(100.0 / 7, 700.0));
  EXPECT_EQ(interval(21), std::pair(500.0 / 17, 1700.0 / 5));
}

// The baseline: 2 s until its first step is done, then 3 s a step.
TEST(BreakEvenStep, IsWhereTheGainHasMadeUpForTheStart) {
  const RunCost baseline{2, 3};
  EXPECT_EQ(BreakEvenStep({1, 2}, baseline), 1);    // ahead at once
  EXPECT_EQ(BreakEvenStep({1, 3}, baseline), 1);    // and no slower
  EXPECT_EQ(BreakEvenStep({2, 2}, baseline), 2);    // level after the first
  EXPECT_EQ(BreakEvenStep({4.5, 2}, baseline), 4);  // 10.5 s against 11 s; 8.5 against 8 before
  EXPECT_EQ(BreakEvenStep({5, 2}, baseline), 5);    // level after 4
  for (const RunCost& run : {RunCost{5, 2}, RunCost{4.5, 2.75}, RunCost{7.25, 2.875}}) {
    const auto after = [](const RunCost& cost, int64_t steps) {
      return cost.start + static_cast<double>(steps - 1) * cost.step;
    };
    const auto step = BreakEvenStep(run, baseline);
    ASSERT_TRUE(step.has_value());
    EXPECT_LT(after(run, *step), after(baseline, *step));
    EXPECT_GE(after(run, *step - 1), after(baseline, *step - 1));
  }
}

TEST(BreakEvenStep, IsNoneWhereStepsAreNotFaster) {
  const RunCost baseline{2, 3};
  EXPECT_EQ(BreakEvenStep({5, 3}, baseline), std::nullopt);
  EXPECT_EQ(BreakEvenStep({5, 4}, baseline), std::nullopt);
  EXPECT_EQ(BreakEvenStep({1, 4}, baseline), std::nullopt);  // ahead at first, then behind
  EXPECT_EQ(BreakEvenStep(baseline, baseline), std::nullopt);
  EXPECT_EQ(BreakEvenStep({1e9, 3 - 1e-15}, baseline), std::nullopt);  // in no time that matters
}

TEST_F(Bench, MeasuresEveryCaseAgainstTheFirst) {
  const auto result = Run(StandardCases({}));
  ASSERT_TRUE(result.has_value());
  ASSERT_EQ(result->cases.size(), 6u);
  const CaseResult& eager = result->cases[0];
  EXPECT_EQ(eager.name, "eager");
  for (const CaseResult& one : result->cases) {
    EXPECT_EQ(one.fault, "") << one.name;
    EXPECT_GT(one.peak_bytes, 0) << one.name;
    EXPECT_GE(one.reserved_bytes, one.peak_bytes) << one.name;
    EXPECT_EQ(one.batch, 16) << one.name;
    EXPECT_GT(one.build_seconds, 0) << one.name;
    ASSERT_EQ(one.losses.size(), static_cast<size_t>(kComparedSteps)) << one.name;
    for (size_t s = 0; s < one.losses.size(); ++s) EXPECT_EQ(one.losses[s], eager.losses[s]);
    if (!one.seconds_per_iteration) continue;
    EXPECT_LE(one.seconds_per_iteration->min, one.seconds_per_iteration->median);
    EXPECT_LE(one.seconds_per_iteration->median, one.seconds_per_iteration->max);
    EXPECT_EQ(one.round_seconds.size(), 3u) << one.name;
    EXPECT_EQ(one.speedup.has_value(), &one != &eager) << one.name;
    if (AllocationsAreCounted()) {
      EXPECT_EQ(one.allocations_after_first_step, 0) << one.name;
    }
  }
  EXPECT_NE(eager.losses.front(), eager.losses.back()) << "it did not learn";
  const CaseResult& hoarding = result->cases[1];
  EXPECT_FALSE(hoarding.seconds_per_iteration.has_value());
  EXPECT_GT(hoarding.peak_bytes, eager.peak_bytes);
  EXPECT_LT(result->cases.back().peak_bytes, eager.peak_bytes);
}

TEST_F(Bench, TakesTurns) {
  ASSERT_TRUE(Run(StandardCases({})).has_value());
  const std::vector<std::string> rounds(watch_.seen.end() - 5, watch_.seen.end());
  EXPECT_EQ(rounds.front(), "eager");
  EXPECT_EQ(rounds.back(), "graph, memory");
}

TEST_F(Bench, RunsTheForwardPathAlone) {
  const auto result = Run(StandardCases({}), /*infer=*/true);
  ASSERT_TRUE(result.has_value());
  EXPECT_LT(result->cases.back().peak_bytes, Run(StandardCases({}))->cases.back().peak_bytes);
}

TEST_F(Bench, HasACaseWithoutEachPass) {
  const std::vector<BenchCase> cases = PassCases({});
  for (const std::string& name : PassAndDecisionNames()) {
    const auto without = [&](const BenchCase& one) {
      return one.compile.passes.disabled == std::vector<std::string>{name};
    };
    EXPECT_EQ(std::count_if(cases.begin(), cases.end(), without), 1) << name;
  }
}

TEST_F(Bench, RunsTheCasesOfPasses) {
  const auto result = Run(PassCases({}));
  ASSERT_TRUE(result.has_value());
  for (const CaseResult& one : result->cases) {
    EXPECT_EQ(one.fault, "") << one.name;
    EXPECT_TRUE(one.seconds_per_iteration.has_value()) << one.name;
  }
}

// Without one of these the program is another; with one of the others disabled, its bytes are those
// of the program with all.
TEST_F(Bench, FindsThePassesThatChangeNothing) {
  const std::vector<std::string> idle = IdlePasses(kConvModel);
  const auto is_idle = [&](std::string_view pass) { return std::ranges::count(idle, pass) == 1; };
  EXPECT_TRUE(is_idle("fuse_norms"));
  EXPECT_TRUE(is_idle("swap"));                    // there is no folder for it
  EXPECT_FALSE(is_idle("relu_before_pool_grad"));  // takes no node away
  EXPECT_LT(idle.size(), PassAndDecisionNames().size());
  const std::vector<BenchCase> cases = PassCases({}, idle);
  EXPECT_EQ(cases.size(), 2 + PassAndDecisionNames().size() - idle.size());
  for (const BenchCase& one : cases) {
    for (const std::string& pass : one.compile.passes.disabled) EXPECT_FALSE(is_idle(pass)) << pass;
  }
}

TEST_F(Bench, PassesOfAModelThatDoesNotCompileAreNotIdle) {
  std::string text = kConvModel;
  text.replace(text.find("kernel: 2}"), 10, "kernel: 99}");
  EXPECT_TRUE(IdlePasses(text).empty());
}

TEST_F(Bench, RunsGraphModeInOneOrder) {
  CompileOptions options;
  options.order = "bfs";
  const std::vector<BenchCase> cases = StandardCases(options, /*one_order=*/true);
  ASSERT_EQ(cases.size(), 4u);
  EXPECT_EQ(cases.back().name, "graph, bfs");
  for (const BenchCase& one : cases) EXPECT_EQ(one.compile.order, "bfs") << one.name;
}

TEST_F(Bench, GraphModeTakesNoMoreMemoryThanEagerOnHostDevices) {
  for (const char* device : {"reference", "blas", "cpu"}) {
    if (FindKernelLibrary(device) == nullptr) continue;  // not in this build
    const auto result = Run(StandardCases({}), /*infer=*/false, device, kConvModel);
    ASSERT_TRUE(result.has_value()) << device;
    const CaseResult& graph = result->cases.back();
    EXPECT_EQ(graph.name, "graph, memory");
    EXPECT_LE(graph.peak_bytes, result->cases[0].peak_bytes) << device;
    for (const CaseResult& one : result->cases) EXPECT_EQ(one.fault, "") << device << one.name;
  }
}

// The arenas of both cases are of some KiB: all other bytes are held already.
TEST_F(Bench, AnArenaBeyondTheLimitsIsRefusedBeforeItIsTaken) {
  Diagnostics diagnostics;
  const auto model = ParseModel({"small.yaml", kModel}, {}, diagnostics);
  BenchOptions options{.rounds = 1, .steps = 1};
  options.limits = HostLimits{.machine = 1 << 20};
  const auto refusal =
      [&](const std::vector<BenchCase>& cases) -> std::pair<std::string, std::string> {
    try {
      RunBench(*model, cases, options, watch_, diagnostics);
    } catch (const NoRoom& error) {
      return {error.what(), error.help()};
    }
    return {"it ran", ""};
  };
  const std::vector<BenchCase> cases = StandardCases({});
  const auto [eager, eager_help] = refusal({cases[0], cases.back()});
  EXPECT_NE(eager.find("case 'eager': the run takes "), std::string::npos) << eager;
  EXPECT_NE(eager.find("more than the free memory of 1 MiB: base "), std::string::npos) << eager;
  EXPECT_NE(eager_help.find("`--isolate` runs each case"), std::string::npos) << eager_help;
  const auto [graph, graph_help] = refusal({cases.back()});
  EXPECT_NE(graph.find("case 'graph, memory': the run takes "), std::string::npos) << graph;
  EXPECT_NE(graph_help.find("of memory is enough; "), std::string::npos) << graph_help;
  EXPECT_EQ(graph_help.find("--isolate"), std::string::npos) << graph_help;
  options.limits->machine = int64_t{1} << 40;
  EXPECT_EQ(refusal(cases).first, "it ran");
}

// Eager mode holds an activation for each ReLU, and the graph one for all of them.
std::string DeepModel() {
  std::string text = kConvModel;
  std::string relus;
  for (int i = 0; i < 12; ++i)
    relus += "      - {op: relu" + std::string(i == 0 ? ", in: image" : "") + "}\n";
  text.replace(text.find("[3, 12, 12]"), 11, "[3, 96, 96]");
  text.replace(text.find("in: image, filters"), 11, "");
  return text.insert(text.find("      - {op: conv"), relus);
}

TEST_F(Bench, ACaseThatDoesNotFitIsLeftOut) {
  Diagnostics diagnostics;
  const auto model = ParseModel({"small.yaml", DeepModel()}, {}, diagnostics);
  ASSERT_TRUE(model.has_value()) << diagnostics.ToString();
  const std::vector<BenchCase> cases = {StandardCases({}).front(), StandardCases({}).back()};
  const auto run = [&](int64_t machine) -> std::optional<BenchResult> {
    BenchOptions options{.rounds = 1, .steps = 1};
    options.limits = HostLimits{.machine = machine};
    try {
      return RunBench(*model, cases, options, watch_, diagnostics);
    } catch (const NoRoom&) {
      return std::nullopt;  // not even the smaller case fits
    }
  };
  std::optional<BenchResult> result;
  constexpr int64_t kMiB = 1 << 20;
  for (int64_t machine = 2 * kMiB; !result && machine < 1024 * kMiB; machine += 2 * kMiB) {
    result = run(machine);
  }
  ASSERT_TRUE(result.has_value());
  ASSERT_EQ(result->cases.size(), 1);
  EXPECT_EQ(result->cases[0].name, "graph, memory");
  ASSERT_EQ(result->left_out.size(), 1);
  EXPECT_EQ(result->left_out[0].name, "eager");
  EXPECT_TRUE(result->left_out[0].reason.starts_with("case 'eager': the run takes "));
  EXPECT_TRUE(run(int64_t{1} << 40)->left_out.empty());
}

TEST(Losses, BeyondRoundingAreAnError) {
  std::vector<CaseResult> cases(3);
  cases[0].name = "eager";
  cases[0].losses = {2.3, 2.2, 2.1};
  cases[1].losses = {2.3, 2.2000001, 2.1};
  cases[2].losses = {2.3, 2.25};
  CompareLosses(cases);
  EXPECT_EQ(cases[0].fault, "");
  EXPECT_EQ(cases[1].fault, "");
  EXPECT_NE(cases[2].fault.find("step 2"), std::string::npos) << cases[2].fault;
}

// In processes of their own, cases start from equal states in the first steps alone.
TEST(Losses, AreComparedInAsManyStepsAsAsked) {
  std::vector<CaseResult> cases(2);
  cases[0].losses = {2.3, 2.2, 2.1};
  cases[1].losses = {2.3, 2.2, 1.7};
  CompareLosses(cases, kComparedStepsAlone);
  EXPECT_EQ(cases[1].fault, "");
  CompareLosses(cases);
  EXPECT_NE(cases[1].fault.find("step 3"), std::string::npos) << cases[1].fault;
}

TEST(Losses, ThatAreNotFiniteAreAnError) {
  std::vector<CaseResult> cases(2);
  cases[0].losses = {2.3};
  cases[1].losses = {std::numeric_limits<double>::quiet_NaN()};
  CompareLosses(cases);
  EXPECT_NE(cases[1].fault, "");
}

TEST(Spread, IsMedianLeastAndMost) {
  const Spread odd = SpreadOf({3, 1, 2});
  EXPECT_EQ(odd.median, 2);
  EXPECT_EQ(odd.min, 1);
  EXPECT_EQ(odd.max, 3);
  EXPECT_EQ(SpreadOf({4, 1, 2, 3}).median, 2.5);
}

}  // namespace
}  // namespace cgrun
