// Compares the post-operators that oneDNN computes behind a convolution with the reference kernels.
#include "src/kernels/onednn/post_operators.h"

#include <gtest/gtest.h>

#include <cmath>
#include <dnnl.hpp>
#include <string_view>

#include "src/kernels/onednn/folded_norm.h"
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

// Returns the result of a node's operators by the reference kernels, one after another.
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

  std::optional<KernelOption> Fused(const NodeSignature& node, const RunSetting& setting,
                                    std::string_view kernel = "onednn.fused_conv") const {
    for (KernelOption& option : library_->Options(node, setting)) {
      if (option.kernel == kernel) return std::move(option);
    }
    return std::nullopt;
  }

  // Within `tolerance` of the largest element.
  static void ExpectNear(const HostTensor& result, const HostTensor& wanted, double tolerance) {
    double most = 0;
    for (int64_t i = 0; i < wanted.elements(); ++i) most = std::max(most, std::abs(wanted.At(i)));
    for (int64_t i = 0; i < wanted.elements(); ++i) {
      ASSERT_NEAR(result.At(i), wanted.At(i), tolerance * most) << "element " << i;
    }
  }

  // Expects a kernel, and of it what the reference kernels give, within `tolerance` of the largest.
  void Check(const Chain& chain, std::string_view kernel = "onednn.fused_conv",
             double tolerance = 4e-5) {
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
    for (const int threads : {1, 2}) {
      const auto option = Fused(node, {threads}, kernel);
      ASSERT_TRUE(option.has_value());
      std::vector<OperandPlaces> places(1);
      for (const InPlacePair& pair : option->in_place) places.push_back({0, pair});
      for (const OperandPlaces& where : places) {
        const OptionRun run = RunOption(*library_, node, *option, inputs, threads, where);
        EXPECT_EQ(run.fault, "");
        ExpectNear(run.outputs[0], wanted, tolerance);
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

// Check() has it there and elsewhere.
TEST_F(PostOperators, AddWhatMayLieInTheResultsPlace) {
  const NodeSignature node = Chain{.sum = true, .relu = true}.Node();
  const auto option = Fused(node, {1});
  ASSERT_TRUE(option.has_value());
  const int added = static_cast<int>(node.inputs.size()) - 1;
  EXPECT_EQ(option->in_place, (std::vector<InPlacePair>{{added, 0}}));
}

TEST_F(PostOperators, FoldIntoBlocksThatAreNotFull) {
  Check({.filters = 20, .min = 0});
  Check({.filters = 20, .kernel = 1, .sum = true, .relu = true});
  Check({.channels = 24, .filters = 24, .groups = 24});
}

// Weights of bf16 are rounded twice; where there are more of them than results, or on tiles, the
// norm meets the sums, which are of f32.
TEST_F(PostOperators, NormaliseBf16) {
  const auto check = [&](Chain chain) {
    chain.dtype = DType::kBF16;
    Check(chain, "onednn.fused_conv", /*tolerance=*/0.02);
  };
  if (!Fused(Chain{.channels = 64, .filters = 64, .dtype = DType::kBF16}.Node(), {1})) {
    ASSERT_FALSE(onednn::MultipliesPairs());
    GTEST_SKIP() << "the processor multiplies no bf16";
  }
  const Chain few{.kernel = 1, .dtype = DType::kBF16}, many{.channels = 64, .dtype = DType::kBF16};
  EXPECT_EQ(onednn::FoldsIntoWeights(few.Node()), !onednn::MultipliesTiles());
  EXPECT_FALSE(onednn::FoldsIntoWeights(many.Node()));
  for (const bool bias : {false, true}) {
    check({.channels = 64, .filters = 64, .bias = bias});
    check({.channels = 64, .filters = 64, .kernel = 1, .bias = bias, .relu = true});
    check({.bias = bias});
    check({.filters = 20, .bias = bias, .min = 0});
    check({.channels = 3, .kernel = 7, .stride = 2, .bias = bias});
  }
  check({.channels = 32, .filters = 48, .stride = 2, .min = 0, .max = 6});
  // Behind a norm that meets the sums oneDNN adds tensors on tiles alone.
  const Chain added = onednn::MultipliesTiles()
                          ? Chain{.channels = 64, .filters = 128}
                          : Chain{.channels = 64, .filters = 128, .kernel = 1};
  for (const bool first : {false, true}) {
    Chain chain = added;
    chain.sum = chain.relu = true;
    chain.sum_comes_first = first;
    check(chain);
  }
}

// Few weights, which the norm goes into but on tiles; blocks of channels full and not.
TEST_F(PostOperators, NormaliseBf16BehindDepthwiseOnes) {
  if (!onednn::MultipliesPairs()) GTEST_SKIP() << "the processor multiplies no bf16";
  for (const int64_t channels : {24, 48}) {
    Chain chain{.channels = channels, .filters = channels, .groups = channels};
    chain.dtype = DType::kBF16;
    EXPECT_EQ(onednn::FoldsIntoWeights(chain.Node()), !onednn::MultipliesTiles());
    for (const bool bias : {false, true}) {
      SCOPED_TRACE(testing::Message() << channels << " channels, bias " << bias);
      chain.bias = bias;
      Check(chain, "onednn.fused_conv", /*tolerance=*/0.02);
      Chain clipped = chain;
      clipped.stride = 2;
      clipped.min = 0;
      clipped.max = 6;
      Check(clipped, "onednn.fused_conv", /*tolerance=*/0.02);
    }
  }
}

TEST_F(PostOperators, LeaveWhatIsNoTensorLikeTheResult) {
  NodeSignature node = Chain{.sum = true}.Node();
  node.inputs.back().shape = {2, 32, 1, 1};
  EXPECT_FALSE(Fused(node, {1}).has_value());
}

constexpr char kWinograd[] = "onednn.fused_winograd";

// oneDNN has it for AVX-512 alone.
class Winograd : public PostOperators {
 protected:
  void SetUp() override {
    PostOperators::SetUp();
    if (IsSkipped()) return;
    if (dnnl::get_effective_cpu_isa() < dnnl::cpu_isa::avx512_core) {
      GTEST_SKIP() << "oneDNN has Winograd's algorithm for AVX-512";
    }
  }
};

TEST_F(Winograd, GivesWhatTheDefinitionDoes) {
  Check({}, kWinograd);
  Check({.bias = true, .relu = true}, kWinograd);
  Check({.channels = 64, .filters = 48, .min = 0}, kWinograd);
}

TEST_F(Winograd, AddsWhatLiesInItsPlaceOrElsewhere) {
  for (const bool first : {false, true}) {
    Check({.sum = true, .sum_comes_first = first, .relu = true}, kWinograd);
  }
}

TEST_F(Winograd, IsForSmallKernelsThatMoveByOneElement) {
  EXPECT_FALSE(Fused(Chain{.kernel = 1}.Node(), {1}, kWinograd).has_value());
  EXPECT_FALSE(Fused(Chain{.stride = 2}.Node(), {1}, kWinograd).has_value());
  EXPECT_FALSE(Fused(Chain{.channels = 32, .groups = 2}.Node(), {1}, kWinograd).has_value());
}

TEST_F(Winograd, KeepsToItsRoom) {
  const NodeSignature node = Chain{}.Node();
  const auto option = Fused(node, {1}, kWinograd);
  ASSERT_TRUE(option.has_value());
  const int64_t bytes = OperandBytes(node) - ByteSize(node.inputs[1]) + option->workspace_bytes;
  EXPECT_TRUE(Fused(node, {.threads = 1, .workspace_budget = bytes}, kWinograd).has_value());
  EXPECT_FALSE(Fused(node, {.threads = 1, .workspace_budget = bytes - 1}, kWinograd).has_value());
}

// Beside activations that wait it takes no more than its images.
TEST_F(Winograd, TakesLessWhereTheModelLearns) {
  NodeSignature node = SignaturesInBody(Chain{.channels = 64, .filters = 64}.Node())[0];
  const auto offered = [&](int64_t batch) {
    node.inputs[0].shape = node.outputs[0].shape = {batch, 64, 28, 28};
    const auto option = Fused(node, {.threads = 1, .learns = true}, "onednn.winograd");
    const int64_t images = ByteSize(node.inputs[0]) + ByteSize(node.outputs[0]);
    EXPECT_LE(option ? option->workspace_bytes : 0, images);
    return option.has_value();
  };
  EXPECT_FALSE(offered(1));
  EXPECT_TRUE(offered(64));
}

TEST_F(Winograd, GivesGradientsToo) {
  const Shape images{3, 32, 14, 14};
  const TensorType image{DType::kF32, images}, weight{DType::kF32, {32, 32, 3, 3}};
  const Attributes attributes = Attributes::Of(
      ConvGradAttributes{images, {3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}, /*groups=*/1});
  const NodeSignature gradients[] = {
      {OpId::conv_input_grad, attributes, {image, weight}, {image}, {}},
      {OpId::conv_weight_grad, attributes, {image, image}, {weight}, {}}};
  for (const NodeSignature& node : gradients) {
    const std::string kernel = node.op == OpId::conv_input_grad ? "onednn.winograd_input_grad"
                                                                : "onednn.winograd_weight_grad";
    Dice dice(11);
    std::vector<HostTensor> inputs;
    for (const TensorType& type : node.inputs) {
      inputs.push_back(Numbers(dice, type.dtype, type.shape));
    }
    const HostTensor wanted = FindKernelLibrary("reference")->Evaluate(node, inputs).value()[0];
    for (const int threads : {1, 2}) {
      const auto option = Fused(node, {threads}, kernel);
      ASSERT_TRUE(option.has_value()) << kernel;
      const OptionRun run = RunOption(*library_, node, *option, inputs, threads);
      EXPECT_EQ(run.fault, "");
      ExpectNear(run.outputs[0], wanted, 4e-5);
    }
  }
}

}  // namespace
}  // namespace cgrun
