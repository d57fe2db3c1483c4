// Defines layer_norm and its gradient. Each sample, or each of its positions, is normalised by its
// own statistics.
#include "src/ops/layer_norm.h"

#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"

namespace cgrun {

const AttributeSchema& LayerNormAttributes::Schema() {
  static const AttributeSchema schema =
      SchemaBuilder<LayerNormAttributes>()
          .Add("axis", &LayerNormAttributes::axis,
               "first of the axes that are normalised over, which are all from it on; the batch "
               "axis is 0, negative ones count from the last")
          .Add("epsilon", &LayerNormAttributes::epsilon,
               "added to the variance, against a division by 0")
          .AtLeast(0)
          .Add("affine", &LayerNormAttributes::affine,
               "multiply by a learned scale and add a learned shift, a number each for every place "
               "on the normalised axes")
          .Build();
  return schema;
}

namespace op_def {
namespace {

// Holds the types that follow from x and the attributes.
struct Types {
  TensorType parameter;  // the normalised axes
  TensorType statistic;  // the axes before them, in f32 at least
};

// If x or the axis is wrong, reports it. The result is then of little use.
Types TypesFor(InferContext& context, std::string_view op) {
  const DType dtype = context.dtype(0);
  const Shape& x = context.shape(0);
  const int64_t given = context.attributes<LayerNormAttributes>().axis;
  const auto axis = NormalizeAxis(given, x.rank());
  const DType statistic = dtype == DType::kF64 ? DType::kF64 : DType::kF32;
  if (!IsFloat(dtype)) {
    InferSameAsInput(context);
  } else if (!axis || !CountElements(x)) {
    context.Fail(x.rank() == 0 ? RankMessage(op, "[N, …, features]", x) : AxesMessage({given}, x));
  }
  if (context.failed()) return {{dtype, {}}, {statistic, {}}};
  const Shape normalised(std::vector<Dim>(x.begin() + *axis, x.end()));
  if (!normalised.IsBound()) {
    context.Fail("cannot normalise over the batch: axis " + std::to_string(given) + " of " +
                     x.ToString() + " begins " + normalised.ToString(),
                 "`batch_norm` does that");
    return {{dtype, {}}, {statistic, {}}};
  }
  return {{dtype, normalised}, {statistic, Shape(std::vector<Dim>(x.begin(), x.begin() + *axis))}};
}

std::vector<OwnedTensor> LayerNormOwned(InferContext& context) {
  const bool affine = context.attributes<LayerNormAttributes>().affine;
  if (context.num_inputs() != 1 || !affine) return {};
  const TensorType parameter = TypesFor(context, "layer_norm").parameter;
  return {{"scale", parameter, Role::kParameter, "ones"},
          {"shift", parameter, Role::kParameter, "zeros"}};
}

// Returns whether the node reads `plain` inputs, and those of `affine` too where it has to.
bool ExpectCount(InferContext& context, int plain, std::string_view affine, int more) {
  const bool is_affine = context.attributes<LayerNormAttributes>().affine;
  if (context.num_inputs() == plain + (is_affine ? more : 0)) return true;
  context.Fail("reads " + std::string(affine) + " exactly where it is affine");
  return false;
}

std::vector<TensorType> InferLayerNorm(InferContext& context) {
  const Types types = TypesFor(context, "layer_norm");
  if (context.failed() || !ExpectCount(context, 1, "scale and shift", 2)) return {};
  if (context.num_inputs() == 3) {
    if (!ExpectInput(context, 1, "scale", types.parameter)) return {};
    if (!ExpectInput(context, 2, "shift", types.parameter)) return {};
  }
  return {context.input(0), types.statistic, types.statistic};
}

// The statistics are outputs for the gradient alone. No gradient flows through them.
void LayerNormGradient(GradientContext& context) {
  if (!context.output_gradient(0).valid()) return;
  std::vector<ValueId> inputs = {context.input(0), context.output_gradient(0), context.output(1),
                                 context.output(2)};
  const bool affine = context.attributes<LayerNormAttributes>().affine;
  if (affine) inputs.push_back(context.input(1));
  const std::vector<ValueId> gradients =
      context.EmitAll(OpId::layer_norm_grad, context.node().attributes, inputs, "grad");
  for (size_t i = 0; i < gradients.size(); ++i) {
    context.SetInputGradient(static_cast<int>(i), gradients[i]);
  }
}

std::vector<TensorType> InferLayerNormGrad(InferContext& context) {
  const Types types = TypesFor(context, "layer_norm_grad");
  if (context.failed() || !ExpectCount(context, 4, "scale", 1)) return {};
  if (!ExpectInput(context, 1, "dy", context.input(0))) return {};
  if (!ExpectInput(context, 2, "mean", types.statistic)) return {};
  if (!ExpectInput(context, 3, "inv_std", types.statistic)) return {};
  if (context.num_inputs() == 4) return {context.input(0)};
  if (!ExpectInput(context, 4, "scale", types.parameter)) return {};
  return {context.input(0), types.parameter, types.parameter};
}

// Each element takes 4 for the statistics (a sum; a difference, its square, a sum), 2 for the
// result, 2 for scale and shift.
OpCost LayerNormCost(const NodeSignature& node) {
  const bool affine = node.attributes.As<LayerNormAttributes>().affine;
  return {(affine ? 8 : 6) * node.inputs[0].shape.Elements()};
}

// Each element takes 2 for x̂, 3 for the two means, 4 for dx, 1 for dy·scale, 3 for the gradients
// of scale and shift.
OpCost LayerNormGradCost(const NodeSignature& node) {
  const bool affine = node.attributes.As<LayerNormAttributes>().affine;
  return {(affine ? 13 : 9) * node.inputs[0].shape.Elements()};
}

}  // namespace

OpDef layer_norm() {
  OpDef def;
  def.name = "layer_norm";
  def.summary = "Normalises each sample over its last axes.";
  def.details =
      "y = (x − mean)·inv_std·scale + shift, inv_std = 1 ÷ √(variance + epsilon), where mean and "
      "variance (÷ count) are those of the elements from `axis` on. The scale starts at 1, the "
      "shift at 0. Statistics are f64 for f64, and f32 for other types; the device `reference` "
      "adds them in index order in f64. Training and inference are alike. Ba, Kiros and Hinton, "
      "2016. PyTorch LayerNorm; ONNX LayerNormalization.";
  def.usage = Usage::kOperator;
  def.inputs = {
      {"x", "[N, …, features]"},
      {"scale", "the normalised axes, owned; absent with `affine: false`", Arity::kOptional},
      {"shift", "the normalised axes, owned; absent with `affine: false`", Arity::kOptional}};
  def.outputs = {{"y", "shape of x"},
                 {"mean", "the axes before `axis`"},
                 {"inv_std", "the axes before `axis`"}};
  def.schema = &LayerNormAttributes::Schema();
  def.infer = InferLayerNorm;
  def.owned = LayerNormOwned;
  def.gradient = LayerNormGradient;
  def.cost = LayerNormCost;
  def.in_place = {{0, 0}};
  def.narrow = Narrow::kFollows;
  def.normalises = true;
  return def;
}

OpDef layer_norm_grad() {
  OpDef def;
  def.name = "layer_norm_grad";
  def.summary = "Computes the gradient of layer_norm.";
  def.details =
      "With x̂ = (x − mean)·inv_std and g = dy·scale: dx = inv_std·(g − mean(g) − x̂·mean(g·x̂)), "
      "means over the normalised axes; dshift = Σ dy, dscale = Σ dy·x̂, sums over the others.";
  def.inputs = {{"x", "input of layer_norm"},
                {"dy", "gradient of y"},
                {"mean", "output of layer_norm"},
                {"inv_std", "output of layer_norm"},
                {"scale", "absent with `affine: false`", Arity::kOptional}};
  def.outputs = {{"dx", "gradient of x"},
                 {"dscale", "gradient of scale; this and the next if affine"},
                 {"dshift", "gradient of shift"}};
  def.schema = &LayerNormAttributes::Schema();
  def.infer = InferLayerNormGrad;
  def.cost = LayerNormGradCost;
  def.in_place = {{1, 0}, {0, 0}};
  return def;
}

}  // namespace op_def
}  // namespace cgrun
