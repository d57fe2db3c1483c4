// Defines batch_norm and its gradient, with the statistics of the batch or with the running ones.
// batch_norm_apply gives a training's result again. In training alone, batch_norm_add,
// batch_norm_add_apply and batch_norm_add_grad do the same with a tensor that is added to the
// result.
#include "src/ops/batch_norm.h"

#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"

namespace cgrun {

const AttributeSchema& BatchNormAttributes::Schema() {
  static const AttributeSchema schema =
      SchemaBuilder<BatchNormAttributes>()
          .Add("epsilon", &BatchNormAttributes::epsilon,
               "added to the variance, against a division by 0")
          .AtLeast(0)
          .Add("momentum", &BatchNormAttributes::momentum,
               "share of the batch in the running statistics, as in PyTorch: running = (1 − "
               "momentum)·running + momentum·batch (ONNX's momentum is 1 − this one)")
          .AtLeast(0)
          .AtMost(1)
          .Add("training", &BatchNormAttributes::training,
               "normalise by the batch's statistics and update the running ones, rather than "
               "normalise by the running ones")
          .Internal()
          .Add("min", &BatchNormAttributes::min, "smallest value of y: a clip that is fused")
          .AtMost(0)
          .Internal()
          .Add("max", &BatchNormAttributes::max, "largest value of y")
          .AtLeast(0)
          .Internal()
          .Build();
  return schema;
}

namespace op_def {
namespace {

Dim BatchNormChannels(const Shape& x) { return x.rank() < 2 ? Dim(1) : x[1]; }

// Statistics, scale and shift are of f32 at least: small steps of a running mean would be lost
// below, and there are few of them beside x.
DType StatisticType(DType x) { return x == DType::kF64 ? DType::kF64 : DType::kF32; }

// If x is wrong, these tensors are of little use, but they let inference report the fault.
std::vector<OwnedTensor> BatchNormOwned(InferContext& context) {
  if (context.num_inputs() != 1) return {};
  const Shape channels{BatchNormChannels(context.shape(0)).size};
  const TensorType parameter{StatisticType(context.dtype(0)), channels};
  const TensorType statistic{StatisticType(context.dtype(0)), channels};
  return {{"scale", parameter, Role::kParameter, "ones"},
          {"shift", parameter, Role::kParameter, "zeros"},
          {"running_mean", statistic, Role::kRunningStatistic, "zeros"},
          {"running_var", statistic, Role::kRunningStatistic, "ones"}};
}

bool ExpectChannels(InferContext& context, std::string_view op) {
  const Shape& x = context.shape(0);
  if (!IsFloat(context.dtype(0))) {
    InferSameAsInput(context);
    return false;
  }
  if (x.rank() >= 2 && !BatchNormChannels(x).batch && CountElements(x)) return true;
  context.Fail(RankMessage(op, "[N, channels, …]", x));
  return false;
}

std::vector<TensorType> InferBatchNorm(InferContext& context) {
  if (!ExpectChannels(context, "batch_norm")) return {};
  const Shape channels{BatchNormChannels(context.shape(0))};
  const TensorType parameter{StatisticType(context.dtype(0)), channels};
  const TensorType statistic{StatisticType(context.dtype(0)), channels};
  if (!ExpectInput(context, 1, "scale", parameter)) return {};
  if (!ExpectInput(context, 2, "shift", parameter)) return {};
  if (!ExpectInput(context, 3, "running_mean", statistic)) return {};
  if (!ExpectInput(context, 4, "running_var", statistic)) return {};
  if (!context.attributes<BatchNormAttributes>().training) return {context.input(0)};
  return {context.input(0), statistic, statistic, statistic, statistic};
}

// Statistics are constants to the gradient but for those of the batch as y depends on them.
void BatchNormGradient(GradientContext& context) {
  if (!context.output_gradient(0).valid()) return;
  const auto& attributes = context.attributes<BatchNormAttributes>();
  const ValueId mean = attributes.training ? context.output(3) : context.input(3);
  const ValueId deviation = attributes.training ? context.output(4) : context.input(4);
  std::vector<ValueId> inputs = {context.input(0), context.output_gradient(0), context.input(1),
                                 mean, deviation};
  if (attributes.clips()) inputs.push_back(context.input(2));
  const std::vector<ValueId> gradients =
      context.EmitAll(OpId::batch_norm_grad, context.node().attributes, std::move(inputs), "grad");
  for (int i = 0; i < 3; ++i) {
    context.SetInputGradient(i, gradients[static_cast<size_t>(i)]);
  }
}

// Each element takes 4 operations for the statistics (a sum; a difference, its square, a sum) and 3
// for the result.
OpCost BatchNormCost(const NodeSignature& node) {
  const bool training = node.attributes.As<BatchNormAttributes>().training;
  return {(training ? 7 : 3) * node.inputs[0].shape.Elements()};
}

// In training the node moves running statistics, and must therefore not run twice.
RecomputeNode RecomputeBatchNorm(const Node& node) {
  if (!node.attributes.As<BatchNormAttributes>().training) {
    return {node.op, node.attributes, node.inputs};
  }
  return {OpId::batch_norm_apply,
          node.attributes,
          {node.inputs[0], node.inputs[1], node.inputs[2], node.outputs[3], node.outputs[4]}};
}

std::vector<TensorType> InferApply(InferContext& context) {
  if (!ExpectChannels(context, "batch_norm_apply")) return {};
  const Shape channels{BatchNormChannels(context.shape(0))};
  const TensorType parameter{StatisticType(context.dtype(0)), channels};
  const TensorType statistic{StatisticType(context.dtype(0)), channels};
  if (!ExpectInput(context, 1, "scale", parameter)) return {};
  if (!ExpectInput(context, 2, "shift", parameter)) return {};
  if (!ExpectInput(context, 3, "mean", statistic)) return {};
  if (!ExpectInput(context, 4, "inv_std", statistic)) return {};
  return {context.input(0)};
}

OpCost ApplyCost(const NodeSignature& node) { return {3 * node.inputs[0].shape.Elements()}; }

std::vector<TensorType> InferBatchNormGrad(InferContext& context) {
  if (!ExpectChannels(context, "batch_norm_grad")) return {};
  const Shape channels{BatchNormChannels(context.shape(0))};
  const TensorType parameter{StatisticType(context.dtype(0)), channels};
  const TensorType statistic{StatisticType(context.dtype(0)), channels};
  if (!ExpectInput(context, 1, "dy", context.input(0))) return {};
  if (!ExpectInput(context, 2, "scale", parameter)) return {};
  if (!ExpectInput(context, 3, "mean", statistic)) return {};
  if (!ExpectInput(context, 4, "deviation", statistic)) return {};
  const bool clips = context.attributes<BatchNormAttributes>().clips();
  if (clips != (context.num_inputs() == 6)) {
    return context.Fail(clips ? "`shift` is needed to see what was clipped"
                              : "`shift` is for results that are clipped");
  }
  if (clips && !ExpectInput(context, 5, "shift", parameter)) return {};
  return {context.input(0), parameter, parameter};
}

// Each element takes 5 for the two sums and 5 for dx (1 if the statistics are frozen). A clip adds
// 3 to each.
OpCost BatchNormGradCost(const NodeSignature& node) {
  const auto& attributes = node.attributes.As<BatchNormAttributes>();
  return {((attributes.training ? 10 : 6) + (attributes.clips() ? 6 : 0)) *
          node.inputs[0].shape.Elements()};
}

// Returns whether inputs from `first` on are scale, shift and two statistics of those names.
bool ExpectOfChannels(InferContext& context, int first, std::string_view mean,
                      std::string_view deviation) {
  const TensorType wanted{StatisticType(context.dtype(0)), {BatchNormChannels(context.shape(0))}};
  return ExpectInput(context, first, "scale", wanted) &&
         ExpectInput(context, first + 1, "shift", wanted) &&
         ExpectInput(context, first + 2, mean, wanted) &&
         ExpectInput(context, first + 3, deviation, wanted);
}

bool ExpectAddend(InferContext& context, std::string_view op) {
  if (!ExpectChannels(context, op)) return false;
  if (!context.attributes<BatchNormAttributes>().training) {
    context.Fail(std::string(op) + " is for training");
    return false;
  }
  return ExpectInput(context, 1, "addend", context.input(0));
}

std::vector<TensorType> InferAdd(InferContext& context) {
  if (!ExpectAddend(context, "batch_norm_add")) return {};
  if (!ExpectOfChannels(context, 2, "running_mean", "running_var")) return {};
  const TensorType statistic = context.input(4);
  return {context.input(0), statistic, statistic, statistic, statistic};
}

std::vector<TensorType> InferAddApply(InferContext& context) {
  if (!ExpectAddend(context, "batch_norm_add_apply")) return {};
  if (!ExpectOfChannels(context, 2, "mean", "inv_std")) return {};
  return {context.input(0)};
}

// If nothing is clipped, what is added has the gradient of y.
void GradientOfAdd(GradientContext& context) {
  const ValueId dy = context.output_gradient(0);
  if (!dy.valid()) return;
  const bool clips = context.attributes<BatchNormAttributes>().clips();
  std::vector<ValueId> inputs = {context.input(0), dy, context.input(2), context.output(3),
                                 context.output(4)};
  if (clips) inputs.push_back(context.output(0));
  const std::vector<ValueId> gradients =
      context.EmitAll(clips ? OpId::batch_norm_add_grad : OpId::batch_norm_grad,
                      context.node().attributes, std::move(inputs), "grad");
  context.SetInputGradient(0, gradients[0]);
  context.SetInputGradient(1, clips ? gradients[3] : dy);
  context.SetInputGradient(2, gradients[1]);
  context.SetInputGradient(3, gradients[2]);
}

OpCost CostOfAdd(const NodeSignature& node) { return {8 * node.inputs[0].shape.Elements()}; }
OpCost CostOfAddApply(const NodeSignature& node) { return {4 * node.inputs[0].shape.Elements()}; }

RecomputeNode RecomputeBatchNormAdd(const Node& node) {
  return {OpId::batch_norm_add_apply,
          node.attributes,
          {node.inputs[0], node.inputs[1], node.inputs[2], node.inputs[3], node.outputs[3],
           node.outputs[4]}};
}

std::vector<TensorType> InferAddGrad(InferContext& context) {
  if (!ExpectChannels(context, "batch_norm_add_grad")) return {};
  const auto& attributes = context.attributes<BatchNormAttributes>();
  if (!attributes.training || !attributes.clips()) {
    return context.Fail("batch_norm_add_grad is for training, and for results that are clipped");
  }
  const TensorType x = context.input(0);
  const TensorType statistic{StatisticType(x.dtype), {BatchNormChannels(x.shape)}};
  if (!ExpectInput(context, 1, "dy", x)) return {};
  if (!ExpectInput(context, 2, "scale", statistic)) return {};
  if (!ExpectInput(context, 3, "mean", statistic)) return {};
  if (!ExpectInput(context, 4, "inv_std", statistic)) return {};
  if (!ExpectInput(context, 5, "y", x)) return {};
  if (context.num_inputs() == 7 && !ExpectInput(context, 6, "more_dy", x)) return {};
  return {x, statistic, statistic, x};
}

// Counts the operations of BatchNormGradCost and a comparison. If dy has two parts, it adds an
// addition.
OpCost CostOfAddGrad(const NodeSignature& node) {
  const auto others = static_cast<int64_t>(node.inputs.size()) - 5;
  return {(10 + others) * node.inputs[0].shape.Elements()};
}

}  // namespace

OpDef batch_norm() {
  OpDef def;
  def.name = "batch_norm";
  def.summary = "Normalises each channel over the batch.";
  def.details =
      "y = (x − mean)·inv_std·scale + shift, inv_std = 1 ÷ √(variance + epsilon). In training, "
      "mean "
      "and variance (÷ count) are the channel's in this batch, and the running statistics move "
      "towards them, the variance by its unbiased value (÷ (count − 1), or ÷ 1 for one element). "
      "Elsewhere they are the running statistics, which then are constants to the gradient. The "
      "scale starts at 1, the shift at 0. A relu or clip behind it may become a part of it. "
      "Statistics are f64 for f64, and f32 for other types; the "
      "device `reference` adds them in index order in f64. Ioffe and Szegedy, 2015. ONNX "
      "BatchNormalization.";
  def.usage = Usage::kOperator;
  def.inputs = {{"x", "[N, channels, …]"},
                {"scale", "[channels], owned"},
                {"shift", "[channels], owned"},
                {"running_mean", "[channels], owned: a running statistic"},
                {"running_var", "[channels], owned: a running statistic"}};
  def.outputs = {{"y", "shape of x"},
                 {"new_running_mean", "[channels]; this and the following in training alone"},
                 {"new_running_var", "[channels]"},
                 {"mean", "[channels]: the batch's"},
                 {"inv_std", "[channels]: the batch's"}};
  def.schema = &BatchNormAttributes::Schema();
  def.infer = InferBatchNorm;
  def.owned = BatchNormOwned;
  def.gradient = BatchNormGradient;
  def.cost = BatchNormCost;
  def.recompute = RecomputeBatchNorm;
  def.in_place = {{0, 0}, {3, 1}, {4, 2}};
  def.updates = {{3, 1}, {4, 2}};
  def.narrow = Narrow::kFollows;
  def.narrow_inputs = 1;
  def.normalises = true;
  return def;
}

OpDef batch_norm_apply() {
  OpDef def;
  def.name = "batch_norm_apply";
  def.summary = "Recomputes the result of batch_norm in training from what batch_norm kept.";
  def.details =
      "y = (x − mean)·inv_std·scale + shift, to the same bits as batch_norm on the same device: "
      "computed again, y need not be kept from the forward to the backward pass.";
  def.inputs = {{"x", "input of batch_norm"},
                {"scale", "[channels]"},
                {"shift", "[channels]"},
                {"mean", "[channels]: the batch's"},
                {"inv_std", "[channels]: the batch's"}};
  def.outputs = {{"y", "shape of x"}};
  def.schema = &BatchNormAttributes::Schema();
  def.infer = InferApply;
  def.cost = ApplyCost;
  def.in_place = {{0, 0}};
  return def;
}

OpDef batch_norm_grad() {
  OpDef def;
  def.name = "batch_norm_grad";
  def.summary = "Computes the gradient of batch_norm.";
  def.details =
      "With x̂ = (x − mean)·inv_std and sums over all axes but the channels: dshift = Σ dy, dscale "
      "= "
      "Σ dy·x̂, dx = scale·inv_std·(dy − (dshift + x̂·dscale) ÷ count) in training, and dx = "
      "scale·inv_std·dy elsewhere, where `deviation` is the running variance. Where a clip is a "
      "part of batch_norm, dy counts as 0 for each y that is not between `min` and `max`.";
  def.inputs = {{"x", "input of batch_norm"},
                {"dy", "gradient of y"},
                {"scale", "[channels]"},
                {"mean", "[channels]: the batch's in training, else the running one"},
                {"deviation",
                 "[channels]: the batch's inv_std in training, else the running "
                 "variance"},
                {"shift", "[channels]: where results are clipped", Arity::kOptional}};
  def.outputs = {
      {"dx", "gradient of x"}, {"dscale", "gradient of scale"}, {"dshift", "gradient of shift"}};
  def.schema = &BatchNormAttributes::Schema();
  def.infer = InferBatchNormGrad;
  def.cost = BatchNormGradCost;
  def.in_place = {{0, 0}, {1, 0}};
  return def;
}

OpDef batch_norm_add() {
  OpDef def;
  def.name = "batch_norm_add";
  def.summary = "Normalises each channel over the batch and adds a tensor.";
  def.details =
      "y = batch_norm(x) + addend, each rounded as the two operators round it, clipped to `min` "
      "and "
      "`max`: the end of a residual block. He et al., 2015.";
  def.inputs = {{"x", "[N, channels, …]"},
                {"addend", "shape of x"},
                {"scale", "[channels]"},
                {"shift", "[channels]"},
                {"running_mean", "[channels]: a running statistic"},
                {"running_var", "[channels]: a running statistic"}};
  def.outputs = {{"y", "shape of x"},
                 {"new_running_mean", "[channels]"},
                 {"new_running_var", "[channels]"},
                 {"mean", "[channels]: the batch's"},
                 {"inv_std", "[channels]: the batch's"}};
  def.schema = &BatchNormAttributes::Schema();
  def.infer = InferAdd;
  def.gradient = GradientOfAdd;
  def.cost = CostOfAdd;
  def.recompute = RecomputeBatchNormAdd;
  def.in_place = {{1, 0}, {0, 0}, {4, 1}, {5, 2}};
  def.updates = {{4, 1}, {5, 2}};
  return def;
}

OpDef batch_norm_add_apply() {
  OpDef def;
  def.name = "batch_norm_add_apply";
  def.summary = "Recomputes the result of batch_norm_add from what batch_norm_add kept.";
  def.details =
      "y = (x − mean)·inv_std·scale + shift + addend, to the same bits as batch_norm_add on the "
      "same device.";
  def.inputs = {{"x", "input of batch_norm_add"},
                {"addend", "shape of x"},
                {"scale", "[channels]"},
                {"shift", "[channels]"},
                {"mean", "[channels]: the batch's"},
                {"inv_std", "[channels]: the batch's"}};
  def.outputs = {{"y", "shape of x"}};
  def.schema = &BatchNormAttributes::Schema();
  def.infer = InferAddApply;
  def.cost = CostOfAddApply;
  def.in_place = {{1, 0}, {0, 0}};
  return def;
}

OpDef batch_norm_add_grad() {
  OpDef def;
  def.name = "batch_norm_add_grad";
  def.summary = "Computes the gradient of batch_norm_add.";
  def.details =
      "daddend is dy, or dy + more_dy, and 0 for each y that is not between `min` and `max`; dx, "
      "dscale and dshift are what batch_norm_grad gives of daddend. For results that are clipped: "
      "else daddend is dy.";
  def.inputs = {{"x", "input of batch_norm_add"},
                {"dy", "gradient of y"},
                {"scale", "[channels]"},
                {"mean", "[channels]: the batch's"},
                {"inv_std", "[channels]: the batch's"},
                {"y", "output of batch_norm_add"},
                {"more_dy", "what is to be added to dy", Arity::kOptional}};
  def.outputs = {{"dx", "gradient of x"},
                 {"dscale", "gradient of scale"},
                 {"dshift", "gradient of shift"},
                 {"daddend", "gradient of addend"}};
  def.schema = &BatchNormAttributes::Schema();
  def.infer = InferAddGrad;
  def.cost = CostOfAddGrad;
  // daddend of a channel is there before the first dx of it is written.
  def.in_place = {{0, 0}, {1, 0}, {5, 0}, {6, 0}, {1, 3}, {5, 3}, {6, 3}};
  return def;
}

}  // namespace op_def
}  // namespace cgrun
