// Builds the graph of training as if the name were kept, and looks at what that added.
#include "src/compile/named_value.h"

#include <algorithm>

#include "src/compile/model_graph.h"
#include "src/frontend/frontend.h"
#include "src/ir/op_def.h"

namespace cgrun {
namespace {

// The value that is kept by this name; invalid where none is.
ValueId KeptAs(const std::string& name, const Graph& graph) {
  for (const Output& output : graph.outputs) {
    if (output.kind == OutputKind::kKept && output.name == name) return output.value;
  }
  return ValueId();
}

ValueId KeptAs(const std::string& name, const std::vector<Kept::Item>& items) {
  const auto item = std::ranges::find(items, name, &Kept::Item::name);
  return item == items.end() ? ValueId() : item->value;
}

std::string BeforeActivation(const Graph& graph, ValueId value) {
  const NodeId producer = graph.values[value].producer;
  if (!producer.valid() || !GetOpDef(graph.nodes[producer].op).activation) return "";
  const Value& input = graph.values[graph.nodes[producer].inputs[0]];
  if (!input.producer.valid()) return "";
  // The `activation` of an operator is called "classify.conv1.relu".
  const bool is_key =
      graph.nodes[producer].name.starts_with(graph.nodes[input.producer].name + ".");
  return is_key ? input.name : "";
}

// Returns whether an operator reads a value, or it is a result beside what is kept.
bool IsRead(const Graph& graph, ValueId value) {
  return std::ranges::any_of(graph.nodes,
                             [&](const Node& node) {
                               return std::ranges::find(node.inputs, value) != node.inputs.end();
                             }) ||
         std::ranges::any_of(graph.outputs,
                             [&](const Output& output) {
                               return output.kind != OutputKind::kKept && output.value == value;
                             }) ||
         std::ranges::any_of(graph.updates,
                             [&](const UpdateEdge& edge) { return edge.next == value; });
}

// The gradient's name, of the number type that a step computes it in.
std::string GradientNameOf(const Graph& graph, ValueId kept) {
  const Value& value = graph.values[kept];
  const bool is_cast = value.producer.valid() && graph.nodes[value.producer].op == OpId::cast;
  return is_cast ? graph.values[graph.nodes[value.producer].inputs[0]].name : value.name;
}

}  // namespace

std::optional<NamedValue> FindNamedValue(const ModelSpec& model, const std::string& name,
                                         const CompileOptions& options, Diagnostics& diagnostics) {
  ModelSpec with_name = model;
  with_name.keep.push_back({name, {}});
  Kept kept;
  const auto forward =
      BuildForward(with_name, {EntryKind::kTrain, options.precision}, diagnostics, &kept);
  if (!forward) return std::nullopt;
  if (const ValueId state = KeptAs(name, kept.states); state.valid()) {
    return NamedValue{forward->values[state].name};
  }
  const ValueId of = KeptAs(name, kept.gradients);
  if (!of.valid()) {
    const ValueId value = KeptAs(name, *forward);
    if (!value.valid()) return std::nullopt;
    NamedValue found{forward->values[value].name, BeforeActivation(*forward, value)};
    found.is_needed = IsRead(*forward, value);
    return found;
  }
  CompileOptions keeping = options;
  keeping.keeps = EntryKind::kTrain;
  const auto graph = BuildModelGraph(with_name, EntryKind::kTrain, keeping, diagnostics);
  if (!graph) return std::nullopt;
  const ValueId gradient = KeptAs(name, *graph);
  if (!gradient.valid()) return std::nullopt;
  NamedValue found{GradientNameOf(*graph, gradient)};
  found.gradient_of = forward->values[of].name;
  const auto plain = BuildModelGraph(model, EntryKind::kTrain, keeping, diagnostics);
  found.is_needed = plain && plain->FindValue(found.value).valid();
  return found;
}

}  // namespace cgrun
