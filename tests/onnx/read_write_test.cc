// Messages made by hand: what is read of each field, what is refused, and what is written again.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "src/base/diagnostics.h"
#include "src/onnx/onnx_file.h"
#include "src/onnx/read.h"
#include "src/onnx/write.h"
#include "tests/io/test_files.h"
#include "tests/onnx/walk.h"
#include "tests/onnx/wire_builder.h"

namespace cgrun::onnx {
namespace {

using namespace std::string_literals;

constexpr std::string_view kDamaged =
    "\nhelp: the file is damaged or cut off: fetch or copy it again";

Model ReadModel(std::string_view bytes) { return ReadMessage<Model>(AsSpan(bytes), "m.onnx"); }

std::string ModelError(std::string_view bytes) {
  std::string error = ErrorOf([&] { ReadModel(bytes); });
  if (error.ends_with(kDamaged)) error.resize(error.size() - kDamaged.size());
  return error;
}

// A graph with a convolution: two texts, an attribute of each kind that is used here, a subgraph.
std::string SmallModel() {
  const std::string pads =
      Bytes(1, "pads") + Number(8, 1) + Number(8, static_cast<uint64_t>(-1)) + Number(20, 7);
  const std::string node = Bytes(1, "x") + Bytes(1, "") + Bytes(2, "y") + Bytes(3, "conv1") +
                           Bytes(4, "Conv") + Bytes(5, pads) +
                           Bytes(5, Bytes(1, "alpha") + Float(2, 0.5f) + Number(20, 1)) +
                           Bytes(5, Bytes(1, "then") + Bytes(6, Bytes(2, "inner")));
  const std::string shape =
      Bytes(1, Number(1, 0)) + Bytes(1, Bytes(2, "seq")) + Bytes(1, "") + Bytes(1, Bytes(3, "C"));
  const std::string type = Bytes(1, Number(1, 1) + Bytes(2, shape));
  return ModelOf(Bytes(1, node) + Bytes(2, "main") +
                 Bytes(5, TensorHead("w", DataType::kFloat, {1}) + Bytes(9, Fixed(2.0f))) +
                 Bytes(11, Bytes(1, "x") + Bytes(2, type)) + Bytes(77, "of a later version"));
}

TEST(ReadTest, FieldsBecomeMembers) {
  const std::string bytes = SmallModel();
  const Model model = ReadModel(bytes);
  EXPECT_EQ(model.ir_version, 8);
  EXPECT_EQ(model.opset_imports.at(0).version, 17);
  const Node& node = model.graph->nodes.at(0);
  EXPECT_EQ(node.op_type, "Conv");
  EXPECT_EQ(node.inputs, (std::vector<std::string>{"x", ""}));
  EXPECT_EQ(node.attributes.at(0).ints, (std::vector<int64_t>{1, -1}));
  EXPECT_EQ(node.attributes.at(0).type, AttributeType::kInts);
  EXPECT_EQ(node.attributes.at(1).f, 0.5f);
  EXPECT_FALSE(node.attributes.at(1).i);
  EXPECT_EQ(node.attributes.at(2).g->name, "inner");
  const auto& dims = model.graph->inputs.at(0).type->tensor_type->shape->dims;
  EXPECT_EQ(dims.at(0).dim_value, 0);
  EXPECT_EQ(dims.at(1).dim_param, "seq");
  EXPECT_FALSE(dims.at(2).dim_value || dims.at(2).dim_param);
  EXPECT_EQ(dims.at(3).denotation, "C");
  EXPECT_EQ(TextOf(model.graph->unknown.at(0)), Bytes(77, "of a later version"));
  // Raw data is a view of what was read.
  const std::byte* const raw = model.graph->initializers.at(0).raw_data->data();
  EXPECT_TRUE(raw > AsSpan(bytes).data() && raw < AsSpan(bytes).data() + bytes.size());
}

// The numbers are those of onnx.proto.
TEST(ReadTest, EachFieldOfONNXIsKnown) {
  const std::string entry = Bytes(1, "k") + Bytes(2, "v");
  const std::string tensor = Bytes(3, Number(1, 1) + Number(2, 2)) + Bytes(6, "text") +
                             Bytes(12, "doc") + Bytes(13, entry) + Number(14, 1) + Bytes(16, entry);
  const std::string sparse = Bytes(1, tensor) + Bytes(2, tensor) + Number(3, 7);
  const std::string shape = Bytes(1, Number(1, 5) + Bytes(3, "N"));
  const std::string element = Bytes(1, Bytes(7, Bytes(1, "domain") + Bytes(2, "opaque")));
  std::string types;
  for (const std::string& type :
       {Bytes(1, Number(1, 1) + Bytes(2, shape)), Bytes(4, element),
        Bytes(5, Number(1, 7) + Bytes(2, Bytes(9, element))), Bytes(6, "denotation"),
        Bytes(8, Number(1, 1) + Bytes(2, shape))}) {
    types += Bytes(15, type);
  }
  const std::string graph_in_attribute = Bytes(2, "sub");
  const std::string attribute = Bytes(1, "a") + Bytes(4, "s") + Bytes(5, tensor) +
                                Bytes(6, graph_in_attribute) + Bytes(9, "s") + Bytes(10, tensor) +
                                Bytes(11, graph_in_attribute) + Bytes(13, "doc") +
                                Bytes(14, Bytes(6, "d")) + types + Number(20, 1) +
                                Bytes(21, "ref") + Bytes(22, sparse) + Bytes(23, sparse);
  const std::string node = Bytes(1, "x") + Bytes(2, "y") + Bytes(3, "n") + Bytes(4, "op") +
                           Bytes(5, attribute) + Bytes(6, "doc") + Bytes(7, "domain") +
                           Bytes(8, "overload") + Bytes(9, entry);
  const std::string value =
      Bytes(1, "x") + Bytes(2, Bytes(6, "d")) + Bytes(3, "doc") + Bytes(4, entry);
  const std::string opset = Bytes(1, "domain") + Number(2, 17);
  const std::string graph = Bytes(1, node) + Bytes(2, "g") + Bytes(5, tensor) + Bytes(10, "doc") +
                            Bytes(11, value) + Bytes(12, value) + Bytes(13, value) +
                            Bytes(14, Bytes(1, "x") + Bytes(2, entry)) + Bytes(15, sparse) +
                            Bytes(16, entry);
  const std::string function = Bytes(1, "f") + Bytes(4, "x") + Bytes(5, "y") + Bytes(6, "a") +
                               Bytes(7, node) + Bytes(8, "doc") + Bytes(9, opset) +
                               Bytes(10, "domain") + Bytes(11, attribute) + Bytes(12, value) +
                               Bytes(13, "overload") + Bytes(14, entry);
  const std::string bytes = Number(1, 13) + Bytes(2, "p") + Bytes(3, "1") + Bytes(4, "domain") +
                            Number(5, 3) + Bytes(6, "doc") + Bytes(7, graph) + Bytes(8, opset) +
                            Bytes(14, entry) + Bytes(25, function);
  Model model = ReadModel(bytes);
  EXPECT_EQ(UnknownFields(model), 0u);
  EXPECT_EQ(model.graph->sparse_initializers.at(0).indices->external_data.at(0).value, "v");
  EXPECT_EQ(model.graph->quantization_annotations.at(0).tensor_name, "x");
  EXPECT_EQ(model.functions.at(0).nodes.at(0).overload, "overload");
  Forget(&model);
  EXPECT_EQ(WriteMessage(model), bytes);
}

// Training information and the configurations of devices have no structs.
TEST(ReadTest, OtherFieldsAreKept) {
  const std::string training = Bytes(20, Bytes(1, Bytes(2, "initialization")));
  const std::string bytes = ModelOf(Bytes(1, Bytes(4, "Relu") + Bytes(10, Bytes(1, "devices")))) +
                            training + training + Bytes(26, "");
  Model model = ReadModel(bytes);
  EXPECT_EQ(UnknownFields(model), 2u);
  Forget(&model);
  EXPECT_EQ(WriteMessage(model), bytes);
}

TEST(ReadTest, ListsOfNumbersArePackedOrNot) {
  const std::string packed = Bytes(8, Varint(300) + Varint(7));
  const std::string attribute = Number(8, 1) + packed + Number(8, 2) + Bytes(7, Fixed(1.5f));
  const Model model = ReadModel(ModelOf(Bytes(1, Bytes(5, attribute))));
  const Attribute& read = model.graph->nodes.at(0).attributes.at(0);
  EXPECT_EQ(read.ints, (std::vector<int64_t>{1, 300, 7, 2}));
  EXPECT_EQ(read.floats, std::vector<float>{1.5f});
}

TEST(ReadTest, RefusesDamageWithItsPlace) {
  const auto in_attribute = [](std::string_view bytes) {
    return ModelOf(Bytes(1, Bytes(3, "conv1") + Bytes(5, Bytes(1, "pads") + std::string(bytes))));
  };
  const std::string at = "'m.onnx': graph.node[0] 'conv1'.attribute[0] 'pads'";
  EXPECT_EQ(ModelError(in_attribute("\x40\x80")),
            at + ".ints[0], byte 22: the message ends inside a number");
  EXPECT_EQ(ModelError(in_attribute("\x40" + std::string(11, '\xFF'))),
            at + ".ints[0], byte 22: a number has more than the ten bytes of 64 bits");
  EXPECT_EQ(ModelError(in_attribute("\x15\x01")),
            at + ".f, byte 22: the message ends inside a number");
  EXPECT_EQ(ModelError(in_attribute("\x22\x05")),
            at + ".s, byte 22: a length of 5 bytes stands where 0 are left");
  EXPECT_EQ(ModelError(in_attribute(Bytes(2, "x"))),
            at + ".f, byte 22: has the wire type 2 instead of 5");
  EXPECT_EQ(ModelError(in_attribute(Number(6, 1))),
            at + ".g, byte 22: has the wire type 0 instead of 2");
  EXPECT_EQ(ModelError(in_attribute("\x0B")),
            at + ", byte 21: field 1 is a group, which ONNX does not have");
}

TEST(ReadTest, RefusesWhatIsNoModel) {
  EXPECT_EQ(ModelError(Varint(0) + "x"),
            "'m.onnx' is not a file of ONNX: at its first byte, a field has the number 0, which "
            "none has");
  EXPECT_EQ(ModelError("\x0E"),
            "'m.onnx' is not a file of ONNX: at its first byte, field 1 has the wire type 6, which "
            "does not exist");
  EXPECT_EQ(ModelError(Varint(uint64_t{1} << 33)),
            "'m.onnx' is not a file of ONNX: at its first byte, the number of a field has more "
            "than 29 bits");
  EXPECT_EQ(
      ModelError("\x3A" + Varint(std::numeric_limits<uint64_t>::max())),
      "'m.onnx': graph, byte 1: a length of 18446744073709551615 bytes stands where 0 are left");
  const TempFolder folder;
  const auto file_error = [&](std::string_view bytes) {
    WriteBytes(folder / "x", bytes);
    return folder.Anonymous(ErrorOf([&] { OnnxFile(folder / "x"); }));
  };
  EXPECT_EQ(file_error(""), "'DIR/x' is empty");
  EXPECT_EQ(file_error(Number(1, 8)),
            "'DIR/x' is not a model of ONNX: it has no graph\n"
            "help: `torch.onnx.export` and other exporters write such models");
  EXPECT_EQ(file_error("version https://git-lfs.github.com/spec/v1\n"),
            "'DIR/x' is the pointer of Git LFS to a model, not the model\n"
            "help: `git lfs pull` fetches the model");
}

TEST(ReadTest, RefusesWhatReadersTakeInDifferentWays) {
  const std::string graph = Bytes(2, "g");
  EXPECT_EQ(ModelError(ModelOf(graph) + Bytes(7, graph)),
            "'m.onnx': graph 'g', byte 12: stands twice");
  const std::string both = Bytes(1, Number(1, 2) + Bytes(2, "n"));
  EXPECT_EQ(
      ModelError(ModelOf(Bytes(11, Bytes(2, Bytes(1, Bytes(2, both)))))),
      "'m.onnx': graph.input[0].type.tensor_type.shape.dim[0], byte 14: is of two kinds at once");
  EXPECT_EQ(ModelError(ModelOf(Bytes(11, Bytes(2, Bytes(1, "") + Bytes(4, ""))))),
            "'m.onnx': graph.input[0].type, byte 8: is of two kinds at once");
}

TEST(ReadTest, NamesAreUtf8AndOtherTextsNeedNotBe) {
  EXPECT_EQ(ModelError(ModelOf(Bytes(1, Bytes(1, "a\xFF")))),
            "'m.onnx': graph.node[0].input[0], byte 9: the text 'a?' is not UTF-8");
  const std::string others =
      Bytes(6, "\xFF") + Bytes(5, Bytes(4, "\xFF") + Bytes(9, "\xFF") + Bytes(13, "\xFF"));
  EXPECT_EQ(ModelError(ModelOf(Bytes(1, others)) + Bytes(14, Bytes(1, "k") + Bytes(2, "\xFF"))),
            "no error");
}

// Puts `depth` graphs in each other, three messages for each.
std::string Nested(int depth) {
  std::string graph;
  for (int i = 0; i < depth; ++i) graph = Bytes(1, Bytes(5, Bytes(6, graph)));
  return ModelOf(graph);
}

TEST(ReadTest, LongNamesAreCutInErrors) {
  const std::string name(1'000'000, 'n');
  const std::string node = Bytes(1, Bytes(3, name) + Bytes(1, name + "\xFF"));
  EXPECT_LT(ModelError(ModelOf(node)).size(), 1000u);
}

TEST(ReadTest, DepthIsLimited) {
  EXPECT_EQ(ModelError(Nested(20)), "no error");
  EXPECT_NE(ModelError(Nested(21)).find("messages lie more than 64 deep in each other"),
            std::string::npos);
  EXPECT_NE(ModelError(Nested(2'000)).find("messages lie more than 64 deep"), std::string::npos);
}

TEST(ReadTest, ManyEmptyMessagesAreRefused) {
  const auto nodes = [](size_t count) {
    std::string bytes;
    for (size_t i = 0; i < count; ++i) bytes += Bytes(1, "");
    return ModelOf(bytes);
  };
  EXPECT_EQ(ModelError(nodes(100'000)), "no error");
  EXPECT_NE(ModelError(nodes(300'000)).find("more messages than its size warrants"),
            std::string::npos);
}

TEST(ReadTest, TimeGrowsWithTheFile) {
  const auto seconds = [](size_t count) {
    std::string nodes;
    for (size_t i = 0; i < count; ++i) {
      nodes += Bytes(1, Bytes(1, "x" + std::to_string(i)) + Bytes(4, "Relu") + Number(99, i));
    }
    const std::string bytes = ModelOf(nodes);
    const auto begin = std::chrono::steady_clock::now();
    const Model model = ReadModel(bytes);
    EXPECT_EQ(WriteMessage(model), bytes);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  const double few = std::min(seconds(4'000), seconds(4'000));
  EXPECT_LT(seconds(40'000), 50 * few + 0.1);
}

TEST(WriteTest, WhatIsUnchangedKeepsItsBytes) {
  // Fields in no order, one twice, a number with more bytes than it needs.
  const std::string odd = Bytes(4, "Relu") + "\x28\x81\x80\x00"s + Bytes(1, "x") + Bytes(4, "Abs");
  EXPECT_EQ(WriteMessage(ReadModel(SmallModel())), SmallModel());
  const std::string bytes =
      Number(5, 0) + ModelOf(Bytes(77, odd) + Bytes(1, Bytes(4, "A") + Bytes(4, "B")));
  EXPECT_EQ(WriteMessage(ReadModel(bytes)), bytes);
}

TEST(WriteTest, AChangeKeepsAllElse) {
  const std::string bytes = SmallModel();
  Model model = ReadModel(bytes);
  model.graph->nodes.at(0).name = "a longer name";
  const std::string written = WriteMessage(model);
  std::string expected = bytes;
  // The name, and the lengths of the node and of the graph, which have as many bytes as before.
  Model again = ReadModel(written);
  EXPECT_EQ(again.graph->nodes.at(0).name, "a longer name");
  EXPECT_EQ(written.size(), bytes.size() + 8);
  EXPECT_EQ(TextOf(again.graph->unknown.at(0)), Bytes(77, "of a later version"));
  again.graph->nodes.at(0).name = "conv1";
  EXPECT_EQ(WriteMessage(again), bytes);
}

TEST(WriteTest, AFieldAtItsDefaultStaysIfItWasRead) {
  const std::string bytes = Number(1, 8) + Bytes(6, "before") + Bytes(7, Bytes(2, "")) +
                            Bytes(8, Bytes(1, "") + Number(2, 0));
  Model model = ReadModel(bytes);
  model.doc_string = "change";
  model.opset_imports.at(0).source = {};
  EXPECT_EQ(WriteMessage(model),
            Number(1, 8) + Bytes(6, "change") + Bytes(7, Bytes(2, "")) + Bytes(8, ""));
}

TEST(WriteTest, EachChangeIsFound) {
  const std::string bytes = SmallModel();
  const auto changes = [&](auto change) {
    Model model = ReadModel(bytes);
    change(model);
    return WriteMessage(model) != bytes;
  };
  EXPECT_FALSE(changes([](Model&) {}));
  EXPECT_TRUE(changes([](Model& m) { m.graph->nodes[0].attributes[0].ints[1] = 1; }));
  EXPECT_TRUE(changes([](Model& m) { m.graph->nodes[0].attributes[1].f = -0.5f; }));
  EXPECT_TRUE(changes([](Model& m) { m.graph->nodes[0].attributes[2].g->nodes.emplace_back(); }));
  EXPECT_TRUE(changes([](Model& m) { m.graph->initializers[0].float_data.values = {1}; }));
  EXPECT_TRUE(changes([](Model& m) { m.graph->inputs[0].type->denotation = "x"; }));
  EXPECT_TRUE(changes([](Model& m) { m.graph->unknown.clear(); }));
  EXPECT_TRUE(changes([](Model& m) { m.opset_imports[0].version = 18; }));
}

TEST(WriteTest, ANewModelHasTheFieldsInTheirOrder) {
  const std::string raw(1000, 'r');
  Model model;
  model.ir_version = 8;
  model.opset_imports.emplace_back().version = 17;
  Graph graph;
  graph.name = "g";
  Tensor& tensor = graph.initializers.emplace_back();
  tensor.name = "w";
  tensor.data_type = DataType::kUint8;
  tensor.dims = {1000};
  tensor.raw_data = AsSpan(raw);
  Node& node = graph.nodes.emplace_back();
  node.inputs = {"x", ""};
  Attribute& attribute = node.attributes.emplace_back();
  attribute.name = "axis";
  attribute.i = 0;
  attribute.floats = {1.5f};
  attribute.t = Tensor();
  attribute.t->int64_data.values = {-1, 300};
  attribute.t->double_data.values = {0.5};
  model.graph = std::move(graph);
  const std::string inner =
      Bytes(7, Varint(static_cast<uint64_t>(-1)) + Varint(300)) + Bytes(10, Fixed(0.5));
  const std::string expected_node =
      Bytes(1, "x") + Bytes(1, "") +
      Bytes(5, Bytes(1, "axis") + Number(3, 0) + Bytes(5, inner) + Float(7, 1.5f));
  const std::string expected_tensor = TensorHead("w", DataType::kUint8, {1000}) + Bytes(9, raw);
  const std::string expected =
      ModelOf(Bytes(1, expected_node) + Bytes(2, "g") + Bytes(5, expected_tensor));
  EXPECT_EQ(WriteMessage(model), expected);
  const TempFolder folder;
  WriteModel(folder / "x", model);
  EXPECT_EQ(ReadBytes(folder / "x"), expected);
}

TEST(WriteTest, ANaNIsNoChange) {
  const std::string attribute =
      Bytes(1, "a") + Float(2, std::numeric_limits<float>::quiet_NaN()) + Number(99, 1);
  const std::string bytes =
      ModelOf(Bytes(99, "first") + Bytes(1, Bytes(5, Number(20, 1) + attribute)));
  EXPECT_EQ(WriteMessage(ReadModel(bytes)), bytes);
}

}  // namespace
}  // namespace cgrun::onnx
