// Tests parallel streams on graphs small enough to know the answer.
#include "src/plan/stream_schedule.h"

#include <gtest/gtest.h>

#include "src/plan/memory_layout.h"
#include "src/select/select.h"
#include "tests/support/compile_graph.h"
#include "tests/support/graph_maker.h"

namespace cgrun {
namespace {

constexpr StreamScheduleOptions kAnyBytes{{}, int64_t{1} << 40};
constexpr double kLong = 50e-6;

// Two chains of three from one input: a0 a1 a2 and b0 b1 b2.
struct TwoChains {
  Graph graph;
  Schedule schedule;
  IdVector<NodeId, double> single_threaded;

  TwoChains() {
    GraphMaker make;
    const ValueId x = make.Feed("x", {64});
    for (const std::string chain : {"a", "b"}) {
      ValueId y = x;
      for (int i = 0; i < 3; ++i) y = make.Op(OpId::exp, chain + std::to_string(i), {y});
      make.Out(y, chain);
    }
    graph = PrepareGraph(make.graph(), 1, *FindKernelLibrary("reference"));
    schedule = FindOrder("serial")->Order(graph);
    single_threaded.resize(graph.nodes.size(), kLong);
  }

  std::string Arranged(const StreamScheduleOptions& options = kAnyBytes) const {
    const auto streams = ArrangeStreams(graph, schedule, single_threaded, options);
    if (!streams) return "";
    EXPECT_EQ(VerifySchedule(graph, *streams), std::vector<std::string>());
    std::string text;
    for (const ScheduleStep& step : streams->steps) {
      text += (text.empty() ? "" : " ") + graph.nodes[step.node].name + ":" +
              std::to_string(step.stream) + "+" + std::to_string(step.length);
    }
    return text;
  }
};

TEST(ArrangeStreams, TakesEachChainInAStream) {
  EXPECT_EQ(TwoChains().Arranged(), "a0:1+2 b0:2+1 a1:1+2 b1:2+1 a2:1+2 b2:2+1");
}

TEST(ArrangeStreams, LastsAsLongAsOthersBegin) {
  TwoChains chains;
  chains.single_threaded[NodeId(0)] = 2.5 * kLong;  // a0 is as long as b0, b1 and half of b2
  EXPECT_EQ(chains.Arranged(), "a0:1+4 b0:2+1 b1:2+1 b2:2+2 a1:1+1 a2:1+1");
}

TEST(ArrangeStreams, LeavesWhatIsToHaveAllThreadsByItself) {
  TwoChains chains;
  chains.single_threaded[NodeId(1)] =
      -1;  // a1: a0 before it has nothing beside it, b0 … b2 only a2 behind it
  EXPECT_EQ(chains.Arranged(), "a0:0+1 a1:0+1 a2:1+2 b0:2+1 b1:2+1 b2:2+1");
}

TEST(ArrangeStreams, LeavesWhatIsNotWorthIt) {
  TwoChains chains;
  for (double& seconds : chains.single_threaded) seconds = 1e-6;
  EXPECT_EQ(chains.Arranged(), "");
}

// b0 is alive together with a1 and a2, then.
TEST(ArrangeStreams, KeepsToItsBytes) {
  const TwoChains chains;
  const auto most = [&](const Schedule& schedule) {
    const auto bytes = TransientBytes(chains.graph, schedule);
    return *std::ranges::max_element(bytes);
  };
  const Bytes one_by_one = most(chains.schedule);
  const auto streams =
      ArrangeStreams(chains.graph, chains.schedule, chains.single_threaded, kAnyBytes);
  ASSERT_TRUE(streams);
  ASSERT_GT(most(*streams), one_by_one);
  const auto fewer =
      ArrangeStreams(chains.graph, chains.schedule, chains.single_threaded, {{}, one_by_one});
  EXPECT_FALSE(fewer && most(*fewer) > one_by_one);
  EXPECT_EQ(chains.Arranged({{}, 0}), "");
}

// Nothing writes over a value that the other stream may still read, though no later step begins to.
TEST(ArrangeStreams, KeepsWhatIsReadBeside) {
  GraphMaker make;
  const ValueId x = make.Feed("x", {64});
  const ValueId y = make.Op(OpId::exp, "y", {x});
  const ValueId a = make.Op(OpId::exp, "a", {y}), b = make.Op(OpId::exp, "b", {y});
  make.Out(make.Op(OpId::add, "end", {a, b}), "end");
  const Graph graph = PrepareGraph(make.graph(), 1, *FindKernelLibrary("reference"));
  const auto shares = [&](const Schedule& schedule) {
    const BufferAssignment buffers = AssignBuffers(graph, schedule);
    return buffers.of_value[y] == buffers.of_value[b];
  };
  EXPECT_TRUE(shares({{{NodeId(0)}, {NodeId(1)}, {NodeId(2)}, {NodeId(3)}}}));
  const Schedule streams{{{NodeId(0)}, {NodeId(1), 1, 2}, {NodeId(2), 2, 1}, {NodeId(3)}}};
  EXPECT_EQ(VerifySchedule(graph, streams), std::vector<std::string>());
  EXPECT_FALSE(shares(streams));
}

}  // namespace
}  // namespace cgrun
