// Tests which values a schedule can write to a file instead of keeping them, and where the
// transfers stand.
#include "src/budget/swap.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "src/budget/recompute_options.h"
#include "src/ops/concat.h"
#include "src/ops/slice.h"
#include "src/passes/pass.h"
#include "tests/support/compile_graph.h"
#include "tests/support/graph_maker.h"

namespace cgrun {
namespace {

using Strings = std::vector<std::string>;

const KernelLibrary& Reference() { return *FindKernelLibrary("reference"); }

// y = relu(x) is made before the peak, where `wide` is, and read behind it. Every node takes a
// second.
struct LateReader {
  LateReader() {
    const ValueId x = make.Feed("x", {1000});
    const ValueId y = make.Op(OpId::relu, "y", {x});
    const ValueId m = make.Op(OpId::exp, "m", {y});
    const ValueId wide =
        make.Op(OpId::concat, "wide", {m, m, m}, Attributes::Of(ConcatAttributes{0}));
    const ValueId narrow = make.Op(OpId::slice, "narrow", {wide},
                                   Attributes::Of(SliceAttributes{{0}, {0}, {1000}, {}}));
    make.phase = Phase::kBackward;
    make.Out(make.Op(OpId::mul, "from_y", {narrow, y}), "out");
    graph = PrepareGraph(make.graph(), 1, Reference());
    schedule = FindOrder("serial")->Order(graph);
    for (Node& node : graph.nodes) {
      node.kernel->seconds = 1;
      node.kernel->is_measured = true;
    }
  }

  std::vector<RecomputeOption> Options(const RecomputeLimits& limits,
                                       const Target& target = Reference()) const {
    return RecomputeOptionsAtPeak(graph, schedule, target, limits);
  }

  // y goes to the file in two seconds, and comes back in three.
  void Swap() {
    RematPlan plan;
    plan.swap.push_back({graph.FindValue("y"), {FindNode(graph, "from_y")}, 2, 3});
    ASSERT_TRUE(passes::SwapToFile(graph, {Reference(), false, &plan}));
    schedule = WithRecomputations(graph, schedule);
    ASSERT_EQ(VerifySchedule(graph, schedule), Strings());
  }

  Strings Names() const {
    Strings names;
    for (const ScheduleStep& step : schedule.steps) names.push_back(graph.nodes[step.node].name);
    return names;
  }
  Bytes Peak() const {
    const auto bytes = TransientBytes(graph, schedule);
    return *std::ranges::max_element(bytes);
  }

