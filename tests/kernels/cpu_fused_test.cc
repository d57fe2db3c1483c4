// Our own kernels for fused nodes give the bits of our kernels for their operators one after
// another. CGRUN_TEST_TARGET names an instruction set other than the best.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "src/ir/op_def.h"
#include "src/ops/batch_norm.h"
#include "src/ops/conv.h"
#include "src/ops/linear.h"
#include "src/ops/matmul.h"
#include "src/ops/pool.h"
#include "src/ops/reduce.h"
#include "tests/kernels/cpu_cases.h"
#include "tests/kernels/own_kernels.h"
#include "tests/kernels/random_tensors.h"
#include "tests/support/run_option.h"
#include "tests/support/sanitized.h"

namespace cgrun {
namespace {

constexpr int kRounds = kSanitized ? 15 : 60;

void ExpectSameBits(const std::vector<HostTensor>& actual, const std::vector<HostTensor>& wanted) {
  ASSERT_EQ(actual.size(), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    ASSERT_EQ(actual[i].shape(), wanted[i].shape());
    EXPECT_TRUE(std::ranges::equal(actual[i].bytes(), wanted[i].bytes())) << "output " << i;
  }
}

// Returns `node` with operators of one operand behind it.
NodeSignature With(const RandomNode& node, const std::vector<NodeSignature>& behind) {
  NodeSignature fused{OpId::fused, Attributes(), node.node.inputs, behind.back().outputs, {}};
  fused.body = {{node.node.op, node.node.attributes, {}}};
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    fused.body[0].operands.push_back(static_cast<int>(i));
  }
  for (const NodeSignature& next : behind) {
    fused.body.push_back({next.op, next.attributes, {-static_cast<int>(fused.body.size())}});
  }
  EXPECT_EQ(FaultOfFused(fused), "");
  return fused;
}

RandomNode ActivationOf(Dice& dice, const HostTensor& x) {
  const OpId activation = dice.Of<OpId>({OpId::relu, OpId::leaky_relu});
  return MakeNode(activation, Attributes::Defaults(*GetOpDef(activation).schema), {x});
}

int64_t AnySize(Dice& dice) { return dice.Of<int64_t>({40, 300, 3000, 20000}); }

TEST(FusedConv, GivesTheBitsOfItsOperators) {
  Dice dice(4);
  int64_t negative = 0;
  for (int round = 0; round < kRounds; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const RandomNode conv = AnyConvNode(dice, AnySize(dice));
    const HostTensor y = OwnOutputs(conv.node, conv.inputs)[0];
    for (int64_t i = 0; i < y.elements(); ++i) negative += y.At(i) < 0;
    const RandomNode activation = ActivationOf(dice, y);
    ExpectSameBits(OwnOutputs(With(conv, {activation.node}), conv.inputs),
                   OwnOutputs(activation.node, activation.inputs));
  }
  EXPECT_GT(negative, 1000);
}

TEST(FusedLinear, GivesTheBitsOfItsOperators) {
  Dice dice(7);
  int64_t negative = 0;
  for (int round = 0; round < kRounds; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const int64_t rows = 16 * dice.Between(1, 6), features = dice.Between(1, 90);
    const int64_t units = dice.Between(48, 130);
    std::vector<HostTensor> inputs = {Numbers(dice, DType::kF32, Shape{rows, features}),
                                      Numbers(dice, DType::kF32, Shape{units, features})};
    const bool bias = dice.OneIn(2);
    if (bias) inputs.push_back(Numbers(dice, DType::kF32, Shape{units}));
    const RandomNode linear =
        MakeNode(OpId::linear, Attributes::Of(LinearAttributes{units, bias}), inputs);
    const HostTensor y = OwnOutputs(linear.node, linear.inputs)[0];
    for (int64_t i = 0; i < y.elements(); ++i) negative += y.At(i) < 0;
    const RandomNode activation = ActivationOf(dice, y);
    const std::vector<HostTensor> wanted = OwnOutputs(activation.node, activation.inputs);
    for (int threads : {1, 2, 3}) {
      ExpectSameBits(OwnOutputs(With(linear, {activation.node}), linear.inputs, threads), wanted);
    }
  }
  EXPECT_GT(negative, 1000);
}

TEST(FusedConv, PoolsAsItGoes) {
  Dice dice(5);
  for (int round = 0; round < kRounds; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const RandomNode conv = AnyConvNode(dice, AnySize(dice));
    HostTensor y = OwnOutputs(conv.node, conv.inputs)[0];
    std::vector<NodeSignature> behind;
    if (dice.OneIn(2)) {
      const RandomNode activation = ActivationOf(dice, y);
      behind.push_back(activation.node);
      y = OwnOutputs(activation.node, activation.inputs)[0];
    }
    const RandomNode pool = AnyMaxPoolOf(dice, y);
    behind.push_back(pool.node);
    const std::vector<HostTensor> wanted = OwnOutputs(pool.node, pool.inputs);
    for (int threads : {1, 2, 3}) {
      ExpectSameBits(OwnOutputs(With(conv, behind), conv.inputs, threads), wanted);
    }
    if (HasFailure()) return;
  }
}

// The gradient of a max_pool behind a convolution, and an operator that reads it as its operand
// −1 of `operands`, which has one more at most.
struct Unpooled {
  RandomNode max_pool_grad;
  NodeSignature reader;
  std::vector<int> operands;
  std::vector<HostTensor> other;

