// Tests which values share bytes: each rule by hand, and a replay of random graphs that watches
// every byte.
#include "src/plan/buffer_assignment.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "src/ops/matmul.h"
#include "src/ops/reduce.h"
#include "src/ops/reshape.h"
#include "src/plan/update_legality.h"
#include "src/select/select.h"
#include "tests/support/compile_graph.h"
#include "tests/support/graph_maker.h"
#include "tests/support/random_graph.h"

namespace cgrun {
namespace {

const KernelLibrary& Reference() { return *FindKernelLibrary("reference"); }

// A graph with kernels, in the order in which it was built.
struct Assigned {
  Graph graph;
  BufferAssignment assignment;

  explicit Assigned(GraphMaker& make, const BufferOptions& options = {}) {
    Diagnostics diagnostics;
    graph = SelectKernels(make.graph(), Reference(), {}, diagnostics);
    EXPECT_FALSE(diagnostics.has_errors()) << diagnostics.ToString();
    const Schedule schedule = FindOrder("serial")->Order(graph);
    assignment = AssignBuffers(graph, schedule, options);
  }

  bool Share(ValueId a, ValueId b) const {
    return assignment.of_value[a] == assignment.of_value[b];
  }
};

Attributes To(Shape shape) { return Attributes::Of(ReshapeAttributes{std::move(shape)}); }

TEST(InPlace, OverAnInputThatNothingReadsAnyMore) {
  GraphMaker make;
  const ValueId x = make.Feed("x", {4});
  const ValueId y = make.Op(OpId::relu, "y", {x});
  const ValueId z = make.Op(OpId::neg, "z", {y});
  make.Out(z, "z");
  const Assigned result(make);
  EXPECT_TRUE(result.Share(x, y));
  EXPECT_TRUE(result.Share(y, z));
  EXPECT_EQ(result.assignment.in_place_bytes, 32);
  const SharedBuffer& buffer = result.assignment.buffers[result.assignment.of_value[x]];
  EXPECT_EQ(buffer.values, (InlineVector<ValueId, 4>{x, y, z}));
  EXPECT_EQ(buffer.lifespan.lower, 0);
  EXPECT_EQ(buffer.lifespan.upper, 2);
}

TEST(InPlace, IsOffOnRequest) {
  GraphMaker make;
  const ValueId x = make.Feed("x", {4});
  const ValueId y = make.Op(OpId::relu, "y", {x});
  const Assigned result(make, {.in_place = false});
  EXPECT_FALSE(result.Share(x, y));
  EXPECT_EQ(result.assignment.in_place_bytes, 0);
}

TEST(InPlace, NotOverWhatIsReadLater) {
  GraphMaker make;
  const ValueId x = make.Feed("x", {4});
  const ValueId y = make.Op(OpId::relu, "y", {x});
  const ValueId z = make.Op(OpId::add, "z", {x, y});
  make.Out(z, "z");
  const Assigned result(make);
  EXPECT_FALSE(result.Share(x, y));
  EXPECT_TRUE(result.Share(x, z));
}

TEST(InPlace, NotOverAnOutput) {
  GraphMaker make;
  const ValueId x = make.Feed("x", {4});
  const ValueId y = make.Op(OpId::relu, "y", {x});
  const ValueId z = make.Op(OpId::neg, "z", {y});
  make.Out(y, "y");
  const Assigned result(make);
  EXPECT_FALSE(result.Share(y, z));
}

TEST(InPlace, NotOverStateOrConstants) {
  GraphMaker make;
  const ValueId w = make.State("w", {4});
  const ValueId c = make.Constant("c", {4}, {1, 2, 3, 4});
  const ValueId y = make.Op(OpId::relu, "y", {w});
  const ValueId z = make.Op(OpId::relu, "z", {c});
  const Assigned result(make);
  EXPECT_FALSE(result.Share(w, y));
  EXPECT_FALSE(result.Share(c, z));
}

TEST(InPlace, NotOverAnotherSize) {
  GraphMaker make;
  const ValueId row = make.Feed("row", {4}), column = make.Feed("column", {4, 1});
  const ValueId table = make.Op(OpId::add, "table", {row, column});
  const Assigned result(make);
  EXPECT_FALSE(result.Share(row, table));
  EXPECT_FALSE(result.Share(column, table));
}

TEST(InPlace, NotWhereTheKernelCannot) {
  GraphMaker make;
  const ValueId a = make.Feed("a", {4, 4}), b = make.Feed("b", {4, 4});
  const ValueId y = make.Op(OpId::matmul, "y", {a, b}, Attributes::Of(MatmulAttributes()));
  const Assigned result(make);
  EXPECT_FALSE(result.Share(a, y));
  EXPECT_FALSE(result.Share(b, y));
}

// y reads the bytes of x by two operands: what is safe for one need not be for the other.
TEST(InPlace, NotWhereAnotherOperandLiesInTheSameBytes) {
  GraphMaker make;
  const ValueId x = make.Feed("x", {2, 2});
  const ValueId view = make.Op(OpId::reshape, "view", {x}, To({4}));
  const ValueId twice = make.Op(OpId::reshape, "again", {view}, To({2, 2}));
  const ValueId y = make.Op(OpId::mul, "y", {x, twice});
  const Assigned result(make);
  EXPECT_TRUE(result.Share(x, view));
  EXPECT_TRUE(result.Share(x, twice));
  EXPECT_FALSE(result.Share(x, y));
}

TEST(InPlace, NotOverWhatIsReadLaterThroughAView) {
  GraphMaker make;
  const ValueId x = make.Feed("x", {2, 2});
  const ValueId view = make.Op(OpId::reshape, "view", {x}, To({4}));
  const ValueId y = make.Op(OpId::relu, "y", {x});
  const ValueId z = make.Op(OpId::relu, "z", {view});
  make.Out(y, "y");
  const Assigned result(make);
  EXPECT_FALSE(result.Share(x, y));
  EXPECT_TRUE(result.Share(view, z));
}

TEST(InPlace, NotAcrossZonesThatLieApart) {
  GraphMaker make;
  const ValueId x = make.Feed("x", {4});
  const ValueId y = make.Op(OpId::relu, "y", {x}, {}, Zone::kGradient);
  const ValueId z = make.Op(OpId::relu, "z", {y}, {}, Zone::kGradient);
  const Assigned apart(make, {.zones_apart = true});
  EXPECT_FALSE(apart.Share(x, y));
  EXPECT_TRUE(apart.Share(y, z));
  EXPECT_TRUE(Assigned(make).Share(x, y));
}

// Both outputs may go over the same input's bytes, but not both at once.
TEST(InPlace, TwoOutputsDoNotShare) {
  GraphMaker make;
  const ValueId x = make.Feed("x", {4}), y = make.Feed("y", {4});
  const ValueId product = make.Op(OpId::mul, "product", {x, y});
  Node& node = make.Producer(product);
  Value more = make.graph().values[product];
  more.name = "more";
  more.output_index = 1;
  node.outputs.push_back(make.graph().values.push_back(more));
  node.kernel = KernelChoice{"two.outputs", 1, 0, {{0, 0}, {0, 1}, {1, 1}}, {}};
  const Schedule schedule{{{NodeId(0), 0}}};
  const BufferAssignment assignment = AssignBuffers(make.graph(), schedule);
  const auto of = [&](ValueId id) { return assignment.of_value[id]; };
  EXPECT_EQ(of(product), of(x));
  EXPECT_EQ(of(make.graph().values.last()), of(y));
}

TEST(Views, ShareBytesAndNeedNoInstruction) {
  GraphMaker make;
  const ValueId x = make.Feed("x", {4}), w = make.State("w", {4});
  const ValueId view = make.Op(OpId::reshape, "view", {x}, To({2, 2}));
  const ValueId of_state = make.Op(OpId::flatten, "of_state", {w}, {});
  make.Out(view, "view");
  const Assigned result(make);
  EXPECT_TRUE(result.Share(x, view));
  EXPECT_TRUE(result.Share(w, of_state));
  EXPECT_TRUE(result.assignment.elided[NodeId(0)]);
  EXPECT_TRUE(result.assignment.elided[NodeId(1)]);
  EXPECT_EQ(result.assignment.buffers[result.assignment.of_value[x]].lifespan.upper, 2);
}

TEST(Views, OfAStateThatChangesAreCopies) {
  GraphMaker make;
  const ValueId w = make.State("w", {4}), x = make.Feed("x", {4});
  const ValueId view = make.Op(OpId::reshape, "view", {w}, To({2, 2}));
  const ValueId next = make.Op(OpId::sub, "next", {w, x});
  const ValueId of_next = make.Op(OpId::reshape, "of_next", {next}, To({2, 2}));
  make.Update(w, next);
  make.Out(view, "view");
  make.Out(of_next, "of_next");
  const Assigned result(make);
  EXPECT_FALSE(result.Share(w, view));
  EXPECT_FALSE(result.Share(next, of_next));
  EXPECT_FALSE(result.assignment.elided[FindNode(result.graph, "view")]);
}

TEST(Updates, LieInTheirState) {
  GraphMaker make;
  const ValueId w = make.State("w", {4}), g = make.Feed("g", {4});
  const ValueId next = make.Op(OpId::sub, "next", {w, g});
  make.Update(w, next);
  const Assigned result(make);
  EXPECT_TRUE(result.Share(w, next));
  EXPECT_FALSE(result.Share(g, next));
}

TEST(Workspaces, LiveForTheirStep) {
  GraphMaker make;
  const ValueId x = make.Feed("x", {4});
  make.Op(OpId::relu, "y", {x});
  make.graph().nodes[NodeId(0)].kernel = KernelChoice{"with.workspace", 1, 100, {}, {}};
  const Assigned result(make);
  const SharedBufferId id = result.assignment.of_workspace[NodeId(0)];
  ASSERT_TRUE(id.valid());
  const SharedBuffer& buffer = result.assignment.buffers[id];
  EXPECT_EQ(buffer.bytes, 100);
  EXPECT_EQ(buffer.zone, Zone::kWorkspace);
  EXPECT_EQ(buffer.workspace_of, NodeId(0));
  EXPECT_TRUE(buffer.values.empty());
  EXPECT_FALSE(buffer.persistent);
}

// Runs an assignment on paper: every buffer holds one value at a time, views hold what they show.
class Replay {
 public:
  Replay(const Graph& graph, const BufferAssignment& assignment, const BufferOptions& options)
      : graph_(graph), assignment_(assignment), options_(options) {
    shown_.resize(graph.values.size());
    held_.resize(assignment.buffers.size());
    for (ValueId id : graph.values.ids()) {
      shown_[id] = id;
      if (!graph.values[id].producer.valid()) held_[assignment.of_value[id]] = id;
    }
  }

