// Products of bf16 by oneDNN are those that the definition gives, and stand in for no others. If
// the processor does not multiply bf16, there are none.
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "src/kernels/onednn/primitive.h"
#include "src/ops/linear.h"
#include "src/ops/matmul.h"
#include "tests/kernels/random_tensors.h"
#include "tests/support/run_option.h"

namespace cgrun {
namespace {

RandomNode Linear(Dice& dice, const Shape& x, int64_t units, bool bias,
                  DType dtype = DType::kBF16) {
  std::vector<HostTensor> inputs = {Numbers(dice, dtype, x),
                                    Numbers(dice, dtype, {units, x[x.rank() - 1].size})};
  if (bias) inputs.push_back(Numbers(dice, dtype, {units}));
  return MakeNode(OpId::linear, Attributes::Of(LinearAttributes{units, bias}), std::move(inputs));
}

RandomNode Matmul(Dice& dice, const Shape& a, const Shape& b, const MatmulAttributes& attributes,
                  DType dtype = DType::kBF16) {
  return MakeNode(OpId::matmul, Attributes::Of(attributes),
                  {Numbers(dice, dtype, a), Numbers(dice, dtype, b)});
}

// [m, k] times [k, n], transposed where `attributes` say so.
RandomNode MatmulOf(Dice& dice, int64_t m, int64_t n, int64_t k, const MatmulAttributes& attributes,
                    DType dtype = DType::kBF16) {
  return Matmul(dice, attributes.transpose_a ? Shape{k, m} : Shape{m, k},
                attributes.transpose_b ? Shape{n, k} : Shape{k, n}, attributes, dtype);
}

class Products : public testing::Test {
 protected:
  void SetUp() override {
    library_ = FindKernelLibrary("cpu");
    if (library_ == nullptr) GTEST_SKIP() << DescribeKernels("cpu");
  }

  std::optional<KernelOption> Option(const NodeSignature& node, int threads) const {
    for (KernelOption& option : library_->Options(node, {threads})) {
      if (option.kernel == "onednn.linear" || option.kernel == "onednn.matmul") {
        return std::move(option);
      }
    }
    return std::nullopt;
  }
  bool HasOption(const RandomNode& random) const { return Option(random.node, 1).has_value(); }

  HostTensor Run(const RandomNode& random, int threads) const {
    const auto option = Option(random.node, threads);
    if (!option) {
      ADD_FAILURE() << "no kernel";
      return HostTensor(DType::kBF16, random.node.outputs[0].shape);
    }
    OptionRun run = RunOption(*library_, random.node, *option, random.inputs, threads);
    EXPECT_EQ(run.fault, "");
    return std::move(run.outputs[0]);
  }

  void Check(const RandomNode& random) const {
    SCOPED_TRACE(random.node.inputs[0].ToString() + " " + random.node.inputs[1].ToString());
    const HostTensor wanted = Evaluated(random)[0];
    double most = 0;
    for (int64_t i = 0; i < wanted.elements(); ++i) most = std::max(most, std::abs(wanted.At(i)));
    EXPECT_GT(most, 0);
    for (const int threads : {1, 2}) {
      const HostTensor y = Run(random, threads);
      for (int64_t i = 0; i < wanted.elements(); ++i) {
        ASSERT_NEAR(y.At(i), wanted.At(i), 0.01 * most) << "element " << i << ", " << threads;
      }
    }
  }

  const KernelLibrary* library_ = nullptr;
};

constexpr const char* kNoPairs = "the processor, or what it shows of itself, multiplies no bf16";

TEST_F(Products, OfLinearAreWhatTheDefinitionGives) {
  if (!onednn::MultipliesPairs()) GTEST_SKIP() << kNoPairs;
  Dice dice(5);
  for (const bool bias : {false, true}) {
    Check(Linear(dice, {64, 256}, 128, bias));
    Check(Linear(dice, {1, 2}, 1, bias));
    Check(Linear(dice, {5, 3, 18}, 7, bias));  // of several leading axes
    for (int i = 0; i < 20; ++i) {
      const int64_t rows = dice.Between(1, 130), features = 2 * dice.Between(1, 100);
      Check(Linear(dice, {rows, features}, dice.Between(1, 130), bias));
    }
  }
}

TEST_F(Products, OfMatmulAreWhatTheDefinitionGives) {
  if (!onednn::MultipliesPairs()) GTEST_SKIP() << kNoPairs;
  Dice dice(6);
  for (const bool transpose_a : {false, true}) {
    for (const bool transpose_b : {false, true}) {
      const MatmulAttributes attributes{transpose_a, transpose_b};
      SCOPED_TRACE(std::string("transposed: ") + (transpose_a ? "a " : "") +
                   (transpose_b ? "b" : ""));
      Check(MatmulOf(dice, 64, 256, 128, attributes));
      Check(MatmulOf(dice, 1, 1, 2, attributes));
      Check(MatmulOf(dice, 65, 1, 1026, attributes));
      for (int i = 0; i < 20; ++i) {
        Check(MatmulOf(dice, dice.Between(1, 130), dice.Between(1, 130), 2 * dice.Between(1, 100),
                       attributes));
      }
    }
  }
}

TEST_F(Products, TakeAllRowsOfAStackThatGoesWithOneMatrix) {
  if (!onednn::MultipliesPairs()) GTEST_SKIP() << kNoPairs;
  Dice dice(7);
  Check(Matmul(dice, {3, 5, 34}, {34, 19}, {}));
  Check(Matmul(dice, {2, 3, 5, 34}, {19, 34}, {false, true}));
}

TEST_F(Products, KeepANanInItsRow) {
  if (!onednn::MultipliesPairs()) GTEST_SKIP() << kNoPairs;
  Dice dice(8);
  const int64_t units = 33, features = 50;
  for (const int threads : {1, 2}) {
    RandomNode random = Linear(dice, {3, features}, units, true);
    random.inputs[0].Set(2 * features - 1, std::nan(""));
    const HostTensor y = Run(random, threads);
    for (int64_t i = 0; i < y.elements(); ++i) {
      ASSERT_EQ(std::isnan(y.At(i)), i / units == 1) << "element " << i;
    }
  }
}

TEST_F(Products, AreForNoOthers) {
  Dice dice(9);
  EXPECT_EQ(HasOption(Linear(dice, {64, 64}, 64, true)), onednn::MultipliesPairs());
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    EXPECT_FALSE(HasOption(Linear(dice, {64, 64}, 64, true, dtype)));
    EXPECT_FALSE(HasOption(MatmulOf(dice, 64, 64, 64, {}, dtype)));
  }
  // oneDNN has code for these, which is wrong.
  EXPECT_FALSE(HasOption(Linear(dice, {65, 63}, 48, true)));
  EXPECT_FALSE(HasOption(MatmulOf(dice, 65, 48, 63, {true, false})));
  EXPECT_FALSE(HasOption(Matmul(dice, {3, 64, 64}, {3, 64, 56}, {})));
  EXPECT_FALSE(HasOption(Matmul(dice, {3, 64, 64}, {64, 56}, {true, false})));
}

}  // namespace
}  // namespace cgrun
