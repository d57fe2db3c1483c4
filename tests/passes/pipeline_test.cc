// The runner: order, groups, switches, reports, and that it catches passes that lie or break
// graphs.
#include "src/passes/pipeline.h"

#include "src/passes/decisions.h"
#include "tests/passes/pass_test.h"

namespace cgrun {
namespace {

// Turns one neg into an exp.
bool NegToExp(Graph& graph, const PassContext&) {
  for (Node& node : graph.nodes) {
    if (node.op != OpId::neg) continue;
    node.op = OpId::exp;
    return true;
  }
  return false;
}
// Turns one exp into a log.
bool ExpToLog(Graph& graph, const PassContext&) {
  for (Node& node : graph.nodes) {
    if (node.op != OpId::exp) continue;
    node.op = OpId::log;
    return true;
  }
  return false;
}
// Never comes to an end.
bool Toggle(Graph& graph, const PassContext&) {
  Node& node = graph.nodes[NodeId(0)];
  node.op = node.op == OpId::neg ? OpId::exp : OpId::neg;
  return true;
}
bool SaysChanged(Graph&, const PassContext&) { return true; }
bool SaysUnchanged(Graph& graph, const PassContext&) {
  graph.nodes[NodeId(0)].op = OpId::exp;
  return false;
}
bool Breaks(Graph& graph, const PassContext&) {
  graph.nodes[NodeId(0)].inputs.clear();
  return true;
}

class PipelineTest : public testing::Test {
 protected:
  PipelineTest() {
    ValueId x = g.Input("x");
    for (int i = 0; i < 3; ++i) x = g.Node(OpId::neg, {x}, "n");
    g.Output(x);
  }
  std::vector<PassReport> Run(std::vector<PipelineEntry> passes, PassOptions options = {}) {
    return RunPipeline(passes, g.graph, {*FindKernelLibrary("reference")}, options);
  }
  static PipelineEntry Entry(std::string_view name, PassFunction run, int group = 0) {
    return {name, run, group, PassStage::kGraph, "for the test"};
  }
  PassGraph g;
};

TEST_F(PipelineTest, PassesOutsideOfGroupsRunOnceInOrder) {
  const auto reports = Run({Entry("first", NegToExp), Entry("second", ExpToLog)});
  EXPECT_EQ(g.Count(OpId::log), 1);
  EXPECT_EQ(g.Count(OpId::neg), 2);
  ASSERT_EQ(reports.size(), 2u);
  EXPECT_EQ(reports[0].name, "first");
  EXPECT_EQ(reports[0].rounds, 1);
  EXPECT_EQ(reports[1].changed_rounds, 1);
}

TEST_F(PipelineTest, AGroupRunsUntilNothingChanges) {
  const auto reports = Run({Entry("first", NegToExp, 1), Entry("second", ExpToLog, 1)});
  EXPECT_EQ(g.Count(OpId::log), 3);
  EXPECT_EQ(reports[0].rounds, 4) << "three that change something and one that does not";
  EXPECT_EQ(reports[0].changed_rounds, 3);
}

TEST_F(PipelineTest, AGroupThatNeverSettlesIsStopped) {
  const auto reports = Run({Entry("toggle", Toggle, 1)});
  EXPECT_EQ(reports[0].rounds, 16);
  EXPECT_EQ(reports[0].changed_rounds, 16);
}

TEST_F(PipelineTest, DisabledPassesAreSkipped) {
  PassOptions options;
  options.disabled = {"first"};
  const auto reports = Run({Entry("first", NegToExp, 1), Entry("second", ExpToLog, 1)}, options);
  EXPECT_EQ(g.Count(OpId::neg), 3);
  EXPECT_EQ(reports[0].rounds, 0);
  EXPECT_EQ(reports[1].rounds, 1);
}

TEST_F(PipelineTest, StopsAfterAPassEvenIfItIsDisabled) {
  PassOptions options;
  options.stop_after = "first";
  Run({Entry("first", NegToExp, 1), Entry("second", ExpToLog, 1)}, options);
  EXPECT_EQ(g.Count(OpId::exp), 1);
  options.disabled = {"first"};
  Run({Entry("first", NegToExp, 1), Entry("second", ExpToLog, 1)}, options);
  EXPECT_EQ(g.Count(OpId::exp), 1);
}

TEST_F(PipelineTest, ObserversSeeTheGraphBeforeAndAfterEachPassThatRan) {
  std::vector<std::string> seen;
  PassOptions options;
  options.observe = [&](std::string_view name, const Graph& graph) {
    int negs = 0;
    for (const Node& node : graph.nodes) negs += node.op == OpId::neg;
    seen.push_back(std::string(name) + " " + std::to_string(negs));
  };
  Run({Entry("first", NegToExp), Entry("second", ExpToLog)}, options);
  EXPECT_EQ(seen, (std::vector<std::string>{" 3", "first 2", "second 2"}));
}

TEST_F(PipelineTest, PassesThatLieOrBreakTheGraphAreCaught) {
  EXPECT_DEATH(Run({Entry("boaster", SaysChanged)}), "pass boaster says that it changed");
  EXPECT_DEATH(Run({Entry("sneak", SaysUnchanged)}), "pass sneak says that it did not change");
  EXPECT_DEATH(Run({Entry("vandal", Breaks)}), "after vandal: ");
}

TEST(Pipeline, NamesAreUniqueAndEveryPassSaysWhyItStandsThere) {
  std::vector<std::string> names = PassAndDecisionNames();
  ASSERT_EQ(names.size(), Pipeline().size() + Decisions().size());
  for (const PipelineEntry& entry : Pipeline()) {
    EXPECT_FALSE(entry.reason.empty()) << entry.name;
    EXPECT_NE(entry.run, nullptr) << entry.name;
  }
  for (const Decision& decision : Decisions()) EXPECT_FALSE(decision.what.empty()) << decision.name;
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

}  // namespace
}  // namespace cgrun
