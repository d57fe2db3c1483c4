// What oneDNN computes behind a convolution is what the reference kernels compute there.
#include "src/kernels/onednn/post_operators.h"

#include <gtest/gtest.h>

#include <cmath>

#include "src/ops/batch_norm.h"
#include "src/ops/conv.h"
#include "tests/kernels/random_tensors.h"
#include "tests/support/run_option.h"

namespace cgrun {
namespace {

struct Chain {
  int64_t channels = 16, filters = 32, groups = 1, kernel = 3, stride = 1;
  bool bias = false, sum = false, sum_comes_first = false, relu = false;
  double min = -INFINITY, max = INFINITY;  // of the batch_norm
  DType dtype = DType::kF32;

  // The convolution, a batch_norm by running statistics, and what is asked for behind it.
  NodeSignature Node() const {
    ConvAttributes conv;
    conv.filters = filters;
    conv.kernel = {kernel, kernel};
    conv.stride = {stride, stride};
    conv.padding = {kernel / 2, kernel / 2, kernel / 2, kernel / 2};
    conv.groups = groups;
    conv.bias = bias;
    BatchNormAttributes norm;
    norm.training = false;
    norm.min = min;
    norm.max = max;
    const int64_t side = 12, result = (side + 2 * (kernel / 2) - kernel) / stride + 1;
    const TensorType of_filters{DType::kF32, {filters}};
    NodeSignature node;
    node.op = OpId::fused;
    node.inputs = {{dtype, {2, channels, side, side}},
                   {dtype, ConvWeightShape(filters, channels, groups, conv.kernel)}};
    if (bias) node.inputs.push_back({dtype, {filters}});
    node.outputs = {{dtype, {2, filters, result, result}}};
    const int k = static_cast<int>(node.inputs.size());
    node.body = {{OpId::conv, Attributes::Of(conv),
                  bias ? std::vector<int>{0, 1, 2} : std::vector<int>{0, 1}},
                 {OpId::batch_norm, Attributes::Of(norm), {-1, k, k + 1, k + 2, k + 3}}};
    node.inputs.insert(node.inputs.end(), 4, of_filters);
    if (sum) {
      node.body.push_back(
          {OpId::add, Attributes(),
           sum_comes_first ? std::vector<int>{-2, k + 4} : std::vector<int>{k + 4, -2}});
      node.inputs.push_back(node.outputs[0]);
    }
    if (relu)
      node.body.push_back({OpId::relu, Attributes(), {-static_cast<int>(node.body.size())}});
    return node;
  }
};

// What the reference kernels make of a node's operators, one after another.
HostTensor OneByOne(const NodeSignature& node, const std::vector<HostTensor>& inputs) {
  const std::vector<NodeSignature> signatures = SignaturesInBody(node);
  HostTensor result;
  for (size_t j = 0; j < node.body.size(); ++j) {
    std::vector<HostTensor> operands;
    for (const int operand : node.body[j].operands) {
      operands.push_back(operand < 0 ? result : inputs[static_cast<size_t>(operand)]);
    }
    result = FindKernelLibrary("reference")->Evaluate(signatures[j], operands).value()[0];
  }
  return result;
}

class PostOperators : public testing::Test {
 protected:
  void SetUp() override {
    library_ = FindKernelLibrary("cpu");
    if (library_ == nullptr) GTEST_SKIP() << DescribeKernels("cpu");
  }

  std::optional<KernelOption> Fused(const NodeSignature& node, int threads) const {
    for (KernelOption& option : library_->Options(node, {threads})) {
      if (option.kernel == "onednn.fused_conv") return std::move(option);
    }
    return std::nullopt;
  }

  // Expects a kernel, and of it what the reference kernels give, within `tolerance` of the largest.
  void Check(const Chain& chain, double tolerance = 4e-5) {
    const NodeSignature node = chain.Node();
    Dice dice(7);
    std::vector<HostTensor> inputs;
    for (const TensorType& type : node.inputs)
      inputs.push_back(Numbers(dice, type.dtype, type.shape));
    const int variance = node.body[1].operands[4];
    HostTensor& positive = inputs[static_cast<size_t>(variance)];
    for (int64_t i = 0; i < positive.elements(); ++i)
      positive.Set(i, 0.1 + std::abs(positive.At(i)));
    const HostTensor wanted = OneByOne(node, inputs);
    double most = 0;
    for (int64_t i = 0; i < wanted.elements(); ++i) most = std::max(most, std::abs(wanted.At(i)));
    for (const int threads : {1, 2}) {
      const auto option = Fused(node, threads);
      ASSERT_TRUE(option.has_value());
      const OptionRun run = RunOption(*library_, node, *option, inputs, threads);
      EXPECT_EQ(run.fault, "");
      for (int64_t i = 0; i < wanted.elements(); ++i) {
        ASSERT_NEAR(run.outputs[0].At(i), wanted.At(i), tolerance * most) << "element " << i;
      }
    }
  }

  const KernelLibrary* library_ = nullptr;
};

TEST_F(PostOperators, NormaliseBehindConvolutions) {
  for (const bool bias : {false, true}) {
    for (const int64_t kernel : {1, 3}) {
      for (const int64_t stride : {1, 2}) {
        SCOPED_TRACE(testing::Message() << bias << kernel << stride);
        Check({.kernel = kernel, .stride = stride, .bias = bias});
      }
    }
  }
  Check({.channels = 3, .filters = 16, .kernel = 7, .stride = 2});
}

TEST_F(PostOperators, NormaliseBehindDepthwiseOnes) {
  Check({.channels = 48, .filters = 48, .groups = 48});
  Check({.channels = 48, .filters = 48, .groups = 48, .stride = 2, .min = 0, .max = 6});
}

TEST_F(PostOperators, ClipAndAddAndActivate) {
  Check({.min = 0});
  Check({.min = 0, .max = 6});
  Check({.min = -1, .max = 0.5});
  for (const bool first : {false, true}) {
    for (const int64_t kernel : {1, 3}) {
      Check({.kernel = kernel, .sum = true, .sum_comes_first = first});
      Check({.kernel = kernel, .bias = true, .sum = true, .sum_comes_first = first, .relu = true});
    }
  }
}

TEST_F(PostOperators, FoldIntoBlocksThatAreNotFull) {
  Check({.filters = 20, .min = 0});
  Check({.filters = 20, .kernel = 1, .sum = true, .relu = true});
  Check({.channels = 24, .filters = 24, .groups = 24});
}

TEST_F(PostOperators, LeaveBf16WhoseWeightsWouldBeRoundedTwice) {
  EXPECT_FALSE(Fused(Chain{.dtype = DType::kBF16}.Node(), 1).has_value());
}

TEST_F(PostOperators, LeaveWhatIsNoTensorLikeTheResult) {
  NodeSignature node = Chain{.sum = true}.Node();
  node.inputs.back().shape = {2, 32, 1, 1};
  EXPECT_FALSE(Fused(node, 1).has_value());
}

}  // namespace
}  // namespace cgrun
