// KeepActivationsInBF16: which values become bf16, where casts stand, and that gradients flow
// through them to parameters in f32.
#include "src/autodiff/mixed_precision.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "src/autodiff/autodiff.h"
#include "src/kernels/kernel.h"
#include "src/ops/embedding.h"
#include "src/ops/linear.h"
#include "src/ops/reduce.h"
#include "src/ops/softmax.h"
#include "tests/support/interpreter.h"

namespace cgrun {
namespace {

TensorType F32(Shape shape) { return {DType::kF32, std::move(shape)}; }

class MixedPrecisionTest : public testing::Test {
 protected:
  ValueId Source(Role role, const std::string& name, TensorType type) {
    const ValueId id = builder_.AddSource(role, Zone::kForward, std::move(type), name);
    if (role == Role::kParameter) graph_.parameters[id] = ParameterInfo();
    return id;
  }

  ValueId Add(OpId op, std::vector<ValueId> inputs, const std::string& name,
              Attributes attributes = {}) {
    return builder_.AddNode(op, std::move(attributes), std::move(inputs), name, {})[0];
  }

  ValueId Linear(ValueId x, ValueId weight, const std::string& name) {
    return Add(OpId::linear, {x, weight}, name, Attributes::Of(LinearAttributes{3, false}));
  }

  static Graph Rewritten(const Graph& graph) {
    Graph result = KeepActivationsInBF16(graph);
    EXPECT_EQ(VerifyGraph(result), std::vector<std::string>());
    return result;
  }

  static DType TypeOf(const Graph& graph, ValueId id) { return graph.values[id].type.dtype; }

  static int64_t Casts(const Graph& graph, DType to) {
    return std::ranges::count_if(graph.nodes, [&](const Node& node) {
      return node.op == OpId::cast && TypeOf(graph, node.outputs[0]) == to;
    });
  }

