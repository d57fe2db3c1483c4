// Exports models that are written here, and checks the files and the refusals. If a file can be
// imported, it gives the same numbers.
#include "src/export/export.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "src/export/emitters.h"
#include "src/export/opsets.h"
#include "src/frontend/frontend.h"
#include "src/import/import.h"
#include "src/io/safetensors.h"
#include "src/kernels/kernel.h"
#include "src/model/model_file.h"
#include "src/onnx/onnx_file.h"
#include "tests/import/imported_model.h"
#include "tests/io/test_files.h"
#include "tests/support/interpreter.h"

namespace cgrun {
namespace {

constexpr int64_t kBatch = 2;

// Conv, batch norm, pool, residual sum and head; `normalize` reads bytes.
constexpr char kImages[] = R"(cgrun: 1
model: images
inputs: {image: {type: uint8, shape: [2, 6, 6]}}
paths:
  prepare:
    mode: forward
    ops: [pixels: {op: normalize, in: image, scale: 1/255, mean: 0.5}]
  classify:
    mode: forward
    ops:
      - c1: {op: conv, in: pixels, filters: 4, kernel: 3, padding: same}
      - n1: {op: batch_norm, epsilon: 1.0e-3, activation: relu}
      - c2: {op: conv, filters: 4, kernel: 3, padding: 1, groups: 2, bias: false}
      - s: {op: add, in: [n1, c2], activation: leaky_relu}
      - {op: dropout, rate: 0.5}
      - p: {op: max_pool, kernel: 2}
      - flatten
      - fc: {op: linear, units: 5}
      - scores: softmax
)";

// Numbers from -1 to 1 that look like random ones; those of variances are positive.
HostTensor NumbersFor(const std::string& name, const TensorType& type) {
  HostTensor tensor(type.dtype, type.shape);
  const bool positive = name.ends_with("running_var") || name.ends_with("scale");
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    const double unit = static_cast<double>((i * 37 + std::ssize(name) * 11) % 101) / 101;
    tensor.Set(i, positive ? 0.5 + unit : 2 * unit - 1);
  }
  return tensor;
}

bool IsWeight(const Value& value) {
  return value.role == Role::kParameter || value.role == Role::kRunningStatistic;
}

// A model file with weights in a folder of its own.
class Exported {
 public:
  explicit Exported(const std::string& text, ExportOptions options = {}, bool half = false)
      : graph_(GraphOf(text)), options_(std::move(options)) {
    WriteWeights(half);
    weights_.emplace(folder_ / "w.safetensors");
    report_ = weights_->Match(graph_, ExportedValues(graph_, options_));
    if (!report_.missing.empty() || !report_.mismatched.empty()) return;
    model_ = ExportOnnx(graph_, *weights_, options_, diagnostics_);
  }

  const ExportedModel& model() const { return *model_; }
  const onnx::Graph& onnx_graph() const { return *model_->model.graph; }
  bool ok() const { return model_.has_value(); }
  std::string errors() const { return diagnostics_.ToString(); }
  const Graph& graph() const { return graph_; }
  const WeightsReport& report() const { return report_; }
  std::string Write(int64_t inline_bytes = int64_t{1} << 30) const {
    onnx::Model model = model_->model;
    WriteExported(model, folder_ / "m.onnx", inline_bytes);
    return folder_ / "m.onnx";
  }
  std::string Data() const { return ReadBytes(folder_ / "m.onnx.data"); }

  std::vector<std::string> OpTypes() const {
    std::vector<std::string> types;
    for (const onnx::Node& node : onnx_graph().nodes) types.push_back(node.op_type);
    return types;
  }
  const onnx::Node& NodeNamed(const std::string& name) const {
    const auto found = std::ranges::find(onnx_graph().nodes, name, &onnx::Node::name);
    CGRUN_CHECK(found != onnx_graph().nodes.end()) << name;
    return *found;
  }

  // The outputs for inputs by name, as the reference device computes them.
  std::vector<HostTensor> Compute(const std::map<std::string, HostTensor>& inputs) const {
    const Graph bound = BindBatch(graph_, kBatch);
    std::map<ValueId, HostTensor> sources;
    for (const ValueId id : bound.values.ids()) {
      const Value& value = bound.values[id];
      if (IsWeight(value)) sources.emplace(id, NumbersFor(value.name, value.type));
      if (value.name == kStepCounter) sources.emplace(id, HostTensor::Scalar<int64_t>(0));
      const auto fed = inputs.find(value.name);
      if (fed != inputs.end()) sources.emplace(id, fed->second);
    }
    const auto values = Interpret(bound, *FindKernelLibrary("reference"), std::move(sources));
    std::vector<HostTensor> outputs;
    for (const Output& output : bound.outputs) outputs.push_back(values.at(output.value));
    return outputs;
  }

