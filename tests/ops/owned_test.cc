// The tensors that operators own: types that follow a batch of unknown size, initial values, and
// messages that speak of the user's input where it is wrong.
#include <gtest/gtest.h>

#include "src/ops/batch_norm.h"
#include "src/ops/conv.h"
#include "src/ops/conv_transpose.h"
#include "src/ops/embedding.h"
#include "src/ops/layer_norm.h"
#include "src/ops/linear.h"
#include "src/ops/optimizer.h"

namespace cgrun {
namespace {

constexpr DType kF32 = DType::kF32;

struct Use {
  std::vector<OwnedTensor> owned;
  std::vector<TensorType> outputs;
  std::string message;
};

// An operator on one input, as a model file uses it.
Use UseOn(OpId op, const Attributes& attributes, const TensorType& x) {
  InferContext asked(attributes, {x});
  Use use{GetOpDef(op).owned(asked), {}, ""};
  std::vector<TensorType> inputs = {x};
  for (const OwnedTensor& tensor : use.owned) inputs.push_back(tensor.type);
  InferContext context(attributes, inputs);
  use.outputs = InferTypes(op, context);
  use.message = context.message();
  return use;
}

void ExpectOwned(const OwnedTensor& tensor, const std::string& name, const std::string& type,
                 const std::string& init, int64_t fan_in = 1, int64_t fan_out = 1) {
  EXPECT_EQ(tensor.name, name);
  EXPECT_EQ(tensor.type.ToString(), type) << name;
  EXPECT_EQ(tensor.init, init) << name;
  EXPECT_EQ(tensor.fan_in, fan_in) << name;
  EXPECT_EQ(tensor.fan_out, fan_out) << name;
}

ConvAttributes Conv() {
  ConvAttributes conv;
  conv.filters = 6;
  conv.kernel = {3, 5};
  conv.groups = 2;
  return conv;
}

TEST(OwnedTest, Linear) {
  const Use use =
      UseOn(OpId::linear, Attributes::Of(LinearAttributes{10, true}), {kF32, {kBatchDim, 84}});
  ASSERT_EQ(use.owned.size(), 2u);
  ExpectOwned(use.owned[0], "weight", "f32[10, 84]", "glorot_uniform", 84, 10);
  ExpectOwned(use.owned[1], "bias", "f32[10]", "zeros");
  ASSERT_EQ(use.outputs.size(), 1u) << use.message;
  EXPECT_EQ(use.outputs[0].ToString(), "f32[N, 10]");
}

TEST(OwnedTest, LinearWithoutBias) {
  const Use use =
      UseOn(OpId::linear, Attributes::Of(LinearAttributes{10, false}), {kF32, {kBatchDim, 7, 84}});
  ASSERT_EQ(use.owned.size(), 1u);
  ASSERT_EQ(use.outputs.size(), 1u) << use.message;
  EXPECT_EQ(use.outputs[0].ToString(), "f32[N, 7, 10]");
}

TEST(OwnedTest, Conv) {
  const Use use = UseOn(OpId::conv, Attributes::Of(Conv()), {kF32, {kBatchDim, 4, 28, 28}});
  ASSERT_EQ(use.owned.size(), 2u);
  ExpectOwned(use.owned[0], "weight", "f32[6, 2, 3, 5]", "he_normal", 2 * 15, 6 * 15);
  ExpectOwned(use.owned[1], "bias", "f32[6]", "zeros");
  ASSERT_EQ(use.outputs.size(), 1u) << use.message;
  EXPECT_EQ(use.outputs[0].ToString(), "f32[N, 6, 26, 24]");
}

TEST(OwnedTest, ConvTransposeHasChannelsFirst) {
  ConvTransposeAttributes up;
  up.filters = 6;
  up.kernel = {3, 5};
  up.stride = {2, 2};
  up.groups = 2;
  const Use use = UseOn(OpId::conv_transpose, Attributes::Of(up), {kF32, {kBatchDim, 4, 14, 14}});
  ASSERT_EQ(use.owned.size(), 2u);
  ExpectOwned(use.owned[0], "weight", "f32[4, 3, 3, 5]", "he_normal", 3 * 15, 4 * 15);
  ExpectOwned(use.owned[1], "bias", "f32[6]", "zeros");
  ASSERT_EQ(use.outputs.size(), 1u) << use.message;
  EXPECT_EQ(use.outputs[0].ToString(), "f32[N, 6, 29, 31]");
}

// The states of an optimizer, with the inputs that every one has.
std::vector<OwnedTensor> StatesOf(OpId op, const Attributes& attributes) {
  const TensorType w{DType::kBF16, {3}}, rate{DType::kF64, {}};
  InferContext context(attributes, {w, w, rate});
  return GetOpDef(op).owned(context);
}

TEST(OwnedTest, RmspropHasTheStatesThatItsAttributesNeed) {
  RmspropAttributes attributes;
  const auto names = [&] {
    std::string all;
    for (const OwnedTensor& state : StatesOf(OpId::rmsprop, Attributes::Of(attributes))) {
      ExpectOwned(state, state.name, "bf16[3]", "zeros");
      all += state.name + " ";
    }
    return all;
  };
  EXPECT_EQ(names(), "v ");
  attributes.momentum = 0.5;
  EXPECT_EQ(names(), "v momentum ");
  attributes.centered = true;
  EXPECT_EQ(names(), "v m momentum ");
}

TEST(OwnedTest, AdagradStartsWithItsAccumulator) {
  AdagradAttributes attributes;
  const auto zero = StatesOf(OpId::adagrad, Attributes::Of(attributes));
  ExpectOwned(zero.at(0), "sum", "bf16[3]", "zeros");
  attributes.initial_accumulator = 0.25;
  const auto some = StatesOf(OpId::adagrad, Attributes::Of(attributes));
  ExpectOwned(some.at(0), "sum", "bf16[3]", "constant");
  EXPECT_EQ(some.at(0).init_args, std::vector<double>{0.25});
}

TEST(OwnedTest, Bias) {
  const Use use = UseOn(OpId::bias, Attributes(), {DType::kBF16, {kBatchDim, 3, 8}});
  ASSERT_EQ(use.owned.size(), 1u);
  ExpectOwned(use.owned[0], "bias", "bf16[3]", "zeros");
  ASSERT_EQ(use.outputs.size(), 1u) << use.message;
}

TEST(OwnedTest, BatchNormKeepsStatisticsInF32) {
  const Use use = UseOn(OpId::batch_norm, Attributes::Of(BatchNormAttributes()),
                        {DType::kBF16, {kBatchDim, 3, 8, 8}});
  ASSERT_EQ(use.owned.size(), 4u);
  ExpectOwned(use.owned[0], "scale", "f32[3]", "ones");
  ExpectOwned(use.owned[1], "shift", "f32[3]", "zeros");
  ExpectOwned(use.owned[2], "running_mean", "f32[3]", "zeros");
  ExpectOwned(use.owned[3], "running_var", "f32[3]", "ones");
  EXPECT_EQ(use.owned[0].role, Role::kParameter);
  EXPECT_EQ(use.owned[3].role, Role::kRunningStatistic);
  ASSERT_EQ(use.outputs.size(), 5u) << use.message;
  for (const InPlacePair& update : GetOpDef(OpId::batch_norm).updates) {
    EXPECT_EQ(use.owned[static_cast<size_t>(update.input) - 1].type,
              use.outputs[static_cast<size_t>(update.output)]);
  }
}

TEST(OwnedTest, LayerNorm) {
  const TensorType x{DType::kBF16, {kBatchDim, 7, 3, 8}};
  const Use last = UseOn(OpId::layer_norm, Attributes::Of(LayerNormAttributes()), x);
  ASSERT_EQ(last.owned.size(), 2u);
  ExpectOwned(last.owned[0], "scale", "bf16[8]", "ones");
  ExpectOwned(last.owned[1], "shift", "bf16[8]", "zeros");
  ASSERT_EQ(last.outputs.size(), 3u) << last.message;
  EXPECT_EQ(last.outputs[1].ToString(), "f32[N, 7, 3]");
  const Use two = UseOn(OpId::layer_norm, Attributes::Of(LayerNormAttributes{-2, 1e-5, true}), x);
  ExpectOwned(two.owned[0], "scale", "bf16[3, 8]", "ones");
  ASSERT_EQ(two.outputs.size(), 3u) << two.message;
  EXPECT_EQ(two.outputs[2].ToString(), "f32[N, 7]");
  const Use plain = UseOn(OpId::layer_norm, Attributes::Of(LayerNormAttributes{1, 1e-5, false}), x);
  EXPECT_TRUE(plain.owned.empty());
  EXPECT_EQ(plain.outputs.size(), 3u) << plain.message;
}

TEST(OwnedTest, Embedding) {
  const Use use =
      UseOn(OpId::embedding, Attributes::Of(EmbeddingAttributes{1000, 16, DType::kBF16}),
            {DType::kI32, {kBatchDim, 12}});
  ASSERT_EQ(use.owned.size(), 1u);
  ExpectOwned(use.owned[0], "weight", "bf16[1000, 16]", "normal", 1000, 16);
  ASSERT_EQ(use.outputs.size(), 1u) << use.message;
  EXPECT_EQ(use.outputs[0].ToString(), "bf16[N, 12, 16]");
}

TEST(OwnedTest, WrongInputsAreNamedNotTheOwnedOnes) {
  const Attributes linear = Attributes::Of(LinearAttributes{10, true});
  const Attributes conv = Attributes::Of(Conv());
  const Attributes norm = Attributes::Of(BatchNormAttributes());
  EXPECT_EQ(UseOn(OpId::linear, linear, {kF32, {kBatchDim}}).message,
            "'linear' needs an input [N, …, features], not [N]");
  EXPECT_EQ(UseOn(OpId::linear, linear, {kF32, {}}).message,
            "'linear' needs an input [N, …, features], not []");
  EXPECT_EQ(UseOn(OpId::conv, conv, {kF32, {kBatchDim, 10}}).message,
            "'conv' needs an input [N, channels, height, width], not [N, 10]");
  EXPECT_EQ(UseOn(OpId::conv, conv, {kF32, {kBatchDim, 3, 28, 28}}).message,
            "groups=2 does not divide both the channels of [N, 3, 28, 28] and filters=6");
  EXPECT_EQ(UseOn(OpId::conv, conv, {kF32, {kBatchDim, 1, 28, 28}}).message,
            "groups=2 does not divide both the channels of [N, 1, 28, 28] and filters=6");
  EXPECT_EQ(UseOn(OpId::bias, Attributes(), {kF32, {kBatchDim}}).message,
            "'bias' needs an input [N, channels, …], not [N]");
  EXPECT_EQ(UseOn(OpId::batch_norm, norm, {kF32, {kBatchDim}}).message,
            "'batch_norm' needs an input [N, channels, …], not [N]");
  EXPECT_EQ(UseOn(OpId::layer_norm, Attributes::Of(LayerNormAttributes{0, 1e-5, true}),
                  {kF32, {kBatchDim, 4}})
                .message,
            "cannot normalise over the batch: axis 0 of [N, 4] begins [N, 4]");
  EXPECT_EQ(
      UseOn(OpId::embedding, Attributes::Of(EmbeddingAttributes{9, 4, kF32}), {kF32, {kBatchDim}})
          .message,
      "needs ids of type uint8, int32 or int64, not f32[N]");
  const std::string integers =
      UseOn(OpId::conv, conv, {DType::kU8, {kBatchDim, 4, 28, 28}}).message;
  EXPECT_EQ(integers, "needs a floating-point input, not uint8[N, 4, 28, 28]");
}

}  // namespace
}  // namespace cgrun
