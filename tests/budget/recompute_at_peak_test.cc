// Tests the recomputations that lower a peak. None is needless, none that was only tried is left,
// and results stay the same.
#include "src/budget/recompute_at_peak.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "src/budget/undo.h"
#include "tests/support/compile_graph.h"
#include "tests/support/graph_maker.h"
#include "tests/support/random_graph.h"
#include "tests/support/sanitized.h"

namespace cgrun {
namespace {

using Strings = std::vector<std::string>;

constexpr double kAnyTime = 1e9;
constexpr Bytes kTensor = 4032;  // 1000 numbers, aligned

const KernelLibrary& Reference() { return *FindKernelLibrary("reference"); }

CompiledEntry EntryOf(const Graph& prepared) {
  return {{"step"}, prepared, FindOrder("serial")->Order(prepared)};
}

std::vector<NodeId> RecomputationsOf(const Graph& graph) {
  std::vector<NodeId> again;
  for (NodeId id : graph.nodes.ids()) {
    if (graph.nodes[id].recomputes.valid()) again.push_back(id);
  }
  return again;
}

Bytes PeakOf(const CompiledEntry& entry) {
  const std::vector<Bytes> bytes = TransientBytes(entry.graph, entry.schedule);
  return *std::ranges::max_element(bytes);
}

// Returns the graph without its recomputations.
std::string TextOfOnce(const CompiledEntry& entry) {
  Graph graph = entry.graph;
  Schedule schedule = entry.schedule;
  UndoRecompute(graph, schedule, RecomputationsOf(graph));
  return ToString(graph);
}

// The recomputations each of which could be taken back by itself with no more than `most` at the
// peak.
int64_t CountNeedless(const CompiledEntry& entry, Bytes most) {
  UndoTrials trials(entry.graph, entry.schedule, {});
  return std::ranges::count_if(RecomputationsOf(entry.graph), [&](NodeId id) {
    const std::vector<Bytes>* bytes = trials.Try(id);
    return bytes != nullptr && *std::ranges::max_element(*bytes) <= most;
  });
}

// Holds the results of a bound graph, to compare them with those of its prepared form with
// recomputations.
class Results {
 public:
  explicit Results(const Graph& bound)
      : inputs_(RandomInputs(bound, 2, 7)), wanted_(InterpretSteps(bound, Reference(), inputs_)) {}

  std::string FirstDifferenceOf(const CompiledEntry& entry) const {
    const GraphProgram program = EncodeGraph(entry.graph, entry.schedule, {}, Reference());
    return FirstDifference(RunSteps(program.image, Reference(), inputs_), wanted_);
  }

