// Defines max_pool and its gradient, which goes to the position in each window that the pool noted.
#include <limits>

#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"
#include "src/ops/pool.h"

namespace cgrun::op_def {
namespace {

std::vector<TensorType> InferMaxPool(InferContext& context) {
  const auto& attributes = context.attributes<MaxPoolAttributes>();
  const auto y = ExpectPool(context, "max_pool", attributes.window());
  if (!y) return {};
  if (attributes.kernel[0] * attributes.kernel[1] > std::numeric_limits<int32_t>::max()) {
    return context.Fail("a window has more elements than an index can name");
  }
  return {{context.dtype(0), *y}, {PoolIndexType(attributes.kernel), *y}};
}

void MaxPoolGradient(GradientContext& context) {
  const auto attributes = context.attributes<MaxPoolAttributes>();
  PoolGradAttributes grad{context.input_type(0).shape, attributes.kernel,   attributes.stride,
                          attributes.padding,          attributes.dilation, attributes.ceil_mode};
  context.SetInputGradient(0, context.Emit(OpId::max_pool_grad, Attributes::Of(std::move(grad)),
                                           {context.output(1), context.output_gradient(0)}, "dx"));
}

OpCost MaxPoolCost(const NodeSignature& node) {
  const IntList& kernel = node.attributes.As<MaxPoolAttributes>().kernel;
  return {node.outputs[0].shape.Elements() * kernel[0] * kernel[1]};
}

std::vector<TensorType> InferMaxPoolGrad(InferContext& context) {
  const auto& attributes = context.attributes<PoolGradAttributes>();
  const auto y = PooledShape(attributes);
  if (!y || context.shape(1) != *y || !IsFloat(context.dtype(1))) {
    return context.Fail("no max_pool of " + attributes.input.ToString() + " makes `dy` " +
                        context.input(1).ToString());
  }
  const TensorType index{PoolIndexType(attributes.kernel), *y};
  if (context.input(0) != index) {
    return context.Fail("`index` must be " + index.ToString() + ", not " +
                        context.input(0).ToString());
  }
  return {{context.dtype(1), attributes.input}};
}

OpCost MaxPoolGradCost(const NodeSignature& node) { return {node.inputs[1].shape.Elements()}; }

}  // namespace

OpDef max_pool() {
  OpDef def;
  def.name = "max_pool";
  def.summary = "Takes the largest element of each window of an image.";
  def.details =
      "y[n, c, i, j] = max x[n, c, i·stride − top + u·dilation, j·stride − left + v·dilation] over "
      "u, v in the image: padding never wins. Of equal elements the first wins, in row-major "
      "order; a NaN wins over every number, and the last NaN over the others (as in PyTorch). The "
      "second output names the winner, u·width + v, for the gradient. ONNX MaxPool.";
  def.usage = Usage::kOperator;
  def.inputs = {{"x", "images [N, channels, height, width]"}};
  def.outputs = {{"y", "[N, channels, output height, output width]"},
                 {"index",
                  "position of the largest element in its window: uint8 where the kernel "
                  "has at most 255 elements, else int32"}};
  def.schema = &MaxPoolAttributes::Schema();
  def.infer = InferMaxPool;
  def.gradient = MaxPoolGradient;
  def.cost = MaxPoolCost;
  def.narrow = Narrow::kFollows;
  def.moves = Moves::kWithin;
  return def;
}

OpDef max_pool_grad() {
  OpDef def;
  def.name = "max_pool_grad";
  def.summary = "Computes the gradient of max_pool.";
  def.details =
      "dx[n, c, …] = Σ dy[n, c, i, j] over the windows whose largest element it was, added in "
      "row-major order of the windows; 0 where there is none.";
  def.inputs = {{"index", "second output of max_pool"}, {"dy", "gradient of the first output"}};
  def.outputs = {{"dx", "gradient of x, of shape `input`"}};
  def.schema = &PoolGradAttributes::Schema();
  def.infer = InferMaxPoolGrad;
  def.cost = MaxPoolGradCost;
  return def;
}

}  // namespace cgrun::op_def