  std::vector<HostTensor> Inputs() const {
    std::vector<HostTensor> inputs = max_pool_grad.inputs;
    inputs.insert(inputs.end(), other.begin(), other.end());
    return inputs;
  }

  NodeSignature Node() const {
    NodeSignature fused{OpId::fused, Attributes(), max_pool_grad.node.inputs, reader.outputs, {}};
    for (const HostTensor& tensor : other) {
      fused.inputs.push_back({tensor.dtype(), tensor.shape()});
    }
    fused.body = {{OpId::max_pool_grad, max_pool_grad.node.attributes, {0, 1}},
                  {reader.op, reader.attributes, operands}};
    EXPECT_EQ(FaultOfFused(fused), "");
    return fused;
  }

  std::vector<HostTensor> Fused(int threads) const { return OwnOutputs(Node(), Inputs(), threads); }

  // Returns the inputs of the reader, with `between` as the value between the two nodes.
  std::vector<HostTensor> Apart(const HostTensor& between) const {
    std::vector<HostTensor> apart;
    for (const int operand : operands) apart.push_back(operand < 0 ? between : other[0]);
    return apart;
  }

  void Check(int threads) const {
    const HostTensor between = OwnOutputs(max_pool_grad.node, max_pool_grad.inputs)[0];
    ExpectSameBits(Fused(threads), OwnOutputs(reader, Apart(between), threads));
  }
  void CheckAlone(int team) const {
    ExpectSameBits(OwnOutputsAlone(Node(), Inputs(), team), Fused(team));
  }
  void CheckAgainstReference(int threads) const {
    const HostTensor between = Evaluated(max_pool_grad)[0];
    ExpectSameBits(Fused(threads), Evaluated({reader, Apart(between)}));
  }
};

// The gradients of the convolution's weight, its input, and, where there is a sum to make, its
// bias.
std::vector<Unpooled> GradientsBehind(const RandomNode& pool_grad, const RandomNode& forward) {
  const auto& conv = forward.node.attributes.As<ConvAttributes>();
  const Attributes grad =
      Attributes::Of(ConvGradAttributes{forward.inputs[0].shape(), conv.kernel, conv.stride,
                                        conv.padding, conv.dilation, conv.groups});
  const TensorType &x = forward.node.inputs[0], &weight = forward.node.inputs[1];
  const TensorType dy = forward.node.outputs[0];
  std::vector<Unpooled> gradients = {{pool_grad,
                                      {OpId::conv_weight_grad, grad, {x, dy}, {weight}, {}},
                                      {2, -1},
                                      {forward.inputs[0]}},
                                     {pool_grad,
                                      {OpId::conv_input_grad, grad, {dy, weight}, {x}, {}},
                                      {-1, 2},
                                      {forward.inputs[1]}}};
  if (dy.shape[1].size > 1 && dy.shape[2].size * dy.shape[3].size > 1) {
    gradients.push_back({pool_grad,
                         {OpId::reduce_sum,
                          Attributes::Of(ReduceAttributes{{0, 2, 3}}),
                          {dy},
                          {{DType::kF32, {dy.shape[1]}}},
                          {}},
                         {-1},
                         {}});
  }
  return gradients;
}

TEST(UnpooledGradients, HaveTheBitsOfTheirOperators) {
  Dice dice(6);
  int sums = 0;
  for (int round = 0; round < kRounds; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const RandomNode forward = AnyConvNode(dice, AnySize(dice));
    const HostTensor y = OwnOutputs(forward.node, forward.inputs)[0];
    const RandomNode pool_grad = GradientOf(dice, AnyMaxPoolOf(dice, y));
    const std::vector<Unpooled> gradients = GradientsBehind(pool_grad, forward);
    sums += gradients.size() == 3;
    for (int threads : {1, 2, 3}) {
      for (const Unpooled& gradient : gradients) gradient.Check(threads);
    }
    for (int team : {2, 3, 16}) {
      for (const Unpooled& gradient : gradients) gradient.CheckAlone(team);
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(sums, kRounds / 2);
}

// One thread after another, with the sums of as many as there are images, and of more.
TEST(ConvWeightGrad, SingleThreadedHasTheBitsOfATeam) {
  Dice dice(12);
  const KernelLibrary& library = *FindKernelLibrary("blas");
  int64_t smaller = 0;
  for (int round = 0; round < kRounds; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const RandomNode grad = AnyConvWeightGrad(dice, AnySize(dice));
    for (int team : {2, 3, 5, 16}) {
      ExpectSameBits(OwnOutputsAlone(grad.node, grad.inputs, team),
                     OwnOutputs(grad.node, grad.inputs, team));
      const auto of_team = OwnOption(library, grad.node, team);
      const auto alone = library.Options(grad.node, {.threads = 1, .thread_team = team});
      smaller += alone[0].workspace_bytes < of_team->workspace_bytes;
      EXPECT_LE(alone[0].workspace_bytes, of_team->workspace_bytes);
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(smaller, kRounds / 3);
}

// Windows that share no element are written two rows at a time, with what they leave out.
TEST(UnpooledGradients, GoToTheWinnersOfQuads) {
  Dice dice(8);
  MaxPoolAttributes quads;
  quads.kernel = quads.stride = {2, 2};
  for (const int64_t height : {2, 3, 8}) {
    for (const int64_t width : {2, 5, 8, 9, 24, 27}) {
      const HostTensor x = Numbers(dice, DType::kF32, {2, 3, height, width}, Specials::kZeros);
      const RandomNode grad =
          GradientOf(dice, MakeNode(OpId::max_pool, Attributes::Of(quads), {x}));
      ExpectSameBits(OwnOutputs(grad.node, grad.inputs), Evaluated(grad));
      if (HasFailure()) return;
    }
  }
}

// Channels of so many elements that each is added up in pieces, which end within a plane.
TEST(UnpooledGradients, AddUpALongChannelAsReduceSumDoes) {
  Dice dice(7);
  const HostTensor y = Numbers(dice, DType::kF32, {3, 2, 181, 203});
  const RandomNode pool_grad = GradientOf(dice, AnyMaxPoolOf(dice, y));
  const TensorType dy{DType::kF32, y.shape()};
  const Unpooled of_bias{pool_grad,
                         {OpId::reduce_sum,
                          Attributes::Of(ReduceAttributes{{0, 2, 3}}),
                          {dy},
                          {{DType::kF32, {2}}},
                          {}},
                         {-1},
                         {}};
  for (int threads : {1, 2, 3}) of_bias.Check(threads);
}

// Holds a convolution of small whole numbers, whose sums are exact in any order, and a pool of its
// result by windows of 2 × 2 that share no element. If `ceil` is true, the last windows of odd
// sizes hang over.
struct QuadsOfConv {
  QuadsOfConv(Dice& dice, int64_t height, int64_t width, bool ceil, OpId activation) {
    const auto integers = [&](const Shape& shape) {
      return Integers(dice, DType::kF32, shape, -3, 3);
    };
    ConvAttributes attributes;
    attributes.filters = 5;
    attributes.kernel = {3, 3};
    attributes.padding = {1, 1, 1, 1};
    conv = MakeNode(OpId::conv, Attributes::Of(attributes),
                    {integers({3, 2, height, width}), integers({5, 2, 3, 3}), integers({5})});
    HostTensor y = Evaluated(conv)[0];
    std::vector<NodeSignature> behind;
    if (activation != OpId::identity) {
      const RandomNode activated = MakeNode(activation, {}, {y});
      behind.push_back(activated.node);
      y = Evaluated(activated)[0];
    }
    MaxPoolAttributes quads;
    quads.kernel = quads.stride = {2, 2};
    quads.ceil_mode = ceil;
    pool = MakeNode(OpId::max_pool, Attributes::Of(quads), {y});
    behind.push_back(pool.node);
    fused = With(conv, behind);
    const HostTensor index = Evaluated(pool)[1];
    const PoolGradAttributes grad{y.shape(),     quads.kernel,   quads.stride,
                                  quads.padding, quads.dilation, ceil};
    pool_grad =
        MakeNode(OpId::max_pool_grad, Attributes::Of(grad), {index, integers(index.shape())});
  }

  RandomNode conv, pool, pool_grad;
  NodeSignature fused;
};

TEST(PoolsOfQuads, GiveWhatTheReferenceDoes) {
  Dice dice(12);
  for (const int64_t height : {2, 3, 8, 9}) {
    for (const int64_t width : {2, 5, 8, 9, 24, 27}) {
      for (const bool ceil : {false, true}) {
        SCOPED_TRACE(testing::Message() << height << " × " << width << ", ceil " << ceil);
        const OpId activation = dice.OneIn(2) ? OpId::relu : OpId::identity;
        const QuadsOfConv quads(dice, height, width, ceil, activation);
        const std::vector<HostTensor> wanted = Evaluated(quads.pool);
        const std::vector<Unpooled> gradients = GradientsBehind(quads.pool_grad, quads.conv);
        ASSERT_EQ(gradients.size(), 3u);
        for (const int threads : {1, 2}) {
          ExpectSameBits(OwnOutputs(quads.fused, quads.conv.inputs, threads), wanted);
          for (const Unpooled& gradient : gradients) gradient.CheckAgainstReference(threads);
        }
        if (HasFailure()) return;
      }
    }
  }
}

// Makes x, something like it, scale, shift and running statistics.
std::vector<HostTensor> ResidualInputs(Dice& dice, const Shape& shape) {
  const DType dtype = dice.Of<DType>({DType::kF32, DType::kBF16});
  std::vector<HostTensor> inputs = {Numbers(dice, dtype, shape),
                                    Numbers(dice, dtype, shape, Specials::kZeros)};
  for (int i = 0; i < 4; ++i) inputs.push_back(Numbers(dice, DType::kF32, {shape[1]}));
  return inputs;
}

// Returns the results of cgrun's own kernel for a node whose images come in `layout`.
std::vector<HostTensor> InLayout(const RandomNode& random, const Layout& layout, int threads) {
  std::vector<Layout> layouts;
  for (const TensorType& type : random.node.inputs) {
    layouts.push_back(type.shape.rank() == 4 ? layout : Layout());
  }
  const KernelLibrary& library = *FindKernelLibrary("blas");
  const auto option = OwnOption(library, random.node, threads, layouts);
  EXPECT_EQ(option->input_layouts[0], layout);
  OptionRun run = RunOption(library, random.node, *option, random.inputs, threads);
  EXPECT_EQ(run.fault, "");
  return std::move(run.outputs);
}

// Returns the result of the operator by itself, in the same layout.
HostTensor Then(OpId op, std::vector<HostTensor> inputs) {
  return OwnOutputs(MakeNode(op, {}, inputs).node, inputs)[0];
}

const Attributes kPlainNorm = Attributes::Of(BatchNormAttributes());
const Attributes kReluNorm = Attributes::Of(BatchNormAttributes{.min = 0});

void CheckBatchNormAdd(const std::vector<HostTensor>& in, const Layout& layout, int threads) {
  const RandomNode norm =
      MakeNode(OpId::batch_norm, kPlainNorm, {in[0], in[2], in[3], in[4], in[5]});
  std::vector<HostTensor> wanted = InLayout(norm, layout, threads);
  wanted[0] = Then(OpId::relu, {Then(OpId::add, {wanted[0], in[1]})});
  ExpectSameBits(InLayout(MakeNode(OpId::batch_norm_add, kReluNorm, in), layout, threads), wanted);
  const RandomNode again = MakeNode(OpId::batch_norm_add_apply, kReluNorm,
                                    {in[0], in[1], in[2], in[3], wanted[3], wanted[4]});
  ExpectSameBits(InLayout(again, layout, threads), {wanted[0]});
}

void CheckBatchNormAddGrad(Dice& dice, const std::vector<HostTensor>& in, const Layout& layout,
                           int threads) {
  const HostTensor a = Numbers(dice, in[0].dtype(), in[0].shape());
  const HostTensor b = Numbers(dice, in[0].dtype(), in[0].shape());
  const HostTensor& y = in[1];
  const bool two = dice.OneIn(2);
  const HostTensor sum = Then(OpId::relu_grad, {y, two ? Then(OpId::add, {a, b}) : a});
  const RandomNode grad =
      MakeNode(OpId::batch_norm_grad, kPlainNorm, {in[0], sum, in[2], in[3], in[4]});
  std::vector<HostTensor> wanted = InLayout(grad, layout, threads);
  wanted.push_back(sum);
  std::vector<HostTensor> inputs = {in[0], a, in[2], in[3], in[4], y};
  if (two) inputs.push_back(b);
  ExpectSameBits(InLayout(MakeNode(OpId::batch_norm_add_grad, kReluNorm, inputs), layout, threads),
                 wanted);
}

TEST(AddInBatchNorm, HasTheBitsOfItsOperatorsInEveryLayout) {
  Dice dice(9);
  for (int round = 0; round < kRounds / 3; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const int64_t channels = dice.Of<int64_t>({3, 16, 24, 48, 64, 80});
    const Shape shape = {dice.Between(1, 5), channels, dice.Between(1, 9), dice.Between(1, 9)};
    std::vector<HostTensor> inputs = ResidualInputs(dice, shape);
    for (int64_t c = 0; c < channels; ++c) inputs[5].Set(c, std::abs(inputs[5].At(c)));
    for (const Layout& layout :
         {Layout(), Layout{{0, 2, 3, 1}, {}}, Layout{{0, 1, 2, 3}, {{1, 16}}}}) {
      for (const int threads : {1, 2, 3}) {
        CheckBatchNormAdd(inputs, layout, threads);
        CheckBatchNormAddGrad(dice, inputs, layout, threads);
      }
    }
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace cgrun
