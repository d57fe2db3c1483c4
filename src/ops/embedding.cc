// Defines embedding, which reads rows of a learned table, and the gradient of the table.
#include "src/ops/embedding.h"

#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"

namespace cgrun {

const AttributeSchema& EmbeddingAttributes::Schema() {
  static const AttributeSchema schema =
      SchemaBuilder<EmbeddingAttributes>()
          .Add("entries", &EmbeddingAttributes::entries, "number of rows of the table")
          .Required()
          .AtLeast(1)
          .AtMost(1 << 30)
          .Add("units", &EmbeddingAttributes::units, "numbers in a row")
          .Required()
          .AtLeast(1)
          .AtMost(1 << 30)
          .Add("dtype", &EmbeddingAttributes::dtype,
               "number type of the table and of y, a floating-point one")
          .Build();
  return schema;
}

namespace op_def {
namespace {

// If the ids are wrong, the table is of little use, but it lets inference report the fault.
std::vector<OwnedTensor> EmbeddingOwned(InferContext& context) {
  if (context.num_inputs() != 1) return {};
  const auto& attributes = context.attributes<EmbeddingAttributes>();
  return {{"weight",
           {attributes.dtype, {attributes.entries, attributes.units}},
           Role::kParameter,
           "normal",
           attributes.entries,
           attributes.units}};
}

// Checks the ids (input 0); gives the shape of y.
Shape RowsFor(InferContext& context) {
  if (!IsIndex(context.dtype(0))) {
    context.Fail("needs ids of type uint8, int32 or int64, not " + context.input(0).ToString());
  }
  const auto& attributes = context.attributes<EmbeddingAttributes>();
  Shape rows = context.shape(0);
  rows.dims().push_back(Dim(attributes.units));
  if (!context.failed() &&
      (!CountElements(rows) || !CountElements({attributes.entries, attributes.units}))) {
    context.Fail("a result " + rows.ToString() + " from a weight " +
                 Shape{attributes.entries, attributes.units}.ToString() + " is too large");
  }
  return rows;
}

std::vector<TensorType> InferEmbedding(InferContext& context) {
  const Shape rows = RowsFor(context);
  if (context.failed()) return {};
  const auto& attributes = context.attributes<EmbeddingAttributes>();
  const DType dtype = context.dtype(1);
  if (!IsFloat(dtype)) {
    return context.Fail(
        "`weight` must be of a floating-point type, not " + context.input(1).ToString(),
        "`dtype` says which");
  }
  if (!ExpectInput(context, 1, "weight", {dtype, {attributes.entries, attributes.units}})) {
    return {};
  }
  return {{dtype, rows}};
}

void EmbeddingGradient(GradientContext& context) {
  context.SetInputGradient(1,
                           context.Emit(OpId::embedding_grad, context.node().attributes,
                                        {context.input(0), context.output_gradient(0)}, "dweight"));
}

std::vector<TensorType> InferEmbeddingGrad(InferContext& context) {
  const Shape rows = RowsFor(context);
  if (context.failed()) return {};
  if (!IsFloat(context.dtype(1)) || context.shape(1) != rows) {
    return context.Fail("needs a floating-point gradient of shape " + rows.ToString() + ", not " +
                        context.input(1).ToString());
  }
  const auto& attributes = context.attributes<EmbeddingAttributes>();
  return {{context.dtype(1), {attributes.entries, attributes.units}}};
}

// Each number of dy takes one addition.
OpCost EmbeddingGradCost(const NodeSignature& node) { return {node.inputs[1].shape.Elements()}; }

}  // namespace

OpDef embedding() {
  OpDef def;
  def.name = "embedding";
  def.summary = "Takes rows of a learned table, one for each id.";
  def.details =
      "y[…] = weight[id]. The weight starts as `normal`, unless `init` says otherwise. An id "
      "outside [0, entries) gives a row of NaN, and no gradient. The gradient of the weight is the "
      "sum of the rows of dy with each id. PyTorch Embedding; ONNX Gather.";
  def.usage = Usage::kOperator;
  def.inputs = {{"id", "uint8, int32 or int64, any shape: [N, length] for a sequence a sample"},
                {"weight", "[entries, units], owned"}};
  def.outputs = {{"y", "shape of id and [units], type of the weight"}};
  def.schema = &EmbeddingAttributes::Schema();
  def.infer = InferEmbedding;
  def.owned = EmbeddingOwned;
  def.gradient = EmbeddingGradient;
  def.cost = NoOperations;
  def.narrow = Narrow::kResult;
  def.labels = Labels::kIds;
  def.id_count = "entries";
  return def;
}

OpDef embedding_grad() {
  OpDef def;
  def.name = "embedding_grad";
  def.summary = "Computes the gradient of embedding's weight.";
  def.details =
      "dweight[e] = Σ dy[i] over the ids i that are e, 0 where there is none. The device "
      "`reference` adds in the order of the ids in f64 and rounds once.";
  def.inputs = {{"id", "ids of embedding"}, {"dy", "gradient of y"}};
  def.outputs = {{"dweight", "[entries, units]"}};
  def.schema = &EmbeddingAttributes::Schema();
  def.infer = InferEmbeddingGrad;
  def.cost = EmbeddingGradCost;
  return def;
}

}  // namespace op_def
}  // namespace cgrun
