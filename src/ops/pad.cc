// Defines pad, which puts constants around a tensor. Its gradient is a slice.
#include "src/ops/pad.h"

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

const AttributeSchema& PadAttributes::Schema() {
  static const AttributeSchema schema =
      SchemaBuilder<PadAttributes>()
          .Add("axes", &PadAttributes::axes,
               "axes to pad, the batch axis, 0, excepted; negative ones count from the last; 0, 1, "
               "… "
               "if none is given")
          .Add("before", &PadAttributes::before,
               "elements added before each of them; one number is that of all")
          .Required()
          .AtLeast(0)
          .Add("after", &PadAttributes::after,
               "elements added after each of them; as many as before if none is given")
          .AtLeast(0)
          .Add("value", &PadAttributes::value, "value of the elements added")
          .Build();
  return schema;
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

bool CheckLists(InferContext& context, const PadAttributes& attributes) {
  const IntList axes = AxesOf(attributes);
  const bool fit =
      BeforeOf(attributes).size() == axes.size() && AfterOf(attributes).size() == axes.size();
  if (!fit) {
    context.Fail("`axes` " + ToString(AttributeValue(axes)) + ", `before` " +
                 ToString(AttributeValue(attributes.before)) + " and `after` " +
                 ToString(AttributeValue(attributes.after)) + " differ in length");
  } else if (!axes.empty() && !NormalizeAxes(axes, context.shape(0).rank())) {
    context.Fail(AxesMessage(axes, context.shape(0)));
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

std::vector<TensorType> InferPad(InferContext& context) {
  const auto& attributes = context.attributes<PadAttributes>();
  if (!CheckLists(context, attributes) || !CheckValue(context, attributes.value)) return {};
  Shape shape = context.shape(0);
  const PadWidths widths = WidthsOf(attributes, shape.rank());
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const int64_t before = widths.before[static_cast<size_t>(axis)];
    const int64_t after = widths.after[static_cast<size_t>(axis)];
    if (before > kMostPadding || after > kMostPadding) return context.Fail("too much padding");
    if (shape[axis].batch && before + after > 0) return context.Fail("cannot pad the batch axis");
    shape[axis].size += before + after;
  }
  if (!CountElements(shape))
    return context.Fail("the result " + shape.ToString() + " is too large");
  return {{context.dtype(0), shape}};
}

void PadGradient(GradientContext& context) {
  const Shape shape = context.input_type(0).shape;
  const PadWidths widths = WidthsOf(context.attributes<PadAttributes>(), shape.rank());
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
  def.summary = "Puts constants around a tensor.";
  def.details =
      "y is x with `before` and `after` elements of `value` around it on each of `axes`. ONNX Pad, "
      "mode constant.";
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

}  // namespace op_def
}  // namespace cgrun