  GraphMaker make;
  Graph graph;
  Schedule schedule;
};

RecomputeLimits LimitsWithSwap(double bytes_per_second) {
  RecomputeLimits limits;
  limits.seconds = 1e9;
  limits.swap = SwapTerms{{bytes_per_second, bytes_per_second}};
  return limits;
}

// Reference, but for the operators that swap.
class WithoutSwap final : public Target {
 public:
  std::string_view name() const override { return Reference().name(); }
  std::vector<KernelOption> Options(const NodeSignature& node,
                                    const RunSetting& setting) const override {
    if (IsTransfer(node.op)) return {};
    return Reference().Options(node, setting);
  }
  std::optional<std::vector<HostTensor>> Evaluate(
      const NodeSignature& node, std::span<const HostTensor> inputs) const override {
    return Reference().Evaluate(node, inputs);
  }
  std::string fingerprint() const override { return Reference().fingerprint(); }
};

TEST(SwapOptions, CostTheirTransfers) {
  const LateReader model;
  const auto options = model.Options(LimitsWithSwap(1e6));
  ASSERT_EQ(options.size(), 1u) << "x is gone, so that y cannot be computed again";
  ASSERT_TRUE(options[0].swap.has_value());
  EXPECT_EQ(model.graph.values[options[0].swap->value].name, "y");
  EXPECT_EQ(options[0].swap->readers, std::vector{FindNode(model.graph, "from_y")});
  EXPECT_EQ(options[0].bytes, 4032);
  EXPECT_NEAR(options[0].swap->write_seconds, 4000 / 1e6, 1e-4);
  EXPECT_NEAR(options[0].seconds, 8000 / 1e6, 2e-4);
  RecomputeLimits hidden = LimitsWithSwap(1e6);
  hidden.swap->share = 0.5;
  EXPECT_NEAR(model.Options(hidden)[0].seconds, 4000 / 1e6, 2e-4);
}

TEST(SwapOptions, AreOfferedWhereTheyCanBeHad) {
  const LateReader model;
  EXPECT_TRUE(model.Options(LimitsWithSwap(1e6), WithoutSwap()).empty());
  RecomputeLimits limits = LimitsWithSwap(1e6);
  limits.seconds = 1e-3;
  EXPECT_TRUE(model.Options(limits).empty());
  limits = LimitsWithSwap(1e6);
  limits.swap.reset();
  EXPECT_TRUE(model.Options(limits).empty());
}

// A buffer that can be recomputed can be swapped, too. The option that takes less time is offered.
TEST(SwapOptions, CompeteWithComputingAgain) {
  LateReader model;
  model.graph.outputs.push_back(
      {model.graph.FindValue("x"), OutputKind::kKept, "x", PathId()});  // so that it stays
  for (const double bytes_per_second : {1e3, 1e9}) {
    const auto options = model.Options(LimitsWithSwap(bytes_per_second));
    ASSERT_EQ(options.size(), 1u);
    EXPECT_EQ(options[0].swap.has_value(), bytes_per_second == 1e9);
    EXPECT_EQ(options[0].decision.nodes.empty(), bytes_per_second == 1e9);
  }
  RecomputeLimits limits = LimitsWithSwap(1e3);
  limits.recompute = false;
  EXPECT_TRUE(model.Options(limits).at(0).swap.has_value());
}

TEST(SwapSchedule, WritesEarlyAndReadsLate) {
  LateReader model;
  const Bytes before = model.Peak();
  ASSERT_NO_FATAL_FAILURE(model.Swap());
  EXPECT_EQ(model.Names(), (Strings{"y", "y.swap_out", "m", "y.swap_out.wait", "wide", "narrow",
                                    "y.swap_in", "y.swap_in.wait", "from_y"}));
  EXPECT_EQ(model.Peak(), before - 4032 + 64) << "y is gone, a token is there";
}

TEST(SwapSchedule, TakesAsLongAsItsWaits) {
  LateReader model;
  EXPECT_EQ(SecondsWaited(model.graph, model.schedule), 0);
  EXPECT_EQ(CountSwaps(model.graph), 0);
  ASSERT_NO_FATAL_FAILURE(model.Swap());
  EXPECT_EQ(CountSwaps(model.graph), 1);
  // Written from 1 to 3, of which m takes one; read from 5 to 8, beside nothing.
  EXPECT_EQ(SecondsWaited(model.graph, model.schedule), 4);
  EXPECT_EQ(SecondsOfStep(model.graph), 5);
}

TEST(SwapSchedule, IsSpreadAsFarAsMemoryAllows) {
  LateReader model;
  ASSERT_NO_FATAL_FAILURE(model.Swap());
  const Strings before = model.Names();
  const Bytes peak = model.Peak();
  LateReader spread = model;
  spread.schedule = SpreadTransfers(model.graph, model.schedule, 0, {});
  EXPECT_EQ(spread.Names(), before) << "at the peak there is no room";
  spread.schedule = SpreadTransfers(model.graph, model.schedule, 2 * peak, {});
  ASSERT_EQ(VerifySchedule(spread.graph, spread.schedule), Strings());
  EXPECT_GT(spread.Peak(), peak);
  EXPECT_LE(spread.Peak(), 2 * peak);
  // Written from 1 to 3, read from then on to 6, beside m, wide and narrow, which end at 4.
  EXPECT_EQ(SecondsWaited(spread.graph, spread.schedule), 2);
}

TEST(SwapSchedule, CanBeTakenBack) {
  LateReader model;
  const std::string before = ToString(model.graph);
  const Strings order = model.Names();
  ASSERT_NO_FATAL_FAILURE(model.Swap());
  EXPECT_NE(ToString(model.graph), before);
  UndoSwap(model.graph, model.schedule, FindNode(model.graph, "y.swap_out"));
  EXPECT_EQ(VerifyGraph(model.graph), Strings());
  EXPECT_EQ(ToString(model.graph), before);
  EXPECT_EQ(model.Names(), order);
}

TEST(SwapLayout, HasAnArenaForTheFile) {
  LateReader model;
  const MemoryLayout before = PlanLayout({{"step", &model.graph, &model.schedule}}, {});
  EXPECT_EQ(before.file_bytes, 0);
  ASSERT_NO_FATAL_FAILURE(model.Swap());
  for (const bool zones_apart : {false, true}) {
    const LayoutOptions options{"portfolio", zones_apart};
    const MemoryLayout layout = PlanLayout({{"step", &model.graph, &model.schedule}}, options);
    EXPECT_EQ(RoundUp(layout.file_bytes, kDefaultAlignment), 4032);
    EXPECT_EQ(std::ranges::count(layout.buffers, ArenaKind::kFile, &PlacedBuffer::arena), 1);
    EXPECT_EQ(layout.entries[0].offset[model.graph.FindValue("y.swap_out")], 0);
  }
}

}  // namespace
}  // namespace cgrun