 private:
  static Graph GraphOf(const std::string& text) {
    Diagnostics diagnostics;
    const auto model = ParseModel({"m.yaml", text}, {}, diagnostics);
    CGRUN_CHECK(model.has_value()) << diagnostics.ToString();
    const FrontendOptions options{.kind = EntryKind::kPredict, .precision = PrecisionOf(*model)};
    const auto graph = BuildForward(*model, options, diagnostics);
    CGRUN_CHECK(graph.has_value()) << diagnostics.ToString();
    return *graph;
  }

  // With `half`, in bf16, as other programs may have them.
  void WriteWeights(bool half) {
    std::vector<TensorSpec> specs;
    std::vector<HostTensor> tensors;
    for (const Value& value : graph_.values) {
      if (!IsWeight(value)) continue;
      const DType dtype = half ? DType::kBF16 : value.type.dtype;
      specs.push_back({value.name, dtype, value.type.shape});
      tensors.push_back(NumbersFor(value.name, {dtype, value.type.shape}));
    }
    std::vector<std::span<const std::byte>> bytes;
    for (const HostTensor& tensor : tensors) bytes.push_back(tensor.bytes());
    SafetensorsWriter(std::move(specs)).Write(folder_ / "w.safetensors", bytes);
  }

  TempFolder folder_;
  Graph graph_;
  ExportOptions options_;
  std::optional<WeightsFile> weights_;
  WeightsReport report_;
  Diagnostics diagnostics_;
  std::optional<ExportedModel> model_;
};

std::string ModelOf(const std::string& inputs, const std::string& ops) {
  return "cgrun: 1\nmodel: small\ninputs: {" + inputs +
         "}\npaths:\n  p:\n    mode: forward\n    ops:\n      - " + ops + "\n";
}

std::vector<std::string> NamesOf(const std::vector<onnx::ValueInfo>& infos) {
  std::vector<std::string> names;
  for (const onnx::ValueInfo& info : infos) names.push_back(info.name);
  return names;
}

const std::vector<onnx::Dimension>& DimsOf(const onnx::ValueInfo& info) {
  return info.type->tensor_type->shape->dims;
}

TEST(ExportTest, NamesStayAndTheBatchIsOpen) {
  const Exported exported(kImages);
  ASSERT_TRUE(exported.ok()) << exported.errors();
  const onnx::Graph& graph = exported.onnx_graph();
  EXPECT_EQ(graph.name, "images");
  EXPECT_EQ(graph.inputs[0].name, "image");
  EXPECT_EQ(graph.inputs[0].type->tensor_type->elem_type, onnx::DataType::kUint8);
  EXPECT_EQ(DimsOf(graph.inputs[0])[0].dim_param, "batch");
  EXPECT_EQ(DimsOf(graph.inputs[0])[3].dim_value, 6);
  EXPECT_EQ(NamesOf(graph.outputs), std::vector<std::string>{"scores"});
  EXPECT_EQ(DimsOf(graph.outputs[0])[0].dim_param, "batch");
  std::set<std::string> weights;
  for (const onnx::Tensor& tensor : graph.initializers) {
    if (tensor.raw_data) weights.insert(tensor.name);
  }
  EXPECT_EQ(weights, (std::set<std::string>{
                         "classify.c1.weight", "classify.c1.bias", "classify.n1.scale",
                         "classify.n1.shift", "classify.n1.running_mean", "classify.n1.running_var",
                         "classify.c2.weight", "classify.fc.weight", "classify.fc.bias"}));
  EXPECT_EQ(
      exported.OpTypes(),
      (std::vector<std::string>{"Cast", "Mul", "Sub", "Conv", "BatchNormalization", "Relu", "Conv",
                                "Add", "LeakyRelu", "MaxPool", "Flatten", "Gemm", "Softmax"}));
}

