// The probe against liveness and buffers of whole graphs, as they are and with nodes taken back.
#include "src/plan/peak_probe.h"

#include <gtest/gtest.h>

#include "src/passes/pass.h"
#include "src/plan/recompute.h"
#include "src/plan/take_back.h"
#include "tests/support/compile_graph.h"
#include "tests/support/graph_maker.h"
#include "tests/support/random_graph.h"

namespace cgrun {
namespace {

const KernelLibrary& Reference() { return *FindKernelLibrary("reference"); }

std::vector<Bytes> BytesOf(const Graph& graph, const Schedule& schedule,
                           const BufferOptions& options) {
  const Liveness liveness = ComputeLiveness(graph, schedule);
  return TransientBytes(AssignBuffers(graph, schedule, liveness, options), liveness.steps);
}

std::vector<ProbeRun> RunsOf(const Graph& graph, const Schedule& schedule) {
  std::vector<ProbeRun> runs;
  for (const ScheduleStep& step : schedule.steps) {
    const Node& node = graph.nodes[step.node];
    runs.push_back({step.node, node.inputs, node.outputs});
  }
  return runs;
}

TEST(PeakProbe, FindsWhatLivenessAndBuffersFind) {
  int with_in_place = 0;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    const Graph graph = PrepareGraph(MakeRandomGraph(seed), 3, Reference());
    for (const OrderEntry& order : Orders()) {
      const Schedule schedule = order.Order(graph);
      const BufferOptions in_place{}, apart{true, true}, none{false, false};
      for (const BufferOptions& options : {in_place, apart, none}) {
        PeakProbe probe(graph, options);
        ASSERT_EQ(probe.BytesOf(RunsOf(graph, schedule)), BytesOf(graph, schedule, options))
            << seed << " " << order.name;
      }
      with_in_place += BytesOf(graph, schedule, in_place) != BytesOf(graph, schedule, none);
    }
  }
  EXPECT_GT(with_in_place, 0);
}

TEST(PeakProbe, CountsSecondResultsLikeFirstOnes) {
  GraphMaker make;
  const ValueId x = make.Feed("x", {1000});
  const ValueId y = make.Op(OpId::exp, "y", {x});
  make.Out(make.Op(OpId::mul, "z", {y, x}), "z");
  const Graph graph = PrepareGraph(make.graph(), 1, Reference());
  PeakProbe probe(graph, {.in_place = false});
  const Node &first = graph.nodes[NodeId(0)], &last = graph.nodes[NodeId(1)];
  const NodeId again = probe.AddNode(/*is_view=*/false, /*workspace=*/100, {});
  for (int i = 0; i < 2; ++i) {
    const std::vector<ValueId> second = {probe.AddSecond(y)}, inputs = {second[0], x};
    const std::vector<ProbeRun> runs = {{NodeId(0), first.inputs, first.outputs},
                                        {again, first.inputs, second},
                                        {NodeId(1), inputs, last.outputs}};
    EXPECT_EQ(probe.BytesOf(runs), (std::vector<Bytes>{2 * 4032, 2 * 4032 + 128, 3 * 4032}));
    probe.ForgetSeconds();
  }
}

// Every second run of random graphs, one after the other, as on the graph itself.
TEST(TakeBackTrials, AreWhatTakingBackGives) {
  int tried = 0, taken_back = 0;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    Graph graph = PrepareGraph(MakeRandomGraph(seed), 3, Reference());
    Schedule schedule = FindOrder("serial")->Order(graph);
    for (int round = 0; round < 4; ++round) {
      RecomputeLimits limits;
      limits.seconds = 1e9;
      RematPlan plan;
      for (const auto& option : RecomputeOptionsAtPeak(graph, schedule, Reference(), limits)) {
        plan.recompute.push_back(option.decision);
      }
      passes::Rematerialise(graph, {Reference(), false, &plan});
      schedule = WithSecondRuns(graph, schedule);
    }
    TakeBackTrials trials(graph, schedule, {});
    std::vector<NodeId> kept;
    for (NodeId id : graph.nodes.ids()) {
      if (!graph.nodes[id].again_of.valid()) continue;
      const std::vector<Bytes>* bytes = trials.Try(id);
      if (bytes == nullptr) continue;
      ++tried;
      Graph less = graph;
      Schedule shorter = schedule;
      std::vector<NodeId> with_this = kept;
      with_this.push_back(id);
      TakeBack(less, shorter, with_this);
      ASSERT_EQ(VerifyGraph(less), std::vector<std::string>()) << seed;
      ASSERT_EQ(VerifySchedule(less, shorter), std::vector<std::string>()) << seed;
      ASSERT_EQ(*bytes, BytesOf(less, shorter, {})) << seed << " " << graph.nodes[id].name;
      if (tried % 2 == 0) continue;
      ++taken_back;
      trials.Keep();
      kept = with_this;
    }
  }
  EXPECT_GT(tried, 20);
  EXPECT_GT(taken_back, 10);
}

}  // namespace
}  // namespace cgrun