  void Run(const Schedule& schedule) {
    for (size_t time = 0; time < schedule.steps.size(); ++time) {
      Step(schedule.steps[time].node, static_cast<TimePoint>(time));
    }
    for (const Output& output : graph_.outputs) Read(output.value, "an output");
    for (const UpdateEdge& edge : graph_.updates) {
      EXPECT_EQ(assignment_.of_value[edge.state], assignment_.of_value[edge.next]);
      const bool is_last =
          std::none_of(graph_.updates.begin(), graph_.updates.end(),
                       [&](const UpdateEdge& later) { return later.state == edge.next; });
      if (is_last) Read(edge.next, "an update");
    }
  }

  int in_place = 0, elided = 0, updates = 0;

 private:
  void Read(ValueId id, const std::string& reader) {
    EXPECT_EQ(held_[assignment_.of_value[id]], shown_[id])
        << reader << " reads " << graph_.values[id].name << " and finds another value";
  }

  void Step(NodeId id, TimePoint time) {
    const Node& node = graph_.nodes[id];
    for (ValueId input : node.inputs) Read(input, node.name);
    for (size_t o = 0; o < node.outputs.size(); ++o) Write(node, node.outputs[o], o, time);
    if (assignment_.elided[id]) {
      ++elided;
      shown_[node.outputs[0]] = shown_[node.inputs[0]];
    }
  }