 private:
  StepInputs inputs_;
  std::vector<StepResult> wanted_;
};

// A chain there and back: each step back reads what the step there gave.
Graph ThereAndBack(int steps) {
  GraphMaker make;
  ValueId x = make.Feed("x", {1000});
  std::vector<ValueId> there;
  for (int i = 0; i < steps; ++i) {
    x = make.Op(i % 3 == 1 ? OpId::exp : OpId::sigmoid, "there" + std::to_string(i), {x});
    there.push_back(x);
  }
  make.phase = Phase::kBackward;
  for (int i = steps; i-- > 0;) {
    x = make.Op(OpId::mul, "back" + std::to_string(i), {x, there[static_cast<size_t>(i)]});
  }
  make.Out(x, "out");
  return PrepareGraph(make.graph(), 1, Reference());
}

BudgetOptions WithEffort(PlanEffort effort) {
  BudgetOptions options;
  options.effort = effort;
  return options;
}

TEST(RecomputeAtPeak, KeepsNothingThatIsNeedless) {
  const Graph graph = ThereAndBack(14);
  const CompiledEntry before = EntryOf(graph);
  const Results results(graph);
  const Bytes peak = PeakOf(before);
  for (const PlanEffort effort : {PlanEffort::kQuick, PlanEffort::kFull}) {
    size_t fewer = 0;
    for (Bytes goal = peak - kTensor; goal >= peak / 2; goal -= kTensor) {
      CompiledEntry entry = before;
      ASSERT_TRUE(RecomputeAtPeak(entry, Reference(), WithEffort(effort), {kAnyTime, goal}));
      EXPECT_LE(PeakOf(entry), goal);
      EXPECT_EQ(CountNeedless(entry, std::max(goal, PeakOf(entry))), 0) << goal;
      EXPECT_GE(RecomputationsOf(entry.graph).size(), fewer) << "more for less, " << goal;
      fewer = RecomputationsOf(entry.graph).size();
      EXPECT_EQ(TextOfOnce(entry), ToString(graph));
      EXPECT_EQ(results.FirstDifferenceOf(entry), "");
    }
    EXPECT_GT(fewer, 2u);
  }
}

TEST(RecomputeAtPeak, LeavesAGraphAloneThatItCannotHelp) {
  CompiledEntry entry = EntryOf(ThereAndBack(14));
  const std::string before = ToString(entry.graph);
  EXPECT_FALSE(RecomputeAtPeak(entry, Reference(), {}, {kAnyTime, PeakOf(entry)}));
  EXPECT_FALSE(RecomputeAtPeak(entry, Reference(), {}, {/*share=*/0, /*bytes=*/0}));
  EXPECT_EQ(ToString(entry.graph), before);
}

TEST(KeepWhatFits, TakesBackWhatNeedNotRunAgain) {
  const Graph graph = ThereAndBack(14);
  CompiledEntry entry = EntryOf(graph);
  const Results results(graph);
  const Bytes peak = PeakOf(entry);
  ASSERT_TRUE(RecomputeAtPeak(entry, Reference(), {}, {kAnyTime, /*bytes=*/0}));
  const CompiledEntry least = entry;
  const Bytes least_peak = PeakOf(entry);
  ASSERT_LT(least_peak + 3 * kTensor, peak);
  size_t recomputations = RecomputationsOf(least.graph).size();
  for (Bytes most = least_peak + kTensor; most <= peak; most += kTensor) {
    entry = least;
    EXPECT_TRUE(KeepWhatFits(entry, Reference(), {}, most));
    EXPECT_LE(PeakOf(entry), most);
    EXPECT_LE(RecomputationsOf(entry.graph).size(), recomputations);
    recomputations = RecomputationsOf(entry.graph).size();
    EXPECT_EQ(CountNeedless(entry, most), 0);
    EXPECT_FALSE(KeepWhatFits(entry, Reference(), {}, most)) << "that was all";
    EXPECT_EQ(results.FirstDifferenceOf(entry), "");
  }
  EXPECT_EQ(recomputations, 0u);
  EXPECT_EQ(ToString(entry.graph), ToString(graph));
}

// Some recomputations of earlier rounds are needless in the end, and are undone then.
TEST(RecomputeAtPeak, TakesBackInRandomGraphsToo) {
  int64_t taken_back = 0, recomputations = 0, between = 0;
  for (uint64_t seed = 1; seed <= (kSanitized ? 30 : 100); ++seed) {
    SCOPED_TRACE(seed);
    const Graph drawn = MakeRandomGraph(seed), graph = PrepareGraph(drawn, 3, Reference());
    const CompiledEntry before = EntryOf(graph);
    size_t most_nodes = 0;
    BudgetOptions options = WithEffort(PlanEffort::kQuick);
    options.passes.observe = [&](std::string_view, const Graph& seen) {
      most_nodes = std::max(most_nodes, seen.nodes.size());
    };
    CompiledEntry least = before;
    if (!RecomputeAtPeak(least, Reference(), options, {kAnyTime, /*bytes=*/0})) continue;
    taken_back += least.graph.nodes.size() < most_nodes;
    recomputations += std::ssize(RecomputationsOf(least.graph));
    CompiledEntry entry = before;
    const Bytes goal = (PeakOf(before) + PeakOf(least)) / 2;
    const bool is_lower = RecomputeAtPeak(entry, Reference(), {}, {kAnyTime, goal});
    EXPECT_EQ(is_lower, goal < PeakOf(before)) << "else fewer steps are as full";
    between += PeakOf(entry) <= goal;
    EXPECT_EQ(CountNeedless(entry, std::max<Bytes>(goal, PeakOf(entry))), 0);
    const Results results(BindBatch(drawn, 3));
    for (const CompiledEntry& one : {least, entry}) {
      EXPECT_EQ(TextOfOnce(one), ToString(graph));
      EXPECT_EQ(results.FirstDifferenceOf(one), "");
    }
  }
  EXPECT_GT(recomputations, kSanitized ? 5 : 50);
  EXPECT_GT(taken_back, kSanitized ? 0 : 3);
  EXPECT_GT(between, kSanitized ? 3 : 20);
}

}  // namespace
}  // namespace cgrun
