// Defines slice, which takes a part of a tensor. Its gradient stands in zeros.
#include "src/ops/slice.h"

#include <algorithm>

#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"

namespace cgrun {
namespace {

template <class T>
SchemaBuilder<T> SliceSchema() {
  SchemaBuilder<T> builder;
  builder
      .Add(
          "axes", &T::axes,
          "axes to cut, the batch axis, 0, excepted; negative ones count from the last; 0, 1, … if "
          "none is given")
      .Add("starts", &T::starts, "first position on each axis; negative: from the end")
      .Required()
      .Add("ends", &T::ends,
           "position after the last on each axis; negative: from the end; what is beyond the end "
           "means the end")
      .Required()
      .Add("steps", &T::steps, "distance between positions on each axis; 1 if none is given")
      .AtLeast(1);
  return builder;
}

std::string ListText(const IntList& list) { return ToString(AttributeValue(list)); }

// Limits a position to [0, size]. A negative position counts from the end.
int64_t Clamp(int64_t position, int64_t size) {
  if (position < 0) position = position < -size ? 0 : position + size;
  return std::min(position, size);
}

IntList AxesOf(const SliceAttributes& attributes) {
  IntList axes = attributes.axes;
  for (size_t i = 0; attributes.axes.empty() && i < attributes.starts.size(); ++i) {
    axes.push_back(static_cast<int64_t>(i));
  }
  return axes;
}

// Returns an empty message if the lists fit each other and the shape.
std::string FaultOfLists(const SliceAttributes& attributes, const IntList& axes,
                         const Shape& shape) {
  const size_t count = attributes.starts.size();
  const bool steps_fit = attributes.steps.empty() || attributes.steps.size() == count;
  if (axes.size() != count || attributes.ends.size() != count || !steps_fit) {
    return "`axes` " + ListText(axes) + ", `starts` " + ListText(attributes.starts) + ", `ends` " +
           ListText(attributes.ends) + " and `steps` " + ListText(attributes.steps) +
           " differ in length";
  }
  if (!NormalizeAxes(axes, shape.rank())) return AxesMessage(axes, shape);
  return "";
}

}  // namespace

const AttributeSchema& SliceAttributes::Schema() {
  static const AttributeSchema schema = SliceSchema<SliceAttributes>().Build();
  return schema;
}

const AttributeSchema& SliceGradAttributes::Schema() {
  static const AttributeSchema schema =
      SliceSchema<SliceGradAttributes>()
          .Add("shape", &SliceGradAttributes::shape, "shape of the input of slice")
          .Internal()
          .Build();
  return schema;
}

std::optional<std::vector<SliceRange>> SliceRanges(const SliceAttributes& attributes,
                                                   const Shape& shape, std::string* message) {
  const IntList axes = AxesOf(attributes);
  *message = FaultOfLists(attributes, axes, shape);
  if (!message->empty()) return std::nullopt;
  std::vector<SliceRange> ranges;
  for (const Dim& dim : shape) ranges.push_back({0, 1, dim});
  for (size_t i = 0; i < axes.size(); ++i) {
    const int axis = *NormalizeAxis(axes[i], shape.rank());
    const int64_t size = shape[axis].size;
    const int64_t start = Clamp(attributes.starts[i], size), end = Clamp(attributes.ends[i], size);
    const int64_t step = attributes.steps.empty() ? 1 : attributes.steps[i];
    if (shape[axis].batch) *message = "the batch axis cannot be cut";
    if (start >= end) {
      *message = "nothing is left of axis " + std::to_string(axis) + " of " + shape.ToString() +
                 " from " + std::to_string(attributes.starts[i]) + " to " +
                 std::to_string(attributes.ends[i]);
    }
    if (!message->empty()) return std::nullopt;
    ranges[static_cast<size_t>(axis)] = {start, step, Dim((end - start - 1) / step + 1)};
  }
  return ranges;
}

namespace op_def {
namespace {

std::vector<TensorType> InferSlice(InferContext& context) {
  std::string message;
  const auto ranges =
      SliceRanges(context.attributes<SliceAttributes>(), context.shape(0), &message);
  if (!ranges) return context.Fail(message);
  Shape shape;
  for (const SliceRange& range : *ranges) shape.dims().push_back(range.count);
  return {{context.dtype(0), shape}};
}

void SliceGradient(GradientContext& context) {
  const auto& a = context.attributes<SliceAttributes>();
  const SliceGradAttributes attributes{a.axes, a.starts, a.ends, a.steps,
                                       context.input_type(0).shape};
  context.SetInputGradient(0, context.Emit(OpId::slice_grad, Attributes::Of(attributes),
                                           {context.output_gradient(0)}, "grad"));
}

std::vector<TensorType> InferSliceGrad(InferContext& context) {
  const auto& a = context.attributes<SliceGradAttributes>();
  std::string message;
  const auto ranges = SliceRanges({a.axes, a.starts, a.ends, a.steps}, a.shape, &message);
  if (!ranges) return context.Fail(message);
  Shape shape;
  for (const SliceRange& range : *ranges) shape.dims().push_back(range.count);
  if (shape != context.shape(0)) {
    return context.Fail("needs a gradient of shape " + shape.ToString() + ", not " +
                        context.shape(0).ToString());
  }
  return {{context.dtype(0), a.shape}};
}

void GradGradient(GradientContext& context) {
  const auto& a = context.attributes<SliceGradAttributes>();
  const SliceAttributes attributes{a.axes, a.starts, a.ends, a.steps};
  context.SetInputGradient(0, context.Emit(OpId::slice, Attributes::Of(attributes),
                                           {context.output_gradient(0)}, "grad"));
}

// A part that is cut from the first axis of more than one element lies together.
std::vector<SubBufferPair> Parts(const NodeSignature& node, std::span<const Layout> layouts) {
  const TensorType& x = node.inputs[0];
  std::string message;
  const auto ranges = SliceRanges(node.attributes.As<SliceAttributes>(), x.shape, &message);
  if (!ranges || !layouts[0].IsPlain() || !layouts[1].IsPlain()) return {};
  int64_t begin = 0;
  bool is_first = true;
  for (int axis = 0; axis < x.shape.rank(); ++axis) {
    const SliceRange& range = (*ranges)[static_cast<size_t>(axis)];
    const bool is_cut = range.count != x.shape[axis];
    if (is_cut && (!is_first || range.step != 1)) return {};
    begin = begin * x.shape[axis].size + range.start;
    is_first = is_first && x.shape[axis].size == 1;
  }
  return {{0, 0, begin * SizeOf(x.dtype)}};
}

}  // namespace

OpDef slice() {
  OpDef def;
  def.name = "slice";
  def.summary = "Takes a part of a tensor.";
  def.details =
      "On each of `axes`, y has the elements of x at start, start + step, … before end. "
      "ONNX Slice, with positive steps.";
  def.usage = Usage::kOperator;
  def.inputs = {{"x", "any tensor"}};
  def.outputs = {{"y", "the part"}};
  def.schema = &SliceAttributes::Schema();
  def.infer = InferSlice;
  def.gradient = SliceGradient;
  def.cost = NoOperations;
  def.sub_buffers = Parts;
  def.narrow = Narrow::kFollows;
  def.moves = Moves::kWithin;
  return def;
}

OpDef slice_grad() {
  OpDef def;
  def.name = "slice_grad";
  def.summary = "Computes the gradient of slice.";
  def.details = "dx is dy where slice took its elements from, else 0.";
  def.inputs = {{"dy", "gradient of the part"}};
  def.outputs = {{"dx", "of shape `shape`"}};
  def.schema = &SliceGradAttributes::Schema();
  def.infer = InferSliceGrad;
  def.gradient = GradGradient;
  def.cost = NoOperations;
  return def;
}

}  // namespace op_def
}  // namespace cgrun
