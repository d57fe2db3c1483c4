// Builder: names, types, diagnostics of what a user wrote.
#include "src/ir/builder.h"

#include <gtest/gtest.h>

namespace cgrun {
namespace {

TensorType F32(Shape shape) { return {DType::kF32, std::move(shape)}; }

class BuilderTest : public testing::Test {
 protected:
  ValueId Input(const std::string& name, Shape shape) {
    return builder_.AddSource(Role::kPlaceholder, Zone::kForward, F32(std::move(shape)), name);
  }

  Graph graph_;
  Builder builder_{graph_};
};

TEST_F(BuilderTest, NamesAreUnique) {
  EXPECT_EQ(builder_.UniqueName("x"), "x");
  EXPECT_EQ(builder_.UniqueName("x"), "x.2");
  EXPECT_EQ(builder_.UniqueName("x"), "x.3");
  EXPECT_EQ(builder_.UniqueName("x.2"), "x.2.2");
}

TEST_F(BuilderTest, FindsTheValuesOfItsGraph) {
  const ValueId x = Input("x", {2});
  const ValueId y = builder_.AddNode(OpId::relu, Attributes(), {x}, "y", {})[0];
  builder_.UniqueName("taken");
  for (Builder builder : {builder_, Builder(graph_)}) {
    EXPECT_EQ(builder.FindValue("x"), x);
    EXPECT_EQ(builder.FindValue("y"), y);
    EXPECT_FALSE(builder.FindValue("taken").valid());
    EXPECT_FALSE(builder.FindValue("z").valid());
  }
}

TEST_F(BuilderTest, KnowsTheNamesOfItsGraph) {
  const ValueId x = Input("x", {2});
  builder_.AddNode(OpId::relu, Attributes(), {x}, "y", {});
  Builder second(graph_);
  EXPECT_EQ(second.UniqueName("x"), "x.2");
  EXPECT_EQ(second.UniqueName("y"), "y.2");
}

TEST_F(BuilderTest, AddNodeInfersTypesAndLinksProducers) {
  const ValueId a = Input("a", {kBatchDim, 3}), b = Input("b", {3});
  Builder::NodeOptions options;
  options.phase = Phase::kBackward;
  options.output_role = Role::kGradient;
  options.output_zone = Zone::kGradient;
  const ValueId y = builder_.AddNode(OpId::add, Attributes(), {a, b}, "y", options).at(0);
  const Value& value = graph_.values[y];
  EXPECT_EQ(value.name, "y");
  EXPECT_EQ(value.type, F32({kBatchDim, 3}));
  EXPECT_EQ(value.role, Role::kGradient);
  EXPECT_EQ(value.zone, Zone::kGradient);
  const Node& node = graph_.nodes[value.producer];
  EXPECT_EQ(node.inputs, (std::vector<ValueId>{a, b}));
  EXPECT_EQ(node.outputs, std::vector<ValueId>{y});
  EXPECT_EQ(node.phase, Phase::kBackward);
  EXPECT_EQ(VerifyGraph(graph_), std::vector<std::string>());
}

TEST_F(BuilderTest, LaterOutputsAreNamedAfterTheOperand) {
  const ValueId logits = Input("logits", {kBatchDim, 4});
  const ValueId label =
      builder_.AddSource(Role::kPlaceholder, Zone::kForward, {DType::kI32, {kBatchDim}}, "label");
  const Attributes attributes = Attributes::Defaults(*GetOpDef(OpId::softmax_cross_entropy).schema);
  const auto outputs =
      builder_.AddNode(OpId::softmax_cross_entropy, attributes, {logits, label}, "loss", {});
  ASSERT_EQ(outputs.size(), 2u);
  EXPECT_EQ(graph_.values[outputs[0]].name, "loss");
  EXPECT_EQ(graph_.values[outputs[1]].name, "loss.probabilities");
  EXPECT_EQ(graph_.values[outputs[1]].output_index, 1);
}

TEST_F(BuilderTest, ConstantsBringTheirBytes) {
  const ValueId id = builder_.AddConstant(HostTensor::Of<float>({2}, {1, 2}), "c");
  EXPECT_EQ(graph_.values[id].role, Role::kConstant);
  EXPECT_EQ(graph_.values[id].type, F32({2}));
  EXPECT_EQ(graph_.constants.at(id).At(1), 2);
}

TEST_F(BuilderTest, AddNodeChecksTypes) {
  const ValueId a = Input("a", {2}), b = Input("b", {3});
  EXPECT_DEATH(builder_.AddNode(OpId::add, Attributes(), {a, b}, "y", {}), "do not go together");
}

TEST_F(BuilderTest, TryAddNodeReportsBothShapesAndAddsNothing) {
  const ValueId a = Input("a", {2}), b = Input("b", {3});
  auto file = std::make_shared<SourceFile>(SourceFile{"m.yaml", "add: {in: [a, b]}\n"});
  Builder::NodeOptions options;
  options.mark = {file, 1, 1, 3};
  Diagnostics diagnostics;
  EXPECT_FALSE(builder_.TryAddNode(OpId::add, Attributes(), {a, b}, "sum", options, diagnostics)
                   .has_value());
  ASSERT_EQ(diagnostics.error_count(), 1);
  const Diagnostic error = diagnostics.Sorted().at(0);
  EXPECT_EQ(error.message, "sum: shapes [2] and [3] do not go together");
  EXPECT_NE(error.help.find("operands: a: f32[2], b: f32[3]"), std::string::npos) << error.help;
  EXPECT_EQ(error.mark.line, 1);
  EXPECT_FALSE(
      builder_.TryAddNode(OpId::add, Attributes(), {a, b}, "other.sum", options, diagnostics)
          .has_value());
  EXPECT_EQ(diagnostics.error_count(), 1) << "the same of the same place, which is used twice";
  EXPECT_EQ(graph_.nodes.size(), 0u);
  EXPECT_EQ(graph_.values.size(), 2u);
  EXPECT_TRUE(builder_.TryAddNode(OpId::add, Attributes(), {a, a}, "sum", options, diagnostics)
                  .has_value());
  EXPECT_EQ(diagnostics.error_count(), 1);
}

TEST(InferTypesTest, CountsInputs) {
  const Attributes none;
  const auto message = [&](OpId op, const Attributes& attributes, int inputs) {
    InferContext context(attributes,
                         std::vector<TensorType>(static_cast<size_t>(inputs), F32({2})));
    EXPECT_TRUE(InferTypes(op, context).empty());
    return context.message();
  };
  EXPECT_EQ(message(OpId::add, none, 1), "'add' takes 2 inputs, not 1");
  EXPECT_EQ(message(OpId::relu, none, 2), "'relu' takes 1 input, not 2");
  EXPECT_EQ(message(OpId::concat, Attributes::Defaults(*GetOpDef(OpId::concat).schema), 0),
            "'concat' takes at least 1 input, not 0");
  EXPECT_EQ(message(OpId::dropout, Attributes::Defaults(*GetOpDef(OpId::dropout).schema), 3),
            "'dropout' takes 1 to 2 inputs, not 3");
}

TEST(InferTypesTest, ChecksAttributesFirst) {
  const AttributeSchema& schema = *GetOpDef(OpId::dropout).schema;
  const Attributes attributes = Attributes::Defaults(schema).With(*schema.Find("rate"), -1.0);
  InferContext context(attributes, {F32({2})});
  InferTypes(OpId::dropout, context);
  EXPECT_EQ(context.message(), "`rate` must be at least 0, not -1");
}

TEST(InferTypesTest, AttributesOfAnotherOperatorAreABug) {
  const Attributes none;
  InferContext context(none, {F32({2})});
  EXPECT_DEATH(InferTypes(OpId::dropout, context), "attributes of another operator");
}

TEST(OpTableTest, FindsEveryOperatorByName) {
  EXPECT_GE(OpCount(), kBuiltinOpCount);
  for (int i = 0; i < kBuiltinOpCount; ++i) {
    const OpId op = static_cast<OpId>(i);
    EXPECT_EQ(FindOp(NameOf(op)), op);
  }
  EXPECT_EQ(FindOp("rleu"), std::nullopt);
}

TEST(OpTableTest, NamesAreThoseOfTheList) {
#define CGRUN_OP(name, cpu, cuda) EXPECT_EQ(NameOf(OpId::name), #name);
#include "src/ir/op_list.inc"
#undef CGRUN_OP
}

// The texts that `cgrun ops` prints of an operator are never empty, and the declared pairs exist.
TEST(OpTableTest, EveryOperatorIsDescribed) {
  for (int i = 0; i < kBuiltinOpCount; ++i) {
    const OpDef& def = GetOpDef(static_cast<OpId>(i));
    EXPECT_FALSE(def.summary.empty()) << def.name;
    EXPECT_EQ(def.summary.back(), '.') << def.name;
    EXPECT_FALSE(def.details.empty()) << def.name;
    EXPECT_FALSE(def.inputs.empty()) << def.name;
    EXPECT_FALSE(def.outputs.empty()) << def.name;
    for (const OperandDef& operand : def.inputs) EXPECT_FALSE(operand.doc.empty()) << def.name;
    for (const OperandDef& operand : def.outputs) EXPECT_FALSE(operand.doc.empty()) << def.name;
    for (const AttributeField& field : def.schema->fields()) {
      EXPECT_FALSE(field.doc.empty()) << def.name << " " << field.name;
    }
    std::vector<InPlacePair> pairs = def.in_place;
    pairs.insert(pairs.end(), def.updates.begin(), def.updates.end());
    for (const InPlacePair& pair : pairs) {
      EXPECT_LT(static_cast<size_t>(pair.input), def.inputs.size()) << def.name;
      EXPECT_LT(static_cast<size_t>(pair.output), def.outputs.size()) << def.name;
    }
    if (def.usage != Usage::kOptimizer) continue;
    for (const char* field : {"lr", "learning_rate_scale", "l1", "l2"}) {
      EXPECT_NE(def.schema->Find(field), nullptr) << def.name << " " << field;
    }
  }
}

// Defaults of every attribute keep their own ranges.
TEST(OpTableTest, DefaultsAreAllowed) {
  for (int i = 0; i < kBuiltinOpCount; ++i) {
    const OpDef& def = GetOpDef(static_cast<OpId>(i));
    const Attributes defaults = Attributes::Defaults(*def.schema);
    for (const AttributeField& field : def.schema->fields()) {
      if (field.required) continue;
      EXPECT_EQ(FaultOf(field, defaults.Get(field)), "") << def.name;
    }
  }
}

TEST(OpTableTest, PluginsAreAddedOnce) {
  OpDef def = GetOpDef(OpId::relu);
  def.name = "plugin_relu";
  const OpId op = AddOperator(def);
  EXPECT_GE(static_cast<int>(op), kBuiltinOpCount);
  EXPECT_EQ(FindOp("plugin_relu"), op);
  EXPECT_EQ(GetOpDef(op).summary, GetOpDef(OpId::relu).summary);
  EXPECT_DEATH(AddOperator(def), "plugin_relu");
}

}  // namespace
}  // namespace cgrun
