// Defines elu and its gradient, which reads the input.
#include "src/ops/elu.h"

#include "src/ops/builders.h"
#include "src/ops/op_definitions.h"

namespace cgrun {

const AttributeSchema& EluAttributes::Schema() {
  static const AttributeSchema schema =
      SchemaBuilder<EluAttributes>()
          .Add("alpha", &EluAttributes::alpha, "factor of negative results")
          .Build();
  return schema;
}

namespace op_def {

OpDef elu() {
  OpDef def =
      ActivationOp({"elu", "Bends negative elements towards -alpha.",
                    "y = x where x ≥ 0, else alpha·(e^x - 1); a NaN stays a NaN. ONNX Elu."},
                   GradientFromInput<OpId::elu_grad>);
  def.schema = &EluAttributes::Schema();
  return def;
}

OpDef elu_grad() {
  OpDef def = ElementwiseGradOp("elu", "x", "dx = dy where x > 0, else dy·alpha·e^x.");
  def.schema = &EluAttributes::Schema();
  return def;
}

}  // namespace op_def
}  // namespace cgrun
