// Defines reorder, which gives the same tensor another layout. `select` inserts it. It carries no
// gradient, because it comes after differentiation.
#include "src/ops/reorder.h"

#include "src/ops/op_definitions.h"

namespace cgrun {

const AttributeSchema& ReorderAttributes::Schema() {
  static const AttributeSchema schema = SchemaBuilder<ReorderAttributes>()
                                            .Add("from", &ReorderAttributes::from, "layout of x")
                                            .Add("to", &ReorderAttributes::to, "layout of y")
                                            .Build();
  return schema;
}

namespace op_def {
namespace {

std::vector<TensorType> InferReorder(InferContext& context) {
  Layout layout;
  const auto& attributes = context.attributes<ReorderAttributes>();
  for (const std::string& text : {attributes.from, attributes.to}) {
    if (!Layout::Parse(text, &layout)) return context.Fail("'" + text + "' is not a layout");
    if (!layout.IsPlain() && static_cast<int>(layout.order.size()) != context.shape(0).rank()) {
      return context.Fail("layout '" + text + "' does not fit " + context.shape(0).ToString());
    }
  }
  return {context.input(0)};
}

OpCost ReorderCost(const NodeSignature&) { return {}; }

}  // namespace

OpDef reorder() {
  OpDef def;
  def.name = "reorder";
  def.summary = "Copies a tensor into another memory layout.";
  def.details = "y = x, element for element; what pads a blocked layout is zero.";
  def.inputs = {{"x", "any tensor in layout `from`"}};
  def.outputs = {{"y", "the same tensor in layout `to`"}};
  def.schema = &ReorderAttributes::Schema();
  def.infer = InferReorder;
  def.cost = ReorderCost;
  def.moves = Moves::kInOrder;
  return def;
}

}  // namespace op_def
}  // namespace cgrun
