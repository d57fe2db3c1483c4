// Defines pad, which puts constants or elements of its own around a tensor. With constants, its
// gradient is a slice.
#include "src/ops/pad.h"

#include <algorithm>

#include "src/base/host_tensor.h"
#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"
#include "src/ops/slice.h"

namespace cgrun {
namespace {

IntList AxesOf(const PadAttributes& attributes) {
  IntList axes = attributes.axes;
  for (size_t i = 0; attributes.axes.empty() && i < attributes.before.size(); ++i) {
    axes.push_back(static_cast<int64_t>(i));
  }
  return axes;
}

// One number is that of each axis.
IntList ForEachAxis(const IntList& widths, size_t axes) {
  return widths.size() == 1 ? IntList(axes, widths[0]) : widths;
}

IntList BeforeOf(const PadAttributes& attributes) {
  return ForEachAxis(attributes.before, AxesOf(attributes).size());
}

IntList AfterOf(const PadAttributes& attributes) {
  const IntList& after = attributes.after.empty() ? attributes.before : attributes.after;
  return ForEachAxis(after, AxesOf(attributes).size());
}

}  // namespace

namespace {

template <class T>
SchemaBuilder<T> PadSchema(const std::vector<std::string>& modes) {
  SchemaBuilder<T> builder;
  builder
      .Add("axes", &T::axes,
           "axes to pad, the batch axis, 0, excepted; negative ones count from the last; 0, 1, "
           "… "
           "if none is given")
      .Add("before", &T::before, "elements added before each of them; one number is that of all")
      .Required()
      .AtLeast(0)
      .Add("after", &T::after,
           "elements added after each of them; as many as before if none is given")
      .AtLeast(0)
      .Add("mode", &T::mode,
           "which elements are added: constant ones, or those of x, mirrored at its edges, the "
           "nearest ones, or from its other end")
      .Choices(modes);
  return builder;
}

}  // namespace

const AttributeSchema& PadAttributes::Schema() {
  static const AttributeSchema schema =
      PadSchema<PadAttributes>({"constant", "reflect", "edge", "wrap"})
          .Add("value", &PadAttributes::value, "value of the elements added in mode constant")
          .Build();
  return schema;
}

const AttributeSchema& PadGradAttributes::Schema() {
  static const AttributeSchema schema =
      PadSchema<PadGradAttributes>({"reflect", "edge", "wrap"})
          .Add("shape", &PadGradAttributes::shape, "shape of the input of pad")
          .Internal()
          .Build();
  return schema;
}

int64_t PaddedFrom(const std::string& mode, int64_t place, int64_t size) {
  if (mode == "edge") return std::clamp<int64_t>(place, 0, size - 1);
  const int64_t period = mode == "wrap" ? size : std::max<int64_t>(2 * (size - 1), 1);
  const int64_t rest = ((place % period) + period) % period;
  return rest < size ? rest : period - rest;
}

PadWidths WidthsOf(const PadAttributes& attributes, int rank) {
  PadWidths widths{std::vector<int64_t>(static_cast<size_t>(rank)),
                   std::vector<int64_t>(static_cast<size_t>(rank))};
  const IntList axes = AxesOf(attributes);
  const IntList before = BeforeOf(attributes), after = AfterOf(attributes);
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<size_t>(*NormalizeAxis(axes[i], rank));
    widths.before[axis] = before[i];
    widths.after[axis] = after[i];
  }
  return widths;
}

