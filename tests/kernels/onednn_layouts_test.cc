// oneDNN is used: on the device `cpu` convolutions offer its kernels, with tensors in blocks of
// channels. A build without oneDNN has no such device.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "src/kernels/kernel.h"
#include "src/ops/conv.h"
#include "src/ops/conv_transpose.h"
#include "src/ops/reorder.h"
#include "tests/support/run_option.h"

namespace cgrun {
namespace {

constexpr int64_t kChannels = 32;

TensorType Images() { return {DType::kF32, {2, kChannels, 12, 12}}; }

TensorType Weights(int64_t groups) {
  return {DType::kF32, ConvWeightShape(kChannels, kChannels, groups, {3, 3})};
}

// All have 32 channels and filters and a kernel of 3 × 3, and are padded to the same size.
NodeSignature Conv(int64_t groups) {
  const Attributes attributes = Attributes::Of(
      ConvAttributes{kChannels, {3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}, groups, /*bias=*/false});
  return {OpId::conv, attributes, {Images(), Weights(groups)}, {Images()}, {}};
}

Attributes GradAttributes(int64_t groups) {
  return Attributes::Of(
      ConvGradAttributes{Images().shape, {3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}, groups});
}

NodeSignature InputGrad(int64_t groups) {
  return {
      OpId::conv_input_grad, GradAttributes(groups), {Images(), Weights(groups)}, {Images()}, {}};
}

NodeSignature WeightGrad(int64_t groups) {
  return {
      OpId::conv_weight_grad, GradAttributes(groups), {Images(), Images()}, {Weights(groups)}, {}};
}

NodeSignature Transposed() {
  const Attributes attributes = Attributes::Of(ConvTransposeAttributes{
      kChannels, {3, 3}, {1, 1}, {1, 1, 1, 1}, {0, 0}, {1, 1}, 1, /*bias=*/false});
  return {OpId::conv_transpose, attributes, {Images(), Weights(1)}, {Images()}, {}};
}

class OnednnLayouts : public testing::Test {
 protected:
  void SetUp() override {
    library_ = FindKernelLibrary("cpu");
    if (library_ == nullptr) GTEST_SKIP() << DescribeKernels("cpu");
  }

  // Returns oneDNN's option for a node.
  std::optional<KernelOption> Onednn(const NodeSignature& node) const {
    for (const KernelOption& option : library_->Options(node, {})) {
      if (option.kernel.starts_with("onednn.")) return option;
    }
    return std::nullopt;
  }

  // Expects oneDNN's option to have blocks of channels in all operands, inputs then outputs.
  void ExpectBlocks(const NodeSignature& node) const {
    const std::optional<KernelOption> option = Onednn(node);
    ASSERT_TRUE(option) << NameOf(node.op);
    EXPECT_EQ(option->kernel, "onednn." + std::string(NameOf(node.op)));
    std::vector<Layout> layouts = option->input_layouts;
    layouts.insert(layouts.end(), option->output_layouts.begin(), option->output_layouts.end());
    ASSERT_EQ(layouts.size(), 3u) << NameOf(node.op);
    for (size_t i = 0; i < layouts.size(); ++i) {
      EXPECT_FALSE(layouts[i].blocks.empty())
          << NameOf(node.op) << ": operand " << i << " is " << layouts[i].ToString();
    }
  }

  const KernelLibrary* library_ = nullptr;
};

TEST_F(OnednnLayouts, ConvolutionsAndTheirGradientsRunInBlocks) {
  ExpectBlocks(Conv(1));
  ExpectBlocks(InputGrad(1));
  ExpectBlocks(WeightGrad(1));
  ExpectBlocks(Transposed());
}

TEST_F(OnednnLayouts, DepthwiseConvolutionsHaveTheirWeightsInBlocksToo) {
  ExpectBlocks(Conv(kChannels));
  ExpectBlocks(InputGrad(kChannels));
  ExpectBlocks(WeightGrad(kChannels));
}

TEST_F(OnednnLayouts, TheyAreEstimatedToBeTheFastest) {
  for (const NodeSignature& node : {Conv(1), InputGrad(1), WeightGrad(1)}) {
    const std::optional<KernelOption> onednn = Onednn(node);
    ASSERT_TRUE(onednn);
    const auto options = library_->Options(node, {});
    EXPECT_TRUE(std::ranges::all_of(options, [&](const KernelOption& option) {
      return onednn->seconds <= option.seconds;
    })) << NameOf(node.op);
  }
}

// Indices of pools, as images. RunOption() finds bytes other than zero in the padding: of 16
// channels a block has none, of others up to 15.
TEST_F(OnednnLayouts, ReordersMoveBytesAndPadWithZeros) {
  for (const int64_t channels : {1, 3, 16, 20, 33}) {
    const TensorType type{DType::kU8, {2, channels, 5, 7}};
    HostTensor x(type.dtype, type.shape);
    for (int64_t i = 0; i < x.elements(); ++i) x.Set(i, static_cast<double>(1 + i % 251));
    for (const auto& [from, to] : {std::pair{"plain", "aBcd16b"},
                                   {"acdb", "aBcd16b"},
                                   {"plain", "aBcd8b"},
                                   {"aBcd16b", "aBcd8b"},
                                   {"aBcd16b", "plain"}}) {
      const NodeSignature node{
          OpId::reorder, Attributes::Of(ReorderAttributes{from, to}), {type}, {type}, {}};
      const std::optional<KernelOption> option = Onednn(node);
      ASSERT_TRUE(option) << from << to;
      for (const int threads : {1, 2}) {
        const OptionRun run = RunOption(*library_, node, *option, std::vector{x}, threads);
        EXPECT_EQ(run.fault, "") << channels << " channels, " << from << to;
        EXPECT_TRUE(std::ranges::equal(run.outputs[0].bytes(), x.bytes())) << from << to;
      }
    }
  }
}

}  // namespace
}  // namespace cgrun
