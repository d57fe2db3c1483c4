// The gradients of pointwise convolutions in bf16 are those that the definition gives, as products
// and not by oneDNN's own kernels. Where the processor multiplies no tiles, there are none.
#include <gtest/gtest.h>

#include <cmath>
#include <dnnl.hpp>
#include <optional>
#include <string_view>

#include "src/ops/conv.h"
#include "tests/kernels/random_tensors.h"
#include "tests/support/run_option.h"

namespace cgrun {
namespace {

struct Pointwise {
  int64_t images = 4, channels = 64, filters = 128, side = 7, kernel = 1, stride = 1, groups = 1;
  DType dtype = DType::kBF16;

  TensorType Images() const { return {dtype, {images, channels, side, side}}; }
  TensorType Results() const {
    const int64_t results = (side - kernel) / stride + 1;
    return {dtype, {images, filters, results, results}};
  }
  TensorType Weights() const {
    return {dtype, ConvWeightShape(filters, channels, groups, {kernel, kernel})};
  }
  Attributes Of() const {
    return Attributes::Of(ConvGradAttributes{
        Images().shape, {kernel, kernel}, {stride, stride}, {0, 0, 0, 0}, {1, 1}, groups});
  }
  NodeSignature InputGrad() const {
    return {OpId::conv_input_grad, Of(), {Results(), Weights()}, {Images()}, {}};
  }
  NodeSignature WeightGrad() const {
    return {OpId::conv_weight_grad, Of(), {Images(), Results()}, {Weights()}, {}};
  }
};

class PointwiseGradients : public testing::Test {
 protected:
  void SetUp() override {
    library_ = FindKernelLibrary("cpu");
    if (library_ == nullptr) GTEST_SKIP() << DescribeKernels("cpu");
  }

  std::optional<KernelOption> Option(const NodeSignature& node, int threads) const {
    for (KernelOption& option : library_->Options(node, {threads})) {
      if (option.kernel.starts_with("onednn.pointwise")) return std::move(option);
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
      for (int64_t i = 0; i < wanted.elements(); ++i) {
        ASSERT_NEAR(run.outputs[0].At(i), wanted.At(i), 0.01 * most) << "element " << i;
      }
    }
  }

  const KernelLibrary* library_ = nullptr;
};

TEST_F(PointwiseGradients, AreWhatTheDefinitionGives) {
  if (dnnl::get_effective_cpu_isa() != dnnl::cpu_isa::avx512_core_amx) {
    GTEST_SKIP() << "the processor, or what it shows of itself, multiplies no tiles";
  }
  for (const Pointwise& conv : {Pointwise{}, Pointwise{.channels = 32, .filters = 16},
                                Pointwise{.channels = 256, .filters = 64, .side = 1},
                                Pointwise{.channels = 20, .filters = 36}}) {
    SCOPED_TRACE(conv.Weights().ToString());
    Check(conv.InputGrad());
    Check(conv.WeightGrad());
  }
}

TEST_F(PointwiseGradients, AreForNoOthers) {
  for (const Pointwise& conv :
       {Pointwise{.kernel = 3}, Pointwise{.stride = 2}, Pointwise{.filters = 64, .groups = 2},
        Pointwise{.dtype = DType::kF32}}) {
    EXPECT_FALSE(Option(conv.InputGrad(), 1).has_value());
    EXPECT_FALSE(Option(conv.WeightGrad(), 1).has_value());
  }
}

// An odd number of positions, at some of which oneDNN's product is wrong, has oneDNN's own
// gradient.
TEST_F(PointwiseGradients, OfWeightsAreForEvenDepthsAlone) {
  EXPECT_FALSE(Option(Pointwise{.images = 15}.WeightGrad(), 1).has_value());
}

}  // namespace
}  // namespace cgrun