  void Write(const Node& node, ValueId output, size_t index, TimePoint time) {
    const SharedBuffer& buffer = assignment_.buffers[assignment_.of_value[output]];
    EXPECT_EQ(buffer.bytes, graph_.BytesOf(output));
    EXPECT_LE(buffer.lifespan.lower, time);
    EXPECT_GE(buffer.lifespan.upper, time + 1);
    if (assignment_.elided[graph_.values[output].producer]) return;
    const bool is_next = std::any_of(graph_.updates.begin(), graph_.updates.end(),
                                     [&](const UpdateEdge& edge) { return edge.next == output; });
    updates += is_next;
    EXPECT_EQ(buffer.persistent, is_next) << graph_.values[output].name;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (assignment_.of_value[node.inputs[i]] != assignment_.of_value[output]) continue;
      const InPlacePair pair{static_cast<int>(i), static_cast<int>(index)};
      EXPECT_EQ(std::count(node.kernel->in_place.begin(), node.kernel->in_place.end(), pair), 1);
      EXPECT_TRUE(options_.in_place || is_next);
      in_place += !is_next;
    }
    EXPECT_TRUE(!options_.zones_apart || is_next || buffer.zone == graph_.values[output].zone);
    held_[assignment_.of_value[output]] = output;
  }

  const Graph& graph_;
  const BufferAssignment& assignment_;
  BufferOptions options_;
  IdVector<ValueId, ValueId> shown_;
  IdVector<SharedBufferId, ValueId> held_;
};

TEST(AssignBuffers, EveryReaderFindsItsOperandOnRandomGraphs) {
  int in_place = 0, elided = 0, updates = 0;
  for (uint64_t seed = 1; seed <= 200 && !testing::Test::HasFailure(); ++seed) {
    const Graph graph = PrepareGraph(MakeRandomGraph(seed), 2, Reference());
    for (const OrderEntry& order : Orders()) {
      for (const BufferOptions& options :
           {BufferOptions{true, false}, {true, true}, {false, false}}) {
        SCOPED_TRACE("seed " + std::to_string(seed) + ", " + std::string(order.name));
        const Schedule schedule = order.Order(graph);
        const BufferAssignment assignment = AssignBuffers(graph, schedule, options);
        Replay replay(graph, assignment, options);
        replay.Run(schedule);
        in_place += replay.in_place;
        elided += replay.elided;
        updates += replay.updates;
      }
    }
  }
  EXPECT_GT(in_place, 1000);
  EXPECT_GT(elided, 1000);
  EXPECT_GT(updates, 1000);
}

}  // namespace
}  // namespace cgrun
