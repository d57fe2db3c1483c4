// InferTypes checks the number of inputs and each attribute before it calls the operator's own
// inference.
#include <fmt/format.h>

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

// Returns the inputs that a loss or metric needs if it lacks one: "`in: [LOGITS, LABEL]`".
std::string ArityHelp(const OpDef& def, int given) {
  if (def.usage != Usage::kLoss && def.usage != Usage::kMetric) return "";
  if (given >= static_cast<int>(def.inputs.size())) return "";
  std::vector<std::string> names;
  for (const OperandDef& operand : def.inputs) {
    if (operand.arity == Arity::kOptional) continue;
    std::ranges::transform(operand.name, std::back_inserter(names.emplace_back()),
                           [](char c) { return static_cast<char>(std::toupper(c)); });
  }
  return fmt::format("name what it reads: `{{op: {}, in: [{}]}}`", def.name,
                     fmt::join(names, ", "));
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

// The signature of the operator of a fused node's body behind those of `before`; sets *fault to
// what is wrong with it.
NodeSignature InBody(const NodeSignature& node, const std::vector<NodeSignature>& before,
                     std::string* fault) {
  const FusedOperator& inner = node.body[before.size()];
  const std::string name = "'" + GetOpDef(inner.op).name + "' in its body ";
  NodeSignature signature{inner.op, inner.attributes, {}, {}, {}};
  const int inputs = static_cast<int>(node.inputs.size()),
            results = static_cast<int>(before.size());
  for (int operand : inner.operands) {
    if (operand >= inputs || operand < -results) *fault = name + "reads what does not exist";
    if (!fault->empty()) return signature;
    signature.inputs.push_back(operand >= 0 ? node.inputs[static_cast<size_t>(operand)]
                                            : before[static_cast<size_t>(-1 - operand)].outputs[0]);
  }
  if (inner.op == OpId::fused) {
    *fault = name + "is fused itself";
    return signature;
  }
  InferContext context(signature.attributes, signature.inputs);
  signature.outputs = InferTypes(inner.op, context);
  const bool is_last = before.size() + 1 == node.body.size();
  if (context.failed()) {
    *fault = name + context.message();
  } else if (is_last && signature.outputs != node.outputs) {
    *fault = name + "gives other types than the node";
  } else if (!is_last && signature.outputs.size() != 1) {
    *fault = name + "gives more than one result";
  }
  return signature;
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

std::vector<NodeSignature> SignaturesInBody(const NodeSignature& node) {
  std::vector<NodeSignature> signatures;
  for (size_t i = 0; i < node.body.size(); ++i) {
    std::string fault;
    signatures.push_back(InBody(node, signatures, &fault));
    CGRUN_CHECK(fault.empty()) << fault;
  }
  return signatures;
}

std::string FaultOfFused(const NodeSignature& node) {
  if (node.outputs.empty() || node.body.empty()) return "has no body or no output";
  std::vector<NodeSignature> signatures;
  while (signatures.size() < node.body.size()) {
    std::string fault;
    signatures.push_back(InBody(node, signatures, &fault));
    if (!fault.empty()) return fault;
  }
  return "";
}

}  // namespace cgrun
