// An operator as a plug-in brings it: added to the end of the table with inference, gradient, cost
// and a reference kernel, it is written in model files, trained, planned and saved like any other.
#include <gtest/gtest.h>

#include "src/ir/op_def.h"
#include "src/kernels/reference/library.h"
#include "src/model/model_file.h"
#include "src/program/serialize.h"
#include "src/session/session.h"

namespace cgrun {
namespace {

struct SquareAttributes {
  double scale = 1;

  static const AttributeSchema& Schema() {
    static const AttributeSchema schema = SchemaBuilder<SquareAttributes>()
                                              .Add("scale", &SquareAttributes::scale, "factor")
                                              .AtLeast(0)
                                              .Build();
    return schema;
  }
};

std::vector<TensorType> InferLikeFirst(InferContext& context) {
  if (context.dtype(0) != DType::kF32) return context.Fail("squares f32 alone");
  return {context.input(0)};
}

OpId grad_id;

void SquareGradient(GradientContext& context) {
  context.SetInputGradient(
      0, context.Emit(grad_id, Attributes::Of(context.attributes<SquareAttributes>()),
                      {context.input(0), context.output_gradient(0)}, "dx"));
}

OpCost SquareCost(const NodeSignature& node) { return {2 * node.outputs[0].shape.Elements()}; }

struct Parameters {
  float scale;
  int64_t elements;
};

void RunSquare(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const Parameters*>(i.parameters);
  const float* x = Data<const float>(context, i, 0);
  float* y = Data<float>(context, i, 1);
  for (int64_t e = 0; e < p.elements; ++e) y[e] = p.scale * (x[e] * x[e]);
}

void RunSquareGrad(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const Parameters*>(i.parameters);
  const float* x = Data<const float>(context, i, 0);
  const float* dy = Data<const float>(context, i, 1);
  float* dx = Data<float>(context, i, 2);
  for (int64_t e = 0; e < p.elements; ++e) dx[e] = p.scale * (2 * (dy[e] * x[e]));
}

template <KernelFunction run>
PreparedKernel Prepare(const KernelRequest& request) {
  const double scale = request.node.attributes.As<SquareAttributes>().scale;
  return PreparedKernel::Of(
      run, Parameters{static_cast<float>(scale), request.node.outputs[0].shape.Elements()});
}

OpDef SquareDef(std::string name, std::vector<OperandDef> inputs) {
  OpDef def;
  def.name = std::move(name);
  def.summary = "scale·x².";
  def.usage = Usage::kOperator;
  def.inputs = std::move(inputs);
  def.outputs = {{"y", "shape of x"}};
  def.schema = &SquareAttributes::Schema();
  def.infer = InferLikeFirst;
  def.cost = SquareCost;
  return def;
}

class PluginOperator : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    grad_id = AddOperator(SquareDef("my_square_grad", {{"x", "input"}, {"dy", "gradient"}}));
    OpDef square = SquareDef("my_square", {{"x", "any shape"}});
    square.gradient = SquareGradient;
    square.in_place = {{0, 0}};
    const OpId id = AddOperator(square);
    EXPECT_GE(static_cast<int>(grad_id), kBuiltinOpCount);
    EXPECT_EQ(FindOp("my_square"), id);
    EXPECT_EQ(NameOf(id), "my_square");
    reference::AddKernel(id, {.name = "mine.square", .prepare = Prepare<RunSquare>});
    reference::AddKernel(grad_id, {.name = "mine.square_grad", .prepare = Prepare<RunSquareGrad>});
    AddOperator(SquareDef("my_bare", {{"x", "any shape"}}));  // without a kernel
  }

