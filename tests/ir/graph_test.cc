// Tests the queries and edits of graphs: readers, order, compaction, binding, the listing.
#include "src/ir/graph.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "src/ir/builder.h"
#include "src/ops/reshape.h"

namespace cgrun {
namespace {

TensorType F32(Shape shape) { return {DType::kF32, std::move(shape)}; }

// w ← w − x·w; the product is an output too, and a dead relu hangs on x.
struct Small {
  Graph graph;
  ValueId x, w, product, difference, dead;

  Small() {
    graph.name = "small";
    Builder builder(graph);
    x = builder.AddSource(Role::kPlaceholder, Zone::kForward, F32({kBatchDim}), "x");
    w = builder.AddSource(Role::kParameter, Zone::kForward, F32({kBatchDim}), "w");
    dead = builder.AddNode(OpId::relu, Attributes(), {x}, "dead", {})[0];
    product = builder.AddNode(OpId::mul, Attributes(), {x, w}, "product", {})[0];
    Builder::NodeOptions update;
    update.phase = Phase::kUpdate;
    difference = builder.AddNode(OpId::sub, Attributes(), {w, product}, "difference", update)[0];
    graph.updates.push_back({w, difference});
    graph.outputs.push_back({product, OutputKind::kPrediction, "result", PathId()});
    graph.parameters[w] = ParameterInfo();
    Path path;
    path.trains = {w};
    path.loss = product;
    graph.paths.push_back(path);
  }
};

TEST(GraphTest, FindsValuesByName) {
  const Small small;
  EXPECT_EQ(small.graph.FindValue("product"), small.product);
  EXPECT_FALSE(small.graph.FindValue("prodcut").valid());
}

TEST(GraphTest, ReadersStandOnce) {
  Graph graph;
  Builder builder(graph);
  const ValueId x = builder.AddSource(Role::kPlaceholder, Zone::kForward, F32({2}), "x");
  builder.AddNode(OpId::mul, Attributes(), {x, x}, "square", {});
  const ValueId y = builder.AddNode(OpId::relu, Attributes(), {x}, "y", {})[0];
  const auto readers = Readers(graph);
  EXPECT_EQ(std::vector<NodeId>(readers[x].begin(), readers[x].end()),
            (std::vector<NodeId>{NodeId(0), NodeId(1)}));
  EXPECT_TRUE(readers[y].empty());
}

TEST(GraphTest, OrderPrefersTheOrderOfBuilding) {
  const Small small;
  EXPECT_EQ(TopologicalOrder(small.graph), (std::vector<NodeId>{NodeId(0), NodeId(1), NodeId(2)}));
}

TEST(GraphTest, OrderOfACycleIsABug) {
  Small small;
  small.graph.nodes[NodeId(1)].inputs[1] = small.difference;
  EXPECT_DEATH(TopologicalOrder(small.graph), "cycle");
}

// Nodes stand after what they read, however their ids are shuffled.
TEST(GraphTest, OrderIsTopological) {
  rc::check([] {
    Graph graph;
    Builder builder(graph);
    std::vector<ValueId> values = {
        builder.AddSource(Role::kPlaceholder, Zone::kForward, F32({2}), "x")};
    const int count = *rc::gen::inRange(1, 20);
    for (int i = 0; i < count; ++i) {
      const auto pick = [&] { return values[*rc::gen::inRange<size_t>(0, values.size())]; };
      values.push_back(builder.AddNode(OpId::add, Attributes(), {pick(), pick()}, "n", {})[0]);
    }
    for (int swaps = 0; swaps < count; ++swaps) {  // exchange two nodes' ids
      const NodeId a(*rc::gen::inRange(0, count)), b(*rc::gen::inRange(0, count));
      std::swap(graph.nodes[a], graph.nodes[b]);
      for (NodeId id : {a, b}) graph.values[graph.nodes[id].outputs[0]].producer = id;
    }
    RC_ASSERT(VerifyGraph(graph).empty());
    const std::vector<NodeId> order = TopologicalOrder(graph);
    RC_ASSERT(order.size() == graph.nodes.size());
    std::vector<bool> done(graph.nodes.size());
    for (NodeId id : order) {
      for (ValueId input : graph.nodes[id].inputs) {
        const NodeId producer = graph.values[input].producer;
        RC_ASSERT(!producer.valid() || done[static_cast<size_t>(producer.index)]);
      }
      done[static_cast<size_t>(id.index)] = true;
    }
  });
}

TEST(GraphTest, CompactRenumbersEverything) {
  Small small;
  Graph& graph = small.graph;
  IdVector<NodeId, bool> keep_node(graph.nodes.size(), true);
  IdVector<ValueId, bool> keep_value(graph.values.size(), true);
  keep_node[NodeId(0)] = false;
  keep_value[small.dead] = false;
  Compact(graph, keep_node, keep_value);
  EXPECT_EQ(VerifyGraph(graph), std::vector<std::string>());
  EXPECT_EQ(graph.nodes.size(), 2u);
  EXPECT_EQ(graph.values.size(), 4u);
  EXPECT_FALSE(graph.FindValue("dead").valid());
  const ValueId product = graph.FindValue("product");
  EXPECT_NE(product, small.product) << "nothing was renumbered";
  EXPECT_EQ(graph.outputs[0].value, product);
  EXPECT_EQ(graph.paths[PathId(0)].loss, product);
  EXPECT_EQ(graph.updates[0].next, graph.FindValue("difference"));
  EXPECT_TRUE(graph.parameters.contains(graph.FindValue("w")));
}

TEST(GraphTest, CompactDropsWhatBelongedToValuesThatGo) {
  Graph graph;
  Builder builder(graph);
  const ValueId w = builder.AddSource(Role::kParameter, Zone::kForward, F32({2}), "w");
  const ValueId c = builder.AddConstant(HostTensor::Scalar<float>(1), "c");
  const ValueId v = builder.AddSource(Role::kParameter, Zone::kForward, F32({2}), "v");
  graph.parameters[w] = ParameterInfo();
  graph.parameters[v] = ParameterInfo();
  Path path;
  path.trains = {w, v};
  graph.paths.push_back(path);
  IdVector<ValueId, bool> keep(3, true);
  keep[w] = false;
  keep[c] = false;
  Compact(graph, IdVector<NodeId, bool>(), keep);
  EXPECT_EQ(graph.values.size(), 1u);
  EXPECT_TRUE(graph.constants.empty());
  EXPECT_EQ(graph.parameters.size(), 1u);
  EXPECT_EQ(graph.paths[PathId(0)].trains, std::vector<ValueId>{graph.FindValue("v")});
}

TEST(GraphTest, BindBatchBindsShapesAndAttributes) {
  Graph graph;
  Builder builder(graph);
  const ValueId x = builder.AddSource(Role::kPlaceholder, Zone::kForward, F32({kBatchDim, 6}), "x");
  const Attributes shape = Attributes::Of(ReshapeAttributes{{kBatchDim, 2, -1}});
  const ValueId y = builder.AddNode(OpId::reshape, shape, {x}, "y", {})[0];
  const Graph bound = BindBatch(graph, 5);
  EXPECT_EQ(bound.values[y].type, F32({5, 2, 3}));
  EXPECT_EQ(bound.nodes[NodeId(0)].attributes.As<ReshapeAttributes>().shape, (Shape{5, 2, -1}));
  EXPECT_EQ(VerifyGraph(bound), std::vector<std::string>());
  EXPECT_EQ(bound.BytesOf(y), 5 * 6 * 4);
  EXPECT_EQ(graph.values[y].type, F32({kBatchDim, 2, 3})) << "the original changed";
}

TEST(GraphTest, BatchSizesBelowOneAreABug) { EXPECT_DEATH(BindBatch(Graph(), 0), "batch size 0"); }

TEST(GraphTest, ListingShowsSourcesNodesUpdatesOutputs) {
  const Small small;
  EXPECT_EQ(ToString(small.graph),
            "graph small\n"
            "  x: f32[N] (placeholder)\n"
            "  w: f32[N] (parameter)\n"
            "  dead: f32[N] = relu(x)\n"
            "  product: f32[N] = mul(x, w)\n"
            "  difference: f32[N] = sub(w, product) update\n"
            "  update w <- difference\n"
            "  output result = product\n");
}

TEST(GraphTest, ListingShowsKernelsAndBodies) {
  Small small;
  small.graph.nodes[NodeId(0)].kernel = KernelChoice{"reference.relu", 1, 64, {}, {}};
  Node& fused = small.graph.nodes[NodeId(1)];
  fused.op = OpId::fused;
  fused.body = {{OpId::mul, Attributes(), {0, 1}}, {OpId::relu, Attributes(), {-1}}};
  const std::string text = ToString(small.graph);
  EXPECT_NE(text.find("relu(x) @reference.relu workspace=64\n"), std::string::npos) << text;
  EXPECT_NE(text.find("= fused(x, w)\n      %0 = mul(input 0, input 1)\n      %1 = relu(%0)\n"),
            std::string::npos)
      << text;
}

TEST(GraphTest, StateLivesAcrossSteps) {
  for (Role role : {Role::kParameter, Role::kMasterWeight, Role::kOptimizerState,
                    Role::kRunningStatistic, Role::kRecurrentState}) {
    EXPECT_TRUE(IsState(role)) << Name(role);
  }
  for (Role role : {Role::kPlaceholder, Role::kConstant, Role::kIntermediate, Role::kGradient}) {
    EXPECT_FALSE(IsState(role)) << Name(role);
  }
}

TEST(GraphTest, RecurrentStateIsNotLearned) {
  Graph graph;
  Builder builder(graph);
  const TensorType type{DType::kF32, Shape{kBatchDim, 2}};
  const ValueId x = builder.AddSource(Role::kPlaceholder, Zone::kForward, type, "x");
  const ValueId h = builder.AddSource(Role::kRecurrentState, Zone::kForward, type, "h");
  const ValueId w = builder.AddSource(Role::kParameter, Zone::kForward, type, "w");
  const ValueId y = builder.AddNode(OpId::add, Attributes(), {x, h}, "y", {})[0];
  EXPECT_FALSE(graph.Learns());
  graph.updates.push_back({h, y});
  EXPECT_FALSE(graph.Learns());
  graph.updates.push_back({w, y});
  EXPECT_TRUE(graph.Learns());
  EXPECT_TRUE(VerifyGraph(graph).empty());
}

}  // namespace
}  // namespace cgrun
