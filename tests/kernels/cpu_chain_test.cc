// Chains of elementwise operators, with a reduction behind them or without, as one node give the
// bits of our kernels for their operators one after another. CGRUN_TEST_TARGET names an instruction
// set other than the best.
#include <gtest/gtest.h>

#include <algorithm>

#include "src/ir/op_def.h"
#include "src/kernels/cpu/elementwise_chain.h"
#include "src/kernels/cpu/reduced_chain.h"
#include "src/ops/cast.h"
#include "src/ops/reduce.h"
#include "tests/kernels/own_kernels.h"
#include "tests/kernels/random_tensors.h"
#include "tests/support/sanitized.h"

namespace cgrun {
namespace {

constexpr int kRounds = kSanitized ? 20 : 100;

// A random body, grown operator by operator on numbers of one type.
class RandomChain {
 public:
  RandomChain(Dice& dice, DType dtype, const Shape& shape, int operators)
      : dice_(dice), dtype_(dtype), shape_(shape) {
    for (int j = 0; j < operators; ++j) Grow();
    node_.outputs = {TypeOf(results_.back())};
  }

  // Puts an operator behind it that reads its result.
  void End(OpId op, const Attributes& attributes) {
    const int result = -static_cast<int>(results_.size());
    Add(op, attributes, {result});
    node_.outputs = {TypeOf(results_.back())};
  }

  const NodeSignature& node() const { return node_; }
  const std::vector<HostTensor>& inputs() const { return inputs_; }
  const HostTensor& wanted() const { return results_.back(); }

 private:
  static TensorType TypeOf(const HostTensor& tensor) { return {tensor.dtype(), tensor.shape()}; }

  // Returns the last result, an earlier one, an input, or a new input, which has one element at
  // times.
  int AnyOperand(bool last) {
    const auto results = static_cast<int>(results_.size());
    if (last && results > 0) return -results;
    const int64_t which = dice_.Between(0, 3);
    if (which == 0 && results > 0) return -static_cast<int>(dice_.Between(1, results));
    if (which == 1 && !inputs_.empty()) {
      return static_cast<int>(dice_.Between(0, static_cast<int64_t>(inputs_.size()) - 1));
    }
    // Behind the first operator: that has an operand of the whole shape, of which results are, too.
    const bool one = which == 2 && results > 0 && shape_.Elements() > 1 && dice_.OneIn(2);
    inputs_.push_back(Numbers(dice_, dtype_, one ? Shape{1} : shape_));
    node_.inputs.push_back(TypeOf(inputs_.back()));
    return static_cast<int>(inputs_.size()) - 1;
  }

  const HostTensor& TensorOf(int operand) const {
    return operand < 0 ? results_[static_cast<size_t>(-1 - operand)]
                       : inputs_[static_cast<size_t>(operand)];
  }

  void Grow() {
    static const std::vector<OpId> kUnary = {OpId::relu, OpId::sigmoid,    OpId::tanh, OpId::neg,
                                             OpId::abs,  OpId::leaky_relu, OpId::clip};
    static const std::vector<OpId> kBinary = {
        OpId::add, OpId::sub, OpId::mul, OpId::min, OpId::max, OpId::sigmoid_grad, OpId::relu_grad};
    const bool unary = dice_.OneIn(2);
    const OpId op = dice_.Of(unary ? kUnary : kBinary);
    std::vector<int> operands = {AnyOperand(true)};
    if (!unary) operands.push_back(AnyOperand(false));
    const bool broadcasts = op == OpId::sigmoid_grad || op == OpId::relu_grad;  // they do not
    if (broadcasts && TensorOf(operands[1]).shape() != shape_) operands[1] = operands[0];
    if (!unary && !broadcasts && dice_.OneIn(2)) std::swap(operands[0], operands[1]);
    Add(op, Attributes::Defaults(*GetOpDef(op).schema), operands);
  }

