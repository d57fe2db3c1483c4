// Imports models at the edge of what is possible: with shapes of an open batch, and with faults,
// whose messages name the node and what is wrong.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/onnx/write.h"
#include "tests/import/imported_model.h"
#include "tests/import/model_parts.h"
#include "tests/io/test_files.h"

namespace cgrun {
namespace {

class ImportMessagesTest : public testing::Test {
 protected:
  ImportedModel Import(onnx::Graph graph, const ImportOptions& options = {}) {
    const std::string path = folder_.path() + "/m.onnx";
    file_.reset();
    onnx::WriteModel(path, ModelOf(std::move(graph)));
    file_.emplace(path);
    return ImportOnnx(*file_, options);
  }

  // Returns the message, a line break and the help, without the folder.
  std::string Refusal(onnx::Graph graph, const ImportOptions& options = {}) {
    try {
      Import(std::move(graph), options);
    } catch (const InputError& error) {
      std::string text = std::string(error.what()) + "\n" + error.help();
      for (size_t at = text.find(folder_.path()); at != text.npos; at = text.find(folder_.path())) {
        text.erase(at, folder_.path().size() + 1);
      }
      return text;
    }
    return "";
  }

  TempFolder folder_;
  std::optional<onnx::OnnxFile> file_;
};

// x [N, 4] → y by one node whose second input is a list.
onnx::Graph WithList(const std::string& op, std::vector<int64_t> list,
                     std::vector<onnx::Attribute> attributes = {}) {
  onnx::Graph graph;
  graph.inputs = {ValueOf("x", {0, 4})};
  graph.outputs = {ValueOf("y", {0, 4})};
  graph.outputs[0].type->tensor_type->shape = {};
  graph.initializers = {IntegersOf("list", std::move(list))};
  graph.nodes = {NodeOf(op, {"x", "list"}, "y", std::move(attributes))};
  return graph;
}

TEST_F(ImportMessagesTest, SizesMustBePositive) {
  EXPECT_EQ(Refusal(WithList("Expand", {1, -4})),
            "'m.onnx': node 'Expand_of_y' (Expand): its shape has the size -4 in axis 1, and sizes "
            "must be at least 1\n");
  EXPECT_EQ(Refusal(WithList("Reshape", {0, -2, 2})),
            "'m.onnx': node 'Reshape_of_y' (Reshape): its shape has the size -2 in axis 1, and "
            "sizes must be at least 1, or -1 for the rest\n");
  EXPECT_EQ(Refusal(WithList("Tile", {1, 0})),
            "'m.onnx': node 'Tile_of_y' (Tile): its repeats are [1, 0], and each must be at least "
            "1\n");
}

TEST_F(ImportMessagesTest, ConstantIndicesLieOnTheAxis) {
  EXPECT_EQ(Refusal(WithList("Gather", {0, 5}, {Int("axis", 1)})),
            "'m.onnx': node 'Gather_of_y' (Gather): its index 5 is not on an axis of 4\n");
  EXPECT_EQ(Refusal(WithList("Gather", {-4, 3}, {Int("axis", 1)})), "");
  onnx::Graph graph = WithList("Reshape", {2});
  graph.nodes = {NodeOf("Shape", {"x"}, "s"), NodeOf("Gather", {"s", "list"}, "d"),
                 NodeOf("Reshape", {"x", "d"}, "y")};
  EXPECT_EQ(Refusal(graph),
            "'m.onnx': node 'Gather_of_d' (Gather): its index 2 is outside of its input, which has "
            "2 elements\n");
}

// The batch is in the way only where another import would work.
TEST_F(ImportMessagesTest, TheHelpNamesTheBatchWhereItIsInTheWay) {
  EXPECT_EQ(Refusal(WithList("Tile", {2, 1})),
            "'m.onnx': node 'Tile_of_y' (Tile): y: the batch axis cannot be repeated\n"
            "operands: x: f32[N, 4]; if it is the batch that is in the way, give each a size: "
            "`--dim batch=N`");
  EXPECT_EQ(Refusal(WithList("Tile", {2, 1}), {.dims = {{"batch", 1}}, .constants = {}}), "");
}

onnx::Dimension Named(const std::string& name) {
  onnx::Dimension dim;
  dim.dim_param = name;
  return dim;
}

// x [?, ?, ?]: the first is the batch, and the others have nothing to do with it.
TEST_F(ImportMessagesTest, QuestionMarksAreNoNames) {
  onnx::Graph graph = WithList("Relu", {0});
  graph.nodes[0].inputs = {"x"};
  graph.inputs[0].type->tensor_type->shape->dims = {Named("?"), Named("?"), Named("?")};
  EXPECT_EQ(Refusal(graph),
            "'m.onnx' has dimensions without a size: 'x.1', 'x.2'\n"
            "give each a size: `--dim x.1=N --dim x.2=N`");
  const ImportedModel model = Import(graph, {.dims = {{"x.1", 3}, {"x.2", 5}}, .constants = {}});
  EXPECT_NE(ToYaml(model.tree).find("x: {type: f32, shape: [3, 5]}"), std::string::npos);
  const ImportedModel square = Import(graph, {.dims = {{"?", 4}}, .constants = {}});
  EXPECT_NE(ToYaml(square.tree).find("x: {type: f32, shape: [4, 4]}"), std::string::npos);
}

TEST_F(ImportMessagesTest, AFileOfWeightsThatIsAbsentIsNamed) {
  onnx::Graph graph = WithList("Mul", {0});
  onnx::Tensor weight;
  weight.name = "w";
  weight.dims = {4};
  weight.data_type = onnx::DataType::kFloat;
  weight.data_location = onnx::DataLocation::kExternal;
  onnx::Entry location;
  location.key = "location";
  location.value = "w.data";
  weight.external_data = {location};
  graph.initializers = {weight};
  graph.nodes[0].inputs = {"x", "w"};
  std::string what, help;
  try {
    Import(graph);
  } catch (const UserError& error) {
    what = error.what();
    help = error.help();
  }
  EXPECT_NE(what.find("tensor 'w' has external data in 'w.data', and that file is not there"),
            std::string::npos)
      << what;
  EXPECT_NE(help.find("put it into the folder of"), std::string::npos) << help;
}

// Shape → ConstantOfShape [N, 4] → Add.
TEST_F(ImportMessagesTest, AConstantMayHaveTheShapeOfTheBatch) {
  onnx::Graph graph = WithList("Reshape", {0});
  onnx::Attribute two;
  two.name = "value";
  two.type = onnx::AttributeType::kTensor;
  two.t = FloatsOf("", {1}, {2});
  graph.nodes = {NodeOf("Shape", {"x"}, "s"), NodeOf("ConstantOfShape", {"s"}, "twos", {two}),
                 NodeOf("Add", {"x", "twos"}, "y")};
  const ImportedModel model = Import(graph);
  const HostTensor x = HostTensor::Of(Shape{3, 4}, Numbers(12));
  const HostTensor y = Predict(model, *file_, {{"x", x}}, 3).at(0);
  for (int64_t i = 0; i < 12; ++i) EXPECT_NEAR(y.At(i), x.At(i) + 2, 1e-6);
}

// PyTorch writes `expand(-1, 4)` of a row so: Where(shape == -1, ones, shape).
TEST_F(ImportMessagesTest, AShapeMayBeChosenByComparisons) {
  onnx::Graph graph = WithList("Reshape", {0});
  graph.initializers = {IntegersOf("first", {0}), IntegersOf("four", {4}),
                        IntegersOf("minus", {-1, -1}), IntegersOf("ones", {1, 1}),
                        FloatsOf("row", {1, 4}, {1, 2, 3, 4})};
  graph.nodes = {NodeOf("Shape", {"x"}, "s"),
                 NodeOf("Gather", {"s", "first"}, "n"),
                 NodeOf("Concat", {"n", "four"}, "wanted", {Int("axis", 0)}),
                 NodeOf("Equal", {"wanted", "minus"}, "open"),
                 NodeOf("Where", {"open", "ones", "wanted"}, "chosen"),
                 NodeOf("Expand", {"row", "chosen"}, "rows"),
                 NodeOf("Add", {"x", "rows"}, "y")};
  const ImportedModel model = Import(graph);
  const HostTensor x = HostTensor::Of(Shape{2, 4}, Numbers(8));
  const HostTensor y = Predict(model, *file_, {{"x", x}}, 2).at(0);
  for (int64_t i = 0; i < 8; ++i) {
    EXPECT_NEAR(y.At(i), x.At(i) + static_cast<double>(i % 4 + 1), 1e-6);
  }
}

}  // namespace
}  // namespace cgrun
