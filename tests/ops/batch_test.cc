// Operators on shapes that depend on the batch size: what they infer, and that the graph with its
// gradients is right for every batch size that it is bound to, 1 included.
#include <gtest/gtest.h>

#include "src/autodiff/autodiff.h"
#include "src/ops/compare.h"
#include "src/ops/concat.h"
#include "src/ops/conv_transpose.h"
#include "src/ops/crop.h"
#include "src/ops/detections.h"
#include "src/ops/embedding.h"
#include "src/ops/flatten.h"
#include "src/ops/flip.h"
#include "src/ops/layer_norm.h"
#include "src/ops/loss.h"
#include "src/ops/normalize.h"
#include "src/ops/one_hot.h"
#include "src/ops/pad.h"
#include "src/ops/random_crop.h"
#include "src/ops/random_erasing.h"
#include "src/ops/random_flip.h"
#include "src/ops/random_resized_crop.h"
#include "src/ops/reduce.h"
#include "src/ops/region_proposals.h"
#include "src/ops/reshape.h"
#include "src/ops/resize.h"
#include "src/ops/roi_align.h"
#include "src/ops/rotate.h"
#include "src/ops/slice.h"
#include "src/ops/softmax.h"
#include "src/ops/transpose.h"

namespace cgrun {
namespace {

struct BatchCase {
  std::string name;
  OpId op;
  Attributes attributes;
  std::vector<TensorType> inputs;
  Shape expected;               // of output 0
  size_t without_gradient = 0;  // the first so many inputs have none
};

TensorType F32(Shape shape) { return {DType::kF32, std::move(shape)}; }

Attributes Reduce(IntList axes, bool keep_dims = false) {
  return Attributes::Of(ReduceAttributes{std::move(axes), keep_dims});
}
Attributes Reshape(Shape shape) { return Attributes::Of(ReshapeAttributes{std::move(shape)}); }
Attributes Flatten(int64_t axis) { return Attributes::Of(FlattenAttributes{axis}); }
Attributes Concat(int64_t axis) { return Attributes::Of(ConcatAttributes{axis}); }

const Dim kN = kBatchDim;

// Images of twice the size; with a dilation of `dilation`, and rows that no input reaches.
ConvTransposeAttributes Doubling(int64_t dilation = 1) {
  ConvTransposeAttributes up;
  up.filters = 2;
  up.kernel = {3, 3};
  up.stride = {2, 2};
  up.padding = {1, 1, 1, 1};
  up.output_padding = {dilation == 1 ? 1 : 2, dilation == 1 ? 1 : 2};
  up.dilation = {dilation, dilation};
  return up;
}

std::vector<BatchCase> Cases() {
  const Dim n4(4, true), n6(6, true), n24(24, true);
  const Attributes none;
  return {
      {"add_row", OpId::add, none, {F32({kN, 3}), F32({3})}, {kN, 3}},
      {"add_to_the_batch", OpId::add, none, {F32({1, 3}), F32({kN, 1})}, {kN, 3}},
      {"mul_scalar", OpId::mul, none, {F32({}), F32({kN, 3})}, {kN, 3}},
      {"div_by_a_mean", OpId::div, none, {F32({kN, 2, 3}), F32({kN, 1, 1})}, {kN, 2, 3}},
      {"sum_over_the_batch", OpId::reduce_sum, Reduce({0}), {F32({kN, 3})}, {3}},
      {"mean_over_all", OpId::reduce_mean, Reduce({}), {F32({kN, 3})}, {}},
      {"mean_kept", OpId::reduce_mean, Reduce({0, 2}, true), {F32({kN, 3, 5})}, {1, 3, 1}},
      {"max_of_samples", OpId::reduce_max, Reduce({-1}), {F32({kN, 3})}, {kN}},
      {"max_over_the_batch", OpId::reduce_max, Reduce({0}), {F32({kN, 3})}, {3}},
      {"reshape", OpId::reshape, Reshape({kN, 3, -1}), {F32({kN, 6})}, {kN, 3, 2}},
      {"reshape_open_batch", OpId::reshape, Reshape({-1, 3}), {F32({kN, 12})}, {n4, 3}},
      {"reshape_several", OpId::reshape, Reshape({kN, -1}), {F32({n4, 3})}, {kN, 12}},
      {"flatten", OpId::flatten, Flatten(1), {F32({kN, 4, 5, 5})}, {kN, 100}},
      {"flatten_to_one_row", OpId::flatten, Flatten(0), {F32({kN, 4, 6})}, {1, n24}},
      {"flatten_rows", OpId::flatten, Flatten(2), {F32({kN, 6, 5})}, {n6, 5}},
      {"transpose",
       OpId::transpose,
       Attributes::Of(TransposeAttributes{{2, 0, 1}}),
       {F32({kN, 3, 4})},
       {4, kN, 3}},
      {"concat_samples", OpId::concat, Concat(0), {F32({kN, 3}), F32({Dim(3, true), 3})}, {n4, 3}},
      {"concat_channels", OpId::concat, Concat(1), {F32({kN, 3, 2}), F32({kN, 1, 2})}, {kN, 4, 2}},
      {"slice",
       OpId::slice,
       Attributes::Of(SliceAttributes{{1}, {1}, {4}, {2}}),
       {F32({kN, 5})},
       {kN, 2}},
      {"pad",
       OpId::pad,
       Attributes::Of(PadAttributes{{2}, {1}, {2}, 0}),
       {F32({kN, 3, 4})},
       {kN, 3, 7}},
      {"softmax", OpId::softmax, Attributes::Of(SoftmaxAttributes{-1}), {F32({kN, 4})}, {kN, 4}},
      {"normalize",
       OpId::normalize,
       Attributes::Of(NormalizeAttributes{1, {1, 2, 3}, {1}, DType::kF64}),
       {F32({kN, 3, 4})},
       {kN, 3, 4}},
      {"resize",
       OpId::resize,
       Attributes::Of(ResizeAttributes{{7, 5}, "bilinear"}),
       {F32({kN, 3, 4, 4})},
       {kN, 3, 7, 5}},
      {"resize_by_scale",
       OpId::resize,
       Attributes::Of(ResizeAttributes{{}, "nearest", {2, 3}}),
       {F32({kN, 3, 4, 4})},
       {kN, 3, 8, 12}},
      {"roi_align",
       OpId::roi_align,
       Attributes::Of(RoiAlignAttributes{{2, 3}, {1, 2}}),
       {F32({kN, 5, 4}), F32({kN, 3, 4, 4}), F32({kN, 3, 2, 2})},
       {Dim(5, true), 3, 2, 3},
       1},
      {"region_proposals",
       OpId::region_proposals,
       Attributes::Of(RegionProposalsAttributes{.strides = {4}, .scales = {8}, .count = 7}),
       {F32({kN, 3, 2, 2}), F32({kN, 12, 2, 2})},
       {kN, 7, 4},
       2},
      {"detections",
       OpId::detections,
       Attributes::Of(DetectionsAttributes{.count = 2, .min_score = 0}),
       {F32({kN, 7, 4}), F32({kN, 7, 3}), F32({kN, 7, 3, 4}), F32({kN, 3, 8, 8})},
       {kN, 2, 6},
       4},
      {"cross_entropy",
       OpId::softmax_cross_entropy,
       Attributes::Of(SoftmaxCrossEntropyAttributes{0.1}),
       {F32({kN, 4}), {DType::kI32, {kN}}},
       {}},
      {"max_of_a_row", OpId::max, none, {F32({3}), F32({kN, 3})}, {kN, 3}},
      {"pow_of_samples", OpId::pow, none, {F32({kN, 1}), F32({1, 3})}, {kN, 3}},
      {"log_softmax",
       OpId::log_softmax,
       Attributes::Of(SoftmaxAttributes{1}),
       {F32({kN, 4, 2})},
       {kN, 4, 2}},
      {"layer_norm",
       OpId::layer_norm,
       Attributes::Of(LayerNormAttributes{-1, 1e-5, true}),
       {F32({kN, 3, 4}), F32({4}), F32({4})},
       {kN, 3, 4}},
      {"layer_norm_of_samples",
       OpId::layer_norm,
       Attributes::Of(LayerNormAttributes{1, 1e-5, false}),
       {F32({kN, 3, 4})},
       {kN, 3, 4}},
      {"where", OpId::where, none, {{DType::kBool, {kN, 1}}, F32({3}), F32({1, 3})}, {kN, 3}},
      {"compare",
       OpId::compare,
       Attributes::Of(CompareAttributes{"less"}),
       {{DType::kI32, {kN, 1}}, {DType::kI32, {3}}},
       {kN, 3}},
      {"one_hot",
       OpId::one_hot,
       Attributes::Of(OneHotAttributes{4, 1, 0, DType::kF32}),
       {{DType::kU8, {kN, 3}}},
       {kN, 3, 4}},
      {"embedding",
       OpId::embedding,
       Attributes::Of(EmbeddingAttributes{7, 3, DType::kF32}),
       {{DType::kI64, {kN, 5}}, F32({7, 3})},
       {kN, 5, 3}},
      {"crop",
       OpId::crop,
       Attributes::Of(CropAttributes{{2, 3}, {}}),
       {F32({kN, 3, 5, 6})},
       {kN, 3, 2, 3}},
      {"flip", OpId::flip, Attributes::Of(FlipAttributes{{-1}}), {F32({kN, 3, 4})}, {kN, 3, 4}},
      {"random_crop",
       OpId::random_crop,
       Attributes::Of(RandomCropAttributes{{2, 3}, 7}),
       {F32({kN, 3, 5, 6}), {DType::kI64, {}}},
       {kN, 3, 2, 3}},
      {"random_flip",
       OpId::random_flip,
       Attributes::Of(RandomFlipAttributes{{-1}, 0.5, 7}),
       {F32({kN, 3, 4}), {DType::kI64, {}}},
       {kN, 3, 4}},
      {"random_resized_crop",
       OpId::random_resized_crop,
       Attributes::Of(RandomResizedCropAttributes{{2, 3}}),
       {F32({kN, 3, 5, 6}), {DType::kI64, {}}},
       {kN, 3, 2, 3}},
      {"random_rotate",
       OpId::random_rotate,
       Attributes::Of(RandomRotateAttributes{{30}}),
       {F32({kN, 3, 4, 5}), {DType::kI64, {}}},
       {kN, 3, 4, 5}},
      {"rotate", OpId::rotate, Attributes::Of(RotateAttributes{30}), {F32({kN, 4, 5})}, {kN, 4, 5}},
      {"random_erasing",
       OpId::random_erasing,
       Attributes::Of(RandomErasingAttributes()),
       {F32({kN, 4, 5}), {DType::kI64, {}}},
       {kN, 4, 5}},
      {"huber", OpId::huber, Attributes::Of(HuberAttributes()), {F32({kN, 2}), F32({kN, 2})}, {}},
      {"smooth_l1",
       OpId::smooth_l1,
       Attributes::Of(SmoothL1Attributes()),
       {F32({kN, 2}), F32({kN, 2})},
       {}},
      {"ranking",
       OpId::ranking,
       Attributes::Of(RankingAttributes()),
       {F32({kN}), F32({kN}), {DType::kI32, {kN}}},
       {}},
      {"conv_transpose",
       OpId::conv_transpose,
       Attributes::Of(Doubling()),
       {F32({kN, 3, 4, 5}), F32({3, 2, 3, 3}), F32({2})},
       {kN, 2, 8, 10}},
      {"conv_transpose_with_rows_beyond",
       OpId::conv_transpose,
       Attributes::Of(Doubling(4)),
       {F32({kN, 3, 4, 5}), F32({3, 2, 3, 3}), F32({2})},
       {kN, 2, 15, 17}},
      {"binary_cross_entropy",
       OpId::binary_cross_entropy,
       Attributes::Of(BinaryCrossEntropyAttributes()),
       {F32({kN, 2}), F32({kN, 2})},
       {}},
      {"absolute_error", OpId::absolute_error, none, {F32({kN, 2}), F32({kN, 2})}, {}},
      {"hinge", OpId::hinge, none, {F32({kN}), {DType::kI32, {kN}}}, {}},
      {"squared_error", OpId::squared_error, none, {F32({kN, 2}), F32({kN, 2})}, {}},
  };
}

class BatchTest : public testing::TestWithParam<BatchCase> {};

TEST_P(BatchTest, InfersAndDifferentiatesForEveryBatch) {
  const BatchCase& c = GetParam();
  Graph graph;
  Builder builder(graph);
  std::vector<ValueId> inputs, wrt;
  for (const TensorType& type : c.inputs) {
    inputs.push_back(builder.AddSource(Role::kPlaceholder, Zone::kForward, type, "input"));
    if (IsFloat(type.dtype) && inputs.size() > c.without_gradient) wrt.push_back(inputs.back());
  }
  const std::vector<ValueId> outputs = builder.AddNode(c.op, c.attributes, inputs, "node", {});
  EXPECT_EQ(graph.values[outputs[0]].type.shape, c.expected);
  std::vector<std::pair<ValueId, ValueId>> seeds;
  for (ValueId output : outputs) {
    const TensorType type = graph.values[output].type;
    seeds.emplace_back(output, builder.AddSource(Role::kPlaceholder, Zone::kForward, type, "seed"));
  }
  const auto gradients = AddGradients(builder, seeds, wrt, PathId());
  ASSERT_EQ(VerifyGraph(graph), std::vector<std::string>());
  for (ValueId input : wrt) {
    ASSERT_TRUE(gradients.contains(input));
    EXPECT_EQ(graph.values[gradients.at(input)].type, graph.values[input].type);
  }
  for (int64_t batch : {1, 2, 5}) {
    const Graph bound = BindBatch(graph, batch);
    EXPECT_EQ(VerifyGraph(bound), std::vector<std::string>()) << "batch " << batch;
    EXPECT_EQ(bound.values[outputs[0]].type.shape, c.expected.Bind(batch));
  }
}

INSTANTIATE_TEST_SUITE_P(All, BatchTest, testing::ValuesIn(Cases()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace cgrun
