// Tests where an update needs a copy, and where it does not.
#include "src/plan/update_legality.h"

#include <gtest/gtest.h>

#include <set>

#include "src/ops/reshape.h"
#include "src/ops/transpose.h"
#include "src/plan/schedule.h"
#include "src/select/select.h"
#include "tests/support/compile_graph.h"
#include "tests/support/graph_maker.h"
#include "tests/support/random_graph.h"

namespace cgrun {
namespace {

const KernelLibrary& Reference() { return *FindKernelLibrary("reference"); }

struct Legalized {
  Graph graph;
  bool changed = false;
  int copies = 0;

  explicit Legalized(GraphMaker& make) {
    Diagnostics diagnostics;
    graph = SelectKernels(make.graph(), Reference(), {}, diagnostics);
    const int before = CountOps(graph, OpId::identity);
    changed = LegalizeUpdates(graph);
    copies = CountOps(graph, OpId::identity) - before;
    EXPECT_EQ(changed, copies > 0);
    EXPECT_EQ(VerifyGraph(graph), std::vector<std::string>());
    EXPECT_EQ(VerifySchedule(graph, FindOrder("serial")->Order(graph)), std::vector<std::string>());
    SelectMissingKernels(graph, Reference(), {}, diagnostics);
    EXPECT_FALSE(LegalizeUpdates(graph)) << "once is not enough";
  }

