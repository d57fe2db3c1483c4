// A fused node gives the bits of its operators one after another, and touches nothing but its
// output and its workspace.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "src/base/random.h"
#include "src/ir/op_def.h"
#include "src/kernels/reference/library.h"
#include "src/ops/reduce.h"

namespace cgrun {
namespace {

HostTensor Numbers(const TensorType& type, uint64_t key) {
  HostTensor tensor(type.dtype, type.shape);
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    tensor.Set(i, RandomNormal(key, 0, static_cast<uint64_t>(i)));
  }
  return tensor;
}

HostTensor Evaluated(const NodeSignature& node, const std::vector<HostTensor>& inputs) {
  auto outputs = reference::Library().Evaluate(node, inputs);
  RC_ASSERT(outputs.has_value());
  return std::move(outputs->at(0));
}

HostTensor Separately(const NodeSignature& node, const std::vector<HostTensor>& inputs) {
  std::vector<HostTensor> results;
  for (size_t j = 0; j < node.body.size(); ++j) {
    std::vector<HostTensor> operands;
    for (const int operand : node.body[j].operands) {
      operands.push_back(operand >= 0 ? inputs.at(static_cast<size_t>(operand))
                                      : results.at(static_cast<size_t>(-1 - operand)));
    }
    results.push_back(Evaluated(SignaturesInBody(node)[j], operands));
  }
  return results.back();
}

FusedOperator RandomOperator(int index, int inputs) {
  const bool binary = *rc::gen::arbitrary<bool>();
  const OpId op = binary ? *rc::gen::element(OpId::add, OpId::sub, OpId::mul, OpId::div)
                         : *rc::gen::element(OpId::relu, OpId::tanh, OpId::sigmoid, OpId::neg,
                                             OpId::exp, OpId::identity);
  FusedOperator inner{op, Attributes::Defaults(*GetOpDef(op).schema), {}};
  for (int i = 0; i < (binary ? 2 : 1); ++i) {
    inner.operands.push_back(*rc::gen::inRange(-index, inputs));
  }
  return inner;
}

RC_GTEST_PROP(Fused, GivesTheBitsOfItsOperators, ()) {
  const DType dtype = *rc::gen::element(DType::kF64, DType::kF32, DType::kBF16);
  const TensorType type{dtype,
                        {*rc::gen::inRange<int64_t>(1, 5), *rc::gen::inRange<int64_t>(1, 40)}};
  const int inputs = *rc::gen::inRange(1, 4);
  NodeSignature node{OpId::fused, Attributes(), {}, {type}, {}};
  std::vector<HostTensor> tensors;
  for (int i = 0; i < inputs; ++i) {
    node.inputs.push_back(type);
    tensors.push_back(Numbers(type, static_cast<uint64_t>(i)));
  }
  const int length = *rc::gen::inRange(1, 7);
  for (int j = 0; j < length; ++j) node.body.push_back(RandomOperator(j, inputs));
  RC_ASSERT(FaultOfFused(node) == "");
  RC_ASSERT(Evaluated(node, tensors) == Separately(node, tensors));
}

TEST(Fused, TheWorkspaceHoldsWhatIsBetween) {
  const TensorType type{DType::kF32, {5}};
  NodeSignature node{OpId::fused, Attributes(), {type}, {type}, {}};
  for (int length = 1; length <= 4; ++length) {
    node.body.push_back({OpId::relu, Attributes(), {length == 1 ? 0 : 1 - length}});
    const auto options = reference::Library().Options(node, {});
    ASSERT_EQ(options.size(), 1u);
    EXPECT_EQ(options[0].workspace_bytes, 64 * (length - 1));
  }
}

TEST(Fused, RunsInPlaceWhereItsOperatorsDo) {
  const TensorType type{DType::kF32, {5}};
  NodeSignature node{OpId::fused, Attributes(), {type, type}, {type}, {}};
  const auto in_place = [&] { return reference::Library().Options(node, {})[0].in_place; };
  node.body = {{OpId::relu, Attributes(), {0}}, {OpId::add, Attributes(), {-1, 1}}};
  EXPECT_EQ(in_place(), (std::vector<InPlacePair>{{0, 0}, {1, 0}}));
  node.body = {{OpId::reduce_max, Attributes::Of(ReduceAttributes{{0}, true}), {0}},
               {OpId::relu, Attributes(), {-1}},
               {OpId::add, Attributes(), {-2, 1}}};
  node.inputs[0].shape = {3, 5};
  node.inputs[1].shape = node.outputs[0].shape = {1, 5};
  EXPECT_EQ(in_place(), (std::vector<InPlacePair>{{1, 0}})) << "reduce_max is not in place";
  node.inputs = {type, type};
  node.outputs = {type};
  node.body = {{OpId::relu, Attributes(), {0}}, {OpId::add, Attributes(), {-1, 0}}};
  EXPECT_TRUE(in_place().empty()) << "relu reads input 0, too";
}

TEST(Fused, BodiesThatNeedAWorkspaceAreNotTaken) {
  const TensorType type{DType::kF32, {4, 4}};
  NodeSignature node{OpId::fused, Attributes(), {type, type}, {type}, {}};
  node.body = {{OpId::matmul, Attributes::Defaults(*GetOpDef(OpId::matmul).schema), {0, 1}}};
  EXPECT_TRUE(reference::Library().Options(node, {}).empty());
}

}  // namespace
}  // namespace cgrun
