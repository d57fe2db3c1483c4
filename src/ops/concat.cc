// Defines concat, which lays tensors one after another along an axis. Its gradient is a part of the
// output's gradient.
#include "src/ops/concat.h"

#include <optional>

#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"

namespace cgrun {

const AttributeSchema& ConcatAttributes::Schema() {
  static const AttributeSchema schema =
      SchemaBuilder<ConcatAttributes>()
          .Add(
              "axis", &ConcatAttributes::axis,
              "axis along which the inputs are joined, the batch axis being 0; negative ones count "
              "from the last")
          .Build();
  return schema;
}

const AttributeSchema& ConcatGradAttributes::Schema() {
  static const AttributeSchema schema =
      SchemaBuilder<ConcatGradAttributes>()
          .Add("axis", &ConcatGradAttributes::axis, "axis along which the parts were joined")
          .Internal()
          .Add("begin", &ConcatGradAttributes::begin, "where the part begins on the axis")
          .Internal()
          .Add("size", &ConcatGradAttributes::size, "its size along the axis")
          .Internal()
          .Build();
  return schema;
}

namespace {

// Elements of the axis that lie together in a block of the layout.
int64_t BlockOn(const Layout& layout, int axis) {
  int64_t elements = 1;
  for (const Layout::Block& block : layout.blocks) {
    if (block.axis == axis) elements *= block.size;
  }
  return elements;
}

}  // namespace

int64_t RowsAround(const Shape& shape, const Layout& layout, int axis) {
  int64_t rows = 1;
  for (int i = 0; i < shape.rank(); ++i) {
    const int outer = layout.order.empty() ? i : layout.order[static_cast<size_t>(i)];
    if (outer == axis) break;
    const int64_t block = BlockOn(layout, outer);
    rows *= (shape[outer].size + block - 1) / block;
  }
  return rows;
}

bool HasWholeBlocks(const Layout& layout, int axis, int64_t elements) {
  return elements % BlockOn(layout, axis) == 0;
}

namespace op_def {
namespace {

// The sum of two dimensions, both or neither of which depend on the batch; 0 goes with both.
std::optional<Dim> Sum(const Dim& a, const Dim& b) {
  int64_t size = 0;
  if (a.size == 0) return b;
  if (a.batch != b.batch || __builtin_add_overflow(a.size, b.size, &size)) return std::nullopt;
  return Dim(size, a.batch);
}

bool SameBeside(const Shape& a, const Shape& b, int axis) {
  if (a.rank() != b.rank()) return false;
  for (int i = 0; i < a.rank(); ++i) {
    if (i != axis && a[i] != b[i]) return false;
  }
  return true;
}

std::vector<TensorType> InferConcat(InferContext& context) {
  const int64_t given = context.attributes<ConcatAttributes>().axis;
  const auto axis = NormalizeAxis(given, context.shape(0).rank());
  if (!axis) return context.Fail(AxesMessage({given}, context.shape(0)));
  Dim size(0);
  for (int i = 0; i < context.num_inputs(); ++i) {
    if (context.dtype(i) != context.dtype(0) ||
        !SameBeside(context.shape(i), context.shape(0), *axis)) {
      return context.Fail("cannot join " + context.input(0).ToString() + " and " +
                              context.input(i).ToString() + " along axis " + std::to_string(*axis),
                          "only the sizes along that axis may differ");
    }
    const std::optional<Dim> sum = Sum(size, context.shape(i)[*axis]);
    if (!sum) {
      return context.Fail("along axis " + std::to_string(*axis) +
                          ", some inputs depend on the batch size and some do not");
    }
    size = *sum;
  }
  Shape shape = context.shape(0);
  shape[*axis] = size;
  if (!CountElements(shape))
    return context.Fail("the result " + shape.ToString() + " is too large");
  return {{context.dtype(0), shape}};
}

void ConcatGradient(GradientContext& context) {
  const int axis = *NormalizeAxis(context.attributes<ConcatAttributes>().axis,
                                  context.input_type(0).shape.rank());
  Dim begin(0);
  for (int i = 0; i < context.num_inputs(); ++i) {
    const Dim size = context.input_type(i).shape[axis];
    const ConcatGradAttributes attributes{axis, Shape{begin}, Shape{size}};
    begin = *Sum(begin, size);
    if (!context.needs_gradient(i)) continue;
    context.SetInputGradient(
        i, context.Emit(OpId::concat_grad, Attributes::Of(attributes), {context.output_gradient(0)},
                        "dx" + std::to_string(i)));
  }
}

// If all of the output is one row, the inputs lie one after another in it.
std::vector<SubBufferPair> Parts(const NodeSignature& node, std::span<const Layout> layouts) {
  const TensorType& y = node.outputs[0];
  const Layout& layout = layouts.back();
  const int axis = *NormalizeAxis(node.attributes.As<ConcatAttributes>().axis, y.shape.rank());
  std::vector<SubBufferPair> parts;
  if (RowsAround(y.shape, layout, axis) != 1) return parts;
  int64_t begin = 0;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const TensorType& x = node.inputs[i];
    if (layouts[i] != layout || !HasWholeBlocks(layout, axis, x.shape[axis].size)) return {};
    parts.push_back({static_cast<int>(i), 0, begin});
    begin += ByteSize(x, layout);
  }
  return parts;
}

// The part ends within the axis.
bool Fits(const ConcatGradAttributes& attributes, const Dim& whole) {
  if (attributes.begin.rank() != 1 || attributes.size.rank() != 1) return false;
  const Dim begin = attributes.begin[0], size = attributes.size[0];
  const std::optional<Dim> end = Sum(begin, size);
  return begin.size >= 0 && size.size > 0 && end && end->batch == whole.batch &&
         end->size <= whole.size;
}

std::vector<TensorType> InferConcatGrad(InferContext& context) {
  const auto& attributes = context.attributes<ConcatGradAttributes>();
  const auto axis = NormalizeAxis(attributes.axis, context.shape(0).rank());
  if (!axis || !Fits(attributes, context.shape(0)[*axis])) {
    return context.Fail("no part begins at " + attributes.begin.ToString() + " with size " +
                        attributes.size.ToString() + " on axis " + std::to_string(attributes.axis) +
                        " of " + context.shape(0).ToString());
  }
  Shape shape = context.shape(0);
  shape[*axis] = attributes.size[0];
  return {{context.dtype(0), shape}};
}

// If all of the gradient is one row, the part lies in it.
std::vector<SubBufferPair> GradParts(const NodeSignature& node, std::span<const Layout> layouts) {
  const auto& attributes = node.attributes.As<ConcatGradAttributes>();
  const TensorType &dy = node.inputs[0], &dx = node.outputs[0];
  const int axis = *NormalizeAxis(attributes.axis, dy.shape.rank());
  const int64_t begin = attributes.begin[0].size;
  if (layouts[0] != layouts[1] || RowsAround(dy.shape, layouts[0], axis) != 1) return {};
  if (!HasWholeBlocks(layouts[0], axis, begin)) return {};
  if (!HasWholeBlocks(layouts[0], axis, attributes.size[0].size)) return {};
  return {{0, 0, ByteSize(dx, layouts[0]) / attributes.size[0].size * begin}};
}

}  // namespace

OpDef concat() {
  OpDef def;
  def.name = "concat";
  def.summary = "Joins tensors along an axis.";
  def.details = "y is the inputs one after another along `axis`. ONNX Concat.";
  def.usage = Usage::kOperator;
  def.inputs = {
      {"x", "tensors of one type that differ in size along the axis alone", Arity::kVariadic}};
  def.outputs = {{"y", "size along the axis: the sum of theirs"}};
  def.schema = &ConcatAttributes::Schema();
  def.infer = InferConcat;
  def.gradient = ConcatGradient;
  def.cost = NoOperations;
  def.sub_buffers = Parts;
  def.narrow = Narrow::kFollows;
  return def;
}

OpDef concat_grad() {
  OpDef def;
  def.name = "concat_grad";
  def.summary = "Computes the gradient of concat: one part of a joined tensor.";
  def.details = "dx is the `size` elements of dy from `begin` on, along `axis`. ONNX Split.";
  def.inputs = {{"dy", "gradient of the joined tensor"}};
  def.outputs = {{"dx", "gradient of one input"}};
  def.schema = &ConcatGradAttributes::Schema();
  def.infer = InferConcatGrad;
  def.cost = NoOperations;
  def.sub_buffers = GradParts;
  return def;
}

}  // namespace op_def
}  // namespace cgrun