namespace op_def {
namespace {

constexpr int64_t kMostPadding = int64_t{1} << 40;

bool CheckLists(InferContext& context, const PadAttributes& attributes, const Shape& x) {
  const IntList axes = AxesOf(attributes);
  const bool fit =
      BeforeOf(attributes).size() == axes.size() && AfterOf(attributes).size() == axes.size();
  if (!fit) {
    context.Fail("`axes` " + ToString(AttributeValue(axes)) + ", `before` " +
                 ToString(AttributeValue(attributes.before)) + " and `after` " +
                 ToString(AttributeValue(attributes.after)) + " differ in length");
  } else if (!axes.empty() && !NormalizeAxes(axes, x.rank())) {
    context.Fail(AxesMessage(axes, x));
  }
  return !context.failed();
}

bool CheckValue(InferContext& context, double value) {
  HostTensor element(context.dtype(0), Shape());
  if (IsFloat(context.dtype(0))) return true;
  element.Set(0, value);
  if (element.At(0) == value) return true;
  context.Fail("`value` " + ToString(AttributeValue(value)) + " is no " +
               std::string(Name(context.dtype(0))));
  return false;
}

// The shape of `x` in its frame; reports where there is none.
Shape PaddedShape(InferContext& context, const PadAttributes& attributes, const Shape& x) {
  if (!CheckLists(context, attributes, x)) return {};
  Shape shape = x;
  const PadWidths widths = WidthsOf(attributes, shape.rank());
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const int64_t before = widths.before[static_cast<size_t>(axis)];
    const int64_t after = widths.after[static_cast<size_t>(axis)];
    if (before > kMostPadding || after > kMostPadding) context.Fail("too much padding");
    if (shape[axis].batch && before + after > 0) context.Fail("cannot pad the batch axis");
    if (context.failed()) return {};
    shape[axis].size += before + after;
  }
  if (!CountElements(shape)) context.Fail("the result " + shape.ToString() + " is too large");
  return shape;
}

std::vector<TensorType> InferPad(InferContext& context) {
  const auto& attributes = context.attributes<PadAttributes>();
  const Shape shape = PaddedShape(context, attributes, context.shape(0));
  if (context.failed() || !CheckValue(context, attributes.value)) return {};
  return {{context.dtype(0), shape}};
}

std::vector<TensorType> InferPadGrad(InferContext& context) {
  const auto& a = context.attributes<PadGradAttributes>();
  const Shape shape = PaddedShape(context, {a.axes, a.before, a.after, 0, a.mode}, a.shape);
  if (context.failed()) return {};
  if (!IsFloat(context.dtype(0)) || context.shape(0) != shape) {
    return context.Fail("needs a floating-point gradient of shape " + shape.ToString() + ", not " +
                        context.input(0).ToString());
  }
  return {{context.dtype(0), a.shape}};
}

void PadGradient(GradientContext& context) {
  const Shape shape = context.input_type(0).shape;
  const auto& a = context.attributes<PadAttributes>();
  if (a.mode != "constant") {
    const PadGradAttributes attributes{a.axes, a.before, a.after, a.mode, shape};
    return context.SetInputGradient(0, context.Emit(OpId::pad_grad, Attributes::Of(attributes),
                                                    {context.output_gradient(0)}, "dx"));
  }
  const PadWidths widths = WidthsOf(a, shape.rank());
  SliceAttributes inner;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const int64_t before = widths.before[static_cast<size_t>(axis)];
    if (before + widths.after[static_cast<size_t>(axis)] == 0) continue;
    inner.axes.push_back(axis);
    inner.starts.push_back(before);
    inner.ends.push_back(before + shape[axis].size);
  }
  if (inner.axes.empty()) return context.SetInputGradient(0, context.output_gradient(0));
  context.SetInputGradient(
      0, context.Emit(OpId::slice, Attributes::Of(inner), {context.output_gradient(0)}, "dx"));
}

}  // namespace

OpDef pad() {
  OpDef def;
  def.name = "pad";
  def.summary = "Puts elements around a tensor.";
  def.details =
      "y is x with `before` and `after` elements around it on each of `axes`: `value` in mode "
      "constant; reflect: those of x, mirrored at its first and last element; edge: these two; "
      "wrap: those from the other end of x. ONNX Pad.";
  def.usage = Usage::kOperator;
  def.inputs = {{"x", "any tensor"}};
  def.outputs = {{"y", "x in its frame"}};
  def.schema = &PadAttributes::Schema();
  def.infer = InferPad;
  def.gradient = PadGradient;
  def.cost = NoOperations;
  def.narrow = Narrow::kFollows;
  def.moves = Moves::kWithin;
  return def;
}

OpDef pad_grad() {
  OpDef def;
  def.name = "pad_grad";
  def.summary = "Computes the gradient of pad in modes that repeat elements.";
  def.details =
      "dx is the sum of dy over the places where pad put the element, in their order in f64, "
      "rounded "
      "once.";
  def.inputs = {{"dy", "gradient of y"}};
  def.outputs = {{"dx", "of shape `shape`"}};
  def.schema = &PadGradAttributes::Schema();
  def.infer = InferPadGrad;
  return def;
}

}  // namespace op_def
}  // namespace cgrun
