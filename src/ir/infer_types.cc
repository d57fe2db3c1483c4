// InferTypes: the number of inputs and each attribute first, then the operator's own inference.
#include "src/ir/op_def.h"

namespace cgrun {
namespace {

// "2 inputs", "1 input", "at least 1 input", "2 to 3 inputs".
std::string ArityText(const OpDef& def) {
  int least = 0, most = 0;
  bool variadic = false;
  for (const OperandDef& operand : def.inputs) {
    least += operand.arity != Arity::kOptional;
    most += 1;
    variadic |= operand.arity == Arity::kVariadic;
  }
  const auto inputs = [](int n) { return std::to_string(n) + (n == 1 ? " input" : " inputs"); };
  if (variadic) return "at least " + inputs(least);
  if (least == most) return inputs(least);
  return std::to_string(least) + " to " + inputs(most);
}

bool ArityMatches(const OpDef& def, size_t count) {
  size_t least = 0;
  bool variadic = false;
  for (const OperandDef& operand : def.inputs) {
    least += operand.arity != Arity::kOptional;
    variadic |= operand.arity == Arity::kVariadic;
  }
  return count >= least && (variadic || count <= def.inputs.size());
}

}  // namespace

std::vector<TensorType> InferTypes(OpId op, InferContext& context) {
  const OpDef& def = GetOpDef(op);
  if (!ArityMatches(def, static_cast<size_t>(context.num_inputs()))) {
    return context.Fail("'" + def.name + "' takes " + ArityText(def) + ", not " +
                        std::to_string(context.num_inputs()));
  }
  const Attributes& attributes = context.untyped_attributes();
  CGRUN_CHECK(&attributes.schema() == def.schema)
      << def.name << " has attributes of another operator";
  for (const AttributeField& field : def.schema->fields()) {
    const std::string fault = FaultOf(field, attributes.Get(field));
    if (!fault.empty()) return context.Fail(fault);
  }
  return def.infer(context);
}

}  // namespace cgrun
