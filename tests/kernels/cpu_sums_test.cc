// Products that are added to a sum as they are made, one or several: the bits of one operator after
// another. CGRUN_TEST_TARGET names an instruction set other than the best.
#include <gtest/gtest.h>

#include <algorithm>

#include "src/ir/op_def.h"
#include "src/ops/matmul.h"
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

// Products that fill tiles, strips, blocks and vectors and that leave a part over, on one thread
// and in a team; the sum goes where its other summand lies, which may stand on either side.
TEST(SumsByProducts, HaveTheBitsOfTheirOperators) {
  Dice dice(11);
  int64_t rounded = 0;  // sums that would have other bits were they rounded once
  for (int round = 0; round < kRounds; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const bool wide = dice.OneIn(8);  // more than a block
    const int64_t depth = dice.Between(1, 40), rows = dice.Between(1, wide ? 9 : 120);
    const int64_t columns = wide ? dice.Between(2000, 4500) : dice.Between(1, 150);
    std::vector<HostTensor> inputs = {Numbers(dice, DType::kF32, Shape{depth, rows}),
                                      Numbers(dice, DType::kF32, Shape{depth, columns})};
    const RandomNode product =
        MakeNode(OpId::matmul, Attributes::Of(MatmulAttributes{true, false}), inputs);
    const HostTensor between = OwnOutputs(product.node, product.inputs)[0];
    inputs.push_back(Numbers(dice, DType::kF32, Shape{rows, columns}));
    const bool first = dice.OneIn(2);
    const RandomNode sum = MakeNode(OpId::add, {},
                                    first ? std::vector<HostTensor>{between, inputs[2]}
                                          : std::vector<HostTensor>{inputs[2], between});
    NodeSignature fused = product.node;
    fused.op = OpId::fused;
    fused.body = {{OpId::matmul, product.node.attributes, {0, 1}},
                  {OpId::add, {}, first ? std::vector<int>{-1, 2} : std::vector<int>{2, -1}}};
    fused.attributes = Attributes();
    fused.inputs.push_back(product.node.outputs[0]);
    ASSERT_EQ(FaultOfFused(fused), "");
    const std::vector<HostTensor> wanted = OwnOutputs(sum.node, sum.inputs);
    for (int threads : {1, 2, 3}) {
      ExpectSameBits(OwnOutputs(fused, inputs, threads), wanted);
      const KernelLibrary& library = *FindKernelLibrary("blas");
      const auto option = OwnOption(library, fused, threads);
      EXPECT_EQ(option->kernel, "cpu.add_by_product");
      ASSERT_EQ(option->in_place.size(), 1u);
      EXPECT_EQ(option->in_place[0], (InPlacePair{2, 0}));
      const OptionRun in_place =
          RunOption(library, fused, *option, inputs, threads, {0, option->in_place[0]});
      EXPECT_EQ(in_place.fault, "");
      EXPECT_EQ(in_place.allocations, 0);
      ExpectSameBits(in_place.outputs, wanted);
    }
    for (int64_t r = 0; r < rows; ++r) {
      double exact = inputs[2].At(r * columns);
      for (int64_t k = 0; k < depth; ++k) {
        exact += inputs[0].At(k * rows + r) * inputs[1].At(k * columns);
      }
      rounded += static_cast<float>(exact) != static_cast<float>(wanted[0].At(r * columns));
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(rounded, kRounds / 2) << "another order of sums would have been found out";
}

// Several sums in a sweep give the bits of one after another.
TEST(SumsByProducts, HaveTheBitsOfThoseBefore) {
  Dice dice(12);
  for (int round = 0; round < kRounds; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const bool wide = dice.OneIn(8);  // more than a block
    const int64_t depth = dice.Between(1, 40), rows = dice.Between(1, wide ? 9 : 120);
    const int64_t columns = wide ? dice.Between(2000, 4500) : dice.Between(1, 150);
    const TensorType type{DType::kF32, Shape{rows, columns}};
    const Attributes of_product = Attributes::Of(MatmulAttributes{true, false});
    NodeSignature fused{OpId::fused, {}, {}, {type}, {}};
    std::vector<HostTensor> inputs;
    HostTensor sum = Numbers(dice, DType::kF32, type.shape);
    const HostTensor others = sum;
    const int64_t products = dice.Between(2, 4);
    for (int k = 0; k < products; ++k) {
      const auto first = static_cast<int>(inputs.size());
      inputs.push_back(Numbers(dice, DType::kF32, Shape{depth, rows}));
      inputs.push_back(Numbers(dice, DType::kF32, Shape{depth, columns}));
      const RandomNode product =
          MakeNode(OpId::matmul, of_product, {inputs.end() - 2, inputs.end()});
      const HostTensor between = OwnOutputs(product.node, product.inputs)[0];
      const RandomNode addition = MakeNode(OpId::add, {}, {sum, between});
      sum = OwnOutputs(addition.node, addition.inputs)[0];
      if (k == 0) inputs.push_back(others);
      const std::vector<int> operands = {k == 0 ? 2 : -2 * k, -1 - 2 * k};
      const bool turned = dice.OneIn(2);
      fused.body.push_back({OpId::matmul, of_product, {first, first + 1}});
      fused.body.push_back({OpId::add, {}, {operands[turned ? 1 : 0], operands[turned ? 0 : 1]}});
    }
    for (const HostTensor& input : inputs) fused.inputs.push_back({input.dtype(), input.shape()});
    ASSERT_EQ(FaultOfFused(fused), "");
    for (const int threads : {1, 2, 3}) {
      ExpectSameBits(OwnOutputs(fused, inputs, threads), {sum});
      const KernelLibrary& library = *FindKernelLibrary("blas");
      const auto option = OwnOption(library, fused, threads);
      EXPECT_EQ(option->kernel, "cpu.add_by_product");
      const OptionRun in_place =
          RunOption(library, fused, *option, inputs, threads, {0, InPlacePair{2, 0}});
      EXPECT_EQ(in_place.fault, "");
      EXPECT_EQ(in_place.allocations, 0);
      ExpectSameBits(in_place.outputs, {sum});
    }
    // Products of another size are not for one sweep.
    fused.inputs[4] = {DType::kF32, Shape{depth + 1, columns}};
    fused.inputs[3] = {DType::kF32, Shape{depth + 1, rows}};
    EXPECT_FALSE(OwnOption(*FindKernelLibrary("blas"), fused, 1));
    if (HasFailure()) return;
  }
}

// These have no kernel of their own: a sum that is broadcast, a product of another form, other
// types.
TEST(SumsByProducts, AreOfWholeF32SumsAlone) {
  const KernelLibrary& library = *FindKernelLibrary("blas");
  const auto fused = [](DType dtype, bool transpose_a, const Shape& other) {
    const TensorType product{dtype, Shape{4, 4}};
    NodeSignature node{OpId::fused, {}, {product, product, {dtype, other}}, {product}, {}};
    node.body = {{OpId::matmul, Attributes::Of(MatmulAttributes{transpose_a, false}), {0, 1}},
                 {OpId::add, {}, {2, -1}}};
    EXPECT_EQ(FaultOfFused(node), "");
    return node;
  };
  EXPECT_TRUE(OwnOption(library, fused(DType::kF32, true, Shape{4, 4}), 1));
  EXPECT_FALSE(OwnOption(library, fused(DType::kF32, true, Shape{4}), 1));
  EXPECT_FALSE(OwnOption(library, fused(DType::kF32, false, Shape{4, 4}), 1));
  EXPECT_FALSE(OwnOption(library, fused(DType::kF64, true, Shape{4, 4}), 1));
  EXPECT_FALSE(OwnOption(library, fused(DType::kBF16, true, Shape{4, 4}), 1));
}

}  // namespace
}  // namespace cgrun
