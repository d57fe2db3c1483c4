// Defines avg_pool, its gradient, and global_avg_pool.
#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"
#include "src/ops/pool.h"
#include "src/ops/reduce.h"

namespace cgrun::op_def {
namespace {

std::vector<TensorType> InferAvgPool(InferContext& context) {
  const auto y = ExpectPool(context, "avg_pool", context.attributes<AvgPoolAttributes>().window());
  if (!y) return {};
  return {{context.dtype(0), *y}};
}

void AvgPoolGradient(GradientContext& context) {
  const auto attributes = context.attributes<AvgPoolAttributes>();
  PoolGradAttributes grad;
  grad.input = context.input_type(0).shape;
  grad.kernel = attributes.kernel;
  grad.stride = attributes.stride;
  grad.padding = attributes.padding;
  grad.ceil_mode = attributes.ceil_mode;
  grad.count_include_pad = attributes.count_include_pad;
  context.SetInputGradient(0, context.Emit(OpId::avg_pool_grad, Attributes::Of(std::move(grad)),
                                           {context.output_gradient(0)}, "dx"));
}

// Counts the additions of each window and its division.
OpCost CostOfWindows(const Shape& y, const IntList& kernel) {
  return {y.Elements() * (kernel[0] * kernel[1] + 1)};
}
OpCost AvgPoolCost(const NodeSignature& node) {
  return CostOfWindows(node.outputs[0].shape, node.attributes.As<AvgPoolAttributes>().kernel);
}
OpCost AvgPoolGradCost(const NodeSignature& node) {
  return CostOfWindows(node.inputs[0].shape, node.attributes.As<PoolGradAttributes>().kernel);
}

std::vector<TensorType> InferAvgPoolGrad(InferContext& context) {
  const auto& attributes = context.attributes<PoolGradAttributes>();
  const auto y = PooledShape(attributes);
  if (!y || context.shape(0) != *y || !IsFloat(context.dtype(0))) {
    return context.Fail("no avg_pool of " + attributes.input.ToString() + " makes `dy` " +
                        context.input(0).ToString());
  }
  return {{context.dtype(0), attributes.input}};
}

// dx is linear in dy: its transpose is the pool.
void GradGradient(GradientContext& context) {
  const auto attributes = context.attributes<PoolGradAttributes>();
  AvgPoolAttributes pool{attributes.kernel, attributes.stride, attributes.padding,
                         attributes.ceil_mode, attributes.count_include_pad};
  context.SetInputGradient(0, context.Emit(OpId::avg_pool, Attributes::Of(std::move(pool)),
                                           {context.output_gradient(0)}, "ddy"));
}

std::vector<TensorType> InferGlobal(InferContext& context) {
  if (!IsFloat(context.dtype(0))) return InferSameAsInput(context);
  Shape shape = context.shape(0);
  bool fits = shape.rank() >= 3;
  for (int axis = 2; axis < shape.rank(); ++axis) {
    fits &= !shape[axis].batch;
    shape[axis] = Dim(1);
  }
  if (!fits) {
    return context.Fail(
        RankMessage("global_avg_pool", "[N, channels, height, width]", context.shape(0)));
  }
  return {{context.dtype(0), shape}};
}

void GlobalGradient(GradientContext& context) {
  const BroadcastAttributes attributes{context.input_type(0).shape, true};
  context.SetInputGradient(0, context.Emit(OpId::broadcast, Attributes::Of(attributes),
                                           {context.output_gradient(0)}, "dx"));
}

OpCost GlobalCost(const NodeSignature& node) {
  return {node.inputs[0].shape.Elements() + node.outputs[0].shape.Elements()};
}

}  // namespace

OpDef avg_pool() {
  OpDef def;
  def.name = "avg_pool";
  def.summary = "Takes the mean of each window of an image.";
  def.details =
      "y[n, c, i, j] = (Σ x[n, c, i·stride − top + u, j·stride − left + v] over u, v in the image) "
      "÷ "
      "count. The count is of all positions of the window in the padded image, or of those in the "
      "image itself if not `count_include_pad`; what hangs over the padding by `ceil_mode` never "
      "counts. The device `reference` adds in the order of u, v, in f64 for f64 and in f32 for "
      "other types. ONNX AveragePool.";
  def.usage = Usage::kOperator;
  def.inputs = {{"x", "images [N, channels, height, width]"}};
  def.outputs = {{"y", "[N, channels, output height, output width]"}};
  def.schema = &AvgPoolAttributes::Schema();
  def.infer = InferAvgPool;
  def.gradient = AvgPoolGradient;
  def.cost = AvgPoolCost;
  def.narrow = Narrow::kFollows;
  def.moves = Moves::kWithin;
  return def;
}

OpDef avg_pool_grad() {
  OpDef def;
  def.name = "avg_pool_grad";
  def.summary = "Computes the gradient of avg_pool.";
  def.details =
      "dx[n, c, …] = Σ dy[n, c, i, j] ÷ count over the windows that it is in, added in row-major "
      "order of the windows.";
  def.inputs = {{"dy", "gradient of avg_pool's output"}};
  def.outputs = {{"dx", "gradient of x, of shape `input`"}};
  def.schema = &PoolGradAttributes::Schema();
  def.infer = InferAvgPoolGrad;
  def.gradient = GradGradient;
  def.cost = AvgPoolGradCost;
  return def;
}

OpDef global_avg_pool() {
  OpDef def;
  def.name = "global_avg_pool";
  def.summary = "Takes the mean of each channel of an image.";
  def.details =
      "y[n, c, 0, 0] = mean of x[n, c, i, j] over i, j, added in row-major order in f64 and "
      "rounded "
      "once on the device `reference`. ONNX GlobalAveragePool.";
  def.usage = Usage::kOperator;
  def.inputs = {
      {"x", "images [N, channels, height, width], with any number of axes after channels"}};
  def.outputs = {{"y", "[N, channels, 1, 1]"}};
  def.infer = InferGlobal;
  def.gradient = GlobalGradient;
  def.cost = GlobalCost;
  def.narrow = Narrow::kFollows;
  def.moves = Moves::kWithin;
  return def;
}

}  // namespace cgrun::op_def
