// InferTypes: the number of inputs and each attribute first, then the operator's own inference.
#include <cctype>

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

// What a loss or metric that lacks an input is to be given: "`in: [LOGITS, LABEL]`".
std::string ArityHelp(const OpDef& def, int given) {
  if (def.usage != Usage::kLoss && def.usage != Usage::kMetric) return "";
  if (given >= static_cast<int>(def.inputs.size())) return "";
  std::string names;
  for (const OperandDef& operand : def.inputs) {
    if (operand.arity == Arity::kOptional) continue;
    names += names.empty() ? "" : ", ";
    for (const char c : operand.name) names += static_cast<char>(std::toupper(c));
  }
  return "name what it reads: `{op: " + def.name + ", in: [" + names + "]}`";
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
                            std::to_string(context.num_inputs()),
                        ArityHelp(def, context.num_inputs()));
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

NodeSignature SignatureInBody(const NodeSignature& node, size_t index) {
  const FusedOperator& inner = node.body[index];
  NodeSignature signature{inner.op, inner.attributes, {}, {node.outputs[0]}, {}};
  if (index + 1 == node.body.size()) signature.outputs = node.outputs;
  for (int operand : inner.operands) {
    signature.inputs.push_back(operand >= 0 ? node.inputs[static_cast<size_t>(operand)]
                                            : node.outputs[0]);
  }
  return signature;
}

std::string FaultOfFused(const NodeSignature& node) {
  if (node.outputs.empty() || node.body.empty()) return "has no body or no output";
  for (size_t i = 0; i < node.body.size(); ++i) {
    const FusedOperator& inner = node.body[i];
    const std::string name = "'" + GetOpDef(inner.op).name + "' in its body ";
    for (int operand : inner.operands) {
      const bool known =
          operand < static_cast<int>(node.inputs.size()) && operand >= -static_cast<int>(i);
      if (!known) return name + "reads what does not exist";
    }
    if (inner.op == OpId::fused) return name + "is fused itself";
    const NodeSignature signature = SignatureInBody(node, i);
    InferContext context(signature.attributes, signature.inputs);
    const std::vector<TensorType> types = InferTypes(inner.op, context);
    if (context.failed()) return name + context.message();
    if (types != signature.outputs) return name + "gives other types than the node";
  }
  return "";
}

}  // namespace cgrun