  ValueId next(size_t i) const { return graph.updates[i].next; }
};

TEST(LegalizeUpdates, LeavesAnOptimizerStepAlone) {
  GraphMaker make;
  const ValueId w = make.State("w", {4}), g = make.Feed("g", {4});
  make.Op(OpId::relu, "reader", {w});
  const ValueId next = make.Op(OpId::sub, "next", {w, g});
  make.Update(w, next);
  const Legalized result(make);
  EXPECT_FALSE(result.changed);
  EXPECT_EQ(result.next(0), next);
}

TEST(LegalizeUpdates, LeavesAGraphWithoutUpdatesAlone) {
  GraphMaker make;
  make.Out(make.State("w", {4}), "w");
  EXPECT_FALSE(Legalized(make).changed);
}

TEST(LegalizeUpdates, CopiesBothSidesOfASwap) {
  GraphMaker make;
  const ValueId a = make.State("a", {4}), b = make.State("b", {4});
  make.Update(a, b);
  make.Update(b, a);
  const Legalized result(make);
  EXPECT_EQ(result.copies, 3);  // one of them through a third place
}

// a ← b, b ← c, c ← f(c): each is read before it is overwritten.
TEST(LegalizeUpdates, CopiesAlongAChain) {
  GraphMaker make;
  const ValueId a = make.State("a", {4}), b = make.State("b", {4}), c = make.State("c", {4});
  make.Update(a, b);
  make.Update(b, c);
  make.Update(c, make.Op(OpId::neg, "next", {c}));
  const Legalized result(make);
  EXPECT_EQ(result.copies, 2);
}

// `late` reads the state and what shall overwrite it.
TEST(LegalizeUpdates, CopiesWhereAReaderNeedsOldAndNew) {
  GraphMaker make;
  const ValueId w = make.State("w", {4}), g = make.Feed("g", {4});
  const ValueId next = make.Op(OpId::sub, "next", {w, g});
  make.Op(OpId::add, "late", {w, next});
  make.Update(w, next);
  const Legalized result(make);
  EXPECT_EQ(result.copies, 1);
  EXPECT_NE(result.next(0), next);
}

TEST(LegalizeUpdates, CopiesWhereTheProducerCannotWorkInPlace) {
  GraphMaker make;
  const ValueId w = make.State("w", {4, 4});
  const ValueId next = make.Op(OpId::transpose, "next", {w}, Attributes::Of(TransposeAttributes()));
  make.Update(w, next);
  EXPECT_EQ(Legalized(make).copies, 1);
}

TEST(LegalizeUpdates, CopiesViewsFeedsAndConstants) {
  GraphMaker make;
  const ValueId x = make.Feed("x", {4});
  const ValueId y = make.Op(OpId::relu, "y", {make.Feed("z", {2, 2})});
  const Attributes flat = Attributes::Of(ReshapeAttributes{{4}});
  make.Update(make.State("a", {4}), x);
  make.Update(make.State("b", {4}), make.Constant("c", {4}, {1, 2, 3, 4}));
  make.Update(make.State("d", {4}), make.Op(OpId::reshape, "view", {y}, flat));
  EXPECT_EQ(Legalized(make).copies, 3);
}

TEST(LegalizeUpdates, CopiesForTheSecondStateThatTakesAValue) {
  GraphMaker make;
  const ValueId next = make.Op(OpId::relu, "next", {make.Feed("x", {4})});
  make.Update(make.State("a", {4}), next);
  make.Update(make.State("b", {4}), next);
  const Legalized result(make);
  EXPECT_EQ(result.copies, 1);
  EXPECT_EQ(result.next(0), next);
}

// Two outputs show the value before the step; one copy is enough.
TEST(LegalizeUpdates, CopiesAStateThatIsAnOutput) {
  GraphMaker make;
  const ValueId w = make.State("w", {4}), g = make.Feed("g", {4});
  make.Update(w, make.Op(OpId::sub, "next", {w, g}));
  make.Out(w, "before");
  make.Out(w, "again");
  const Legalized result(make);
  EXPECT_EQ(result.copies, 1);
  EXPECT_NE(result.graph.outputs[0].value, w);
  EXPECT_EQ(result.graph.outputs[0].value, result.graph.outputs[1].value);
}

std::vector<std::string> NamesOf(const Graph& graph) {
  std::vector<std::string> names;
  for (const UpdateEdge& edge : graph.updates) {
    names.push_back(graph.values[edge.state].name + " <- " + graph.values[edge.next].name);
  }
  return names;
}

// Two steps of learning in one, where the second reads what the first has learned.
TEST(LegalizeUpdates, KeepsAllStepsOfARepeatedPathInTheState) {
  GraphMaker make;
  const ValueId w = make.State("w", {4}), g = make.Feed("g", {4});
  const ValueId first = make.Op(OpId::sub, "first", {w, g});
  const ValueId slope = make.Op(OpId::relu, "slope", {first});
  const ValueId second = make.Op(OpId::sub, "second", {first, slope});
  make.Update(w, make.Op(OpId::neg, "clipped", {second}));
  const Legalized result(make);
  EXPECT_FALSE(result.changed);
  EXPECT_EQ(NamesOf(result.graph),
            (std::vector<std::string>{"w <- first", "first <- second", "second <- clipped"}));
}

// The second step reads the first one's weight in two places, one of which it may not overwrite.
TEST(LegalizeUpdates, LeavesBytesToAStepThatIsReadTwice) {
  GraphMaker make;
  const ValueId w = make.State("w", {4}), g = make.Feed("g", {4});
  const ValueId rate = make.Feed("rate", {}, DType::kF64);
  const ValueId first = make.Op(OpId::sub, "first", {w, g});
  make.Update(w, make.Op(OpId::sgd, "second", {first, first, rate}));
  const Legalized result(make);
  EXPECT_FALSE(result.changed);
  EXPECT_EQ(NamesOf(result.graph), (std::vector<std::string>{"w <- second"}));
}

// `late` reads the first step's weight when the second has been made.
TEST(LegalizeUpdates, LeavesBytesToAStepThatIsReadLater) {
  GraphMaker make;
  const ValueId w = make.State("w", {4}), g = make.Feed("g", {4});
  const ValueId first = make.Op(OpId::sub, "first", {w, g});
  const ValueId second = make.Op(OpId::sub, "second", {first, g});
  make.Out(make.Op(OpId::add, "late", {first, second}), "late");
  make.Update(w, second);
  const Legalized result(make);
  EXPECT_FALSE(result.changed);
  EXPECT_EQ(NamesOf(result.graph), (std::vector<std::string>{"w <- second"}));
}

TEST(LegalizeUpdates, LeavesBytesToAStepThatIsAnOutput) {
  GraphMaker make;
  const ValueId w = make.State("w", {4}), g = make.Feed("g", {4});
  const ValueId first = make.Op(OpId::sub, "first", {w, g});
  make.Out(first, "first");
  make.Update(w, make.Op(OpId::sub, "second", {first, g}));
  const Legalized result(make);
  EXPECT_FALSE(result.changed);
  EXPECT_EQ(NamesOf(result.graph), (std::vector<std::string>{"w <- second"}));
}

TEST(LegalizeUpdates, MakesRandomGraphsSchedulable) {
  int changed = 0, unchanged = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    Diagnostics diagnostics;
    Graph graph = SelectKernels(BindBatch(MakeRandomGraph(seed), 2), Reference(), {}, diagnostics);
    ++(LegalizeUpdates(graph) ? changed : unchanged);
    SelectMissingKernels(graph, Reference(), {}, diagnostics);
    ASSERT_FALSE(diagnostics.has_errors());
    ASSERT_EQ(VerifyGraph(graph), std::vector<std::string>()) << seed;
    ASSERT_EQ(VerifySchedule(graph, FindOrder("bfs")->Order(graph)), std::vector<std::string>());
    std::set<ValueId> nexts;
    for (const UpdateEdge& edge : graph.updates) {
      ASSERT_TRUE(graph.values[edge.next].producer.valid()) << seed;
      ASSERT_TRUE(nexts.insert(edge.next).second) << seed;
    }
    ASSERT_FALSE(LegalizeUpdates(graph)) << seed;
  }
  EXPECT_GT(changed, 100);
  EXPECT_GT(unchanged, 10);
}

}  // namespace
}  // namespace cgrun
