// Adding values and nodes with inferred types and unique names.
#include "src/ir/builder.h"

#include "src/base/check.h"

namespace cgrun {
namespace {

std::vector<TensorType> TypesOf(const Graph& graph, const std::vector<ValueId>& ids) {
  std::vector<TensorType> types;
  for (ValueId id : ids) types.push_back(graph.values[id].type);
  return types;
}

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

// Runs inference and adds the operands' shapes to what it complains of.
std::vector<TensorType> Infer(const OpDef& def, InferContext& context) {
  if (!ArityMatches(def, static_cast<size_t>(context.num_inputs()))) {
    return context.Fail("'" + def.name + "' takes " + ArityText(def) + ", not " +
                        std::to_string(context.num_inputs()));
  }
  return def.infer(context);
}

std::string OperandText(const Graph& graph, const std::vector<ValueId>& inputs) {
  std::string out;
  for (ValueId id : inputs) {
    const Value& value = graph.values[id];
    out += (out.empty() ? "" : ", ") + value.name + ": " + value.type.ToString();
  }
  return out.empty() ? "" : "operands: " + out;
}

}  // namespace

Builder::Builder(Graph& graph) : graph_(graph) {
  for (const Value& value : graph.values) names_.insert(value.name);
  for (const Node& node : graph.nodes) names_.insert(node.name);
}

std::string Builder::UniqueName(std::string_view wish) {
  std::string name(wish);
  for (int i = 2; !names_.insert(name).second; ++i) {
    name = std::string(wish) + "." + std::to_string(i);
  }
  return name;
}

ValueId Builder::AddSource(Role role, Zone zone, TensorType type, std::string_view name,
                           SourceMark mark) {
  Value value;
  value.type = std::move(type);
  value.role = role;
  value.zone = zone;
  value.name = UniqueName(name);
  value.mark = std::move(mark);
  return graph_.values.push_back(std::move(value));
}

ValueId Builder::AddConstant(HostTensor tensor, std::string_view name, SourceMark mark) {
  const ValueId id = AddSource(Role::kConstant, Zone::kForward, {tensor.dtype(), tensor.shape()},
                               name, std::move(mark));
  graph_.constants.emplace(id, std::move(tensor));
  return id;
}

std::vector<ValueId> Builder::AddNode(OpId op, Attributes attributes, std::vector<ValueId> inputs,
                                      std::string_view name, const NodeOptions& options) {
  const OpDef& def = GetOpDef(op);
  InferContext context(attributes, TypesOf(graph_, inputs));
  std::vector<TensorType> types = Infer(def, context);
  CGRUN_CHECK(!context.failed()) << name << " (" << def.name << "): " << context.message() << "; "
                                 << OperandText(graph_, inputs);
  return Append(op, std::move(attributes), std::move(inputs), std::move(types), name, options);
}

std::optional<std::vector<ValueId>> Builder::TryAddNode(OpId op, Attributes attributes,
                                                        std::vector<ValueId> inputs,
                                                        std::string_view name,
                                                        const NodeOptions& options,
                                                        Diagnostics& diagnostics) {
  const OpDef& def = GetOpDef(op);
  InferContext context(attributes, TypesOf(graph_, inputs));
  std::vector<TensorType> types = Infer(def, context);
  if (context.failed()) {
    std::string help = OperandText(graph_, inputs);
    if (!context.help().empty()) help = context.help() + (help.empty() ? "" : "; ") + help;
    diagnostics.Error(options.mark, std::string(name) + ": " + context.message(), help);
    return std::nullopt;
  }
  return Append(op, std::move(attributes), std::move(inputs), std::move(types), name, options);
}

std::vector<ValueId> Builder::Append(OpId op, Attributes attributes, std::vector<ValueId> inputs,
                                     std::vector<TensorType> types, std::string_view name,
                                     const NodeOptions& options) {
  const OpDef& def = GetOpDef(op);
  Node node;
  node.op = op;
  node.attributes = std::move(attributes);
  node.inputs = std::move(inputs);
  node.phase = options.phase;
  node.path = options.path;
  node.mark = options.mark;
  node.name = UniqueName(name);
  const NodeId id(static_cast<int64_t>(graph_.nodes.size()));
  for (size_t i = 0; i < types.size(); ++i) {
    Value value;
    value.type = std::move(types[i]);
    value.role = options.output_role;
    value.zone = options.output_zone;
    value.mark = options.mark;
    value.producer = id;
    value.output_index = static_cast<int>(i);
    value.name = i == 0 ? node.name : UniqueName(node.name + "." + def.outputs.at(i).name);
    node.outputs.push_back(graph_.values.push_back(std::move(value)));
  }
  std::vector<ValueId> outputs = node.outputs;
  graph_.nodes.push_back(std::move(node));
  return outputs;
}

}  // namespace cgrun
