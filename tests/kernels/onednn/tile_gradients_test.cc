// The gradients of convolutions in bf16 that are made of other primitives than oneDNN's own
// gradients are those that the definition gives. If the processor multiplies no tiles, there are
// none.
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <string>

#include "src/kernels/onednn/primitive.h"
#include "src/ops/conv.h"
#include "tests/kernels/random_tensors.h"
#include "tests/support/run_option.h"

namespace cgrun {
namespace {

struct Conv {
  int64_t channels = 64, filters = 128, side = 7, kernel = 1, stride = 1, groups = 1, images = 3;
  IntList padding = {0, 0, 0, 0};  // top, left, bottom, right
  DType dtype = DType::kBF16;

  TensorType Images() const { return {dtype, {images, channels, side, side}}; }
  TensorType Results() const {
    const auto along = [&](int64_t padded) { return (side + padded - kernel) / stride + 1; };
    return {dtype,
            {images, filters, along(padding[0] + padding[2]), along(padding[1] + padding[3])}};
  }
  TensorType Weights() const {
    return {dtype, ConvWeightShape(filters, channels, groups, {kernel, kernel})};
  }
  Attributes Of() const {
    return Attributes::Of(ConvGradAttributes{
        Images().shape, {kernel, kernel}, {stride, stride}, padding, {1, 1}, groups});
  }
  NodeSignature InputGrad() const {
    return {OpId::conv_input_grad, Of(), {Results(), Weights()}, {Images()}, {}};
  }
  NodeSignature WeightGrad() const {
    return {OpId::conv_weight_grad, Of(), {Images(), Results()}, {Weights()}, {}};
  }
};

class TileGradients : public testing::Test {
 protected:
  void SetUp() override {
    library_ = FindKernelLibrary("cpu");
    if (library_ == nullptr) GTEST_SKIP() << DescribeKernels("cpu");
  }

  std::optional<KernelOption> Option(const NodeSignature& node, int threads) const {
    for (KernelOption& option : library_->Options(node, {threads})) {
      const bool found = option.kernel == "onednn.pointwise_input_grad" ||
                         option.kernel == "onednn.weight_products";
      if (found) return std::move(option);
    }
    return std::nullopt;
  }

  void Check(const NodeSignature& node) const {
    Dice dice(5);
    std::vector<HostTensor> inputs;
    for (const TensorType& type : node.inputs) {
      inputs.push_back(Numbers(dice, type.dtype, type.shape));
    }
    const HostTensor wanted = FindKernelLibrary("reference")->Evaluate(node, inputs).value()[0];
    double most = 0;
    for (int64_t i = 0; i < wanted.elements(); ++i) most = std::max(most, std::abs(wanted.At(i)));
    for (const int threads : {1, 2}) {
      const auto option = Option(node, threads);
      ASSERT_TRUE(option.has_value());
      const OptionRun run = RunOption(*library_, node, *option, inputs, threads);
      EXPECT_EQ(run.fault, "");
      EXPECT_EQ(run.allocations, 0);
      for (int64_t i = 0; i < wanted.elements(); ++i) {
        ASSERT_NEAR(run.outputs[0].At(i), wanted.At(i), 0.01 * most) << "element " << i;
      }
    }
  }

  const KernelLibrary* library_ = nullptr;
};

TEST_F(TileGradients, AreWhatTheDefinitionGives) {
  if (!onednn::MultipliesTiles()) GTEST_SKIP() << "the processor shows no tiles";
  for (const Conv& conv :
       {Conv{}, Conv{.channels = 32, .filters = 16},
        Conv{.channels = 256, .filters = 64, .side = 1}, Conv{.channels = 20, .filters = 36}}) {
    SCOPED_TRACE(conv.Weights().ToString());
    Check(conv.InputGrad());
    Check(conv.WeightGrad());
  }
}

TEST_F(TileGradients, OfWeightsGoThroughTheWindow) {
  if (!onednn::MultipliesTiles()) GTEST_SKIP() << "the processor shows no tiles";
  for (const int64_t stride : {1, 2, 3}) {
    for (const int64_t kernel : {1, 2, 3, 5}) {
      for (const IntList& padding :
           {IntList{0, 0, 0, 0}, IntList{1, 1, 1, 1}, IntList{0, 2, 1, 0}}) {
        for (const int64_t side : {5, 8}) {
          const Conv conv{.channels = 48,
                          .filters = 32,
                          .side = side,
                          .kernel = kernel,
                          .stride = stride,
                          .padding = padding};
          SCOPED_TRACE("stride " + std::to_string(stride) + ", kernel " + std::to_string(kernel) +
                       ", left " + std::to_string(padding[1]) + ", " + std::to_string(side));
          Check(conv.WeightGrad());
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

// The images are copied a part at a time. The last part is shorter. A part's depth can be even
// where that of all images is odd.
TEST_F(TileGradients, OfWeightsAddUpOverPartsOfTheImages) {
  if (!onednn::MultipliesTiles()) GTEST_SKIP() << "the processor shows no tiles";
  const Conv pointwise{.channels = 256, .filters = 160, .side = 7, .images = 231};
  const Conv window{.channels = 64,
                    .filters = 48,
                    .side = 29,
                    .kernel = 3,
                    .images = 45,
                    .padding = {1, 1, 1, 1}};
  Conv of_fewer = pointwise, strided = window;
  of_fewer.images = 229;
  strided.stride = 2;
  strided.images = 61;
  for (const Conv& conv : {pointwise, of_fewer, window, strided}) {
    const NodeSignature node = conv.WeightGrad();
    SCOPED_TRACE(node.inputs[0].ToString());
    const auto option = Option(node, 2);
    ASSERT_TRUE(option.has_value());
    EXPECT_LT(option->workspace_bytes, ByteSize(node.inputs[0]) + ByteSize(node.inputs[1]))
        << "all images are copied at once";
    Check(node);
    if (HasFatalFailure()) return;
  }
}

// oneDNN's products are wrong at some odd depths: here positions, filters and channels are such.
TEST_F(TileGradients, AreRightAtAnyDepth) {
  if (!onednn::MultipliesTiles()) GTEST_SKIP() << "the processor shows no tiles";
  for (const int64_t odd : {31, 63, 65, 95, 127}) {
    const Conv of_positions{.channels = 48, .filters = 65, .side = 1, .images = odd};
    const Conv of_filters{.channels = 32, .filters = odd, .side = 4};
    const Conv of_channels{.channels = odd, .filters = 32, .side = 4};
    const Conv of_window{.channels = odd,
                         .filters = odd,
                         .side = 3,
                         .kernel = 3,
                         .images = 7,
                         .padding = {1, 1, 1, 1}};
    for (const Conv& conv : {of_positions, of_filters, of_channels}) {
      SCOPED_TRACE(conv.Weights().ToString());
      Check(conv.InputGrad());
      Check(conv.WeightGrad());
    }
    Check(of_window.WeightGrad());
  }
}

TEST_F(TileGradients, AreForNoOthers) {
  for (const Conv& conv : {Conv{.kernel = 3}, Conv{.stride = 2}}) {
    EXPECT_FALSE(Option(conv.InputGrad(), 1).has_value());
  }
  for (const Conv& conv : {Conv{.filters = 64, .groups = 2}, Conv{.dtype = DType::kF32}}) {
    EXPECT_FALSE(Option(conv.InputGrad(), 1).has_value());
    EXPECT_FALSE(Option(conv.WeightGrad(), 1).has_value());
  }
}

}  // namespace
}  // namespace cgrun