  // Returns a small model with this operator between its layers.
  static std::optional<ModelSpec> Model(const std::string& op, Diagnostics& diagnostics) {
    const std::string text = R"(
cgrun: 1
model: squares
data:
  train: {format: synthetic, samples: 50, classes: 3}
inputs:
  image: {type: uint8, shape: [1, 4, 4]}
  label: {type: int32, shape: []}
paths:
  classify:
    ops:
      - pixels: {op: normalize, in: image, scale: 1/255}
      - {op: flatten}
      - hidden: {op: linear, units: 5}
      - squares: )" + op + R"(
      - logits: {op: linear, units: 3}
    loss: {op: softmax_cross_entropy, in: [logits, label]}
train: {epochs: 2, batch: 10, optimizer: {op: sgd, lr: 0.05}}
)";
    return ParseModel({"m.yaml", text}, {}, diagnostics);
  }

  static TrainResult Train(const std::string& op, ProgramImage* image = nullptr) {
    Diagnostics diagnostics;
    const auto model = Model(op, diagnostics);
    EXPECT_TRUE(model.has_value()) << diagnostics.ToString();
    Session session(*model, {}, /*train=*/true, diagnostics);
    EXPECT_TRUE(session.ready()) << diagnostics.ToString();
    if (image != nullptr) *image = session.program()->image();
    RunObserver silent;
    return session.Train("", silent);
  }

  static std::string ErrorsOf(const std::string& op) {
    Diagnostics diagnostics;
    const auto model = Model(op, diagnostics);
    if (!model) return diagnostics.ToString();
    EXPECT_FALSE(Session(*model, {}, /*train=*/true, diagnostics).ready());
    return diagnostics.ToString();
  }
};

// x·x, spelled with built-in operators, rounds as the plug-in does.
TEST_F(PluginOperator, TrainsToTheBitsOfBuiltInOperators) {
  const uint64_t plugin = Train("{op: my_square}").weights_hash;
  EXPECT_EQ(plugin, Train("{op: mul, in: [hidden, hidden]}").weights_hash);
  EXPECT_NE(plugin, Train("{op: my_square, scale: 0.5}").weights_hash) << "its attribute is read";
  EXPECT_NE(plugin, Train("{op: identity}").weights_hash);
}

TEST_F(PluginOperator, IsSavedAndLoadedByName) {
  ProgramImage image;
  Train("{op: my_square, scale: 0.5}", &image);
  const std::string listing = Disassemble(image);
  EXPECT_NE(listing.find("[mine.square] {scale=0.5}"), std::string::npos) << listing;
  EXPECT_NE(listing.find("[mine.square_grad] {scale=0.5}"), std::string::npos) << listing;
  const std::string bytes = SerializeImage(image);
  EXPECT_EQ(SerializeImage(DeserializeImage(bytes, "m.cgb")), bytes);
}

TEST_F(PluginOperator, HasItsCost) {
  const TensorType type{DType::kF32, {3, 4}};
  const NodeSignature node{
      *FindOp("my_square"), Attributes::Of(SquareAttributes()), {type}, {type}, {}};
  EXPECT_EQ(CostOf(node).flops, 24);
}

TEST_F(PluginOperator, ItsMistakesAreMarkedErrors) {
  const std::string attribute = ErrorsOf("{op: my_square, scal: 2}");
  EXPECT_NE(attribute.find("m.yaml:15:"), std::string::npos) << attribute;
  EXPECT_NE(attribute.find("did you mean 'scale'?"), std::string::npos) << attribute;
  EXPECT_NE(ErrorsOf("{op: my_square, in: image}").find("squares f32 alone"), std::string::npos);
  EXPECT_NE(ErrorsOf("{op: my_squares}").find("did you mean 'my_square'?"), std::string::npos);
}

TEST_F(PluginOperator, AMissingKernelIsAMarkedError) {
  const std::string text = ErrorsOf("{op: my_bare}");
  EXPECT_NE(text.find("m.yaml:15:"), std::string::npos) << text;
  EXPECT_NE(text.find("device 'reference' has no kernel for 'my_bare' on f32[10, 5]"),
            std::string::npos)
      << text;
}

TEST_F(PluginOperator, ClashesAreNamed) {
  EXPECT_DEATH(AddOperator(SquareDef("relu", {{"x", ""}})), "two operators are called relu");
  EXPECT_DEATH(AddOperator(SquareDef("my_square", {})), "two operators are called my_square");
  OpDef bare = SquareDef("my_other", {});
  bare.infer = nullptr;
  EXPECT_DEATH(AddOperator(bare), "my_other has no type inference");
  EXPECT_DEATH(reference::AddKernel(OpId::relu, {.name = "mine.relu"}), "two kernels for relu");
}

}  // namespace
}  // namespace cgrun
