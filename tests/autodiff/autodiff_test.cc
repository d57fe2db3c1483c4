// Differentiate and AddGradients: fan-out, paths with their own optimizers, updates that later
// paths read, several processes, parameters that do not learn. Numbers are worked out by hand.
#include "src/autodiff/autodiff.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "src/kernels/kernel.h"
#include "src/ops/cast.h"
#include "src/ops/optimizer.h"
#include "src/ops/reduce.h"
#include "tests/support/interpreter.h"

namespace cgrun {
namespace {

TensorType F64(Shape shape) { return {DType::kF64, std::move(shape)}; }

HostTensor Numbers(const std::vector<double>& values) {
  return HostTensor::Of<double>({static_cast<int64_t>(values.size())}, values);
}

Attributes Sgd(double momentum = 0) {
  SgdAttributes attributes;
  attributes.momentum = momentum;
  return Attributes::Of(attributes);
}

// Builds a forward graph with one or more backprop paths over vectors of two numbers.
class AutodiffTest : public testing::Test {
 protected:
  ValueId Placeholder(const std::string& name, TensorType type, HostTensor value) {
    const ValueId id =
        builder_.AddSource(Role::kPlaceholder, Zone::kForward, std::move(type), name);
    sources_.emplace(id, std::move(value));
    return id;
  }

  ValueId Parameter(const std::string& name, const std::vector<double>& values) {
    const HostTensor value = Numbers(values);
    const ValueId id =
        builder_.AddSource(Role::kParameter, Zone::kForward, F64(value.shape()), name);
    graph_.parameters[id] = ParameterInfo();
    sources_.emplace(id, value);
    return id;
  }

  PathId AddPath(const std::string& name, double rate, OpId optimizer, Attributes attributes) {
    Path path;
    path.name = name;
    path.backprop = true;
    path.optimizer = optimizer;
    path.optimizer_attributes = std::move(attributes);
    path.learning_rate = Placeholder(name + ".lr", F64({}), HostTensor::Scalar<double>(rate));
    return graph_.paths.push_back(std::move(path));
  }

  ValueId Add(OpId op, std::vector<ValueId> inputs, const std::string& name, PathId path = PathId(),
              Attributes attributes = {}) {
    Builder::NodeOptions options;
    options.path = path;
    return builder_.AddNode(op, std::move(attributes), std::move(inputs), name, options)[0];
  }

  // loss = Σ of a vector.
  void SumLoss(PathId path, ValueId vector, std::vector<ValueId> trains) {
    graph_.paths[path].loss = Add(OpId::reduce_sum, {vector}, graph_.paths[path].name + ".loss",
                                  path, Attributes::Of(ReduceAttributes()));
    graph_.paths[path].trains = std::move(trains);
  }

  // Returns the graph with gradients, which is verified.
  Graph Differentiated(int processes = 1) {
    AutodiffOptions options;
    options.processes = processes;
    const Graph result = Differentiate(graph_, options);
    EXPECT_EQ(VerifyGraph(result), std::vector<std::string>());
    return result;
  }

  // Returns the numbers of `state` after one step.
  std::vector<double> Next(const Graph& graph, const std::string& state) {
    auto sources = sources_;
    for (const auto& [id, info] : graph.parameters) {  // optimizer state starts at 0
      const TensorType& type = graph.values[id].type;
      sources.try_emplace(id, HostTensor(type.dtype, type.shape));
    }
    const ValueId step = graph.FindValue(kStepCounter);
    if (step.valid()) sources.try_emplace(step, HostTensor::Scalar<int64_t>(0));
    const auto values = Interpret(graph, *FindKernelLibrary("reference"), sources);
    for (const UpdateEdge& edge : graph.updates) {
      if (graph.values[edge.state].name != state) continue;
      const HostTensor& next = values.at(edge.next);
      std::vector<double> numbers;
      for (int64_t i = 0; i < next.elements(); ++i) numbers.push_back(next.At(i));
      return numbers;
    }
    return {};
  }

  static int64_t Count(const Graph& graph, OpId op) {
    return std::count_if(graph.nodes.begin(), graph.nodes.end(),
                         [&](const Node& node) { return node.op == op; });
  }

