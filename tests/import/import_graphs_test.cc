// Imports constants as values, inputs without a batch, branches, loops and functions; and folds
// what is constant.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "src/onnx/write.h"
#include "tests/import/imported_model.h"
#include "tests/import/model_parts.h"
#include "tests/io/test_files.h"

namespace cgrun {
namespace {

using Feeds = std::map<std::string, HostTensor>;

onnx::Attribute Body(const std::string& name, onnx::Graph graph) {
  onnx::Attribute attribute;
  attribute.name = name;
  attribute.type = onnx::AttributeType::kGraph;
  attribute.g = std::move(graph);
  return attribute;
}

HostTensor Tensor(Shape shape, const Floats& values) {
  return HostTensor::Of(std::move(shape), values);
}

Floats ValuesOf(const HostTensor& tensor) {
  Floats values;
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    values.push_back(static_cast<float>(tensor.At(i)));
  }
  return values;
}

class ImportGraphsTest : public testing::Test {
 protected:
  ImportedModel Import(onnx::Graph graph, const ImportOptions& options = {}) {
    return ImportModel(ModelOf(std::move(graph)), options);
  }
  ImportedModel ImportModel(const onnx::Model& model, const ImportOptions& options = {}) {
    const std::string path = folder_.path() + "/m.onnx";
    file_.reset();
    onnx::WriteModel(path, model);
    file_.emplace(path);
    return ImportOnnx(*file_, options);
  }
  std::string Refusal(const onnx::Model& model, const ImportOptions& options = {}) {
    try {
      ImportModel(model, options);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }
  std::string Refusal(onnx::Graph graph, const ImportOptions& options = {}) {
    return Refusal(ModelOf(std::move(graph)), options);
  }
  HostTensor Run(const ImportedModel& model, const Feeds& feeds, int64_t batch = 1) {
    return Predict(model, *file_, feeds, batch).at(0);
  }

  TempFolder folder_;
  std::optional<onnx::OnnxFile> file_;
};

// x [N, 2, 2] by [2, 1], and by the same constant again: it is written once.
onnx::Graph Scaled() {
  onnx::Graph graph;
  graph.inputs = {ValueOf("x", {0, 2, 2})};
  graph.outputs = {ValueOf("y", {0, 2, 2})};
  graph.initializers = {FloatsOf("scale", {2, 1}, {2, -3})};
  graph.nodes = {NodeOf("Mul", {"x", "scale"}, "m"), NodeOf("Div", {"scale", "m"}, "y")};
  return graph;
}

TEST_F(ImportGraphsTest, AConstantOfSeveralElementsIsAnOperand) {
  const ImportedModel model = Import(Scaled());
  EXPECT_EQ(ToYaml(model.tree), R"(cgrun: 1
inputs:
  x: {type: f32, shape: [2, 2]}
paths:
  predict:
    mode: forward
    ops:
      - scale: {op: parameter, shape: [2, 1], frozen: true}
      - Mul_of_m: {op: mul, in: [x, scale]}
      - y: {op: div, in: [scale, Mul_of_m]}
    out: y
)");
  ASSERT_EQ(model.weights.size(), 1u);
  EXPECT_EQ(model.weights[0].name, "predict.scale.value");
  const HostTensor y = Run(model, {{"x", Tensor({2, 2, 2}, {1, 2, 4, 8, 1, 1, 1, 1})}}, 2);
  EXPECT_EQ(ValuesOf(y), (Floats{1, 0.5f, 0.25f, 0.125f, 1, 1, 1, 1}));
}

TEST_F(ImportGraphsTest, AConstantOutputIsAValue) {
  onnx::Graph graph = Scaled();
  graph.outputs.push_back(ValueOf("scale", {2, 1}));
  const ImportedModel model = Import(graph);
  const auto outputs = Predict(model, *file_, {{"x", Tensor({1, 2, 2}, {1, 1, 1, 1})}}, 1);
  EXPECT_EQ(ValuesOf(outputs.at(1)), (Floats{2, -3}));
}

// y is x transposed, so that the batch moves.
onnx::Graph Turned(std::vector<int64_t> sizes) {
  onnx::Graph graph;
  graph.inputs = {ValueOf("x", sizes)};
  graph.outputs = {ValueOf("y", {sizes[1], sizes[0]})};
  graph.nodes = {NodeOf("Transpose", {"x"}, "y")};
  return graph;
}

TEST_F(ImportGraphsTest, AModelThatMovesTheBatchIsImportedWithoutOne) {
  const ImportedModel model = Import(Turned({2, 3}));
  EXPECT_FALSE(model.has_batch);
  EXPECT_NE(ToYaml(model.tree).find("x: {type: f32, shape: [2, 3], batch: false}"),
            std::string::npos);
  ASSERT_FALSE(model.bound.empty());
  EXPECT_TRUE(model.bound[0].starts_with("no input has a batch, because with one, "));
  EXPECT_EQ(ValuesOf(Run(model, {{"x", Tensor({2, 3}, {1, 2, 3, 4, 5, 6})}})),
            (Floats{1, 4, 2, 5, 3, 6}));
}

TEST_F(ImportGraphsTest, WithoutASizeOfTheBatchTheFirstErrorIsSaid) {
  EXPECT_NE(Refusal(Turned({0, 3})).find("the batch is not the first axis"), std::string::npos);
  EXPECT_NE(ErrorOf([&] {
              Import(Turned({0, 3}));
            }).find("if it is the batch that is in the way, give each a size: `--dim batch=N`"),
            std::string::npos);
  const ImportedModel model = Import(Turned({0, 3}), {.dims = {{"batch", 2}}, .constants = {}});
  EXPECT_FALSE(model.has_batch);
}

// An exporter's initial state of an LSTM is zeros for each sample.
TEST_F(ImportGraphsTest, ZerosForEachSampleAreMadeWhenTheModelRuns) {
  onnx::Graph graph;
  graph.inputs = {ValueOf("x", {0, 2})};
  graph.outputs = {ValueOf("y", {0, 2})};
  graph.nodes = {NodeOf("Shape", {"x"}, "shape"), NodeOf("ConstantOfShape", {"shape"}, "zeros"),
                 NodeOf("Add", {"x", "zeros"}, "y")};
  const ImportedModel model = Import(graph);
  EXPECT_TRUE(model.has_batch);
  EXPECT_EQ(ValuesOf(Run(model, {{"x", Tensor({2, 2}, {1, 2, 3, 4})}}, 2)), (Floats{1, 2, 3, 4}));
  // Elsewhere than in front the batch needs a size.
  graph.initializers = {IntegersOf("turned", {1, 0})};
  graph.nodes = {NodeOf("Shape", {"x"}, "shape"), NodeOf("Gather", {"shape", "turned"}, "columns"),
                 NodeOf("ConstantOfShape", {"columns"}, "zeros"),
                 NodeOf("Transpose", {"zeros"}, "rows"), NodeOf("Add", {"x", "rows"}, "y")};
  EXPECT_NE(Refusal(graph).find("needs constant inputs, and these depend on the batch"),
            std::string::npos);
  EXPECT_FALSE(Import(graph, {.dims = {{"batch", 2}}, .constants = {}}).has_batch);
}

TEST_F(ImportGraphsTest, AScalarInputHasNoBatch) {
  onnx::Graph graph;
  graph.inputs = {ValueOf("x", {0, 2}), ValueOf("by", {})};
  graph.outputs = {ValueOf("y", {0, 2})};
  graph.nodes = {NodeOf("Mul", {"x", "by"}, "y")};
  const ImportedModel model = Import(graph);
  EXPECT_TRUE(model.has_batch);
  const HostTensor y =
      Run(model, {{"x", Tensor({2, 2}, {1, 2, 3, 4})}, {"by", Tensor({}, {3})}}, 2);
  EXPECT_EQ(ValuesOf(y), (Floats{3, 6, 9, 12}));
}

TEST_F(ImportGraphsTest, AnInputIsMadeConstant) {
  onnx::Graph graph;
  graph.inputs = {ValueOf("x", {0, 2}), ValueOf("by", {2})};
  graph.outputs = {ValueOf("y", {0, 2})};
  graph.nodes = {NodeOf("Mul", {"x", "by"}, "y")};
  const ImportedModel model = Import(graph, {.dims = {}, .constants = {{"by", {"[2, 5]"}}}});
  EXPECT_EQ(ValuesOf(Run(model, {{"x", Tensor({1, 2}, {1, 2})}})), (Floats{2, 10}));
  const auto refusal = [&](const std::string& name, const std::string& text) {
    return Refusal(graph, {.dims = {}, .constants = {{name, {text}}}});
  };
  EXPECT_NE(refusal("by", "two").find("input 'by' is f32, and `--const` gives it 'two'"),
            std::string::npos);
  EXPECT_NE(refusal("by", "[1, 2, 3]").find("input 'by'"), std::string::npos);
  EXPECT_NE(refusal("bye", "1").find("has no input 'bye' for `--const`"), std::string::npos);
}

// y = x + Transpose(Sqrt([[4, 9]])): the second operand is known.
TEST_F(ImportGraphsTest, WhatIsConstantIsComputed) {
  onnx::Graph graph;
  graph.inputs = {ValueOf("x", {0, 2, 1})};
  graph.outputs = {ValueOf("y", {0, 2, 1})};
  graph.initializers = {FloatsOf("c", {1, 2}, {4, 9})};
  graph.nodes = {NodeOf("Sqrt", {"c"}, "r"), NodeOf("Transpose", {"r"}, "t"),
                 NodeOf("Mul", {"x", "t"}, "y")};
  const ImportedModel model = Import(graph);
  EXPECT_EQ(model.folded.size(), 2u);
  EXPECT_EQ(model.items, 2u);
  EXPECT_EQ(ValuesOf(Run(model, {{"x", Tensor({1, 2, 1}, {1, 1})}})), (Floats{2, 3}));
}

// A file of about 150 bytes that asks for 288 MB, and one that asks for more than there is.
TEST_F(ImportGraphsTest, FoldingTakesNoMoreThanItsBudget) {
  for (const int64_t side : {int64_t{6000}, int64_t{1} << 40}) {
    onnx::Graph graph;
    graph.inputs = {ValueOf("x", {0, 1})};
    graph.outputs = {ValueOf("y", {0, 1})};
    graph.initializers = {IntegersOf("shape", {side, 12000})};
    graph.nodes = {NodeOf("ConstantOfShape", {"shape"}, "c"), NodeOf("Add", {"x", "c"}, "y")};
    const std::string refusal = Refusal(graph);
    EXPECT_NE(refusal.find("node 'ConstantOfShape_of_c' (ConstantOfShape): would make"),
              std::string::npos)
        << refusal;
  }
}

onnx::Graph BranchOf(const std::string& op, const std::string& output) {
  onnx::Graph branch;
  branch.outputs = {ValueOf(output, {0, 2})};
  branch.initializers = {FloatsOf("w", {2}, {10, 20})};
  branch.nodes = {NodeOf(op, {"x", "w"}, output)};
  return branch;
}

// The branches read x of the graph around them, and have a weight of one name.
onnx::Graph Branching(const std::string& condition) {
  onnx::Graph graph;
  graph.inputs = {ValueOf("x", {0, 2}), ValueOf("flag", {})};
  graph.outputs = {ValueOf("y", {0, 2})};
  graph.initializers = {IntegersOf("yes", {1}, true)};
  graph.nodes = {NodeOf(
      "If", {condition}, "y",
      {Body("then_branch", BranchOf("Add", "a")), Body("else_branch", BranchOf("Mul", "b"))})};
  return graph;
}

TEST_F(ImportGraphsTest, ABranchIsTakenByAConstantCondition) {
  const Feeds feeds = {{"x", Tensor({1, 2}, {1, 2})}, {"flag", Tensor({}, {0})}};
  EXPECT_EQ(ValuesOf(Run(Import(Branching("yes")), feeds)), (Floats{11, 22}));
  const ImportOptions off{.dims = {}, .constants = {{"flag", {"0"}}}};
  EXPECT_EQ(ValuesOf(Run(Import(Branching("flag"), off), feeds)), (Floats{10, 40}));
  const std::string refusal = Refusal(Branching("flag"));
  EXPECT_NE(refusal.find("node 'If_of_y' (If): its condition 'flag' is not known"),
            std::string::npos)
      << refusal;
}

// carried = 2·carried + x, `count` times; its values are stacked, too.
onnx::Graph Looping(int64_t count) {
  onnx::Graph body;
  body.inputs = {ValueOf("i", {}), ValueOf("go", {}), ValueOf("before", {2})};
  body.outputs = {ValueOf("go_on", {}), ValueOf("after", {2}), ValueOf("row", {2})};
  body.nodes = {NodeOf("Identity", {"go"}, "go_on"), NodeOf("Add", {"before", "before"}, "twice"),
                NodeOf("Add", {"twice", "x"}, "after"), NodeOf("Identity", {"after"}, "row")};
  onnx::Graph graph;
  graph.inputs = {ValueOf("x", {2})};
  graph.outputs = {ValueOf("rows", {count, 2})};
  graph.initializers = {IntegersOf("count", {count}, true)};
  onnx::Node loop = NodeOf("Loop", {"count", "", "x"}, "last", {Body("body", body)});
  loop.outputs.push_back("rows");
  graph.nodes = {loop};
  return graph;
}

TEST_F(ImportGraphsTest, ALoopIsUnrolled) {
  const HostTensor rows = Run(Import(Looping(3)), {{"x", Tensor({2}, {1, -1})}});
  EXPECT_EQ(rows.shape(), (Shape{3, 2}));
  EXPECT_EQ(ValuesOf(rows), (Floats{3, -3, 7, -7, 15, -15}));
  EXPECT_NE(Refusal(Looping(1025)).find("has more than 1,024 iterations"), std::string::npos);
}

// The function is LeakyRelu with the slope `by`. It is called twice.
TEST_F(ImportGraphsTest, AFunctionIsInlined) {
  onnx::Function function;
  function.domain = "local";
  function.name = "Leak";
  function.inputs = {"a"};
  function.outputs = {"b"};
  function.attributes = {"by"};
  onnx::Attribute slope;
  slope.name = "alpha";
  slope.ref_attr_name = "by";
  slope.type = onnx::AttributeType::kFloat;
  function.nodes = {NodeOf("LeakyRelu", {"a"}, "b", {slope})};
  onnx::OperatorSet standard, local;
  standard.version = 17;
  local.domain = "local";
  local.version = 1;
  function.opset_imports = {standard};
  onnx::Attribute by;
  by.name = "by";
  by.type = onnx::AttributeType::kFloat;
  by.f = 0.5f;
  onnx::Graph graph;
  graph.inputs = {ValueOf("x", {0, 2})};
  graph.outputs = {ValueOf("y", {0, 2})};
  graph.nodes = {NodeOf("Leak", {"x"}, "once", {by}), NodeOf("Leak", {"once"}, "y", {by})};
  for (onnx::Node& node : graph.nodes) node.domain = "local";
  onnx::Model model = ModelOf(graph);
  model.functions = {function};
  model.opset_imports.push_back(local);
  EXPECT_EQ(ValuesOf(Run(ImportModel(model), {{"x", Tensor({1, 2}, {4, -4})}})), (Floats{4, -1}));
  model.functions[0].nodes[0] = NodeOf("Leak", {"a"}, "b", {by});
  model.functions[0].nodes[0].domain = "local";
  EXPECT_NE(Refusal(model).find("more than 64 graphs and functions"), std::string::npos);
}

// Two steps of one number: h₁ = tanh(x₁·w + b), h₂ = tanh(x₂·w + b + h₁·r). The batch is in the
// middle, and stays open.
TEST_F(ImportGraphsTest, StepsOfASequenceAreUnrolled) {
  onnx::Graph graph;
  graph.inputs = {ValueOf("x", {0, 2, 1})};
  graph.outputs = {ValueOf("h", {0, 2, 1, 1})};
  graph.initializers = {FloatsOf("w", {1, 1, 1}, {0.5f}), FloatsOf("r", {1, 1, 1}, {2}),
                        FloatsOf("b", {1, 2}, {0.25f, -0.125f})};
  graph.nodes = {NodeOf("Transpose", {"x"}, "t", {Ints("perm", {1, 0, 2})}),
                 NodeOf("RNN", {"t", "w", "r", "b"}, "y", {Int("hidden_size", 1)}),
                 NodeOf("Transpose", {"y"}, "h", {Ints("perm", {2, 0, 1, 3})})};
  const ImportedModel model = Import(graph);
  EXPECT_TRUE(model.has_batch);
  const Floats x = {1, -1, 0.5f, 3};
  const HostTensor h = Run(model, {{"x", Tensor({2, 2, 1}, x)}}, 2);
  ASSERT_EQ(h.shape(), (Shape{2, 2, 1, 1}));
  for (int64_t n = 0; n < 2; ++n) {
    const auto at = [&](int64_t step) {
      return static_cast<double>(x[static_cast<size_t>(2 * n + step)]) * 0.5 + 0.125;
    };
    const double first = std::tanh(at(0));
    EXPECT_NEAR(h.At(2 * n), first, 1e-6);
    EXPECT_NEAR(h.At(2 * n + 1), std::tanh(at(1) + 2 * first), 1e-6);
  }
}

TEST_F(ImportGraphsTest, OperatorsOfOnnxRuntimeAreKnown) {
  onnx::Graph graph;
  graph.inputs = {ValueOf("x", {0, 2})};
  graph.outputs = {ValueOf("y", {0, 2})};
  graph.initializers = {FloatsOf("scale", {2}, {1, 2})};
  graph.nodes = {NodeOf("SimplifiedLayerNormalization", {"x", "scale"}, "n"),
                 NodeOf("QuickGelu", {"n"}, "y")};
  graph.nodes[1].domain = "com.microsoft";
  const HostTensor y = Run(Import(graph), {{"x", Tensor({1, 2}, {3, 4})}});
  const double root = std::sqrt(12.5 + 1e-5);
  for (int64_t i = 0; i < 2; ++i) {
    const double n = static_cast<double>(i == 0 ? 3 : 8) / root;
    EXPECT_NEAR(y.At(i), n / (1 + std::exp(-1.702 * n)), 1e-5);
  }
}

}  // namespace
}  // namespace cgrun