  void Add(OpId op, const Attributes& attributes, const std::vector<int>& operands) {
    std::vector<HostTensor> tensors;
    for (const int operand : operands) tensors.push_back(TensorOf(operand));
    const RandomNode apart = MakeNode(op, attributes, tensors);
    results_.push_back(OwnOutputs(apart.node, apart.inputs)[0]);
    node_.body.push_back({op, attributes, operands});
  }

  Dice& dice_;
  DType dtype_;
  Shape shape_;
  NodeSignature node_{OpId::fused, Attributes(), {}, {}, {}};
  std::vector<HostTensor> inputs_, results_;
};

void ExpectSameBits(const HostTensor& actual, const HostTensor& wanted) {
  ASSERT_EQ(actual.shape(), wanted.shape());
  ASSERT_EQ(actual.dtype(), wanted.dtype());
  EXPECT_TRUE(std::ranges::equal(actual.bytes(), wanted.bytes()));
}

TEST(ElementwiseChain, GivesTheBitsOfItsOperators) {
  Dice dice(11);
  for (int round = 0; round < kRounds; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const Shape shape = AnyShape(dice, dice.Of<int64_t>({1, 30, 2048, 5000, 70000}));
    const DType dtype = dice.Of<DType>({DType::kF32, DType::kF64, DType::kBF16});
    const RandomChain chain(dice, dtype, shape, static_cast<int>(dice.Between(2, 7)));
    ASSERT_EQ(FaultOfFused(chain.node()), "");
    for (const int threads : {1, 2, 3}) {
      ExpectSameBits(OwnOutputs(chain.node(), chain.inputs(), threads)[0], chain.wanted());
    }
    if (HasFailure()) return;
  }
}

// Operands of other types lie in step by elements, not by bytes.
TEST(ElementwiseChain, TakesSeveralTypes) {
  Dice dice(12);
  const Shape shape{9, 1000};
  const HostTensor x = Numbers(dice, DType::kBF16, shape), y = Numbers(dice, DType::kF32, shape);
  const Attributes to_f32 = Attributes::Of(CastAttributes{DType::kF32});
  const Attributes to_bf16 = Attributes::Of(CastAttributes{DType::kBF16});
  NodeSignature chain{OpId::fused,
                      Attributes(),
                      {{DType::kBF16, shape}, {DType::kF32, shape}},
                      {{DType::kBF16, shape}},
                      {}};
  chain.body = {
      {OpId::cast, to_f32, {0}}, {OpId::mul, Attributes(), {-1, 1}}, {OpId::cast, to_bf16, {-2}}};
  ASSERT_EQ(FaultOfFused(chain), "");
  const auto apart = [](OpId op, const Attributes& attributes, std::vector<HostTensor> inputs) {
    const RandomNode node = MakeNode(op, attributes, std::move(inputs));
    return OwnOutputs(node.node, node.inputs)[0];
  };
  const HostTensor wide = apart(OpId::cast, to_f32, {x});
  const HostTensor wanted = apart(OpId::cast, to_bf16, {apart(OpId::mul, Attributes(), {wide, y})});
  for (const int threads : {1, 2}) ExpectSameBits(OwnOutputs(chain, {x, y}, threads)[0], wanted);
}

bool IsSupported(OpId op, const TensorType& x, const TensorType& y, const TensorType& result) {
  NodeSignature chain{OpId::fused, Attributes(), {x, y}, {result}, {}};
  chain.body = {{op, Attributes::Defaults(*GetOpDef(op).schema), {0, 1}},
                {OpId::relu, Attributes(), {-1}}};
  return FaultOfFused(chain).empty() && cpu::elementwise_chain().supports(chain);
}

TEST(ElementwiseChain, LeavesWhatIsNotInStep) {
  const TensorType x{DType::kF32, {4, 6}}, row{DType::kF32, {6}}, one{DType::kF32, {1}};
  EXPECT_TRUE(IsSupported(OpId::add, x, x, x));
  EXPECT_TRUE(IsSupported(OpId::add, x, one, x));
  EXPECT_FALSE(IsSupported(OpId::add, x, row, x));
  const TensorType narrow{DType::kF32, {4, 1}}, scalar{DType::kF32, {1}};
  EXPECT_FALSE(IsSupported(OpId::bias, narrow, scalar, narrow));  // minds its axes
}

// Its gradient is that of a mean: a tile of it would be divided by the tile's elements.
TEST(ElementwiseChain, LeavesWhatCountsItsElements) {
  const TensorType x{DType::kF32, {4, 6}}, one{DType::kF32, {}};
  NodeSignature chain{OpId::fused, Attributes(), {x, x, one}, {x}, {}};
  chain.body = {{OpId::squared_error_grad, Attributes(), {0, 1, 2}},
                {OpId::relu, Attributes(), {-1}}};
  ASSERT_EQ(FaultOfFused(chain), "");
  EXPECT_FALSE(cpu::elementwise_chain().supports(chain));
}

constexpr OpId kReductions[] = {OpId::reduce_sum, OpId::reduce_mean, OpId::reduce_max};

Attributes Over(std::vector<int64_t> axes, bool keep_dims = false) {
  return Attributes::Of(ReduceAttributes{{axes.begin(), axes.end()}, keep_dims});
}

// A row can be a part of a vector, a tile and more, or pieces of unlike length. Many rows can lie
// in a tile.
TEST(ReducedChain, GivesTheBitsOfItsOperators) {
  Dice dice(14);
  for (int round = 0; round < kRounds / 2; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const int64_t count = dice.Of<int64_t>({3, 10, 100, 512, 2048, 2049, 5000, 70001, 100003});
    const int64_t rows = std::min<int64_t>(dice.Of<int64_t>({1, 2, 7, 60}), 110000 / count);
    const Shape shape{rows, count};
    const OpId op = kReductions[round % 3];
    const bool all = dice.OneIn(3);
    RandomChain chain(dice, dice.Of<DType>({DType::kF32, DType::kBF16}), shape,
                      static_cast<int>(dice.Between(1, 5)));
    chain.End(op, all ? Over({}, dice.OneIn(2)) : Over({-1}, dice.OneIn(2)));
    ASSERT_EQ(FaultOfFused(chain.node()), "");
    ASSERT_TRUE(cpu::reduced_chain().supports(chain.node()));
    for (const int threads : {1, 2, 3}) {
      ExpectSameBits(OwnOutputs(chain.node(), chain.inputs(), threads)[0], chain.wanted());
    }
    if (HasFailure()) return;
  }
}

// Large numbers that cancel: what is left depends on which were added to which, and when.
HostTensor Cancelling(Dice& dice, int64_t count) {
  constexpr int64_t kLarge = 40;
  HostTensor x = Numbers(dice, DType::kF32, {2, count});
  for (int64_t k = 0; k < kLarge; ++k) {
    const int64_t at = k * (count / kLarge) + dice.Between(0, count / kLarge - 1);
    for (const int64_t row : {0, 1}) x.Set(row * count + at, k % 2 == 0 ? 0x1p50 : -0x1p50);
  }
  return x;
}

TEST(ReducedChain, AddsInTheOrderOfItsOperators) {
  Dice dice(15);
  for (const int64_t count : {500, 2500, 33000, 70001, 100003}) {
    SCOPED_TRACE(count);
    const HostTensor x = Cancelling(dice, count);
    const TensorType type{DType::kF32, x.shape()};
    NodeSignature node{OpId::fused, Attributes(), {type}, {{DType::kF32, {2}}}, {}};
    node.body = {{OpId::neg, Attributes(), {0}}, {OpId::reduce_sum, Over({1}), {-1}}};
    const auto apart = [](const HostTensor& tensor) {
      const RandomNode neg = MakeNode(OpId::neg, Attributes(), {tensor});
      const RandomNode sum =
          MakeNode(OpId::reduce_sum, Over({1}), {OwnOutputs(neg.node, neg.inputs)[0]});
      return OwnOutputs(sum.node, sum.inputs)[0];
    };
    const HostTensor wanted = apart(x);
    for (const int threads : {1, 2}) ExpectSameBits(OwnOutputs(node, {x}, threads)[0], wanted);
    HostTensor moved = x;  // by one element
    for (int64_t i = 0; i < 2 * count; ++i) {
      moved.Set(i, x.At(i / count * count + (i + 1) % count));
    }
    EXPECT_NE(apart(moved).At(0), wanted.At(0));
  }
}

TEST(ReducedChain, LeavesWhatLiesInOtherOrders) {
  const auto supports = [](OpId op, const Attributes& attributes, const Shape& result,
                           DType dtype = DType::kF32) {
    const TensorType x{dtype, {4, 6, 5}};
    NodeSignature node{OpId::fused, Attributes(), {x, x}, {{dtype, result}}, {}};
    node.body = {{OpId::mul, Attributes(), {0, 1}}, {op, attributes, {-1}}};
    EXPECT_EQ(FaultOfFused(node), "");
    return cpu::reduced_chain().supports(node);
  };
  for (const OpId op : kReductions) {
    EXPECT_TRUE(supports(op, Over({1, 2}), {4}));
    EXPECT_TRUE(supports(op, Over({2}, true), {4, 6, 1}));
    EXPECT_TRUE(supports(op, Over({}), {}));
    EXPECT_FALSE(supports(op, Over({0}), {6, 5}));
    EXPECT_FALSE(supports(op, Over({1}), {4, 5}));
    EXPECT_FALSE(supports(op, Over({0, 2}), {6}));
    EXPECT_FALSE(supports(op, Over({2}), {4, 6}, DType::kF64));  // has no kernel of our own
  }
  EXPECT_FALSE(
      supports(OpId::softmax, Attributes::Defaults(*GetOpDef(OpId::softmax).schema), {4, 6, 5}));
}

// The tensor between is not there; nothing is written over.
TEST(ReducedChain, TakesNoTensorAndIsNotInPlace) {
  const TensorType x{DType::kF32, {64, 5000}}, y{DType::kF32, {64}};
  NodeSignature node{OpId::fused, Attributes(), {x}, {y}, {}};
  node.body = {{OpId::mul, Attributes(), {0, 0}}, {OpId::reduce_sum, Over({1}), {-1}}};
  const auto option = OwnOption(*FindKernelLibrary("blas"), node, 2);
  ASSERT_TRUE(option.has_value());
  EXPECT_EQ(option->kernel, "cpu.reduced_chain");
  EXPECT_TRUE(option->in_place.empty());
  EXPECT_EQ(option->workspace_bytes, 2 * 8192);
}

// The chain may write over operands that its operators may write over. An operand that is read
// twice stays.
TEST(ElementwiseChain, RunsInPlaceWhereItsOperatorsDo) {
  const std::vector<FusedOperator> body = {{OpId::add, Attributes(), {0, 1}},
                                           {OpId::mul, Attributes(), {-1, 2}},
                                           {OpId::sub, Attributes(), {-2, 1}}};
  EXPECT_EQ(InPlacePairsOf(OpId::fused, body), (std::vector<InPlacePair>{{0, 0}, {2, 0}}));
  Dice dice(13);
  const HostTensor x = Numbers(dice, DType::kF32, {3, 5000});
  const TensorType type{DType::kF32, x.shape()};
  const NodeSignature node{OpId::fused, Attributes(), {type, type, type}, {type}, body};
  const auto option = OwnOption(*FindKernelLibrary("blas"), node, 2);
  ASSERT_TRUE(option.has_value());
  EXPECT_EQ(option->in_place, InPlacePairsOf(OpId::fused, body));
}

}  // namespace
}  // namespace cgrun
