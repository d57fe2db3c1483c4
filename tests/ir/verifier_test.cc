// VerifyGraph: a right graph passes, and each rule fails at least once.
#include <gtest/gtest.h>

#include "src/ir/builder.h"
#include "src/ir/graph.h"

namespace cgrun {
namespace {

TensorType F32(Shape shape) { return {DType::kF32, std::move(shape)}; }

// next = w + relu(x); w ← next; next is an output.
class VerifierTest : public testing::Test {
 protected:
  VerifierTest() {
    Builder builder(graph_);
    x_ = builder.AddSource(Role::kPlaceholder, Zone::kForward, F32({2}), "x");
    w_ = builder.AddSource(Role::kParameter, Zone::kForward, F32({2}), "w");
    y_ = builder.AddNode(OpId::relu, Attributes(), {x_}, "y", {})[0];
    next_ = builder.AddNode(OpId::add, Attributes(), {w_, y_}, "next", {})[0];
    graph_.updates.push_back({w_, next_});
    graph_.outputs.push_back({next_, OutputKind::kKept, "sum", PathId()});
  }

  void SetUp() override { ASSERT_EQ(VerifyGraph(graph_), std::vector<std::string>()); }

  // Among the violations is one that contains `text`.
  void ExpectViolation(const std::string& text) {
    const std::vector<std::string> violations = VerifyGraph(graph_);
    EXPECT_FALSE(violations.empty()) << "accepted";
    bool found = false;
    for (const std::string& violation : violations) {
      found |= violation.find(text) != std::string::npos;
    }
    EXPECT_TRUE(found) << "not '" << text << "' but " << testing::PrintToString(violations);
  }

  Node& NodeOf(ValueId value) { return graph_.nodes[graph_.values[value].producer]; }

  Graph graph_;
  ValueId x_, w_, y_, next_;
};

TEST_F(VerifierTest, InputsExist) {
  NodeOf(y_).inputs[0] = ValueId(99);
  ExpectViolation("y reads a value that does not exist");
}

TEST_F(VerifierTest, AbsentInputsAreLeftOut) {
  NodeOf(next_).inputs[1] = ValueId();
  ExpectViolation("next reads a value that does not exist");
}

TEST_F(VerifierTest, OutputsExist) {
  NodeOf(y_).outputs[0] = ValueId(99);
  ExpectViolation("y writes a value that does not exist");
}

TEST_F(VerifierTest, ProducersExist) {
  graph_.values[y_].producer = NodeId(7);
  ExpectViolation("y has a producer that does not exist");
}

TEST_F(VerifierTest, UpdateEdgesNameValues) {
  graph_.updates[0].next = ValueId(99);
  ExpectViolation("an update edge names a value that does not exist");
}

TEST_F(VerifierTest, GraphOutputsNameValues) {
  graph_.outputs[0].value = ValueId();
  ExpectViolation("output sum names a value that does not exist");
}

TEST_F(VerifierTest, ValuesHaveNames) {
  graph_.values[y_].name = "";
  ExpectViolation("a value has no name");
}

TEST_F(VerifierTest, NamesAreUnique) {
  graph_.values[y_].name = "x";
  ExpectViolation("two values are called x");
}

TEST_F(VerifierTest, ProducersAgreeWithOutputs) {
  graph_.values[y_].producer = NodeId(1);
  ExpectViolation("y does not know that y produces it");
}

TEST_F(VerifierTest, OutputIndicesAgree) {
  graph_.values[y_].output_index = 1;
  ExpectViolation("y does not know that y produces it");
}

TEST_F(VerifierTest, AValueIsWrittenOnce) {
  NodeOf(next_).outputs.push_back(y_);
  ExpectViolation("y is written by 2 nodes");
}

TEST_F(VerifierTest, AProducerWritesItsValue) {
  NodeOf(y_).outputs.clear();
  ExpectViolation("y is written by 0 nodes");
}

TEST_F(VerifierTest, NoCycles) {
  NodeOf(y_).inputs[0] = next_;
  ExpectViolation("a cycle goes through");
}

TEST_F(VerifierTest, SourcesHaveNoProducer) {
  graph_.values[y_].role = Role::kPlaceholder;
  ExpectViolation("y is a placeholder but has a producer");
}

TEST_F(VerifierTest, IntermediatesHaveAProducer) {
  graph_.values[x_].role = Role::kIntermediate;
  ExpectViolation("x is a intermediate without a producer");
}

TEST_F(VerifierTest, GradientsHaveAProducer) {
  graph_.values[x_].role = Role::kGradient;
  ExpectViolation("x is a gradient without a producer");
}

TEST_F(VerifierTest, ConstantsHaveBytes) {
  graph_.values[x_].role = Role::kConstant;
  ExpectViolation("constant x has no bytes");
}

TEST_F(VerifierTest, TypesAreInferred) {
  graph_.values[y_].type = F32({1, 2});
  ExpectViolation("y has outputs of other types");
}

TEST_F(VerifierTest, InputTypesAreLegal) {
  graph_.values[x_].type.dtype = DType::kI32;
  ExpectViolation("y: needs a floating-point input");
}

TEST_F(VerifierTest, OnlyStateIsUpdated) {
  graph_.updates[0].state = x_;
  ExpectViolation("x is updated but is no state");
}

TEST_F(VerifierTest, StateHasNoProducer) {
  graph_.values[y_].role = Role::kOptimizerState;
  graph_.updates.push_back({y_, x_});
  ExpectViolation("state y has a producer");
}

TEST_F(VerifierTest, RecurrentStateHasNoProducer) {
  graph_.values[y_].role = Role::kRecurrentState;
  ExpectViolation("y is a recurrent state but has a producer");
}

TEST_F(VerifierTest, UpdatesKeepTheType) {
  graph_.values[w_].type = F32({1});
  ExpectViolation("w and its update differ in type");
}

TEST_F(VerifierTest, StateIsUpdatedOnce) {
  graph_.updates.push_back({w_, y_});
  ExpectViolation("w is updated twice");
}

// A copy is made for the second before planning.
TEST_F(VerifierTest, AValueMayUpdateTwoStates) {
  Builder builder(graph_);
  const ValueId v = builder.AddSource(Role::kParameter, Zone::kForward, F32({2}), "v");
  graph_.updates.push_back({v, next_});
  EXPECT_EQ(VerifyGraph(graph_), std::vector<std::string>());
}

TEST_F(VerifierTest, AllViolationsAreReported) {
  graph_.values[y_].type = F32({1, 2});
  graph_.updates[0].state = x_;
  EXPECT_GE(VerifyGraph(graph_).size(), 2u);
}

// A next value may stand where a source would: it takes the state's place.
TEST_F(VerifierTest, NextMayHaveTheRoleOfItsState) {
  graph_.values[next_].role = Role::kParameter;
  EXPECT_EQ(VerifyGraph(graph_), std::vector<std::string>());
}

}  // namespace
}  // namespace cgrun
