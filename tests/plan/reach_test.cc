// Tests which feeds decide about a value, and which values must stay untouched between runs for
// that.
#include "src/plan/reach.h"

#include <gtest/gtest.h>

#include "src/ops/reshape.h"
#include "src/plan/buffer_assignment.h"
#include "tests/support/compile_graph.h"
#include "tests/support/graph_maker.h"

namespace cgrun {
namespace {

std::vector<ValueId> Kept(const Graph& graph) {
  const IdVector<ValueId, bool> kept = KeptBetweenRuns(graph, ComputeReach(graph));
  std::vector<ValueId> values;
  for (ValueId id : graph.values.ids()) {
    if (kept[id]) values.push_back(id);
  }
  return values;
}

// A network on `a` and one on `b`, and what joins them.
struct TwoInputs {
  GraphMaker make;
  ValueId a = make.Feed("a", {4}), b = make.Feed("b", {4}), unread = make.Feed("unread", {4});
  ValueId w = make.State("w", {4});
  ValueId scaled = make.Op(OpId::neg, "scaled", {w});
  ValueId hidden = make.Op(OpId::relu, "hidden", {a});
  ValueId left = make.Op(OpId::add, "left", {hidden, scaled});
  ValueId right = make.Op(OpId::tanh, "right", {b});
  ValueId joined = make.Op(OpId::mul, "joined", {left, right});
};

TEST(Reach, IsThatOfAllThatIsRead) {
  TwoInputs two;
  two.make.Out(two.joined, "joined");
  const Reach reach = ComputeReach(two.make.graph());
  const ReachSet a = FeedBit(0), b = FeedBit(1);
  EXPECT_EQ(reach.values[two.scaled], 0u);
  EXPECT_EQ(reach.values[two.hidden], a);
  EXPECT_EQ(reach.values[two.left], a);
  EXPECT_EQ(reach.values[two.right], b);
  EXPECT_EQ(reach.values[two.joined], a | b);
  EXPECT_EQ(reach.nodes[FindNode(two.make.graph(), "joined")], a | b);
  EXPECT_EQ(reach.all, a | b) << "not of what nothing reads";
}

TEST(Reach, KeepsWhatOthersReadAndNothingElse) {
  TwoInputs two;
  two.make.Out(two.joined, "joined");
  EXPECT_EQ(Kept(two.make.graph()), (std::vector<ValueId>{two.scaled, two.left, two.right}));
}

TEST(Reach, KeepsOutputsAndFeedsThatOthersDoNotChange) {
  TwoInputs two;
  const ValueId again = two.make.Op(OpId::sub, "again", {two.joined, two.b});
  two.make.Out(again, "again");
  two.make.Out(two.hidden, "hidden");
  EXPECT_EQ(Kept(two.make.graph()),
            (std::vector<ValueId>{two.b, two.scaled, two.hidden, two.left, two.right}));
}

// State that the graph updates is another in each run: what depends on it runs always.
TEST(Reach, StateThatChangesReachesEveryRun) {
  TwoInputs two;
  const ValueId next = two.make.Op(OpId::add, "next", {two.w, two.right});
  two.make.Update(two.w, next);
  two.make.Out(two.joined, "joined");
  two.make.Out(two.right, "right");
  const Reach reach = ComputeReach(two.make.graph());
  for (ValueId id : {two.scaled, two.left, two.joined, next}) {
    EXPECT_EQ(reach.values[id], kEveryRun) << id.index;
  }
  EXPECT_EQ(reach.values[two.right], FeedBit(1));
  EXPECT_EQ(reach.all, FeedBit(0) | FeedBit(1) | kEveryRun) << "what changes is still fed";
  EXPECT_EQ(Kept(two.make.graph()), (std::vector<ValueId>{two.hidden, two.right}));
}

TEST(Reach, FeedsBeyondTheBitsShareTheLast) {
  GraphMaker make;
  std::vector<ValueId> feeds;
  for (int i = 0; i < 70; ++i) feeds.push_back(make.Feed("f" + std::to_string(i), {4}));
  const Reach reach = ComputeReach(make.graph());
  EXPECT_NE(reach.values[feeds[61]], reach.values[feeds[62]]);
  EXPECT_EQ(reach.values[feeds[62]], reach.values[feeds[69]]);
  for (ValueId feed : feeds) {
    EXPECT_NE(reach.values[feed], 0u);
    EXPECT_EQ(reach.values[feed] & kEveryRun, 0u);
  }
}

TEST(Reach, HasNames) {
  const std::vector<std::string> feeds = {"image", "unread", "label"};
  EXPECT_EQ(ToString(FeedBit(0) | FeedBit(2), feeds), "image, label");
  EXPECT_EQ(ToString(0, feeds), "nothing");
  EXPECT_EQ(ToString(kEveryRun, feeds), "every run");
  EXPECT_EQ(Join(FeedBit(0), kEveryRun), kEveryRun);
  EXPECT_EQ(Join(FeedBit(0), FeedBit(1)), FeedBit(0) | FeedBit(1));
}

struct Assigned {
  Graph graph;
  BufferAssignment assignment;

  Assigned(GraphMaker& make, bool incremental)
      : graph(PrepareGraph(make.graph(), 1, *FindKernelLibrary("reference"))) {
    const Schedule schedule = FindOrder("serial")->Order(graph);
    assignment = AssignBuffers(graph, schedule, {.incremental = incremental});
  }
  const SharedBuffer& Of(ValueId id) const { return assignment.buffers[assignment.of_value[id]]; }
};

TEST(Reach, KeptBuffersLiveAlwaysAndAreNotWrittenOver) {
  TwoInputs two;
  two.make.Out(two.joined, "joined");
  const Assigned whole(two.make, false), parts(two.make, true);
  EXPECT_EQ(whole.assignment.of_value[two.joined], whole.assignment.of_value[two.left]);
  EXPECT_NE(parts.assignment.of_value[two.joined], parts.assignment.of_value[two.left]);
  EXPECT_NE(parts.assignment.of_value[two.joined], parts.assignment.of_value[two.right]);
  for (ValueId id : {two.scaled, two.left, two.right}) {
    EXPECT_FALSE(whole.Of(id).kept);
    EXPECT_TRUE(parts.Of(id).kept);
    EXPECT_EQ(parts.Of(id).lifespan.lower, 0);
    EXPECT_EQ(parts.Of(id).lifespan.upper, parts.assignment.liveness.steps);
  }
  // Values of one reach go on to share bytes: `left` is written over `hidden`, that over `a`.
  EXPECT_EQ(parts.assignment.of_value[two.left], parts.assignment.of_value[two.a]);
  EXPECT_FALSE(parts.Of(two.joined).kept);
}

TEST(Reach, AViewIsKeptWithWhatItShows) {
  GraphMaker make;
  const ValueId a = make.Feed("a", {2, 2}), b = make.Feed("b", {4});
  const ValueId wide = make.Op(OpId::relu, "wide", {a});
  const ValueId flat =
      make.Op(OpId::reshape, "flat", {wide}, Attributes::Of(ReshapeAttributes{{4}}));
  const ValueId sum = make.Op(OpId::add, "sum", {flat, b});
  make.Out(sum, "sum");
  const Assigned parts(make, true);
  EXPECT_EQ(parts.assignment.of_value[flat], parts.assignment.of_value[wide]);
  EXPECT_TRUE(parts.Of(wide).kept);
  EXPECT_NE(parts.assignment.of_value[sum], parts.assignment.of_value[wide]);
}

}  // namespace
}  // namespace cgrun
