// Compares trials of undoing with the graph in which the decisions are undone.
#include "src/budget/undo.h"

#include <gtest/gtest.h>

#include "src/budget/recompute_options.h"
#include "src/passes/pass.h"
#include "tests/support/compile_graph.h"
#include "tests/support/random_graph.h"

namespace cgrun {
namespace {

const KernelLibrary& Reference() { return *FindKernelLibrary("reference"); }

// Each recomputation of random graphs is undone in a trial and in the graph itself.
TEST(UndoTrials, AreWhatTakingBackGives) {
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
      schedule = WithRecomputations(graph, schedule);
    }
    UndoTrials trials(graph, schedule, {});
    std::vector<NodeId> kept;
    for (NodeId id : graph.nodes.ids()) {
      if (!graph.nodes[id].recomputes.valid()) continue;
      const std::vector<Bytes>* bytes = trials.Try(id);
      if (bytes == nullptr) continue;
      ++tried;
      Graph less = graph;
      Schedule shorter = schedule;
      std::vector<NodeId> with_this = kept;
      with_this.push_back(id);
      UndoRecompute(less, shorter, with_this);
      ASSERT_EQ(VerifyGraph(less), std::vector<std::string>()) << seed;
      ASSERT_EQ(VerifySchedule(less, shorter), std::vector<std::string>()) << seed;
      ASSERT_EQ(*bytes, TransientBytes(less, shorter)) << seed << " " << graph.nodes[id].name;
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
