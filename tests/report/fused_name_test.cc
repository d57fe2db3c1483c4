// Tests the names of the boxes of fused nodes.
#include "src/report/fused_name.h"

#include <gtest/gtest.h>

#include "tests/support/graph_maker.h"

namespace cgrun {
namespace {

FusedOperator Inner(OpId op, std::vector<int> operands) {
  return {op, Attributes::Defaults(*GetOpDef(op).schema), std::move(operands)};
}

// The name of a node that multiplies by the parameter `weight`, and takes what is positive.
std::string NameOfTwo(const std::string& weight, const std::string& name,
                      Phase phase = Phase::kForward) {
  GraphMaker make;
  const ValueId w = make.State(weight, {4}), x = make.Feed("x", {4});
  make.phase = phase;
  const ValueId y = make.Fused(name, {x, w}, {Inner(OpId::mul, {0, 1}), Inner(OpId::relu, {-1})});
  return BoxName(make.graph(), make.Producer(y));
}

TEST(FusedNameTest, HasTheNamesThatTheModelFileGives) {
  EXPECT_EQ(NameOfTwo("p.conv1.weight", "p.conv1.relu"), "p.conv1 + relu");
  EXPECT_EQ(NameOfTwo("p.conv1.weight", "p.found"), "p.conv1 + found");
}

TEST(FusedNameTest, NumbersOfUnnamedOperatorsStandOnlyWhereTheyTellOneFromAnother) {
  EXPECT_EQ(NameOfTwo("p.conv1.weight", "p.relu[0]"), "p.conv1 + relu");
  EXPECT_EQ(NameOfTwo("p.conv[0].weight", "p.relu[0]"), "p.conv[0] + relu");
}

TEST(FusedNameTest, StandsInTheScopeOfTheNode) {
  EXPECT_EQ(NameOfTwo("p.block[1].conv.weight", "p.block[1].conv.relu"), "p.block[1].conv + relu");
  EXPECT_EQ(NameOfTwo("judge.conv1.weight", "p.real.conv1.relu"), "p.real.conv1 + relu");
  EXPECT_EQ(NameOfTwo("conv1.weight", "conv1.relu"), "conv1 + relu");
}

TEST(FusedNameTest, OfGradientsIsTheirOwn) {
  EXPECT_EQ(NameOfTwo("p.conv1.weight", "p.conv1.dx", Phase::kBackward), "p.conv1.dx");
}

TEST(FusedNameTest, OfOperatorsWithoutParametersIsTheLastOnes) {
  GraphMaker make;
  const ValueId x = make.Feed("x", {4});
  const ValueId y = make.Fused("p.relu[3]", {x}, {Inner(OpId::exp, {0}), Inner(OpId::relu, {-1})});
  EXPECT_EQ(BoxName(make.graph(), make.Producer(y)), "p.relu[3]");
  EXPECT_EQ(OperatorText(make.Producer(y)), "exp + relu");
  const ValueId z = make.Op(OpId::exp, "p.exp[0]", {y});
  EXPECT_EQ(BoxName(make.graph(), make.Producer(z)), "p.exp[0]");
}

TEST(FusedNameTest, AllOfAGraphStandInOneTable) {
  GraphMaker make;
  const ValueId w = make.State("p.conv1.weight", {4}), x = make.Feed("x", {4});
  const ValueId y =
      make.Fused("p.conv1.relu", {x, w}, {Inner(OpId::mul, {0, 1}), Inner(OpId::relu, {-1})});
  const ValueId z = make.Op(OpId::exp, "p.exp[0]", {y});
  make.Fused("p.relu[3]", {z}, {Inner(OpId::exp, {0}), Inner(OpId::relu, {-1})});
  const std::vector<FusedNode> nodes = FusedNodesOf(make.graph());
  ASSERT_EQ(nodes.size(), 2);
  EXPECT_EQ(nodes[0].operators, "mul + relu");
  EXPECT_EQ(FusedNodesText("train", nodes),
            "  fused in 'train'  made of\n"
            "  --------------------------------\n"
            "  p.conv1.relu      p.conv1 + relu\n"
            "  p.relu[3]         exp + relu\n");
  const std::string some = FusedNodesText("train", nodes, 1);
  EXPECT_EQ(some.find("p.relu[3]"), std::string::npos) << some;
  EXPECT_NE(some.find("  1 more; --full lists all.\n"), std::string::npos) << some;
  EXPECT_EQ(FusedNodesText("train", {}), "");
}

TEST(FusedNameTest, LooksThroughOtherLayoutsOfAWeight) {
  GraphMaker make;
  const ValueId w = make.State("p.fc.weight", {4}), x = make.Feed("x", {4});
  const ValueId narrow = make.Op(OpId::cast, "p.fc.weight.cast", {w});
  EXPECT_EQ(OwnerOf(make.graph(), narrow), "p.fc");
  EXPECT_EQ(OwnerOf(make.graph(), w), "p.fc");
  EXPECT_EQ(OwnerOf(make.graph(), x), "");
  const ValueId y =
      make.Fused("p.fc.relu", {x, narrow}, {Inner(OpId::mul, {0, 1}), Inner(OpId::relu, {-1})});
  EXPECT_EQ(BoxName(make.graph(), make.Producer(y)), "p.fc + relu");
}

}  // namespace
}  // namespace cgrun