TEST(ExportTest, TheLowestVersionsAreTaken) {
  const Exported old(kImages);
  EXPECT_EQ(old.model().opset(), 7);
  EXPECT_EQ(old.model().model.ir_version, 3);
  // That version has weights only as inputs.
  EXPECT_EQ(old.onnx_graph().inputs.size(), 1 + old.onnx_graph().initializers.size());
  const Exported chosen(kImages, {.opset = 18});
  EXPECT_EQ(chosen.model().opset(), 18);
  EXPECT_EQ(chosen.model().model.ir_version, 8);
  EXPECT_EQ(NamesOf(chosen.onnx_graph().inputs), std::vector<std::string>{"image"});
  const std::map<std::string, int64_t> opsets = {
      {"{op: slice, in: x, axes: [1], starts: [0], ends: [2]}", 7},
      {"{op: slice, in: x, axes: [1], starts: [0], ends: [4], steps: [2]}", 10},
      {"{op: layer_norm, in: x}", 7},
      {"{op: gelu, in: x}", 9},
      {"{op: gelu, in: x, approximate: tanh}", 7},
      {"{op: silu, in: x}", 7},
      {"{op: hard_swish, in: x}", 7},
      {"{op: softmax, in: x, axis: 1}", 13},
      {"{op: reduce_sum, in: x, axes: [1]}", 7},
      {"{op: min, in: [x, 1]}", 8},
      {"{op: min, in: [x, x]}", 7}};
  for (const auto& [op, opset] : opsets) {
    const Exported exported(ModelOf("x: {shape: [5, 5]}", op));
    ASSERT_TRUE(exported.ok()) << exported.errors();
    EXPECT_EQ(exported.model().opset(), opset) << op;
    EXPECT_EQ(exported.model().model.ir_version, IrVersionOf(opset)) << op;
  }
}

TEST(ExportTest, LaterOpsetsHaveLargerOperators) {
  const std::string model = ModelOf("x: {shape: [5, 5]}", "{op: layer_norm, in: x}\n      - gelu");
  EXPECT_GT(Exported(model).OpTypes().size(), 10u);
  EXPECT_EQ(Exported(model, {.opset = 20}).OpTypes(),
            (std::vector<std::string>{"LayerNormalization", "Gelu"}));
}

TEST(ExportTest, EqualConstantsAreOne) {
  const Exported exported(ModelOf("x: {shape: [5]}",
                                  "{op: mul, in: [x, 3]}\n"
                                  "      - y: {op: add, in: [x, 3]}\n"
                                  "      - z: {op: add, in: [y, 4]}"));
  EXPECT_EQ(exported.onnx_graph().initializers.size(), 2u);
  EXPECT_EQ(exported.NodeNamed("p.y").inputs[1], "f32(3)");
  EXPECT_EQ(exported.OpTypes().size(), 2u) << "what no output reads is left out";
}

TEST(ExportTest, AnOutputThatIsAnInputIsCopied) {
  const Exported exported(ModelOf("x: {shape: [5]}", "y: {op: identity, in: x}"));
  EXPECT_EQ(exported.OpTypes(), std::vector<std::string>{"Identity"});
  EXPECT_EQ(NamesOf(exported.onnx_graph().outputs), std::vector<std::string>{"y"});
}

TEST(ExportTest, RandomNumbersBecomeInputs) {
  const Exported exported(ModelOf("x: {shape: [4]}",
                                  "noise: {op: random_normal, shape: [4]}\n"
                                  "      - {op: add, in: [x, noise]}"));
  EXPECT_EQ(exported.model().drawn, std::vector<std::string>{"noise"});
  EXPECT_EQ(NamesOf(exported.onnx_graph().inputs), (std::vector<std::string>{"x", "noise"}));
}

TEST(ExportTest, WhatOnnxCannotSayIsRefusedWithItsPlace) {
  const Exported exported(ModelOf("x: {shape: [4]}, y: {shape: [4]}",
                                  "a: {op: random_mix, in: [x, y]}\n"
                                  "      - b: {op: random_mix, in: [a, y]}"));
  EXPECT_FALSE(exported.ok());
  EXPECT_NE(exported.errors().find("m.yaml:8:"), std::string::npos) << exported.errors();
  EXPECT_NE(exported.errors().find("m.yaml:9:"), std::string::npos) << exported.errors();
  EXPECT_NE(exported.errors().find("'random_mix' cannot be exported: ONNX has no operator for it"),
            std::string::npos);
  EXPECT_NE(exported.errors().find("`--path NAME`"), std::string::npos);
}

TEST(ExportTest, EveryOperatorOfAModelFileHasAnEmitterButOne) {
  std::set<std::string> without;
  for (int op = 0; op < OpCount(); ++op) {
    const OpDef& def = GetOpDef(static_cast<OpId>(op));
    if (def.usage == Usage::kOperator && FindEmitter(static_cast<OpId>(op)) == nullptr) {
      without.insert(def.name);
    }
  }
  EXPECT_EQ(without, std::set<std::string>{"random_mix"});
}