  Graph graph_;
  Builder builder_{graph_};
};

TEST_F(MixedPrecisionTest, EachOperatorTakesPartAsItDeclares) {
  const ValueId x = Source(Role::kPlaceholder, "x", F32({2, 3}));
  const ValueId w = Source(Role::kParameter, "w", F32({3, 3}));
  const ValueId raw = Add(OpId::relu, {x}, "raw");                // follows f32
  const ValueId product = Linear(raw, w, "product");              // always
  const ValueId activation = Add(OpId::relu, {product}, "relu");  // follows bf16
  const ValueId soft =
      Add(OpId::softmax, {activation}, "soft", Attributes::Of(SoftmaxAttributes{1}));  // never
  const ValueId mixed =
      Add(OpId::add, {soft, activation}, "mixed");  // follows f32, where both meet
  const ValueId scale = Source(Role::kParameter, "scale", F32({3}));
  const ValueId scaled = Add(OpId::mul, {activation, scale}, "scaled");  // parameters follow
  graph_.outputs.push_back({scaled, OutputKind::kPrediction, "y", PathId()});
  const Graph graph = Rewritten(graph_);
  EXPECT_EQ(TypeOf(graph, raw), DType::kF32);
  EXPECT_EQ(TypeOf(graph, product), DType::kBF16);
  EXPECT_EQ(TypeOf(graph, activation), DType::kBF16);
  EXPECT_EQ(TypeOf(graph, soft), DType::kF32);
  EXPECT_EQ(TypeOf(graph, mixed), DType::kF32);
  EXPECT_EQ(TypeOf(graph, scaled), DType::kBF16);
  EXPECT_EQ(TypeOf(graph, w), DType::kF32);
  EXPECT_EQ(TypeOf(graph, graph.outputs[0].value), DType::kF32);
  EXPECT_EQ(Casts(graph, DType::kBF16), 3) << "raw, w and scale";
  EXPECT_EQ(Casts(graph, DType::kF32), 2) << "relu, for both readers, and the output";
}

TEST_F(MixedPrecisionTest, EveryUseOfAParameterHasACastOfItsOwn) {
  const ValueId x = Source(Role::kPlaceholder, "x", F32({2, 3}));
  const ValueId w = Source(Role::kParameter, "w", F32({3, 3}));
  Linear(Linear(x, w, "first"), w, "second");
  const Graph graph = Rewritten(graph_);
  EXPECT_EQ(Casts(graph, DType::kBF16), 3);
}

TEST_F(MixedPrecisionTest, TablesAreReadInF32AndTheResultRounded) {
  const ValueId index = Source(Role::kPlaceholder, "index", {DType::kI32, {2}});
  const ValueId table = Source(Role::kParameter, "table", F32({5, 3}));
  const ValueId read =
      Add(OpId::embedding, {index, table}, "read", Attributes::Of(EmbeddingAttributes{5, 3}));
  const ValueId activation = Add(OpId::relu, {read}, "relu");
  const Graph graph = Rewritten(graph_);
  EXPECT_EQ(TypeOf(graph, read), DType::kF32);
  EXPECT_EQ(TypeOf(graph, activation), DType::kBF16);
  EXPECT_EQ(Casts(graph, DType::kBF16), 1);
}

TEST_F(MixedPrecisionTest, WhatIsF64StaysSo) {
  const ValueId x = Source(Role::kPlaceholder, "x", {DType::kF64, {2, 3}});
  const ValueId w = Source(Role::kParameter, "w", {DType::kF64, {3, 3}});
  const ValueId product = Linear(x, w, "product");
  const Graph graph = Rewritten(graph_);
  EXPECT_EQ(TypeOf(graph, product), DType::kF64);
  EXPECT_EQ(graph.nodes.size(), 1u);
}

TEST_F(MixedPrecisionTest, GradientsFlowThroughCastsToParametersInF32) {
  const ValueId x = Source(Role::kPlaceholder, "x", F32({2, 3}));
  const ValueId w = Source(Role::kParameter, "w", F32({3, 3}));
  const ValueId hidden = Add(OpId::tanh, {Linear(x, w, "first")}, "hidden");
  const ValueId loss = Add(OpId::reduce_sum, {Linear(hidden, w, "second")}, "loss",
                           Attributes::Of(ReduceAttributes()));
  const PathId path = graph_.paths.push_back(Path());
  graph_.paths[path].loss = loss;
  const HostTensor numbers =
      HostTensor::Of<float>({3, 3}, {0.5F, -0.25F, 0.125F, 0.75F, 0.3F, -0.6F, 0.2F, 0.1F, -0.9F});
  const HostTensor sample = HostTensor::Of<float>({2, 3}, {1, -0.5F, 0.7F, 0.3F, 0.9F, -1.1F});
  std::vector<HostTensor> gradients;
  for (Graph graph : {graph_, Rewritten(graph_)}) {
    Builder builder(graph);
    HostTensor one(DType::kF32, Shape());
    one.Set(0, 1);
    const ValueId seed = builder.AddConstant(one, "seed");
    const ValueId of_loss = graph.paths[path].loss;
    const auto found = AddGradients(builder, {{of_loss, seed}}, {w}, path);
    const ValueId gradient = found.at(w);
    EXPECT_EQ(VerifyGraph(graph), std::vector<std::string>());
    EXPECT_EQ(TypeOf(graph, gradient), DType::kF32);
    const auto values =
        Interpret(graph, *FindKernelLibrary("reference"), {{x, sample}, {w, numbers}});
    gradients.push_back(values.at(gradient));
  }
  double difference = 0;
  for (int64_t i = 0; i < gradients[0].elements(); ++i) {
    EXPECT_GT(std::abs(gradients[0].At(i)), 0.05);
    EXPECT_NEAR(gradients[1].At(i), gradients[0].At(i), 0.03);
    difference += std::abs(gradients[1].At(i) - gradients[0].At(i));
  }
  EXPECT_GT(difference, 0) << "nothing is rounded";
}

}  // namespace
}  // namespace cgrun
