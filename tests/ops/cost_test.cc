// Checks floating-point operations of products, convolutions, pooling and normalisation by hand.
#include <gtest/gtest.h>

#include "src/ops/batch_norm.h"
#include "src/ops/conv.h"
#include "src/ops/conv_transpose.h"
#include "src/ops/gelu.h"
#include "src/ops/layer_norm.h"
#include "src/ops/linear.h"
#include "src/ops/matmul.h"
#include "src/ops/pool.h"

namespace cgrun {
namespace {

int64_t Flops(OpId op, Attributes attributes, const std::vector<Shape>& shapes) {
  NodeSignature node{op, std::move(attributes), {}, {}, {}};
  for (const Shape& shape : shapes) node.inputs.push_back({DType::kF32, shape});
  InferContext context(node.attributes, node.inputs);
  node.outputs = InferTypes(op, context);
  EXPECT_EQ(context.message(), "");
  return CostOf(node).flops;
}

TEST(CostTest, Products) {
  const Attributes plain = Attributes::Of(MatmulAttributes{});
  EXPECT_EQ(Flops(OpId::matmul, plain, {{2, 3}, {3, 5}}), 2 * 2 * 3 * 5);
  EXPECT_EQ(Flops(OpId::matmul, Attributes::Of(MatmulAttributes{true, false}), {{3, 2}, {3, 5}}),
            2 * 2 * 3 * 5);
  EXPECT_EQ(Flops(OpId::matmul, plain, {{7, 2, 3}, {3, 5}}), 7 * 2 * 2 * 3 * 5);
  EXPECT_EQ(Flops(OpId::linear, Attributes::Of(LinearAttributes{5, true}), {{2, 3}, {5, 3}, {5}}),
            2 * 2 * 3 * 5 + 2 * 5);
  EXPECT_EQ(Flops(OpId::linear, Attributes::Of(LinearAttributes{5, false}), {{2, 3}, {5, 3}}),
            2 * 2 * 3 * 5);
}

TEST(CostTest, Convolutions) {
  ConvAttributes conv;
  conv.filters = 6;
  conv.kernel = {3, 2};
  conv.groups = 2;
  const Shape x = {2, 4, 5, 7}, weight = {6, 2, 3, 2}, y = {2, 6, 3, 6};
  const int64_t multiply_adds = 2 * 6 * 3 * 6 * (2 * 3 * 2);
  EXPECT_EQ(Flops(OpId::conv, Attributes::Of(conv), {x, weight, {6}}),
            2 * multiply_adds + 2 * 6 * 3 * 6);
  conv.bias = false;
  EXPECT_EQ(Flops(OpId::conv, Attributes::Of(conv), {x, weight}), 2 * multiply_adds);
  ConvGradAttributes grad;
  grad.input = x;
  grad.kernel = conv.kernel;
  grad.groups = conv.groups;
  EXPECT_EQ(Flops(OpId::conv_input_grad, Attributes::Of(grad), {y, weight}), 2 * multiply_adds);
  EXPECT_EQ(Flops(OpId::conv_weight_grad, Attributes::Of(grad), {x, y}), 2 * multiply_adds);
}

// Every element of x meets every tap once.
TEST(CostTest, TransposedConvolution) {
  ConvTransposeAttributes up;
  up.filters = 6;
  up.kernel = {3, 2};
  up.stride = {2, 2};
  up.groups = 2;
  const Shape x = {2, 4, 5, 7}, weight = {4, 3, 3, 2};
  const int64_t multiply_adds = 2 * 4 * 5 * 7 * (3 * 3 * 2);
  EXPECT_EQ(Flops(OpId::conv_transpose, Attributes::Of(up), {x, weight, {6}}),
            2 * multiply_adds + 2 * 6 * 11 * 14);
  up.bias = false;
  EXPECT_EQ(Flops(OpId::conv_transpose, Attributes::Of(up), {x, weight}), 2 * multiply_adds);
}

TEST(CostTest, PoolingAndNormalisation) {
  MaxPoolAttributes max;
  max.kernel = {2, 3};
  AvgPoolAttributes avg;
  avg.kernel = {2, 3};
  const Shape x = {2, 4, 4, 6};
  const int64_t outputs = 2 * 4 * 2 * 2;
  EXPECT_EQ(Flops(OpId::max_pool, Attributes::Of(max), {x}), outputs * 6);
  EXPECT_EQ(Flops(OpId::avg_pool, Attributes::Of(avg), {x}), outputs * (6 + 1));
  EXPECT_EQ(Flops(OpId::global_avg_pool, Attributes(), {x}), 2 * 4 * 4 * 6 + 2 * 4);
  BatchNormAttributes norm;
  const std::vector<Shape> inputs = {x, {4}, {4}, {4}, {4}};
  EXPECT_EQ(Flops(OpId::batch_norm, Attributes::Of(norm), inputs), 7 * x.Elements());
  norm.training = false;
  EXPECT_EQ(Flops(OpId::batch_norm, Attributes::Of(norm), inputs), 3 * x.Elements());
}

TEST(CostTest, LayerNormAndGelu) {
  const Shape x = {2, 3, 8};
  EXPECT_EQ(Flops(OpId::layer_norm, Attributes::Of(LayerNormAttributes()), {x, {8}, {8}}),
            8 * x.Elements());
  const Attributes plain = Attributes::Of(LayerNormAttributes{-1, 1e-5, false});
  EXPECT_EQ(Flops(OpId::layer_norm, plain, {x}), 6 * x.Elements());
  EXPECT_EQ(Flops(OpId::layer_norm_grad, plain, {x, x, {2, 3}, {2, 3}}), 9 * x.Elements());
  EXPECT_EQ(Flops(OpId::gelu, Attributes::Of(GeluAttributes()), {x}), 4 * x.Elements());
  EXPECT_EQ(Flops(OpId::gelu, Attributes::Of(GeluAttributes{"tanh"}), {x}), 10 * x.Elements());
}

}  // namespace
}  // namespace cgrun