TEST(ExportTest, WeightsOfAnotherTypeAreConverted) {
  const Exported exported(kImages, {}, /*half=*/true);
  ASSERT_TRUE(exported.ok());
  EXPECT_EQ(exported.report().converted.at({DType::kBF16, DType::kF32}), 9);
  for (const onnx::Tensor& tensor : exported.onnx_graph().initializers) {
    if (!tensor.raw_data) continue;
    EXPECT_EQ(tensor.data_type, onnx::DataType::kFloat);
    EXPECT_EQ(std::ssize(*tensor.raw_data), 4 * Shape::Of(tensor.dims).Elements());
  }
}

TEST(ExportTest, ManyWeightsLieInAFileOfTheirOwn) {
  const std::string text = ModelOf("x: {shape: [40]}",
                                   "a: {op: linear, in: x, units: 30}\n      - b: {op: linear, "
                                   "units: 40}");
  const Exported exported(text);
  const int64_t bytes = WeightBytes(exported.model().model);
  EXPECT_EQ(bytes, 4 * (40 * 30 + 30 + 30 * 40 + 40));
  onnx::OnnxFile whole(exported.Write(bytes));
  EXPECT_EQ(exported.Data(), "") << "so many may stay in the model";
  onnx::OnnxFile divided(exported.Write(bytes - 1));
  EXPECT_EQ(divided.model().ir_version, 4) << "the first with external data";
  EXPECT_EQ(NamesOf(divided.model().graph->inputs), std::vector<std::string>{"x"});
  EXPECT_EQ(whole.model().graph->inputs.size(), 5u);
  int outside = 0;
  for (const onnx::Tensor& tensor : divided.model().graph->initializers) {
    if (tensor.data_location != onnx::DataLocation::kExternal) continue;
    ++outside;
    EXPECT_EQ(tensor.external_data[0].value, "m.onnx.data");
    EXPECT_EQ(std::stoll(tensor.external_data[1].value) % 64, 0);
    const auto& original = whole.model().graph->initializers;
    const auto same = std::ranges::find(original, tensor.name, &onnx::Tensor::name);
    EXPECT_TRUE(std::ranges::equal(divided.Bytes(tensor).bytes(), whole.Bytes(*same).bytes()));
  }
  EXPECT_EQ(outside, 2) << "biases are small";
}

// Exports, imports, and compares what both compute.
void CheckRoundTrip(const std::string& text, const std::map<std::string, HostTensor>& inputs,
                    int64_t opset = kLeastOpset) {
  const Exported exported(text, {.opset = opset});
  ASSERT_TRUE(exported.ok()) << exported.errors();
  onnx::OnnxFile file(exported.Write());
  const ImportedModel imported = ImportOnnx(file, {});
  const std::vector<HostTensor> wanted = exported.Compute(inputs);
  const std::vector<HostTensor> found = Predict(imported, file, inputs, kBatch);
  ASSERT_EQ(found.size(), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    ASSERT_EQ(found[i].shape(), wanted[i].shape());
    double largest = 0;
    for (int64_t e = 0; e < wanted[i].elements(); ++e) {
      EXPECT_NEAR(found[i].At(e), wanted[i].At(e), 1e-5) << text;
      largest = std::max(largest, std::abs(wanted[i].At(e)));
    }
    EXPECT_GT(largest, 0) << text;
  }
}

TEST(ExportTest, WhatIsImportedAgainGivesTheSame) {
  HostTensor image(DType::kU8, {kBatch, 2, 6, 6});
  for (int64_t i = 0; i < image.elements(); ++i) image.Set(i, static_cast<double>(i * 53 % 256));
  CheckRoundTrip(kImages, {{"image", image}});
  const std::string images = "x: {shape: [2, 5, 4]}";
  const HostTensor x = NumbersFor("x", {DType::kF32, {kBatch, 2, 5, 4}});
  for (const char* ops :
       {"{op: conv_transpose, in: x, filters: 3, kernel: 3, stride: 2, output_padding: 1}",
        "{op: avg_pool, in: x, kernel: 2, ceil_mode: true, count_include_pad: false}",
        "{op: slice, in: x, axes: [2], starts: [1], ends: [4]}\n      - {op: pad, axes: [3], "
        "before: [1]}",
        "{op: clip, in: x, min: -0.5}\n      - {op: reduce_mean, axes: [2, 3]}",
        "{op: flatten, in: x}\n      - {op: linear, units: 3, bias: false}",
        "{op: reshape, in: x, shape: [-1, 8]}\n      - {op: transpose, perm: [0, 2, 1]}\n"
        "      - log_softmax"}) {
    CheckRoundTrip(ModelOf(images, ops), {{"x", x}});
  }
  // Its parts, which earlier opsets have, are no layer.
  CheckRoundTrip(ModelOf(images, "{op: layer_norm, in: x}"), {{"x", x}}, 17);
}

}  // namespace
}  // namespace cgrun
