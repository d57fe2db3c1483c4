// Tests which values a schedule need not keep at its peak, and where it recomputes them.
#include "src/budget/recompute_options.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "src/budget/undo.h"
#include "src/ops/concat.h"
#include "src/ops/slice.h"
#include "src/passes/pass.h"
#include "tests/support/compile_graph.h"
#include "tests/support/graph_maker.h"

namespace cgrun {
namespace {

const KernelLibrary& Reference() { return *FindKernelLibrary("reference"); }

RecomputeLimits Limits() {
  RecomputeLimits limits;
  limits.seconds = 1e9;
  return limits;
}

// a, of x and w or of w alone, and y = relu(a) are made before the peak, where `wide` is, and read
// behind it; w may have changed by then.
struct TwoReaders {
  explicit TwoReaders(bool of_state = false, bool update_between = false) {
    const ValueId x = make.Feed("x", {1000});
    const ValueId w = make.State("w", {1000});
    const ValueId a = of_state ? make.Op(OpId::neg, "a", {w}) : make.Op(OpId::mul, "a", {x, w});
    const ValueId y = make.Op(OpId::relu, "y", {a});
    const ValueId m = make.Op(OpId::exp, "m", {y});
    const ValueId wide =
        make.Op(OpId::concat, "wide", {m, m, m}, Attributes::Of(ConcatAttributes{0}));
    const ValueId narrow = make.Op(OpId::slice, "narrow", {wide},
                                   Attributes::Of(SliceAttributes{{0}, {0}, {1000}, {}}));
    if (update_between) make.Update(w, make.Op(OpId::neg, "next", {narrow}));
    make.phase = Phase::kBackward;
    const ValueId from_y = make.Op(OpId::mul, "from_y", {narrow, y});
    const ValueId from_a = make.Op(OpId::mul, "from_a", {from_y, a});
    make.Out(from_a, "out");
    graph = PrepareGraph(make.graph(), 1, Reference());
    schedule = FindOrder("serial")->Order(graph);
  }

  std::vector<RecomputeOption> Options(const RecomputeLimits& limits = Limits()) const {
    return RecomputeOptionsAtPeak(graph, schedule, Reference(), limits);
  }
  std::vector<std::string> Names(const std::vector<NodeId>& nodes) const {
    std::vector<std::string> names;
    for (NodeId id : nodes) names.push_back(graph.nodes[id].name);
    return names;
  }

  GraphMaker make;
  Graph graph;
  Schedule schedule;
};

using Strings = std::vector<std::string>;

TEST(RecomputeOptions, AreWhatIsHeldForLaterReadersAlone) {
  const TwoReaders model;
  const std::vector<RecomputeOption> options = model.Options();
  ASSERT_EQ(options.size(), 1u) << "x is gone, so that a must stay";
  EXPECT_EQ(model.Names(options[0].decision.nodes), Strings{"y"});
  EXPECT_EQ(model.Names(options[0].decision.readers), Strings{"from_y"});
  EXPECT_EQ(options[0].bytes, 4032) << "1000 numbers, aligned";
}

TEST(RecomputeOptions, KeepTheirLimits) {
  const TwoReaders model;
  RecomputeLimits limits = Limits();
  limits.seconds = -1;
  EXPECT_TRUE(model.Options(limits).empty());
}

TEST(RecomputeOptions, CostWhatWasMeasured) {
  TwoReaders model;
  const double estimated = model.Options().at(0).seconds;
  EXPECT_NEAR(estimated, 8000 / 20e9, 1e-12) << "1000 numbers read and written";
  for (Node& node : model.graph.nodes) {
    node.kernel->seconds = 0.25;
    node.kernel->is_measured = node.name == "y";
  }
  EXPECT_EQ(model.Options().at(0).seconds, 0.25);
}

TEST(RecomputeOptions, AreTakenByTheSchedule) {
  TwoReaders model;
  RematPlan plan;
  for (const RecomputeOption& option : model.Options()) plan.recompute.push_back(option.decision);
  const auto held = TransientBytes(model.graph, model.schedule);
  ASSERT_TRUE(passes::Rematerialise(model.graph, {Reference(), false, &plan}));
  const Schedule schedule = WithRecomputations(model.graph, model.schedule);
  ASSERT_EQ(VerifySchedule(model.graph, schedule), Strings());
  Strings names;
  for (const ScheduleStep& step : schedule.steps) {
    names.push_back(model.graph.nodes[step.node].name);
  }
  EXPECT_EQ(names, (Strings{"a", "y", "m", "wide", "narrow", "y.again", "from_y", "from_a"}));
  const auto still_held = TransientBytes(model.graph, schedule);
  EXPECT_EQ(*std::max_element(still_held.begin(), still_held.end()) + 4032,
            *std::max_element(held.begin(), held.end()));
}

// If a recomputation is undone, nodes that were recomputed only for it go with it.
TEST(RecomputeOptions, CanBeTakenBack) {
  for (const bool of_state : {false, true}) {
    TwoReaders model(of_state);
    const std::string before = ToString(model.graph);
    RematPlan plan;
    for (const RecomputeOption& option : model.Options()) plan.recompute.push_back(option.decision);
    ASSERT_TRUE(passes::Rematerialise(model.graph, {Reference(), false, &plan}));
    Schedule schedule = WithRecomputations(model.graph, model.schedule);
    EXPECT_GT(model.graph.nodes.size(), model.schedule.steps.size());
    for (const char* name : {"from_y", "from_a"}) {
      for (NodeId id : model.graph.nodes.ids()) {
        if (model.graph.nodes[id].name != name) continue;
        const Node reader = model.graph.nodes[id];
        for (ValueId input : reader.inputs) {
          const NodeId producer = model.graph.values[input].producer;
          if (!model.graph.nodes[producer].recomputes.valid()) continue;
          UndoRecompute(model.graph, schedule, {producer});
          EXPECT_EQ(VerifyGraph(model.graph), Strings());
          EXPECT_EQ(VerifySchedule(model.graph, schedule), Strings());
          break;
        }
        break;
      }
    }
    EXPECT_EQ(ToString(model.graph), before);
    EXPECT_EQ(schedule.steps.size(), model.schedule.steps.size());
  }
}

TEST(RecomputeOptions, ReadNoStateThatHasChanged) {
  const auto runs_a = [](const TwoReaders& model) {
    for (const RecomputeOption& option : model.Options()) {
      for (const std::string& name : model.Names(option.decision.nodes)) {
        if (name == "a") return true;
      }
    }
    return false;
  };
  EXPECT_TRUE(runs_a(TwoReaders(/*of_state=*/true)));
  EXPECT_FALSE(runs_a(TwoReaders(/*of_state=*/true, /*update_between=*/true)));
}

}  // namespace
}  // namespace cgrun