  static const Node& NodeNamed(const Graph& graph, const std::string& name) {
    return *std::find_if(graph.nodes.begin(), graph.nodes.end(),
                         [&](const Node& node) { return node.name == name; });
  }

  Graph graph_;
  Builder builder_{graph_};
  std::map<ValueId, HostTensor> sources_;
};

// Path b reads what path a computed with w before a changed it, and w itself after.
TEST_F(AutodiffTest, ALaterPathLearnsThroughOldAndNewVersions) {
  const PathId a = AddPath("a", 0.5, OpId::sgd, Sgd());
  const ValueId w = Parameter("w", {1, 2});
  const ValueId x = Placeholder("x", F64({2}), Numbers({3, 4}));
  const ValueId h = Add(OpId::mul, {x, w}, "h", a);
  SumLoss(a, h, {w});
  const PathId b = AddPath("b", 0.25, OpId::sgd, Sgd());
  SumLoss(b, Add(OpId::mul, {h, w}, "y", b), {w});
  // Path a gives w' = w - 0.5·x. Path b has the loss Σ x·w·w', with the gradient x·w' + x·w.
  const double first = 1 - 0.5 * 3, second = 2 - 0.5 * 4;
  EXPECT_EQ(Next(Differentiated(), "w"),
            (std::vector<double>{first - 0.25 * (3 * first + 3 * 1),
                                 second - 0.25 * (4 * second + 4 * 2)}));
}

TEST_F(AutodiffTest, ParametersWithoutAGradientAreNamed) {
  const PathId path = AddPath("p", 0.5, OpId::sgd, Sgd());
  const ValueId w = Parameter("w", {1, 2});
  const ValueId cut = Parameter("cut", {1, 2});
  const ValueId unused = Parameter("unused", {1, 2});
  CastAttributes to_int;
  to_int.to = DType::kI32;
  CastAttributes back;
  back.to = DType::kF64;
  const ValueId whole = Add(OpId::cast, {cut}, "whole", path, Attributes::Of(to_int));
  const ValueId again = Add(OpId::cast, {whole}, "again", path, Attributes::Of(back));
  SumLoss(path, Add(OpId::mul, {w, again}, "y", path), {w, cut, unused});
  Diagnostics diagnostics;
  const Graph graph = Differentiate(graph_, {}, &diagnostics);
  EXPECT_EQ(graph.updates.size(), 1u);
  EXPECT_FALSE(diagnostics.has_errors());
  const std::string text = diagnostics.ToString();
  EXPECT_NE(text.find("the loss of path 'p' gives cut no gradient"), std::string::npos) << text;
  EXPECT_NE(text.find("none flows through 'cast'"), std::string::npos) << text;
  EXPECT_NE(text.find("gives unused no gradient"), std::string::npos) << text;
  EXPECT_NE(text.find("the loss does not depend on it"), std::string::npos) << text;
  EXPECT_EQ(text.find("gives w no"), std::string::npos) << text;
}

TEST_F(AutodiffTest, ParametersOfOneOperatorWithoutAGradientAreNamedTogether) {
  const PathId path = AddPath("p", 0.5, OpId::sgd, Sgd());
  const ValueId w = Parameter("w", {1, 2});
  const ValueId weight = Parameter("p.spare.weight", {1, 2});
  const ValueId bias = Parameter("p.spare.bias", {1, 2});
  const ValueId other = Parameter("p.other.weight", {1, 2});
  SumLoss(path, Add(OpId::neg, {w}, "y", path), {w, weight, bias, other});
  Diagnostics diagnostics;
  Differentiate(graph_, {}, &diagnostics);
  const std::string text = diagnostics.ToString();
  EXPECT_NE(text.find("gives p.spare.weight and p.spare.bias no gradient"), std::string::npos)
      << text;
  EXPECT_NE(text.find("the loss does not depend on them"), std::string::npos) << text;
  EXPECT_NE(text.find("gives p.other.weight no gradient"), std::string::npos) << text;
}

// A later path reads what an update has made of `shared`; what else that update was made by is no
// way on which gradients could have come.
TEST_F(AutodiffTest, UpdatesAreNoWayForGradients) {
  const PathId first = AddPath("first", 0.5, OpId::sgd, Sgd());
  const PathId second = AddPath("second", 0.5, OpId::sgd, Sgd());
  const ValueId shared = Parameter("shared", {1, 2}), apart = Parameter("apart", {3, 4});
  SumLoss(first, Add(OpId::mul, {shared, apart}, "product", first), {shared, apart});
  SumLoss(second, Add(OpId::neg, {shared}, "minus", second), {shared, apart});
  Diagnostics diagnostics;
  Differentiate(graph_, {}, &diagnostics);
  const std::string text = diagnostics.ToString();
  EXPECT_NE(text.find("the loss of path 'second' gives apart no gradient"), std::string::npos)
      << text;
  EXPECT_NE(text.find("the loss does not depend on it"), std::string::npos) << text;
  EXPECT_EQ(text.find("none flows through"), std::string::npos) << text;
}

TEST_F(AutodiffTest, OneParameterLearns) {
  const PathId path = AddPath("p", 0.5, OpId::sgd, Sgd());
  const ValueId w = Parameter("w", {1, 2});
  const ValueId x = Placeholder("x", F64({2}), Numbers({3, 4}));
  SumLoss(path, Add(OpId::mul, {x, w}, "y", path), {w});
  const Graph graph = Differentiated();
  EXPECT_EQ(Next(graph, "w"), (std::vector<double>{1 - 0.5 * 3, 2 - 0.5 * 4}));
  ASSERT_EQ(graph.updates.size(), 1u);
  EXPECT_EQ(graph.updates[0].state, w);
  for (const Node& node : graph.nodes) {
    const bool forward = node.name == "y" || node.name == "p.loss";
    const Phase other = node.op == OpId::sgd ? Phase::kUpdate : Phase::kBackward;
    EXPECT_EQ(node.phase, forward ? Phase::kForward : other) << node.name;
    EXPECT_EQ(node.path, path);
  }
}

// w is read by three nodes, one of which reads it twice: the parts are added in that order.
TEST_F(AutodiffTest, FanOutIsAddedInTheOrderOfUses) {
  const PathId path = AddPath("p", 1, OpId::sgd, Sgd());
  const ValueId w = Parameter("w", {2, 3});
  const ValueId a = Add(OpId::exp, {w}, "a", path);
  const ValueId b = Add(OpId::mul, {w, w}, "b", path);
  const ValueId c = Add(OpId::neg, {w}, "c", path);
  // The uses come in another order in what follows: c, b, a.
  SumLoss(path, Add(OpId::add, {Add(OpId::add, {c, b}, "cb", path), a}, "cba", path), {w});
  const Graph graph = Differentiated();
  const Node& last = NodeNamed(graph, "w.grad_sum.3");
  const Node& middle = NodeNamed(graph, "w.grad_sum.2");
  const Node& first = NodeNamed(graph, "w.grad_sum");
  const auto name = [&](const Node& node, size_t i) { return graph.values[node.inputs[i]].name; };
  EXPECT_EQ(name(first, 0), "a.dx");
  EXPECT_EQ(name(first, 1), "b.da");
  EXPECT_EQ(name(middle, 0), "w.grad_sum");
  EXPECT_EQ(name(middle, 1), "b.db");
  EXPECT_EQ(name(last, 0), "w.grad_sum.2");
  EXPECT_EQ(name(last, 1), "c.dx");
  const std::vector<double> next = Next(graph, "w");
  ASSERT_EQ(next.size(), 2u);
  EXPECT_DOUBLE_EQ(next[0], 2 - (std::exp(2) + 2 + 2 - 1));
  EXPECT_DOUBLE_EQ(next[1], 3 - (std::exp(3) + 3 + 3 - 1));
}

TEST_F(AutodiffTest, PathsHaveTheirOwnOptimizers) {
  const PathId first = AddPath("first", 0.5, OpId::sgd, Sgd(0.9));
  const PathId second = AddPath("second", 0.1, OpId::adam, Attributes::Of(AdamAttributes()));
  const ValueId v = Parameter("v", {1, 1}), w = Parameter("w", {5, 6});
  const ValueId x = Placeholder("x", F64({2}), Numbers({3, -4}));
  SumLoss(first, Add(OpId::mul, {x, v}, "y", first), {v});
  SumLoss(second, Add(OpId::mul, {x, w}, "z", second), {w});
  const Graph graph = Differentiated();
  EXPECT_EQ(Count(graph, OpId::sgd), 1);
  EXPECT_EQ(Count(graph, OpId::adam), 1);
  EXPECT_EQ(Next(graph, "v"), (std::vector<double>{1 - 0.5 * 3, 1 + 0.5 * 4}));
  EXPECT_EQ(Next(graph, "v.momentum"), (std::vector<double>{3, -4}));
  const std::vector<double> next = Next(graph, "w");  // the first step of Adam has the size of lr
  EXPECT_NEAR(next.at(0), 5 - 0.1, 1e-8);
  EXPECT_NEAR(next.at(1), 6 + 0.1, 1e-8);
  EXPECT_NEAR(Next(graph, "w.m").at(0), 0.1 * 3, 1e-15);
  EXPECT_NEAR(Next(graph, "w.v").at(0), 0.001 * 9, 1e-15);
  // Optimizer state is state, starts at 0 and does not learn.
  const ValueId momentum = graph.FindValue("v.momentum");
  EXPECT_EQ(graph.values[momentum].role, Role::kOptimizerState);
  EXPECT_EQ(graph.values[momentum].zone, Zone::kOptimizer);
  EXPECT_EQ(graph.parameters.at(momentum).init, "zeros");
  EXPECT_FALSE(graph.parameters.at(momentum).trainable);
  // One counter of steps serves all.
  EXPECT_EQ(graph.values[graph.FindValue(kStepCounter)].type, (TensorType{DType::kI64, Shape()}));
  EXPECT_FALSE(graph.FindValue("step.2").valid());
}

// A loss does not change a parameter that its path does not train, though the loss depends on it.
TEST_F(AutodiffTest, PathsChangeOnlyWhatTheyTrain) {
  const PathId path = AddPath("p", 1, OpId::sgd, Sgd());
  const ValueId frozen = Parameter("frozen", {3, 4}), w = Parameter("w", {1, 2});
  SumLoss(path, Add(OpId::mul, {frozen, w}, "y", path), {w});
  const Graph graph = Differentiated();
  ASSERT_EQ(graph.updates.size(), 1u);
  EXPECT_EQ(graph.updates[0].state, w);
  EXPECT_EQ(Next(graph, "w"), (std::vector<double>{-2, -2}));
  EXPECT_EQ(Count(graph, OpId::mul), 2) << "y and one gradient: none of what is frozen";
}

TEST_F(AutodiffTest, UnusedParametersStayAsTheyAre) {
  const PathId path = AddPath("p", 1, OpId::sgd, Sgd());
  const ValueId unused = Parameter("unused", {3, 4}), w = Parameter("w", {1, 2});
  SumLoss(path, Add(OpId::neg, {w}, "y", path), {unused, w});
  const Graph graph = Differentiated();
  ASSERT_EQ(graph.updates.size(), 1u);
  EXPECT_EQ(graph.updates[0].state, w);
}

// The second path reads w after the first has changed it, and changes it once more.
TEST_F(AutodiffTest, LaterPathsReadUpdatedParameters) {
  const PathId first = AddPath("first", 1, OpId::sgd, Sgd());
  const PathId second = AddPath("second", 1, OpId::sgd, Sgd());
  const ValueId w = Parameter("w", {5, 7});
  SumLoss(first, w, {w});                                          // gradient 1
  SumLoss(second, Add(OpId::mul, {w, w}, "square", second), {w});  // gradient 2w
  const Graph graph = Differentiated();
  ASSERT_EQ(graph.updates.size(), 1u) << "one edge from w to its last value";
  // 5 − 1 = 4, then 4 − 8 = −4; 7 − 1 = 6, then 6 − 12 = −6.
  EXPECT_EQ(Next(graph, "w"), (std::vector<double>{-4, -6}));
  EXPECT_EQ(graph.values[NodeNamed(graph, "square").inputs[0]].name, "w.sgd");
  EXPECT_EQ(NodeNamed(graph, "first.loss").inputs[0], w);
}

// As in a GAN: a path that trains nothing of an earlier path still reads its new values.
TEST_F(AutodiffTest, ForwardPathsAfterAnUpdateReadIt) {
  const PathId first = AddPath("first", 1, OpId::sgd, Sgd());
  const PathId watch = graph_.paths.push_back(Path());
  const ValueId w = Parameter("w", {5, 7});
  SumLoss(first, w, {w});
  Add(OpId::neg, {w}, "seen", watch);
  const Graph graph = Differentiated();
  EXPECT_EQ(graph.values[NodeNamed(graph, "seen").inputs[0]].name, "w.sgd");
}

TEST_F(AutodiffTest, TwoPathsWithMomentumKeepTwoStates) {
  const PathId first = AddPath("first", 1, OpId::sgd, Sgd(0.5));
  const PathId second = AddPath("second", 1, OpId::sgd, Sgd(0.5));
  const ValueId w = Parameter("w", {5, 7});
  SumLoss(first, w, {w});
  SumLoss(second, Add(OpId::neg, {w}, "minus", second), {w});
  const Graph graph = Differentiated();
  EXPECT_EQ(graph.updates.size(), 3u);
  EXPECT_EQ(Next(graph, "w.momentum"), (std::vector<double>{1, 1}));
  EXPECT_EQ(Next(graph, "w.momentum.second"), (std::vector<double>{-1, -1}));
}

TEST_F(AutodiffTest, ProcessesShareTheMeanOfTheirGradients) {
  const PathId path = AddPath("p", 1, OpId::sgd, Sgd());
  const ValueId w = Parameter("w", {1, 2}), v = Parameter("v", {1, 1});
  const ValueId x = Placeholder("x", F64({2}), Numbers({3, 4}));
  const ValueId y = Add(OpId::mul, {Add(OpId::mul, {x, w}, "xw", path), v}, "y", path);
  SumLoss(path, y, {w, v});
  EXPECT_EQ(Count(Differentiated(), OpId::all_reduce), 0);
  const Graph graph = Differentiated(2);
  EXPECT_EQ(Count(graph, OpId::all_reduce), 2) << "one a parameter";
  for (const Node& node : graph.nodes) {
    EXPECT_EQ(node.phase == Phase::kCommunication,
              node.op == OpId::all_reduce || node.op == OpId::div)
        << node.name;
    if (node.op != OpId::sgd) continue;
    const Node& mean = graph.nodes[graph.values[node.inputs[1]].producer];
    ASSERT_EQ(mean.op, OpId::div);
    EXPECT_EQ(graph.constants.at(mean.inputs[1]).At(0), 2);
    EXPECT_EQ(graph.nodes[graph.values[mean.inputs[0]].producer].op, OpId::all_reduce);
  }
  // Run as one process, the sum is its own part: half a gradient.
  EXPECT_EQ(Next(graph, "w"), (std::vector<double>{1 - 1.5, 2 - 2}));
}

TEST_F(AutodiffTest, ParametersBringTheirOwnRateAndRegularisation) {
  const PathId path = AddPath("p", 0.1, OpId::sgd, Sgd());
  const ValueId w = Parameter("w", {1, -2});
  graph_.parameters[w].learning_rate_scale = 2;
  graph_.parameters[w].l1 = 0.5;
  graph_.parameters[w].l2 = 0.25;
  SumLoss(path, w, {w});
  const std::vector<double> next = Next(Differentiated(), "w");
  ASSERT_EQ(next.size(), 2u);
  EXPECT_DOUBLE_EQ(next[0], 1 - 0.2 * (1 + 0.25 + 0.5));
  EXPECT_DOUBLE_EQ(next[1], -2 - 0.2 * (1 - 0.5 - 0.5));
}

TEST_F(AutodiffTest, ForwardPathsOwnNoGradients) {
  Path path;
  path.name = "watch";
  const PathId id = graph_.paths.push_back(path);
  const ValueId w = Parameter("w", {1, 2});
  SumLoss(id, w, {w});
  const Graph graph = Differentiated();
  EXPECT_EQ(graph.nodes.size(), graph_.nodes.size());
  EXPECT_TRUE(graph.updates.empty());
}

TEST_F(AutodiffTest, GradientsStopWhereNoneFlows) {
  const PathId path = AddPath("p", 1, OpId::sgd, Sgd());
  const ValueId w = Parameter("w", {1.5, 2.5});
  const ValueId cut =
      Add(OpId::cast, {w}, "cut", path, Attributes::Of(CastAttributes{DType::kI32}));
  const ValueId back =
      Add(OpId::cast, {cut}, "back", path, Attributes::Of(CastAttributes{DType::kF64}));
  SumLoss(path, Add(OpId::mul, {back, w}, "y", path), {w});
  // The factor from the integers is a constant: 1 and 2.
  EXPECT_EQ(Next(Differentiated(), "w"), (std::vector<double>{0.5, 0.5}));
}

TEST_F(AutodiffTest, GradientsPassThroughOtherFloatTypes) {
  const PathId path = AddPath("p", 1, OpId::sgd, Sgd());
  const ValueId w = Parameter("w", {1.5, 2.5});
  const ValueId narrow =
      Add(OpId::cast, {w}, "narrow", path, Attributes::Of(CastAttributes{DType::kF32}));
  SumLoss(path, Add(OpId::mul, {narrow, narrow}, "y", path), {w});
  EXPECT_EQ(Next(Differentiated(), "w"), (std::vector<double>{-1.5, -2.5}));
}

TEST_F(AutodiffTest, AddGradientsReturnsOnlyWhatDepends) {
  const ValueId a = Parameter("a", {1, 2}), b = Parameter("b", {3, 4});
  const ValueId y = Add(OpId::exp, {a}, "y");
  const ValueId seed = builder_.AddConstant(Numbers({1, 1}), "seed");
  const auto gradients = AddGradients(builder_, {{y, seed}}, {a, b}, PathId());
  EXPECT_TRUE(gradients.contains(a));
  EXPECT_FALSE(gradients.contains(b));
}

// A seed of a wanted value is a part of its gradient, and comes last.
TEST_F(AutodiffTest, SeedsAddToWhatFlows) {
  const ValueId a = Parameter("a", {1, 2});
  const ValueId y = Add(OpId::neg, {a}, "y");
  const ValueId of_y = builder_.AddConstant(Numbers({10, 20}), "of_y");
  const ValueId of_a = builder_.AddConstant(Numbers({1, 2}), "of_a");
  const auto gradients = AddGradients(builder_, {{a, of_a}, {y, of_y}}, {a}, PathId());
  const ValueId sum = gradients.at(a);
  const Node& node = graph_.nodes[graph_.values[sum].producer];
  EXPECT_EQ(graph_.values[node.inputs[0]].name, "y.dx");
  EXPECT_EQ(node.inputs[1], of_a);
  const auto values = Interpret(graph_, *FindKernelLibrary("reference"), sources_);
  EXPECT_EQ(values.at(sum), Numbers({-9, -18}));
}

TEST_F(AutodiffTest, TheGraphGivenIsNotChanged) {
  const PathId path = AddPath("p", 1, OpId::sgd, Sgd());
  const ValueId w = Parameter("w", {1, 2});
  SumLoss(path, Add(OpId::exp, {w}, "y", path), {w});
  const std::string before = ToString(graph_);
  const std::string once = ToString(Differentiated()), twice = ToString(Differentiated());
  EXPECT_EQ(ToString(graph_), before);
  EXPECT_NE(once, before);
  EXPECT_EQ(once, twice);
}

TEST_F(AutodiffTest, ABackpropPathWithoutAnOptimizerIsABug) {
  const PathId path = AddPath("p", 1, OpId::sgd, Sgd());
  graph_.paths[path].optimizer.reset();
  const ValueId w = Parameter("w", {1, 2});
  SumLoss(path, w, {w});
  EXPECT_DEATH(Differentiate(graph_), "has no optimizer");
}

TEST_F(AutodiffTest, ALossThatIsNoScalarIsABug) {
  const PathId path = AddPath("p", 1, OpId::sgd, Sgd());
  const ValueId w = Parameter("w", {1, 2});
  graph_.paths[path].loss = w;
  EXPECT_DEATH(Differentiate(graph_), "the loss is no scalar");
}

}  // namespace
}  // namespace cgrun
