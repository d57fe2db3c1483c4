// ONNX models are imported. An accepted one is a model file that the front end takes, whose weights
// have the bytes of their types. Folding never takes more than its budget: the size of the file and
// 64 MiB, so that a run of this test stays small.
#include <optional>

#include "src/base/check.h"
#include "src/frontend/frontend.h"
#include "src/import/import.h"
#include "src/model/model_file.h"
#include "src/onnx/onnx_file.h"
#include "src/onnx/write.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/import/model_parts.h"

namespace cgrun {
namespace {

void CheckImported(const ImportedModel& imported, onnx::OnnxFile& file) {
  const std::string text = ToYaml(imported.tree);
  Diagnostics diagnostics;
  const auto model = ParseModel({"imported.yaml", text}, {}, diagnostics);
  CGRUN_CHECK(model.has_value()) << diagnostics.ToString() << text;
  const FrontendOptions options{.kind = EntryKind::kPredict, .precision = PrecisionOf(*model)};
  const auto graph = BuildForward(*model, options, diagnostics);
  CGRUN_CHECK(graph.has_value()) << diagnostics.ToString() << text;
  for (const Weight& weight : imported.weights) {
    try {
      const onnx::TensorBytes bytes = BytesOf(weight, file);
      const int64_t wanted = weight.type.shape.Elements() * SizeOf(weight.type.dtype);
      CGRUN_CHECK(std::ssize(bytes.bytes()) == wanted) << weight.name;
    } catch (const UserError&) {  // its data do not fit its sizes
    }
  }
}

onnx::Attribute BodyOf(const std::string& name, onnx::Graph graph) {
  onnx::Attribute attribute;
  attribute.name = name;
  attribute.type = onnx::AttributeType::kGraph;
  attribute.g = std::move(graph);
  return attribute;
}

// Sizes that are computed, a constant of several elements, and what is made of sizes.
onnx::Graph Folded() {
  onnx::Graph graph;
  graph.inputs = {ValueOf("x", {0, 2, 4})};
  graph.outputs = {ValueOf("y", {0, 8})};
  graph.initializers = {FloatsOf("c", {2, 1}, {1, 2}), IntegersOf("first", {0}, true),
                        IntegersOf("axis", {0}), IntegersOf("rest", {8}),
                        IntegersOf("two", {2, 4})};
  graph.nodes = {NodeOf("ConstantOfShape", {"two"}, "zeros"),
                 NodeOf("Add", {"zeros", "c"}, "sum"),
                 NodeOf("Mul", {"x", "sum"}, "m"),
                 NodeOf("Shape", {"m"}, "shape"),
                 NodeOf("Gather", {"shape", "first"}, "count"),
                 NodeOf("Unsqueeze", {"count", "axis"}, "counts"),
                 NodeOf("Concat", {"counts", "rest"}, "sizes", {Int("axis", 0)}),
                 NodeOf("Reshape", {"m", "sizes"}, "y")};
  return graph;
}

// A branch and a loop, whose condition and count are constants.
onnx::Graph Flowing() {
  onnx::Graph branch;
  branch.outputs = {ValueOf("b", {2})};
  branch.nodes = {NodeOf("Relu", {"x"}, "b")};
  onnx::Graph body;
  body.inputs = {ValueOf("i", {}), ValueOf("go", {}), ValueOf("before", {2})};
  body.outputs = {ValueOf("go_on", {}), ValueOf("after", {2}), ValueOf("row", {2})};
  body.nodes = {NodeOf("Identity", {"go"}, "go_on"), NodeOf("Add", {"before", "x"}, "after"),
                NodeOf("Identity", {"after"}, "row")};
  onnx::Graph graph;
  graph.inputs = {ValueOf("x", {2})};
  graph.outputs = {ValueOf("rows", {3, 2}), ValueOf("taken", {2})};
  graph.initializers = {IntegersOf("count", {3}, true)};
  onnx::Node loop = NodeOf("Loop", {"count", "", "x"}, "last", {BodyOf("body", body)});
  loop.outputs.push_back("rows");
  graph.nodes = {loop, NodeOf("If", {"count"}, "taken",
                              {BodyOf("then_branch", branch), BodyOf("else_branch", branch)})};
  return graph;
}

onnx::Graph Layers() {
  onnx::Graph graph;
  graph.inputs = {ValueOf("x", {0, 1, 4, 4})};
  graph.outputs = {ValueOf("y", {0, 2})};
  graph.initializers = {FloatsOf("w", {1, 1, 3, 3}, Floats(9, 0.5f)),
                        FloatsOf("v", {4, 2}, Floats(8, 0.25f)), FloatsOf("b", {2}, {1, 2})};
  graph.nodes = {NodeOf("Conv", {"x", "w"}, "c"), NodeOf("Flatten", {"c"}, "f"),
                 NodeOf("Gemm", {"f", "v", "b"}, "y")};
  return graph;
}

}  // namespace

bool TryInput(std::span<const std::byte> input) {
  bool is_accepted = false;
  WithFile(input, [&](const std::string& path) {
    try {
      onnx::OnnxFile file(path);
      const ImportedModel imported = ImportOnnx(file, {.dims = {}, .constants = {}});
      CheckImported(imported, file);
      is_accepted = true;
    } catch (const UserError& error) {
      CheckError(error, path);
    }
  });
  return is_accepted;
}

std::vector<std::string> GoodInputs() {
  std::vector<std::string> inputs;
  for (const onnx::Graph& graph : {Folded(), Flowing(), Layers()}) {
    inputs.push_back(onnx::WriteMessage(ModelOf(graph)));
  }
  return inputs;
}

std::vector<std::string> RefusedInputs() {
  onnx::Graph graph = Folded();
  graph.initializers[4] = IntegersOf("two", {6000, 12000});
  return {onnx::WriteMessage(ModelOf(graph)), "no message"};
}

}  // namespace cgrun
